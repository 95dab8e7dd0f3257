"""Scripts that ask for a device and get no GPU."""
