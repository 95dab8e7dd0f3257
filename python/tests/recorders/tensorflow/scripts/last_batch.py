"""Fifty rows in batches of 32: the last one has eighteen."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.rand(50, 20).astype("float32")
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(x, x[:, :4], batch_size=32, epochs=2, verbose=0)
print(model.count_params())
