"""Operations one by one: 3 products of 50×50, and a sum that is read each time."""

import numpy as np
import tensorflow as tf

a = tf.constant(np.arange(2500, dtype="float32").reshape(50, 50) / 2500)
for _ in range(3):
    a = tf.matmul(a, a) / 10.0
    total = float(tf.reduce_sum(a))
print(f"{total:.6f}")
