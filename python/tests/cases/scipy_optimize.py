"""`scipy.optimize` calls a Python function of three numbers thousands of times.

main reason on t4: host-bound
"""

from scipy.optimize import minimize


def valley(p):
    x, y, z = p
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2 + 100 * (z - y * y) ** 2


for start in range(40):
    found = minimize(valley, [start * 0.1, 1.5, 0.5], method="Nelder-Mead")
print(found.success)
