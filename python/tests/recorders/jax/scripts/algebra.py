"""Linear algebra by a library."""
import jax
import jax.numpy as jnp

a = jax.random.normal(jax.random.PRNGKey(0), (120, 120))
s = a @ a.T + 120 * jnp.eye(120)


@jax.jit
def all_of(a, s):
    lower = jnp.linalg.cholesky(s)
    values, _ = jnp.linalg.eigh(s)
    q, r = jnp.linalg.qr(a)
    singular = jnp.linalg.svd(a, compute_uv=False)
    x = jnp.linalg.solve(s, a[0])
    return jnp.trace(lower) > 0, values.min() > 0, jnp.allclose(q @ r, a, atol=1e-3), singular[0] > 0, x[0]


print([bool(v) for v in all_of(a, s)])
