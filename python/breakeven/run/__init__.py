"""Running a script recorded."""
