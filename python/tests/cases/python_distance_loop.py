"""Pairs of points in two nested loops of Python: no array work to take over.

main reason on t4: host-bound
"""

import math

points = [(i * 0.37 % 1, i * 0.73 % 1) for i in range(700)]
nearest = []
for ax, ay in points:
    nearest.append(min(math.hypot(ax - bx, ay - by) for bx, by in points if (ax, ay) != (bx, by)))
print(len(nearest))
