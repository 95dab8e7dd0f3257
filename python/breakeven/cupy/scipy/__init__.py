"""`cupyx.scipy`."""
