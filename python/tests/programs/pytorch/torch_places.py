"""Where the results of PyTorch's API are, as a GPU has them: most `cuda:0`, whatever PyTorch makes on its way."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
G = "cuda"


def told(what: str, *tensors: torch.Tensor) -> None:
    print(what, *sorted({str(tensor.device) for tensor in tensors}))


lstm = nn.LSTM(8, 16, batch_first=True).to(G)
sequences, lengths = [torch.randn(n, 8) for n in (7, 5, 3)], torch.tensor([7, 5, 3])
x = pad_sequence(sequences, batch_first=True).to(G)
y, n = pad_packed_sequence(lstm(pack_padded_sequence(x, lengths, batch_first=True))[0], batch_first=True)
told("lstm", y)
told("lengths", n)
log_probabilities = torch.randn(50, 3, 20, device=G).log_softmax(2)
told("ctc", nn.CTCLoss()(log_probabilities, torch.randint(1, 20, (3, 10)), torch.full((3,), 50), torch.full((3,), 10)))
try:
    x @ torch.randn(8, 8)
except RuntimeError as error:
    print(str(error)[:39])

attention = nn.MultiheadAttention(32, 4, batch_first=True, add_zero_attn=True).to(G)
x = torch.randn(2, 5, 32, device=G)
padding = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]).bool().to(G)
mask = nn.Transformer.generate_square_subsequent_mask(5, device=G).bool()
told("attention", *attention(x, x, x, key_padding_mask=padding, attn_mask=mask))
transformer = nn.Transformer(32, 4, 1, 1, 64, batch_first=True).to(G)
y = transformer(x, x, tgt_is_causal=True, tgt_mask=mask)
y.sum().backward()
told("transformer", y, *(parameter.grad for parameter in transformer.parameters()))

z = torch.rand(4, 6, device=G, requires_grad=True)
parts = [z[:, [0, 2]], z[1], z.gather(1, torch.zeros(4, 1, dtype=torch.long, device=G)), F.unfold(z[None, None], 2)]
parts += [z.max(1)[0], z.cumsum(0), z.logsumexp(1), z.sort()[0][:, 0], torch.einsum("ij,kj->ik", z, z), z.prod(), z.std()]
torch.stack([part.sum() for part in parts]).sum().backward()
told("gradient", z.grad)
for kind, words in ((torch.optim.SGD, {"momentum": 0.9}), (torch.optim.LBFGS, {}), (torch.optim.AdamW, {"capturable": True})):
    optimizer = kind([z], lr=0.1, **words)
    optimizer.step(lambda: (z**2).sum().requires_grad_())
    told(kind.__name__, *(v for state in optimizer.state.values() for v in state.values() if hasattr(v, "device")))
told("one_hot", F.one_hot(torch.tensor([1, 2], device=G), 4))
told("stft", torch.stft(torch.rand(999, device=G), 64, window=torch.hann_window(64, device=G), return_complex=True))
told("sample", torch.distributions.Categorical(logits=torch.zeros(3, device=G)).sample())
told("jacobian", torch.autograd.functional.jacobian(lambda v: v**2, torch.ones(3, device=G)))
told("checkpoint", torch.utils.checkpoint.checkpoint(lambda v: v.sin(), z, use_reentrant=False))
graph = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2)).to(G)
told("sparse", graph @ torch.ones(2, 2, device=G))
try:
    np.asarray(x)
except TypeError as error:
    print(str(error)[:39])
