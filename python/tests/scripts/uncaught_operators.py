import traceback


class Value:
    def __iadd__(self, other):
        raise ValueError("iadd")


for source in ("1 + 'a'", "[] @ 3", "-'a'", "{}['k']", "(1)[0]", "1 < 'a'", "f(3)", "len(1, 2)", "[].x", "print(x=1)"):
    try:
        eval(source, {})
    except Exception:
        traceback.print_exc()
v, d = Value(), {}
steps = [
    lambda: 1 + "a",
    lambda: d["k"],
    lambda: "a"
    < 1,
    lambda: len(1, 2),
    lambda: d
    .get
    (1, 2, 3, 4),
    lambda: not_there + 1,
    lambda: d.not_there(1),
]
for step in steps:
    try:
        step()
    except Exception:
        traceback.print_exc()
try:
    v += 1
except ValueError:
    traceback.print_exc()
try:
    d["a"]["b"] += 1
except KeyError:
    traceback.print_exc()
d[{}] = 2
