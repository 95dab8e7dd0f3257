"""The GPU waits for batches that one process makes in Python.

main reason on t4: input-pipeline-stall
"""

import torch


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 1200

    def __getitem__(self, i):
        x = torch.zeros(64)
        for k in range(300):
            x[k % 64] = float((i * k) % 17)
        return x, i % 2


model = torch.nn.Linear(64, 2).cuda()
for x, y in torch.utils.data.DataLoader(Slow(), batch_size=40):
    loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
print(float(loss.detach()) > 0)
