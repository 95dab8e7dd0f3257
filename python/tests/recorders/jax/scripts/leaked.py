"""A tracer leaves its function."""
import jax

kept = []


@jax.jit
def f(x):
    kept.append(x)
    return x * 2


f(1.0)
print(type(kept[0]).__name__)
kept[0] + 1
