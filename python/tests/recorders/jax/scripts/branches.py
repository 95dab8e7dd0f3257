"""A branch by data, one product in one of them and two in the other."""
import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def step(t, x):
    return lax.cond(t > 0, lambda x: x @ x * 0.01, lambda x: (x @ x) @ x * 1e-4, x)


x = jnp.ones((128, 128)) * 0.1
for t in (1.0, -1.0, 2.0, 3.0, -4.0):
    x = step(t, x)
print(float(x[0, 0]) > 0)
