"""Two convolutions and a product, with their gradients."""
import jax
import jax.numpy as jnp
from jax import lax


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")


def loss(params, x, y):
    w1, w2, w3 = params
    x = pool(jax.nn.relu(conv(x, w1)))
    x = pool(jax.nn.relu(conv(x, w2)))
    logits = x.reshape(x.shape[0], -1) @ w3
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * y, axis=1))


@jax.jit
def update(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return [p - 0.01 * g for p, g in zip(params, grads)], value


keys = jax.random.split(jax.random.PRNGKey(0), 4)
params = [
    jax.random.normal(keys[0], (3, 3, 1, 16)) * 0.1,
    jax.random.normal(keys[1], (3, 3, 16, 32)) * 0.1,
    jax.random.normal(keys[2], (7 * 7 * 32, 10)) * 0.02,
]
x = jax.random.normal(keys[3], (32, 28, 28, 1))
y = jnp.eye(10)[jnp.arange(32) % 10]
for _ in range(3):
    params, value = update(params, x, y)
print(round(float(value), 3))
