"""Says what a Python offers the recorder, as one JSON object on stdout."""

import importlib.metadata
import json
import sys

PACKAGES = ("breakeven", "numpy", "scipy", "pandas", "torch", "jax", "tensorflow", "numba", "cupy")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def hooks():
    """Why native hooks stay off, one sentence, or the state of each of them."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return "NumPy is not installed"
    try:
        from breakeven import _native
    except ImportError as error:
        return "the native module does not load: %s" % error
    if not hasattr(_native, "unsupported"):
        return "this build of the package has no native hooks"
    reason = _native.unsupported()
    if reason is not None:
        return reason
    states = _native.install()
    _native.undo()
    return states


found = {"python": ".".join(map(str, sys.version_info[:3])), "executable": sys.executable, "hooks": hooks()}
found["packages"] = {package: version(package) for package in PACKAGES}
print(json.dumps(found))
