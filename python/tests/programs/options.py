"""Black-Scholes prices and a Monte-Carlo check of them."""

import math

import numpy as np


def cumulative(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * poly
    return np.where(x > 0, 1 - tail, tail)


spot = np.linspace(50, 150, 20_000)
strike, rate, sigma, years = 100.0, 0.03, 0.2, 1.0
d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
d2 = d1 - sigma * np.sqrt(years)
price = spot * cumulative(d1) - strike * np.exp(-rate * years) * cumulative(d2)
rng = np.random.default_rng(0)
end = 100 * np.exp((rate - sigma**2 / 2) * years + sigma * np.sqrt(years) * rng.standard_normal(100_000))
estimate = np.exp(-rate * years) * np.maximum(end - strike, 0).mean()
print(round(float(np.interp(100.0, spot, price)), 3), abs(float(estimate) - 9.4) < 0.5)
