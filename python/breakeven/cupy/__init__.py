"""A replacement of CuPy on machines without a GPU."""
