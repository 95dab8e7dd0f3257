"""Compiled code calls Python, in order."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback

seen = []


def host(x):
    seen.append(float(x))
    return np.asarray(x) * 2


@jax.jit
def f(x):
    y = jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), x)
    jax.debug.print("y is {}", y)
    io_callback(lambda v: seen.append(("io", float(v))), None, y, ordered=True)
    return lax.while_loop(lambda s: s < 100, lambda s: s * 2, y)


for i in range(3):
    print(f(float(i + 1)))
jax.effects_barrier()
print(seen)
