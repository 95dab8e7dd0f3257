import numpy as np, cv2
img = np.random.default_rng(0).integers(0, 255, (2000, 3000, 3), dtype=np.uint8)
for _ in range(6):
    a = cv2.bilateralFilter(img, 9, 50, 50)
    b = cv2.Canny(cv2.GaussianBlur(a, (9, 9), 2), 50, 100)
print(b.shape)
