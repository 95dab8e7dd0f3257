"""Networks by hand: a perceptron, a residual block, LeNet."""
import numpy as np

rng = np.random.default_rng(7)
f32 = np.float32

def relu(x):
    return np.maximum(x, 0)

def softmax(x):
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    return tmp_out / np.sum(tmp_out, axis=-1, keepdims=True)

def conv2d(input, weights):
    K, N = weights.shape[0], input.shape[0]
    H_out, W_out = input.shape[1] - K + 1, input.shape[2] - K + 1
    output = np.empty((N, H_out, W_out, weights.shape[3]), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return output

def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)

def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output

x = rng.random((8, 30), dtype=f32)
w1, w2, w3 = rng.random((30, 20), dtype=f32), rng.random((20, 20), dtype=f32), rng.random((20, 10), dtype=f32)
print("mlp", softmax(relu(relu(x @ w1) @ w2) @ w3).sum())

img = rng.random((2, 8, 8, 16), dtype=f32)
c1 = rng.random((1, 1, 16, 4), dtype=f32)
c2, c3 = rng.random((3, 3, 4, 4), dtype=f32), rng.random((1, 1, 4, 16), dtype=f32)
padded = np.zeros((2, 10, 10, 4), dtype=f32)
padded[:, 1:-1, 1:-1, :] = conv2d(img, c1)
out = relu(batchnorm2d(padded))
out = relu(batchnorm2d(conv2d(out, c2)))
print("resnet", float(np.abs(relu(batchnorm2d(conv2d(out, c3)) + img)).mean().round(4)))

pic = rng.random((2, 16, 16, 1), dtype=f32)
k1, k2 = rng.random((5, 5, 1, 3), dtype=f32), rng.random((3, 3, 3, 4), dtype=f32)
h = maxpool2d(relu(conv2d(pic, k1) + rng.random(3, dtype=f32)))
h = maxpool2d(relu(conv2d(h, k2) + rng.random(4, dtype=f32)))
h = np.reshape(h, (h.shape[0], h.shape[1] * h.shape[2] * h.shape[3]))
d1 = rng.random((h.shape[1], 10), dtype=f32)
print("lenet", (relu(h @ d1) / 100).sum(axis=1).round(2))
