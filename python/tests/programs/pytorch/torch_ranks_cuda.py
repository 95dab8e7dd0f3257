"""Training on one GPU a rank, as it is written for a machine that has them: started by torchrun."""

import os

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.set_num_threads(1)
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
net = torch.nn.Linear(10, 2).cuda(rank)
model = torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(8, 10, device=f"cuda:{rank}")).sum().backward()
    optimizer.step()
ones = torch.ones(4, device="cuda")
dist.all_reduce(ones)
objects = [None, None]
dist.all_gather_object(objects, {"rank": rank, "much": "." * 9999})
told = [thing["rank"] for thing in objects]
print(f"rank {rank} of {torch.cuda.device_count()}: {float(ones[0])} {net.weight.is_cuda} {told}\n", end="", flush=True)
dist.destroy_process_group()
