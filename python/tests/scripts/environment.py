import os
import sys

light = ("json", "runpy", "inspect", "logging", "tempfile", "subprocess", "dataclasses")
print([name for name in light if name in sys.modules])
ours = {name for name in os.environ if name.startswith("BREAKEVEN_")}
print(sorted(set(os.environ) - ours), len(ours) <= 3)
print(sys.getrecursionlimit(), sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook)
