"""A new shape each time, functions compiled in a loop, static arguments, trees."""
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("power",))
def raised(x, power):
    return (x**power).sum()


total = 0.0
for n in range(1, 30):
    total += float(raised(jnp.ones(n), power=n % 3 + 1))
for _ in range(3):
    for n in (5, 7, 9):
        total += float(raised(jnp.ones(n), power=2))
for scale in range(5):
    total += float(jax.jit(lambda x: x * scale)(2.0))
both = jax.jit(lambda d: d["a"] + d["b"][0])
for _ in range(3):
    total += float(both({"a": jnp.ones(()), "b": (jnp.ones(()), None)}))
    total += float(both({"a": jnp.ones(3), "b": (jnp.ones(3), None)}).sum() if False else both({"a": 1.0, "b": (2.0, None)}))
print(total)
