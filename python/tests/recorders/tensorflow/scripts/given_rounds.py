"""A loop that runs as often as an argument says, and a function that is traced for each number that it is given."""

import tensorflow as tf

tf.get_logger().setLevel("ERROR")


@tf.function
def powers(x, n):
    for _ in tf.range(n):
        x = tf.matmul(x, x) / 16.0
    return x


@tf.function
def times(x, k):
    return x * k


x = tf.ones((16, 16))
print(float(powers(x, tf.constant(3))[0, 0]), float(powers(x, tf.constant(5))[0, 0]))
print(sum(float(times(tf.constant(1.0), k)) for k in range(25)))
