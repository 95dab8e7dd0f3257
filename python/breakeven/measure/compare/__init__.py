"""Results of two runs compared as people would by hand: printed text, arrays, files."""
