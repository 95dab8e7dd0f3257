"""A GPU that is imitated."""
