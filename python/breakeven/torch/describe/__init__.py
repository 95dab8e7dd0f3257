"""Tensors, as the native table takes them."""
