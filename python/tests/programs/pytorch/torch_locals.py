"""What the variables of a function hold, and until when, where tensors are made, moved and copied."""

import weakref

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def gone(net):
    """Which of these are gone as soon as their variable is."""
    held = torch.ones(64, 64)
    device = next(net.parameters()).device
    found = []
    for how in range(5):
        value = torch.ones(64, 64)
        alive = weakref.ref(value)
        if how == 1:
            torch.zeros(3, device=device)
        elif how == 2:
            value.view(-1)[:5].cpu()
        elif how == 3:
            held.sum().item()
        elif how == 4:
            (net(value).sum() + held.to(device)[0, 0]).backward()
        del value
        found.append(alive() is None)
    return found


def looked_at():
    """What a function sees of its variables later than it asked for them."""
    seen, flat = locals(), torch.ones(9).view(3, 3)
    flat.view(-1).cpu()
    torch.zeros(3, device=device)
    return sorted(seen)


def executed():
    """What code that is no function's leaves in it."""
    flat = torch.ones(9).view(3, 3)
    exec("kept = 5")
    flat[0].cpu()
    torch.zeros(3, device=device)
    return eval("kept")


def outer(flat):
    inner(flat[0])
    return flat.sum().item()


def inner(row):
    return row.cpu()


def calls():
    value, row = torch.ones(8, 8), 5
    alive = weakref.ref(value)
    outer(value)
    del value
    return alive() is None, row


print(gone(torch.nn.Linear(64, 2).to(device)), looked_at(), executed(), calls())
