"""A known network, inference and a training step; prints its FLOP as counted by hand.

With a second argument `counter`: a training step alone, and its FLOP as counted by PyTorch's own counter.

A convolution or layer costs 2 FLOP for each weight and output position; its backward pass the same for the gradient of
the weight and, unless its input is the network's, for the gradient of the input. Attention: two products forward, five
backward (FlashAttention-2 recomputes the scores); under a causal mask half of the pairs and the diagonal.
"""

import json
import sys

import torch
from torch import nn

torch.manual_seed(0)


def resnet50():
    from torchvision.models import resnet50

    # He et al.: 4.09 G multiply-adds with the projection shortcuts; all layers are convolutions but the last.
    stages = [(64, 256, 56, 3), (128, 512, 28, 4), (256, 1024, 14, 6), (512, 2048, 7, 3)]
    first = 112 * 112 * 64 * 3 * 49
    total, width = first, 64
    for inner, outer, size, blocks in stages:
        for block in range(blocks):
            before = size * 2 if block == 0 and inner > 64 else size  # version 1.5: the 3×3 convolution strides
            total += before**2 * width * inner + size**2 * inner * inner * 9 + size**2 * inner * outer
            if block == 0:
                total += size**2 * width * outer
            width = outer
    total += 2048 * 1000
    batch = 2
    image = torch.randn(batch, 3, 224, 224)
    return resnet50(), (image,), 2 * batch * total, 2 * batch * (2 * total - first), None


def _encoder(batch, length, width, inner, layers, causal=False):
    products = layers * batch * length * 2 * (4 * width * width + 2 * width * inner)
    pairs = length * (length + 1) / 2 if causal else length * length
    scores = layers * batch * 2 * pairs * width
    return products + 2 * scores, 2 * products + 5 * scores


def vit_b_16():
    from torchvision.models import vit_b_16

    batch, length, width = 2, 197, 768
    forward, backward = _encoder(batch, length, width, 3072, 12)
    patches = 2 * batch * 196 * 3 * 16 * 16 * width
    head = 2 * batch * width * 1000
    image = torch.randn(batch, 3, 224, 224)
    return vit_b_16(), (image,), forward + patches + head, backward + patches + 2 * head, None


def bert():
    from transformers import BertConfig, BertModel

    batch, length, width = 2, 128, 768
    forward, backward = _encoder(batch, length, width, 3072, 12)
    pooler = 2 * batch * width * width
    tokens = torch.randint(0, 30000, (batch, length))
    # With drop-out of its scores PyTorch's CPU takes them apart into products, which keeps them and makes four of five.
    model = BertModel(BertConfig(attention_probs_dropout_prob=0.0))
    return model, (tokens,), forward + pooler, backward + 2 * pooler, lambda out: out.pooler_output


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    batch, length, width, words = 1, 256, 768, 50257
    forward, backward = _encoder(batch, length, width, 3072, 12, causal=True)
    head = 2 * batch * length * width * words
    tokens = torch.randint(0, words, (batch, length))
    model = GPT2LMHeadModel(GPT2Config(use_cache=False, attn_pdrop=0.0))
    return model, (tokens,), forward + head, backward + 2 * head, lambda out: out.logits


class UNet(nn.Module):
    """Two levels down and up again, as Ronneberger et al. 2015, padded."""

    def __init__(self):
        super().__init__()
        double = lambda i, o: nn.Sequential(  # noqa: E731
            nn.Conv2d(i, o, 3, padding=1), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.ReLU()
        )
        self.down = nn.ModuleList([double(3, 16), double(16, 32)])
        self.middle = double(32, 64)
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.join = nn.ModuleList([double(64, 32), double(32, 16)])
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([up(x), kept.pop()], 1))
        return self.last(x)


def unet():
    size, batch = 64, 2
    conv = lambda i, o, s: s * s * i * o * 9  # noqa: E731
    first = conv(3, 16, size)
    total = first + conv(16, 16, size) + conv(16, 32, size // 2) + conv(32, 32, size // 2)
    total += conv(32, 64, size // 4) + conv(64, 64, size // 4)
    total += (size // 4) ** 2 * 64 * 32 * 4 + conv(64, 32, size // 2) + conv(32, 32, size // 2)
    total += (size // 2) ** 2 * 32 * 16 * 4 + conv(32, 16, size) + conv(16, 16, size) + size * size * 16 * 2
    image = torch.randn(batch, 3, size, size)
    return UNet(), (image,), 2 * batch * total, 2 * batch * (2 * total - first), None


def lstm():
    steps, batch, features, state = 32, 8, 64, 128
    layers = [steps * batch * 4 * state * (width + state) for width in (features, state)]
    text = torch.randn(steps, batch, features)
    # Its gradient is one op, which counts the gradient of the input also where nobody asks for it.
    return nn.LSTM(features, state, 2), (text,), 2 * sum(layers), 4 * sum(layers), lambda out: out[0]


def gru():
    steps, batch, features, state = 20, 6, 48, 96
    both = [2 * steps * batch * 3 * state * (width + state) for width in (features, 2 * state)]
    text = torch.randn(steps, batch, features)
    network = nn.GRU(features, state, 2, bidirectional=True)
    return network, (text,), 2 * sum(both), 4 * sum(both), lambda out: out[0]


def counted(model, given, result):
    from torch.utils.flop_counter import FlopCounterMode, flop_registry

    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with forward:
        loss = result(model(*given)).sum()
    with backward:
        loss.backward()
    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu in flop_registry
    told = {"forward": forward.get_total_flops(), "backward": backward.get_total_flops()}
    print(json.dumps(told | {"knows_attention": attention}))


def main(name, what="hand"):
    model, given, forward, backward, result = globals()[name]()
    result = result or (lambda out: out)
    if what == "counter":
        return counted(model, given, result)
    with torch.no_grad():
        model(*given)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    result(model(*given)).sum().backward()
    optimizer.step()
    print(json.dumps({"forward": forward, "backward": backward}))


main(*sys.argv[1:])
