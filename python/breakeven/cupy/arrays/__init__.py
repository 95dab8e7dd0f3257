"""Arrays and the functions on them."""
