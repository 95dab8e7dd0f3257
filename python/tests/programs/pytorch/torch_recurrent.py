"""Recurrent layers of every kind, forward and back: what a script gets does not depend on who looks."""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
place = sys.argv[2] if len(sys.argv) > 2 else "cpu"
text = torch.randn(6, 3, 8).to(place)
which = sys.argv[1]
if which == "packed":
    layer = nn.GRU(8, 16).to(place)
    out, _ = layer(pack_padded_sequence(text, [6, 4, 1]))
    rows, lengths = pad_packed_sequence(out, batch_first=True, total_length=7)
    print(rows.shape, lengths.tolist())
    out = rows
elif which == "states":
    layer = nn.LSTM(8, 16, 2).to(place)
    out = layer(pack_padded_sequence(text, [6, 4, 1]))[1][0][-1] + layer(text)[1][1][-1]
elif which == "projected":
    layer = nn.LSTM(8, 16, 2, proj_size=4, bidirectional=True).to(place)
    out, _ = layer(text)
elif which == "first":
    layer = nn.RNN(8, 16, nonlinearity="relu", batch_first=True, bias=False).to(place)
    out, _ = layer(text)
elif which == "hooked":
    layer = nn.GRU(8, 16).to(place)
    out, _ = layer(text)
    out.register_hook(lambda gradient: gradient.clamp(-1, 1))
elif which == "again":
    layer = nn.GRU(8, 16).to(place)
    out = torch.utils.checkpoint.checkpoint(lambda x: layer(x)[0], text, use_reentrant=False)
elif which == "compiled":

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.LSTM(8, 16)

        def forward(self, x: torch.Tensor):
            return self.inner(x)[0]

    layer = torch.jit.script(Last().to(place))
    out = layer(text)
elif which == "twice":
    layer = nn.RNN(8, 16).to(place)
    out, _ = layer(text)
    out.sum().backward(retain_graph=True)
elif which == "half":
    layer = nn.GRU(8, 16).to(place)
    with torch.autocast(torch.device(place).type, dtype=torch.bfloat16):
        out, _ = layer(text)
elif which == "asked":
    layer = nn.GRU(8, 16).to(place)
    with torch.inference_mode():
        out, _ = layer(text)
    print(out.sum().item())
    sys.exit()
else:
    layer = getattr(nn, which)(8, 16, 2, dropout=0.5, bidirectional=True).to(place)
    out, _ = layer(text)
out.float().square().sum().backward()
print(out.shape, sum(p.grad.abs().sum().item() for p in layer.parameters()))
