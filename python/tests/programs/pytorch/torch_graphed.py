"""A network whose passes are graphs, by PyTorch's own `make_graphed_callables`."""
import torch

torch.manual_seed(0)
x, y = torch.randn(16, 8, device="cuda"), torch.randn(16, 4, device="cuda")
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)).cuda()
plain = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)).cuda()
plain.load_state_dict(model.state_dict())
graphed = torch.cuda.make_graphed_callables(model, (torch.randn(16, 8, device="cuda"),))


def train(network):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


assert train(graphed) == train(plain)
print("the same")
