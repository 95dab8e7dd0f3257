"""Not a number, and JAX told to look."""
import jax
import jax.numpy as jnp

jax.config.update("jax_debug_nans", True)
f = jax.jit(lambda x: jnp.log(x))
print(f(2.0))
try:
    f(-1.0)
except FloatingPointError as error:
    print("caught", str(error).splitlines()[0])
print(f(3.0))
jax.jit(lambda x: x / 0.0 * 0.0)(0.0)
