"""Logistic regression by gradient descent with momentum."""

import numpy as np


class Model:
    def __init__(self, features):
        self.weights = np.zeros(features)
        self.bias = 0.0
        self.velocity = np.zeros(features)

    def probability(self, x):
        return 1.0 / (1.0 + np.exp(-(x @ self.weights + self.bias)))

    def step(self, x, y, rate=0.5):
        error = self.probability(x) - y
        self.velocity *= 0.9
        self.velocity += x.T @ error / len(y)
        self.weights -= rate * self.velocity
        self.bias -= rate * error.mean()


rng = np.random.default_rng(11)
x = rng.normal(size=(3000, 20))
y = (x[:, 0] - x[:, 1] > 0).astype(float)
model = Model(20)
for _ in range(100):
    model.step(x, y)
print(round(float(((model.probability(x) > 0.5) == y).mean()), 3))
