"""Asks for nearly all the memory that is left, and touches none of it."""

import torch

with open("/proc/meminfo") as file:
    left = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
weights = torch.empty(left - (128 << 20), dtype=torch.uint8)
