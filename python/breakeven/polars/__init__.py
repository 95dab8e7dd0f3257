"""Polars: lazy queries by the nodes of their plan, eager calls as one op each."""
