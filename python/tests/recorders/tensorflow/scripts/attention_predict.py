"""Four heads of attention over 10 places, asked for 32 sequences."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
rows = keras.Input((10, 64))
seen = keras.layers.MultiHeadAttention(4, 16, use_bias=False)(rows, rows)
model = keras.Model(rows, keras.layers.LayerNormalization()(seen + rows))
out = model.predict(np.random.default_rng(0).normal(size=(32, 10, 64)).astype("float32"), verbose=0)
print(out.shape, f"{float(np.abs(out).mean()):.3f}")
