import os

import torch

torch.manual_seed(0)
torch.distributed.init_process_group()
x = torch.randn(8192, 1024).chunk(2)[torch.distributed.get_rank()]
model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4)))
device = torch.device(f"cuda:{os.environ['LOCAL_RANK']}" if torch.cuda.is_available() else "cpu")
x, model = x.to(device), torch.nn.parallel.DistributedDataParallel(model.to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(8):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
torch.distributed.destroy_process_group()
