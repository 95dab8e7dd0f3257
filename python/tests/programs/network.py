"""A two-layer network for three spirals."""

import numpy as np

rng = np.random.default_rng(5)
points, classes = 200, 3
t = np.linspace(0, 1, points)
angle = np.concatenate([t * 4 + 2 * np.pi * c / classes for c in range(classes)]) + rng.normal(0, 0.1, points * classes)
radius = np.tile(t, classes)
data = np.c_[radius * np.sin(angle), radius * np.cos(angle)]
label = np.repeat(np.arange(classes), points)
one_hot = np.eye(classes)[label]
w1, b1 = rng.normal(0, 0.5, (2, 64)), np.zeros(64)
w2, b2 = rng.normal(0, 0.5, (64, classes)), np.zeros(classes)
for epoch in range(300):
    hidden = np.maximum(0, data @ w1 + b1)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    exps = np.exp(scores)
    probability = exps / exps.sum(axis=1, keepdims=True)
    gradient = (probability - one_hot) / len(label)
    back = gradient @ w2.T
    back[hidden <= 0] = 0
    w2 -= 0.5 * hidden.T @ gradient
    b2 -= 0.5 * gradient.sum(0)
    w1 -= 0.5 * data.T @ back
    b1 -= 0.5 * back.sum(0)
print(bool((probability.argmax(1) == label).mean() > 0.5))
