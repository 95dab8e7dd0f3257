"""Option prices by walks, one function mapped over keys."""
import jax
import jax.numpy as jnp


def path(key, spot, rate, sigma):
    steps = jax.random.normal(key, (50,)) * sigma * jnp.sqrt(1 / 50) + (rate - sigma**2 / 2) / 50
    return spot * jnp.exp(jnp.sum(steps))


@jax.jit
def price(key, strike):
    keys = jax.random.split(key, 20_000)
    ends = jax.vmap(path, in_axes=(0, None, None, None))(keys, 100.0, 0.05, 0.2)
    return jnp.exp(-0.05) * jnp.mean(jnp.maximum(ends - strike, 0))


for strike in (90.0, 100.0, 110.0):
    print(f"{strike:.0f} {price(jax.random.PRNGKey(0), strike):.4f}")
