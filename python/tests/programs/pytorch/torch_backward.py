"""What a script does within a backward pass, and asks of a GPU's memory and streams."""

import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print(x.device, grad.device, grad.is_cuda)
        return grad * 2 * x.to("cuda")


x = torch.ones(3).cuda().requires_grad_()
x.register_hook(lambda grad: print("hook", grad.device))
Square.apply(x).sum().backward()
print(torch.autograd.grad(Square.apply(x).sum(), x)[0].device)
print(x.type(), x.detach().cpu().type(), x.detach().type("torch.cuda.DoubleTensor").dtype)

torch.cuda.reset_accumulated_memory_stats()
stats = torch.cuda.memory_stats()
print(stats["reserved_bytes.all.peak"] >= stats["allocated_bytes.all.current"] > 0, stats["num_ooms"])
print(torch.cuda.Stream().device)
torch.cuda.set_per_process_memory_fraction(0.001)
try:
    torch.zeros(100 << 20, dtype=torch.uint8).cuda()
except torch.cuda.OutOfMemoryError:
    print("out of memory")
