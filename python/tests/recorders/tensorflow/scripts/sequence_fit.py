"""An LSTM over 10 steps, trained for two steps of 8 sequences."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(16, 10, 6)).astype("float32"), rng.normal(size=(16, 2)).astype("float32")
model = keras.Sequential([keras.Input((10, 6)), keras.layers.LSTM(16), keras.layers.Dense(2)])
model.compile("sgd", "mse")
history = model.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False)
print(f"{history.history['loss'][0]:.3f}")
