"""300 equal steps in a loop of the kind that is named, and 20 products of 96×96 that are no part of them."""

import sys

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
what = sys.argv[1]
device = "cuda" if torch.cuda.is_available() else "cpu"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)

    def forward(self, given):
        return self.second(torch.relu(self.first(given)))


model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.ones(5, 8, device=device)
held_out = torch.ones(50, 8, device=device)
a = torch.full((96, 96), 1e-3, device=device)


def step(given):
    optimizer.zero_grad()
    loss = model(given).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def square():
    return a @ a


def squares(count):
    for _ in range(count):
        square()


class Trainer:
    """Calls back, as trainers do."""

    def __init__(self, steps):
        self.steps, self.done = steps, 0

    def fit(self, epochs=1):
        for _ in range(epochs):
            self.run_epoch()
            self.on_epoch_end()

    def run_epoch(self):
        for batch in self.batches():
            self.training_step(batch)

    def batches(self):
        for _ in range(self.steps):
            yield x

    def training_step(self, batch):
        step(batch)
        self.done += 1

    def on_epoch_end(self):
        pass


class Noisy(Trainer):
    """Computes between epochs."""

    def on_epoch_end(self):
        squares(2)


if what == "module":
    for _ in range(300):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
    for _ in range(20):
        b = a @ a
elif what == "while":
    count = 0
    while True:
        step(x)
        count += 1
        if count == 300:
            break
    squares(20)
elif what == "comprehension":
    losses = [step(x) for _ in range(300)]
    _ = [square() for _ in range(20)]
elif what == "map":
    list(map(step, [x] * 300))
    list(map(lambda _: square(), range(20)))
elif what == "generator":

    def losses():
        for _ in range(300):
            yield step(x)

    for _ in losses():
        pass
    squares(20)
elif what == "epochs":
    for epoch in range(10):
        for batch in range(30):
            step(x)
        squares(2)
elif what == "short_epochs":
    for epoch in range(100):
        for batch in range(3):
            step(x)
        if epoch % 5 == 0:
            square()
elif what == "validation":
    for epoch in range(10):
        model.train()
        for batch in range(30):
            step(x)
        model.eval()
        with torch.no_grad():
            model(held_out)
        squares(2)
elif what == "trainer":
    Trainer(300).fit()
    squares(20)
elif what == "noisy_trainer":
    Noisy(30).fit(10)
elif what == "branch":
    for number in range(300):
        step(x)
        if number >= 280:
            square()
elif what == "sometimes":
    for number in range(300):
        step(x)
        if number % 15 == 7:
            square()
elif what == "twice":
    Trainer(150).fit()
    squares(10)
    Trainer(150).fit()
    squares(10)
elif what == "raises":
    try:
        for number in range(1000):
            step(x)
            if number == 299:
                raise KeyError
    except KeyError:
        squares(20)
elif what == "inference":
    with torch.inference_mode():
        for _ in range(300):
            model(x)
        squares(20)
