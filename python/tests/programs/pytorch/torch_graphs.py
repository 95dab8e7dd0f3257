"""A step that is captured and replayed does what the step itself does, in the same memory."""

import torch


def training(replayed):
    torch.manual_seed(0)
    x, y = torch.randn(16, 8, device="cuda"), torch.randn(16, 4, device="cuda")
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    if not replayed:
        return [step().item() for _ in range(10)]
    for _ in range(3):
        step()
    graph = torch.cuda.CUDAGraph()
    assert not torch.cuda.is_current_stream_capturing()
    with torch.cuda.graph(graph):
        loss = step()
        assert torch.cuda.is_current_stream_capturing()
    losses = [loss.item()]
    for _ in range(6):
        graph.replay()
        losses.append(loss.item())
    return losses


assert training(True) == training(False)[3:]
print("the same")
