"""Measuring a script on the CPU and on the GPU: one side at a time, and what comes of both compared."""
