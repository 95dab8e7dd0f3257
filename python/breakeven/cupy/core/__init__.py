"""A call, its memory and its stream."""
