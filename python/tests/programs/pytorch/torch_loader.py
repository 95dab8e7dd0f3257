"""A loader whose data set works with NumPy: alone, or with a process, and a thread that pins memory."""

import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

BATCHES, BATCH = 40, 4


class Roots(Dataset):
    def __len__(self):
        return BATCHES * BATCH

    def __getitem__(self, i):
        x = np.full(20_000, float(i))
        for _ in range(10):
            x = np.sqrt(x)
        return torch.from_numpy(x[:64].astype(np.float32)), i % 3


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = Roots()
    # Not in a loader, by the very lines that are in it later.
    for i in range(5):
        data[i]
    options = {"num_workers": 1, "pin_memory": True} if "pinned" in sys.argv else {}
    model = torch.nn.Linear(64, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    pinned = []
    time.perf_counter()
    for _ in range(2):
        for x, y in DataLoader(data, batch_size=BATCH, **options):
            pinned.append(x.is_pinned() and y.is_pinned())
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    time.perf_counter()
    print(len(pinned), all(pinned), f"{loss.item():.4f}")
