"""Random numbers of several kinds, and what is read of them."""
import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.PRNGKey(7)
key, one, two = jax.random.split(key, 3)
u = jax.random.uniform(one, (1000, 3))
n = jax.random.normal(two, (500,))
print(u.shape, round(float(u.mean()), 2), np.asarray(n).dtype, n[:2].tolist()[0] < 10)
print(jax.device_get(jax.random.randint(key, (4,), 0, 10)).shape, jax.random.permutation(key, 5).shape)
