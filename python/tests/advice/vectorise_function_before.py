import numpy as np


def payoff(price, strike):
    if price > strike:
        return price - strike
    return 0.0


prices = np.random.default_rng(0).normal(100.0, 20.0, 1_000_000)
strikes = np.linspace(80.0, 120.0, 1_000_000)
paid = np.vectorize(payoff)(prices, strikes)
print(paid.mean())
