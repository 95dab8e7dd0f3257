"""On which side a tensor is where a GPU is imitated."""
