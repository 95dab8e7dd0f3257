import numpy as np
from PIL import Image, ImageFilter
img = Image.fromarray(np.random.default_rng(0).integers(0, 255, (2000, 3000, 3), dtype=np.uint8))
for _ in range(2):
    a = img.resize((4000, 3000), Image.LANCZOS).filter(ImageFilter.GaussianBlur(5)).rotate(30, Image.BICUBIC)
print(a.size)
