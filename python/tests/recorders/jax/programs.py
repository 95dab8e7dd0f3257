"""Functions to compile, as tutorials and papers write them: name, function and the arguments' shapes.

What XLA's compiler for GPUs makes of them is in `kernels.csv`, written by `deviceless.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Shape = jax.ShapeDtypeStruct
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def f32(*shape: int) -> jax.ShapeDtypeStruct:
    return Shape(shape, jnp.float32)


def i32(*shape: int) -> jax.ShapeDtypeStruct:
    return Shape(shape, jnp.int32)


def key() -> jax.ShapeDtypeStruct:
    return Shape((2,), jnp.uint32)


def program(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the function to the programs, with these arguments."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, args)
        return function

    return add


# Element by element, and folds ---------------------------------------------------------------------------------------


@program(f32(1000, 1000), f32(1000, 1000), f32(1000))
def chain(x, y, b):
    return jnp.tanh(x * 2.0 + y) - b


@program(f32(512, 4096))
def soft_max(x):
    return jax.nn.softmax(x, axis=-1)


@program(f32(512, 4096), f32(4096), f32(4096))
def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


@program(f32(1000, 1000))
def sum_of_all(x):
    return jnp.sum(x * x)


@program(f32(1000, 1000))
def sum_of_rows(x):
    return jnp.sum(x, axis=1)


@program(f32(1000, 1000))
def sum_of_columns(x):
    return jnp.sum(x, axis=0)


@program(f32(1000, 1000))
def two_folds(x):
    return x.sum(1), (x * x).sum(1)


@program(f32(4096,), f32(4096,))
def cosine(a, b):
    return jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))


@program(f32(512, 512))
def heat(u):
    return u.at[1:-1, 1:-1].add(0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]))


@program(f32(1000, 3), f32(1000,))
def n_body(x, m):
    d = x[:, None, :] - x[None, :, :]
    r2 = (d**2).sum(-1) + 1e-3
    return -(m[None, :, None] * d / r2[..., None] ** 1.5).sum(1)


@program(f32(1000, 64), f32(500, 64))
def distances(a, b):
    return jnp.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(-1))


@program(f32(256, 256))
def standardise(x):
    return (x - x.mean(0)) / x.std(0)


@program(f32(512, 10), i32(512))
def cross_entropy(logits, labels):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))


@program(f32(300, 200))
def turned(x):
    return jnp.sin(x).T + 1.0


@program(f32(1_000_000))
def extremes(x):
    return jnp.max(x), jnp.argmax(x), jnp.mean(x)


# Products ------------------------------------------------------------------------------------------------------------


@program(f32(128, 784), f32(784, 512), f32(512))
def dense_relu(x, w, b):
    return jax.nn.relu(x @ w + b)


@program(f32(784, 1024), f32(1024, 10), f32(500, 784), f32(500, 10))
def mlp_gradient(w1, w2, x, y):
    def loss(w1, w2):
        return jnp.mean((jax.nn.gelu(x @ w1) @ w2 - y) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1))(w1, w2)


def _mlp(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


LAYERS = [(f32(784, 512), f32(512)), (f32(512, 256), f32(256)), (f32(256, 10), f32(10))]


@program(LAYERS, f32(128, 784), f32(128, 10))
def mlp_sgd(params, x, y):
    def loss(params):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(_mlp(params, x)) * y, axis=1))

    value, grads = jax.value_and_grad(loss)(params)
    return value, jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)


@program(LAYERS, LAYERS, LAYERS, f32(), f32(128, 784), f32(128, 10))
def mlp_adam(params, m, v, t, x, y):
    def loss(params):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(_mlp(params, x)) * y, axis=1))

    value, grads = jax.value_and_grad(loss)(params)
    tree = jax.tree_util.tree_map
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    t = t + 1.0
    params = tree(
        lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), params, m, v
    )
    return params, m, v, t, value


@program(f32(8, 128, 256), f32(256, 768), f32(256, 256))
def attention(x, w_in, w_out):
    q, k, v = jnp.split(x @ w_in, 3, axis=-1)
    heads = lambda a: a.reshape(8, 128, 4, 64).transpose(0, 2, 1, 3)  # noqa: E731
    q, k, v = heads(q), heads(k), heads(v)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0
    mask = jnp.tril(jnp.ones((128, 128), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    out = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
    return out.transpose(0, 2, 1, 3).reshape(8, 128, 256) @ w_out


@program(f32(4, 64, 128), f32(128, 384), f32(128, 128), f32(128, 512), f32(512, 128), f32(128), f32(128))
def transformer_block(x, w_in, w_out, w_up, w_down, g1, g2):
    norm = lambda a, g: a * lax.rsqrt(jnp.mean(a * a, -1, keepdims=True) + 1e-6) * g  # noqa: E731
    q, k, v = jnp.split(norm(x, g1) @ w_in, 3, axis=-1)
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(128.0)
    x = x + jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores, -1), v) @ w_out
    return x + jax.nn.gelu(norm(x, g2) @ w_up) @ w_down


@program(f32(1000, 20), f32(1000), f32(20))
def logistic_gradient(x, y, w):
    def loss(w):
        z = x @ w
        return jnp.mean(jnp.logaddexp(0.0, z) - y * z)

    return jax.grad(loss)(w)


@program(f32(100, 300), f32(300, 300))
def chained_products(x, w):
    return x @ w @ w @ w


# Convolutions --------------------------------------------------------------------------------------------------------


def _conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(f32(16, 28, 28, 1), f32(3, 3, 1, 32), f32(3, 3, 32, 64), f32(3136, 10))
def conv_net(x, w1, w2, w3):
    x = jax.nn.relu(_conv(x, w1))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    x = jax.nn.relu(_conv(x, w2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return x.reshape(16, -1) @ w3


# Loops ---------------------------------------------------------------------------------------------------------------


@program(f32(768, 768))
def wave(u0):
    def body(carry, _):
        u, before = carry
        lap = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u
        after = 2 * u - before + 0.2 * lap
        return (after, u), jnp.sum(after * after)

    (u, _), energy = lax.scan(body, (u0, u0), None, length=600)
    return u, energy


@program(f32(200, 200), f32(200))
def jacobi(a, b):
    d = jnp.diag(a)
    rest = a - jnp.diag(d)

    def more(state):
        _, change, rounds = state
        return (change > 1e-6) & (rounds < 1000)

    def step(state):
        x, _, rounds = state
        new = (b - rest @ x) / d
        return new, jnp.max(jnp.abs(new - x)), rounds + 1

    return lax.while_loop(more, step, (jnp.zeros_like(b), jnp.float32(jnp.inf), 0))


@program(f32(64, 32), f32(32, 128), f32(128, 128), f32(50, 64, 32))
def recurrent(x, wx, wh, xs):
    def cell(h, x):
        h = jnp.tanh(x @ wx + h @ wh)
        return h, h

    return lax.scan(cell, jnp.zeros((64, 128)), xs)


@program(f32(100, 100))
def power_iteration(a):
    def body(_, v):
        v = a @ v
        return v / jnp.linalg.norm(v)

    return lax.fori_loop(0, 100, body, jnp.ones(100))


@program(f32(1000), f32(1000))
def lorenz(x, y):
    def step(s, _):
        x, y, z = s
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        s = (x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz)
        return s, None

    return lax.scan(step, (x, y, x + y), None, length=1000)[0]


@program(f32(), f32(1000, 100))
def branches(t, x):
    return lax.cond(t > 0.0, lambda x: jnp.sin(x) @ x.T, lambda x: jnp.cos(x) @ x.T * 2.0, x)


# Order, places, libraries --------------------------------------------------------------------------------------------


@program(f32(100_000))
def sorted_values(x):
    return jnp.sort(x)


@program(f32(100_000))
def cumulative(x):
    return jnp.cumsum(x)


@program(f32(64, 1000))
def best(x):
    return lax.top_k(x, 5)


@program(f32(1000, 64), i32(256))
def look_up(table, index):
    return table[index] * 2.0


@program(f32(1000), i32(10_000), f32(10_000))
def binned(counts, index, x):
    return counts.at[index].add(x)


@program(f32(100, 100), f32(100))
def solve(a, b):
    return jnp.linalg.solve(a, b)


@program(f32(100, 100))
def cholesky(a):
    return jnp.linalg.cholesky(a @ a.T + 100 * jnp.eye(100))


@program(f32(256, 256))
def eigh(a):
    return jnp.linalg.eigh(a)


@program(f32(200, 50))
def qr(a):
    return jnp.linalg.qr(a)


@program(f32(200, 50))
def svd(a):
    return jnp.linalg.svd(a, full_matrices=False)


@program(Shape((512, 512), jnp.complex64))
def spectrum(x):
    return jnp.abs(jnp.fft.fft2(x)) ** 2


@program(f32(65536))
def low_pass(x):
    spectrum = jnp.fft.rfft(x)
    return jnp.fft.irfft(spectrum * (jnp.arange(spectrum.shape[0]) < 1000), 65536)


# Random numbers ------------------------------------------------------------------------------------------------------


@program(key())
def pi(key):
    xy = jax.random.uniform(key, (1_000_000, 2))
    return 4 * jnp.mean((xy**2).sum(1) < 1)


@program(key())
def option(key):
    z = jax.random.normal(key, (100_000,))
    s = 100.0 * jnp.exp((0.05 - 0.02) + 0.2 * z)
    return jnp.exp(-0.05) * jnp.mean(jnp.maximum(s - 100.0, 0.0))


@program(key())
def walks(key):
    def path(key):
        return jnp.cumsum(jax.random.normal(key, (100,)))[-1]

    return jnp.mean(jax.vmap(path)(jax.random.split(key, 1000)))


@program(f32(64, 128), key())
def dropout(x, key):
    keep = jax.random.bernoulli(key, 0.8, x.shape)
    return jnp.where(keep, x / 0.8, 0.0)


# Programs that the rules were not fitted to --------------------------------------------------------------------------


@program(f32(32, 64), f32(192, 512), f32(512), f32(40, 32, 64))
def lstm(x, w, b, xs):
    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (jnp.zeros((32, 128)), jnp.zeros((32, 128))), xs)


@program(f32(5000, 16), f32(10, 16))
def k_means_step(x, centres):
    nearest = jnp.argmin(((x[:, None] - centres[None]) ** 2).sum(-1), axis=1)
    member = jax.nn.one_hot(nearest, 10)
    return (member.T @ x) / jnp.maximum(member.sum(0)[:, None], 1.0)


@program(f32(500, 500), f32(500, 32), f32(32, 16), f32(16, 7))
def graph_network(adjacent, x, w1, w2):
    degree = adjacent.sum(1)
    scaled = adjacent / jnp.sqrt(degree[:, None] * degree[None])
    return jax.nn.log_softmax(scaled @ (jax.nn.relu(scaled @ (x @ w1)) @ w2))


@program(f32(2000, 2))
def runge_kutta(y):
    def slope(y):
        return jnp.stack([y[:, 1], -jnp.sin(y[:, 0])], 1)

    def step(_, y):
        k1 = slope(y)
        k2 = slope(y + 0.005 * k1)
        k3 = slope(y + 0.005 * k2)
        k4 = slope(y + 0.01 * k3)
        return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return lax.fori_loop(0, 500, step, y)


@program(f32(400, 600), f32(400, 600))
def mandelbrot(re, im):
    def step(_, state):
        x, y, n = state
        inside = x * x + y * y < 4
        x, y = jnp.where(inside, x * x - y * y + re, x), jnp.where(inside, 2 * x * y + im, y)
        return x, y, n + inside

    return lax.fori_loop(0, 50, step, (re * 0, im * 0, jnp.zeros(re.shape, jnp.int32)))[2]


@program(f32(200, 3), f32(200), f32(50, 3))
def gaussian_process(x, y, new):
    def kernel(a, b):
        return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))

    factor = jax.scipy.linalg.cho_factor(kernel(x, x) + 1e-3 * jnp.eye(200))
    return kernel(new, x) @ jax.scipy.linalg.cho_solve(factor, y)


@program(f32(1000, 40))
def principal(x):
    x = x - x.mean(0)
    _, s, vt = jnp.linalg.svd(x, full_matrices=False)
    return x @ vt[:2].T, s**2


@program(f32(100_000), f32(100_000), f32())
def black_scholes(spot, strike, sigma):
    d1 = (jnp.log(spot / strike) + (0.05 + sigma**2 / 2)) / sigma
    phi = lambda d: 0.5 * (1 + lax.erf(d / jnp.sqrt(2.0)))  # noqa: E731
    return spot * phi(d1) - strike * jnp.exp(-0.05) * phi(d1 - sigma)


@program(f32(512, 512), key())
def ising(spins, key):
    near = jnp.roll(spins, 1, 0) + jnp.roll(spins, -1, 0) + jnp.roll(spins, 1, 1) + jnp.roll(spins, -1, 1)
    flips = jax.random.uniform(key, spins.shape) < jnp.exp(-0.8 * spins * near)
    board = (jnp.arange(512)[:, None] + jnp.arange(512)[None]) % 2 == 0
    return jnp.where(flips & board, -spins, spins)


@program(f32(100, 64), f32(5000, 64))
def nearest(queries, points):
    squares = (queries**2).sum(1)[:, None] - 2 * queries @ points.T + (points**2).sum(1)[None]
    return lax.top_k(-squares, 10)


@program(f32(256, 20), f32(256), f32(20), f32(20))
def momentum(x, y, w, v):
    g = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    v = 0.9 * v - 0.01 * g
    return w + v, v


@program(f32(64, 784), f32(784, 400), f32(400, 40), f32(20, 400), f32(400, 784), key())
def autoencoder_loss(x, w1, w2, w3, w4, key):
    mean, log = jnp.split(jnp.tanh(x @ w1) @ w2, 2, -1)
    z = mean + jnp.exp(0.5 * log) * jax.random.normal(key, mean.shape)
    logits = jnp.tanh(z @ w3) @ w4
    likelihood = jnp.sum(x * jax.nn.log_sigmoid(logits) + (1 - x) * jax.nn.log_sigmoid(-logits), -1)
    divergence = -0.5 * jnp.sum(1 + log - mean**2 - jnp.exp(log), -1)
    return jnp.mean(divergence - likelihood)
