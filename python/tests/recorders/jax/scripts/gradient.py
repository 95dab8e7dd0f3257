"""Logistic regression by gradients that are not compiled but for their pieces, then compiled."""
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
x = jax.random.normal(key, (2000, 30))
y = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(jnp.float32)


def loss(w):
    z = x @ w
    return jnp.mean(jnp.logaddexp(0.0, z) - y * z)


w = jnp.zeros(30)
slope = jax.grad(loss)
for _ in range(5):
    w = w - 0.5 * slope(w)
print("eager", round(float(loss(w)), 5))
compiled = jax.jit(slope)
for _ in range(20):
    w = w - 0.5 * compiled(w)
print("compiled", round(float(loss(w)), 5))
