"""Monte-Carlo price of an Asian option: a million paths of 50 steps.

Expect: a clear win for the GPU once warm: random numbers and element-wise work, nothing to copy.
"""
import numpy as np

PATHS, STEPS = 1_000_000, 50
rng = np.random.default_rng(1)
step = 1.0 / STEPS
log_price = np.full(PATHS, np.log(100.0))
total = np.zeros(PATHS)
for _ in range(STEPS):
    log_price += (0.05 - 0.5 * 0.2**2) * step + 0.2 * np.sqrt(step) * rng.standard_normal(PATHS)
    total += np.exp(log_price)
payoff = np.maximum(total / STEPS - 100.0, 0.0)
print(f"price {np.exp(-0.05) * payoff.mean():.4f} ± {np.exp(-0.05) * payoff.std() / PATHS**0.5:.4f}")
