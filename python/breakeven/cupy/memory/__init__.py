"""Memory as programs hold it."""
