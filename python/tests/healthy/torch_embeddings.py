"""PyTorch: all words are looked up and compared in one product, in half precision, and only the best leave the GPU."""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
words = torch.nn.functional.normalize(torch.rand(20_000, 256, device=device), dim=1).bfloat16()
asked = words[:64]
with torch.inference_mode():
    best = (asked @ words.T).topk(5, dim=1).indices
print(best.cpu().shape)
