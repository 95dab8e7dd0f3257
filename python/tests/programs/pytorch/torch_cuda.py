"""What a script written for a GPU does with it."""

import torch

assert torch.cuda.is_available() and torch.cuda.device_count() == 1
properties = torch.cuda.get_device_properties(0)
print(properties.name, properties.total_memory, properties.multi_processor_count, torch.cuda.get_device_capability())
gpu = torch.device("cuda")

kept = []
try:
    while True:
        kept.append(torch.empty(1 << 28, device=gpu))
except torch.cuda.OutOfMemoryError as error:
    print(len(kept), torch.cuda.memory_allocated() >> 30, str(error).startswith("CUDA out of memory. Tried to allocate"))
kept.clear()
print(torch.cuda.memory_allocated())

x = torch.arange(12.0).reshape(3, 4).pin_memory().to(gpu, non_blocking=True)  # 48 bytes in
y = x.cpu()  # 48 bytes out
total = x.sum().item()  # 4 bytes out, and a wait
print(total, y.sum().item(), x.device, y.device, x.is_cuda, torch.zeros_like(x).device)
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    z = x * 2
stream.synchronize()
torch.cuda.synchronize()
for wrong in (lambda: x + torch.ones(3, 4), lambda: x.numpy()):
    try:
        wrong()
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__, str(error)[:40])
print(z[0])  # a view: its 48 bytes of memory, 16 of them shown
generator = torch.Generator(device="cuda").manual_seed(1)
drawn = torch.randn(4, device=gpu, generator=generator)
assert isinstance(generator, torch.Generator) and isinstance(torch.default_generator, torch.Generator)
assert drawn.is_cuda and generator.initial_seed() == 1
