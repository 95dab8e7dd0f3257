"""An op that has run."""
