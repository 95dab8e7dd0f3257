"""pandas: each call that a script makes of its public names, as one op."""
