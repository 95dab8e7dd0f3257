"""Nothing is compiled by the script: each operation is an executable of its own."""
import jax.numpy as jnp

x = jnp.linspace(0.0, 1.0, 1000)
y = jnp.zeros(1000)
for _ in range(200):
    y = y + 0.01 * (jnp.sin(x) - y * y)
print(round(float(y.sum()), 3))
