"""NumPy where hooks may not run: its calls by rewritten source."""
