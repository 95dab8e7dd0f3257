import os
import time

import torch


class Remote(torch.utils.data.Dataset):
    """Samples that take a while to come."""

    def __len__(self):
        return 8 * 40

    def __getitem__(self, i):
        time.sleep(0.004)
        return torch.full((64,), float(i)), i % 10


torch.manual_seed(0)
model = torch.nn.Linear(64, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(
    Remote(), batch_size=8, num_workers=int(os.environ.get("WORKERS", "4")), persistent_workers=True
)
for inputs, targets in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs.cuda()), targets.cuda())
    loss.backward()
    optimizer.step()
