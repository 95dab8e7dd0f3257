"""Events that a recorder of a framework hands to the native table."""
