"""What runs around ops: modules, loaders, threads, reads."""
