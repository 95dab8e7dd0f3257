import sys


def hook(kind, error, trace):
    names = []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    print("hook", kind.__name__, error, names)


sys.excepthook = hook


def fails():
    raise ValueError("x")


fails()
