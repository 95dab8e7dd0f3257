"""Events in order of time: each depends on the one before, and there are no arrays."""

import heapq
import random

random.seed(5)
events, waiting, busy, served = [(0.0, "comes")], 0, False, 0
while events and served < 5000:
    now, kind = heapq.heappop(events)
    if kind == "comes":
        waiting += 1
        heapq.heappush(events, (now + random.expovariate(1.0), "comes"))
    else:
        busy, served = False, served + 1
    if waiting and not busy:
        waiting, busy = waiting - 1, True
        heapq.heappush(events, (now + random.expovariate(1.2), "goes"))
print(served)
