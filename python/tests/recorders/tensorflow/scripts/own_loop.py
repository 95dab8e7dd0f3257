"""A loop of the script's own: a gradient tape in a compiled function, 5 steps of 100 rows."""

import tensorflow as tf

tf.random.set_seed(0)
weights = tf.Variable(tf.random.stateless_normal((30, 4), seed=(1, 2)))
x = tf.random.stateless_normal((100, 30), seed=(3, 4))
y = tf.random.stateless_normal((100, 4), seed=(5, 6))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights - y))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


for _ in range(5):
    loss = step(x, y)
print(f"{float(loss):.4f}")
