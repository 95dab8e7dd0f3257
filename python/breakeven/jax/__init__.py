"""JAX: what its compiled functions run on a GPU, and what they copy and wait for."""
