"""A NumPy or SciPy script through CuPy, unedited: calls that CuPy has go there, the others to the host."""
