"""The mode in which tensors have no values."""
