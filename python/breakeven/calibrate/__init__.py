"""What this machine takes for array work: measured for `breakeven calibrate`, in a process of its own."""
