"""A network of three layers with Adam by hand, on made-up data."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
images = rng.normal(size=(1024, 784)).astype(np.float32)
labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, 1024)]


def init(key, sizes=(784, 512, 256, 10)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * 0.05, jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(forward(params, x)) * y, axis=1))


@jax.jit
def update(params, m, v, t, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    tree = jax.tree_util.tree_map
    t = t + 1.0
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    params = tree(
        lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), params, m, v
    )
    return params, m, v, t, value


params = init(jax.random.PRNGKey(0))
m = jax.tree_util.tree_map(jnp.zeros_like, params)
v = jax.tree_util.tree_map(jnp.zeros_like, params)
t = 0.0
for epoch in range(2):
    for start in range(0, 1024, 128):
        x, y = images[start : start + 128], labels[start : start + 128]
        params, m, v, t, value = update(params, m, v, t, x, y)
    print(epoch, float(value))
