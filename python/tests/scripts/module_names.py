import sys

print(sorted(globals()))
print(__builtins__, __doc__, __package__, __spec__, __annotations__, __cached__)
print(type(__loader__).__name__, sys.modules["__main__"].__dict__ is globals(), sys.flags)
