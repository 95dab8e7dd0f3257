import sys

from . import sibling
from .sibling import VALUE

print(sys.argv[1:], __package__, __spec__.name, sibling.VALUE is VALUE, VALUE.sum(), sys.path[0] != "")
if len(sys.argv) > 2:
    raise ValueError(sys.argv[2])
