"""A network whose weights are sharded over the ranks, and one whose layers are: each as it is written for GPUs."""

import os

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

mesh = init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]),))
torch.set_num_threads(1)
torch.cuda.set_device(rank := dist.get_rank())
sharded = torch.nn.Sequential(torch.nn.Linear(100, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10)).cuda()
fully_shard(sharded[0])
fully_shard(sharded)
layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)).cuda()
split = parallelize_module(layers, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
for model, width in ((sharded, 100), (split, 64)):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        model(torch.randn(32, width, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
print(f"rank {rank} of 2: {sharded[0].weight.device} {split[0].weight.device}\n", end="", flush=True)
dist.destroy_process_group()
