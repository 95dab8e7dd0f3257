"""Every way of copying between host and GPU that one line may have, the bytes beside it."""

import copy
import io
import tempfile

import numpy as np
import torch

a = np.ones((100, 10), np.float32)
x = torch.from_numpy(a).cuda()  # in 4000
y = torch.as_tensor(a, device="cuda")  # in 4000
z = torch.tensor([1.0, 2.0, 3.0]).cuda()  # in 12
m = torch.nn.Linear(10, 5).to("cuda", dtype=torch.float16)  # in 100, 10: what is converted is so first
h = x.half().cpu()  # out 2000
print(float(x.sum()), int((x > 0).sum()), x[0, 0].item())  # out 4, 8, 4
if (x > 0).any():  # out 1
    v = x[0].tolist()  # out 40
k = x[[0, 1, 2]]  # in 24
i = x[torch.tensor([0, 5]).cuda()]  # in 16
b = x[torch.arange(100) < 3]  # in 24: the positions that the mask names
x[0] = 5.0
c = copy.deepcopy(m)
n = x.cpu().numpy()  # out 4000
f = z.numpy(force=True)  # out 12
w = torch.zeros(10, device="cuda")
w.copy_(torch.arange(10.0))  # in 40
v = torch.empty(10)
v.copy_(w)  # out 40
with tempfile.TemporaryDirectory() as folder:
    torch.save({"w": w, "again": w, "host": v}, f"{folder}/w.pt")  # out 40
    print(torch.load(f"{folder}/w.pt")["again"].device)  # in 40
    print(torch.load(f"{folder}/w.pt", map_location="cpu")["w"].device)
torch.save(m.state_dict(), io.BytesIO())  # out 100, 10
p = torch.randn(25, pin_memory=True)
print(p.is_pinned(), p.to("cuda", non_blocking=True).device)  # in 100
