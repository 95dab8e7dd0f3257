"""The process that is recorded: imports, endings, children, what it asks for."""
