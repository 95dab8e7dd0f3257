"""Loops whose steps repeat."""
