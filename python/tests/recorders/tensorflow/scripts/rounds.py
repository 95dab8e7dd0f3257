"""Loops within a compiled function: ten rounds of a product, and one that ends by its data."""

import tensorflow as tf


@tf.function
def powers(a):
    for _ in tf.range(10):
        a = a @ a / 4.0
    return a


@tf.function
def halved(x):
    while x > 1.0:
        x = x / 2.0
    return x


print(f"{float(tf.reduce_sum(powers(tf.ones((16, 16)) / 4.0))):.3f}", float(halved(tf.constant(100.0))))
