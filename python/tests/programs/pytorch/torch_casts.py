"""Copies across the link that change the type: the host converts where it waits, the GPU where it does not."""

import torch

d = torch.ones(100, 10, dtype=torch.float64)
f = torch.ones(100, 10)
there, short = d.cuda(), f.cuda()  # in 8000, 4000

d.to("cuda", torch.float32)  # in 4000: converted first
d.to("cuda", torch.float32, non_blocking=True)  # in 8000: and then converted
f.to("cuda", torch.float64)  # in 8000
f.to("cuda", torch.float64, non_blocking=True)  # in 4000
f.type("torch.cuda.DoubleTensor")  # in 8000

w = there.to("cpu", torch.float32)  # out 8000: and then converted
there.to("cpu", torch.float32, non_blocking=True)  # out 4000: converted first
short.to("cpu", torch.float64)  # out 4000
short.to("cpu", torch.float64, non_blocking=True)  # out 8000
there.type(torch.FloatTensor)  # out 8000
there.to(f)  # out 8000

short.copy_(d)  # in 4000
short.copy_(d, non_blocking=True)  # in 8000
there.copy_(f[0])  # in 8000: as many as are written
f.copy_(there)  # out 8000
f.copy_(there, non_blocking=True)  # out 4000
d.copy_(short[0], non_blocking=True)  # out 8000

g = f.to("cuda", copy=True)  # in 4000: one copy
image = torch.ones(2, 3, 4, 5).to("cuda", memory_format=torch.channels_last)  # in 480: laid out there
print(w.dtype, w.device, w.numpy().sum(), g.device, image.device, image.is_contiguous(memory_format=torch.channels_last))
