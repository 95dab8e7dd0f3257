"""What networks and data sets do by themselves, within what a training loop calls."""

import torch
from torch.overrides import TorchFunctionMode
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
seen = []
class Mine(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(func == torch.Tensor.to)
        return func(*args, **(kwargs or {}))
class Rows(torch.utils.data.Dataset):
    def __init__(self): self.rows = torch.randn(64, 16)
    def __len__(self): return 64
    def __getitem__(self, i): return self.rows[i].to(device), torch.tensor(float(i % 4), device=device)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out, self.norm = torch.nn.Linear(16, 32), torch.nn.Linear(32, 4), torch.nn.BatchNorm1d(32)
        self.calls, self.told = 0, 0.0
    def forward(self, x):
        self.calls += 1
        if self.calls == 70:
            raise ValueError("once")
        places = torch.arange(x.shape[0], device=x.device)
        noise = torch.randn_like(x) + torch.randn(x.shape, device=x.device) + torch.zeros_like(x, device=x.device)
        h = torch.nn.functional.dropout(self.norm(self.into(x + 0.01 * noise)), 0.1, self.training)
        q = h.view(1, 2, -1, 16)
        h = h + torch.nn.functional.scaled_dot_product_attention(q, q, q).reshape(h.shape)
        h[0] = 0.5
        self.told += h.mean().item()
        if self.calls % 40 == 0:
            seen.append(h.sum().cpu().device.type)
            with Mine():
                seen.append((x.is_cuda, x.to("cpu").device.type, torch.ones(2, device=device).device.type))
        return self.out(h) + places[:, None].to(h.dtype).detach() * 0
net = Net().to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(Rows(), batch_size=8, shuffle=True)
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        try:
            loss = torch.nn.functional.cross_entropy(net(x), y.long())
        except ValueError as error:
            seen.append(str(error))
            continue
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
print(net.calls, round(net.told, 4), round(loss.item(), 5), seen[:6], len(seen), x.device.type, net.out.weight.grad.device)
