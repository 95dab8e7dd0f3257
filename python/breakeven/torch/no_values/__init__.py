"""Tensors without values: what is known all the same."""
