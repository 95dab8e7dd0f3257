"""SciPy's functions as single ops."""
