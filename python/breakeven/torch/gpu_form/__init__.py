"""What a GPU runs otherwise than a CPU."""
