"""DuckDB: each query that a script runs, as one op."""
