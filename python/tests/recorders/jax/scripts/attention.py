"""A block of attention, causal, eight heads."""
import jax
import jax.numpy as jnp


@jax.jit
def block(x, w_in, w_out):
    batch, length, width = x.shape
    q, k, v = jnp.split(x @ w_in, 3, axis=-1)
    q, k, v = (a.reshape(batch, length, 8, width // 8).transpose(0, 2, 1, 3) for a in (q, k, v))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(width // 8)
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    out = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
    return out.transpose(0, 2, 1, 3).reshape(batch, length, width) @ w_out


keys = jax.random.split(jax.random.PRNGKey(0), 3)
x = jax.random.normal(keys[0], (4, 128, 256))
w_in, w_out = jax.random.normal(keys[1], (256, 768)) * 0.05, jax.random.normal(keys[2], (256, 256)) * 0.05
for _ in range(4):
    x = block(x, w_in, w_out)
print(x.shape, bool(jnp.all(jnp.isfinite(x))))
