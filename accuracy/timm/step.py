"""One model of timm in a loop of steps, as timm's own benchmark times it: forward alone, or a whole training step."""

import argparse
import time

import timm
import timm.layers
import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--warm", type=int, default=4)
    parser.add_argument("--steps", type=int, default=4)
    given = parser.parse_args()

    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    layout = torch.channels_last if given.channels_last else torch.contiguous_format
    if given.train:
        timm.layers.set_fused_attn(False)
    model = timm.create_model(given.model, pretrained=False).to("cuda", memory_format=layout)
    images = torch.randn(given.batch, 3, given.size, given.size, device="cuda").contiguous(memory_format=layout)

    if given.train:
        model.train()
        labels = torch.randint(0, 1000, (given.batch,), device="cuda")
        loss_of = torch.nn.CrossEntropyLoss().to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

        def step() -> None:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
    else:
        model.eval()

        def step() -> None:
            with torch.inference_mode(), torch.autocast("cuda", dtype=torch.float16):
                model(images)
            torch.cuda.synchronize()

    for _ in range(given.warm):
        step()
    began = time.perf_counter()
    for _ in range(given.steps):
        step()
    print(f"{(time.perf_counter() - began) / given.steps:.4f} s a step")


main()
