"""Every item is made anew in Python while the network waits."""
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 640
    def __getitem__(self, i):
        torch.manual_seed(i)
        rows = torch.stack([torch.randn(3, 32, 32) for _ in range(20)])
        return rows.mean(0), i % 10

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
criterion = torch.nn.CrossEntropyLoss()
for x, y in DataLoader(Slow(), batch_size=32):
    optimizer.zero_grad()
    loss = criterion(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
print("done")
