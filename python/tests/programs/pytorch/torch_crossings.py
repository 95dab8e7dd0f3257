"""What scripts bring across the link, or read, in each step of a loop: one way to a line."""

import copy
import math

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(0)
has_gpu = torch.cuda.is_available()
gpu = torch.device("cuda" if has_gpu else "cpu")
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).to(gpu)
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
average = copy.deepcopy(net)
x, table = torch.randn(4, 8), torch.arange(12).view(4, 3)
weights, names = np.array([1.0, 2.0, 3.0], dtype=np.float32), list("abcdefgh")
of_host, of_gpu, total = torch.zeros(40), torch.zeros(40, device=gpu), torch.zeros((), device=gpu)
rows, pinned = torch.empty(4, 3), torch.empty(4, 3, pin_memory=has_gpu)
for step in range(40):
    there = x.to(gpu, non_blocking=True)
    y = torch.tensor([0, 1, 2, 1], device=gpu)
    out = net(there)
    loss = F.cross_entropy(out, y, weight=torch.tensor(weights, device=gpu))
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    result = out.detach()
    # Into tensors of either side.
    of_host[step] = loss.detach()
    of_gpu[step] = step * 0.5
    of_gpu[step] = torch.tensor(3.0)
    rows[:] = result
    rows.copy_(result)
    pinned.copy_(result, non_blocking=True)
    total += loss.detach()
    zeros = torch.zeros(4, 3, device=gpu)
    torch.zeros(4, 3)[1] = result[0]
    zeros[1] = torch.ones(3)
    zeros[0, 0] = 1.0
    zeros[1:3] = torch.ones(2, 3)
    zeros[..., 0] = 2.0
    zeros[zeros == 0] = 5.0
    zeros[[0, 1]] = 5.0
    zeros[y] = 5.0
    zeros[torch.tensor([0, 1])] = 5.0
    # One number, or many.
    print(loss.item())
    print(float(loss) + float(norm))
    print(bool((out.argmax(1) == y).any()))
    if torch.isnan(loss):
        break
    if out.max() > 1e9:
        break
    print(names[y[0]], names[int(y[1])])
    print(math.sqrt(abs(loss)))
    print(f"{loss:.4f} {loss.item():.2f}")
    print(str(y))
    print(y.sum().item() / len(y))
    print([number.item() for number in y])
    print(np.mean([number.item() for number in out[0]]))
    print(y.tolist()[0] in y)
    print(max(out[0]) > 1e9)
    print(torch.equal(y, y.clone()), torch.allclose(out, out))
    print(complex(loss.detach()))
    print(of_gpu[:20].mean().item())
    # To the host.
    array = result.cpu().numpy()
    np.asarray(result.cpu())
    result.numpy(force=True)
    torch.stack([loss.detach(), norm]).cpu()
    torch.tensor([loss.item(), norm.item()])
    torch.tensor([loss.detach(), norm]) if has_gpu else None  # a CPU looks into their memory
    result.to("cpu", torch.float64)
    result.double().cpu()
    result.to("cpu", non_blocking=True)
    print(result.cpu().tolist())
    print(loss.detach().cpu().item())
    print(result[0].cpu()[1].item())
    {name: value.detach().cpu() for name, value in net.state_dict().items()}
    table[y.cpu()]
    torch.nonzero(y == 1, as_tuple=True)[0].tolist()
    # To the GPU.
    torch.from_numpy(array).to(gpu)
    torch.as_tensor(array, device=gpu)
    out.new_tensor([1.0, 2.0])
    torch.tensor([1, 2, 3]).cuda() if has_gpu else None
    torch.empty(4, 3).to(out)
    torch.zeros(3).type_as(out)
    torch.zeros(3).to(out.device)
    torch.arange(3).to(y)
    torch.arange(3).type_as(other=y)
    table.to(gpu)[y]
    torch.cat([torch.zeros(1, 3).to(gpu), out])
    (torch.rand(3).pin_memory() if has_gpu else torch.rand(3)).to(gpu, non_blocking=True)
    torch.tensor(step, device=gpu)
    # As keys, and beside others.
    out[[0, 1]]
    out[torch.tensor([0, 1])]
    out[y == 1]
    out[torch.tensor([True, False, True, False])]
    out[torch.randperm(4)]
    out * torch.tensor(2.0)
    result.clone().fill_(torch.tensor(1.0))
    out.masked_fill(out > 0, torch.tensor(0.5))
    F.one_hot(y)
    torch.unique(y)
    torch.bincount(y, minlength=3)
    torch.masked_select(out, y[:, None] > 0)
    torch.repeat_interleave(y, 2)
    average.load_state_dict(net.state_dict())
# What the loop made the like of on the GPU is the host's all the same.
print(torch.from_numpy(np.ones((4, 3), dtype=np.float32)).to(out).sum().item())
