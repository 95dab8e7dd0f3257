//! `calibrate` with a Python that is a shell.
