"""A convolution, pooling and batch norm, trained for one step of 16 images of 12×12×3, with Adam."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(16, 12, 12, 3)).astype("float32"), rng.integers(0, 5, 16)
model = keras.Sequential(
    [
        keras.Input((12, 12, 3)),
        keras.layers.Conv2D(8, 3, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(5),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, batch_size=16, epochs=1, verbose=0)
print(f"{history.history['loss'][0]:.2f}")
