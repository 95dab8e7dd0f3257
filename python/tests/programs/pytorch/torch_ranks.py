"""Two processes that exchange tensors: started by torchrun, or, with `spawn`, by `torch.multiprocessing`."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank: int, ranks: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    mine = torch.full((1000,), float(rank + 1))
    dist.all_reduce(mine)
    seed = torch.arange(10.0) if rank == 0 else torch.zeros(10)
    dist.broadcast(seed, 0)
    pieces = [torch.empty(1000) for _ in range(ranks)]
    dist.all_gather(pieces, mine)
    whole = torch.empty(1000 * ranks)
    dist.all_gather_into_tensor(whole, mine)
    dist.barrier()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(30, 20))
    model(torch.ones(4, 30)).sum().backward()
    total = sum(float(p.grad.sum()) for p in model.parameters())
    print(f"rank {rank}: {float(mine.sum())} {float(seed.sum())} {float(whole.sum())} {total:.3f}\n", end="", flush=True)
    dist.destroy_process_group()
    if len(sys.argv) > 2 and rank == 1:
        sys.exit(int(sys.argv[2]))


if __name__ == "__main__":
    if sys.argv[1] == "spawn":
        mp.spawn(work, args=(2,), nprocs=2)
    else:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
