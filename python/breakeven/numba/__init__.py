"""Numba: each call of what it compiles as one op, its loops as the kernels that a person would write."""
