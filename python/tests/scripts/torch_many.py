import torch, warnings, sys, threading, multiprocessing as mp
import torch.nn as nn, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
def main():
    torch.manual_seed(1); torch.set_num_threads(1)
    # What torch.compile says of Python 3.13.0 it says of code that it compiles, which is not when it is recorded.
    warnings.filterwarnings('ignore','Guards may run slower')
    ds=TensorDataset(torch.randn(64,3,16,16), torch.randint(0,4,(64,)))
    net=nn.Sequential(nn.Conv2d(3,8,3,padding=1),nn.BatchNorm2d(8),nn.ReLU(),nn.AdaptiveAvgPool2d(1),nn.Flatten(),nn.Linear(8,4)).to(memory_format=torch.channels_last)
    opt=torch.optim.AdamW(net.parameters(),foreach=True)
    for ep in range(2):
        for x,y in DataLoader(ds,batch_size=16,num_workers=2,shuffle=True):
            opt.zero_grad(); l=F.cross_entropy(net(x.to(memory_format=torch.channels_last)),y); l.backward(); nn.utils.clip_grad_norm_(net.parameters(),1.0); opt.step()
            print(f"{l.item():.6f}")
    lin=nn.Linear(4,4); c=torch.compile(lin); print(c(torch.ones(2,4)).sum())
    z=torch.randn(2,4,requires_grad=True); checkpoint(lin,z,use_reentrant=False).sum().backward(); print(z.grad)
    with torch.inference_mode(): print(lin(torch.ones(1,4)))
    sc=torch.jit.script(nn.ReLU()); print(sc(torch.tensor([-1.,2.])))
    with torch.autocast('cpu',dtype=torch.bfloat16): print(lin(torch.ones(1,4)).dtype)
    q=torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4,4)),{nn.Linear}) if hasattr(torch.ao.quantization,'quantize_dynamic') else None
    if q is not None: print(q(torch.ones(1,4)).shape)
    print(torch.nested.nested_tensor([torch.ones(2),torch.ones(3)]).is_nested)
    sp=torch.eye(3).to_sparse(); print((sp@torch.ones(3,1)).sum())
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx,x): ctx.save_for_backward(x); return torch.from_numpy(__import__('numpy').sin(x.detach().numpy()))
        @staticmethod
        def backward(ctx,g): return g*ctx.saved_tensors[0].cos()
    a=torch.ones(3,requires_grad=True); Fn.apply(a).sum().backward(); print(a.grad)
    t=threading.Thread(target=lambda: print(torch.ones(2).add(1))); t.start(); t.join()
    torch.ones(3,3).T.resize_(2) if False else None
    try: torch.ones(2)+torch.ones(3)
    except RuntimeError as e: print(e)
    torch.range(0,2)   # warns
    torch.ones(2,3) @ torch.ones(4,5)
if __name__=='__main__': main()
