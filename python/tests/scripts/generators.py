import asyncio
import contextlib

import numpy as np


@contextlib.contextmanager
def scaled(a):
    try:
        yield a * 2
    finally:
        print("closed")


async def step(i):
    await asyncio.sleep(0)
    return np.full(2, i).sum()


async def main():
    print(await asyncio.gather(*[step(i) for i in range(3)]))
    return [x async for x in stream()]


async def stream():
    for i in range(2):
        yield np.arange(i + 1).max()


with scaled(np.ones(2)) as s:
    print(s)
print(asyncio.run(main()))
print(sum(x**2 for x in np.arange(4)), max(np.arange(3)), [*map(float, np.ones(2))])
