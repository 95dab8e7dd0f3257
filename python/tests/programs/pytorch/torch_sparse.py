"""Sparse matrices on a device: by pairs and by rows; products from both sides, their gradient; and back."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
places = torch.tensor([[0, 1, 2], [1, 0, 1]])
pairs = torch.sparse_coo_tensor(places, torch.tensor([3.0, 4.0, 5.0]), (3, 2), check_invariants=True)
rows = pairs.to_sparse_csr().to(device)
pairs = pairs.to(device)
dense = torch.ones(2, 5).to(device)
print(pairs.device, rows.device, pairs.is_cuda)

weights = pairs.clone().requires_grad_()
out = torch.sparse.mm(weights, dense)
out.sum().backward()
print(out.device, weights.grad.device, (rows @ dense).device, torch.mv(pairs, dense[:, 0]).device)
print((torch.ones(4, 3).to(device) @ rows).shape)
print(pairs.cpu().device)
