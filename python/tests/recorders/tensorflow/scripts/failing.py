"""An error in a compiled function, which the script does not catch."""

import tensorflow as tf


@tf.function
def step(a, b):
    return tf.matmul(a, b)


print("before")
step(tf.ones((2, 3)), tf.ones((4, 5)))
