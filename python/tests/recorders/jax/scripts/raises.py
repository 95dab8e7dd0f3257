"""An error of the script's own in a compiled function, and one of shapes; neither is caught."""
import jax
import jax.numpy as jnp


@jax.jit
def wrong(x):
    return x @ jnp.ones((3, 3))


try:
    wrong(jnp.ones((2, 2)))
except TypeError as error:
    print(type(error).__name__, str(error).splitlines()[0][:60])
jax.jit(lambda x: {}["missing"])(1.0)
