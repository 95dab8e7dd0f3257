"""A network asked for all rows at once, in bfloat16, without gradients; the answer is copied back once."""

import torch

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
model = model.to(device, torch.bfloat16).eval()
with torch.inference_mode():
    rows = torch.randn(4096, 256, device=device, dtype=torch.bfloat16)
    best = model(rows).argmax(dim=1).cpu()
print(int(best.sum()) >= 0, best.shape[0])
