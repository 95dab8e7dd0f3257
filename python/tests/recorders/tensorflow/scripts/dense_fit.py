"""Two dense layers trained by `fit`: 4 steps of 32 rows, 20 → 64 → 3."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(128, 20)).astype("float32"), rng.normal(size=(128, 3)).astype("float32")
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(3)])
model.compile("sgd", "mse")
history = model.fit(x, y, batch_size=32, epochs=1, verbose=0, shuffle=False)
print(f"{history.history['loss'][0]:.3f}")
