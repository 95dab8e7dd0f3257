import numpy as np

sieve = np.ones(50_000, dtype=bool)
sieve[:2] = False
for i in range(2, 224):
    if sieve[i]:
        sieve[i * i :: i] = False
print(int(sieve.sum()))
