#!/bin/sh
# JAX: `compiled.cost_analysis()` counts a loop's body once, whatever its length, a complex product as a real one, a gather as a
# read of the whole table, a 2-D transform several-fold, and gives -1 for a triangular solve.
#
# jax and jaxlib 0.10.2, NumPy 2.4.6, CPython 3.11, CPU. Rounds of `fori_loop` and `scan` are constants here, known when it is
# compiled. Rates and utilisation that are computed from these figures are off by the length of the loop: a thousandfold for
# a thousand steps of a `scan`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import jax
import jax.numpy as jnp

jax.config.update("jax_platforms", "cpu")
square, row = jnp.ones((64, 64)), jnp.ones(4096)


def analysed(function, *arguments):
    return jax.jit(function).lower(*arguments).compile().cost_analysis()


def flop(function, *arguments):
    return analysed(function, *arguments)["flops"]


product = 2 * 64**3
seen = {
    "one product": flop(lambda x: x @ x, square) / product,
    "fori_loop of 1000 products": flop(lambda x: jax.lax.fori_loop(0, 1000, lambda _, a: a @ a, x), square) / product,
    "scan of 1000 products": flop(lambda x: jax.lax.scan(lambda a, _: (a @ a, None), x, length=1000)[0], square) / product,
    "complex product, of 4 real ones": flop(lambda x: x @ x, square.astype(jnp.complex64)) / product,
}
transforms = [flop(f, jnp.ones((256, 256), jnp.complex64)) for f in (jnp.fft.fft, jnp.fft.fft2)]
solve = flop(lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), square, square)
table = jnp.ones((100_000, 16))
read = analysed(lambda t, i: t[i], table, jnp.zeros(4, int))["bytes accessed"]
for what, count in seen.items():
    print(f"{what}: {count:.2f} products")
print(f"fft2 over fft of each row: {transforms[1] / transforms[0]:.1f} times; a triangular solve: {solve}")
print(f"four rows of a table of {table.nbytes:,} bytes: {read:,.0f} bytes accessed")
assert all(0.9 < count < 1.1 for count in seen.values()), "this has changed"
assert transforms[1] > 3 * transforms[0] and solve == -1 and read > table.nbytes, "this has changed"
PYTHON
