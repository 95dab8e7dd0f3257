"""The CUDA runtime."""
