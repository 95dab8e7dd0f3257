log = []


def note(x):
    log.append(x)
    return x


class Box:
    def __init__(self, name):
        self.name = name
        self.value = 10

    def __getitem__(self, key):
        log.append(("get", self.name, key))
        return 5

    def __setitem__(self, key, value):
        log.append(("set", self.name, key, value))

    def __add__(self, other):
        log.append(("add", self.name))
        return other

    def __radd__(self, other):
        log.append(("radd", self.name))
        return NotImplemented

    def __call__(self, *args, **kwargs):
        log.append(("call", args, kwargs))
        return self


b = Box("b")
b[note(1)] = note(2)
b[note(3)] += note(4)
note(b)[note(5) : note(6)] -= note(7)
b.value += note(8)
note(b).value += note(9)
b(note(10), *[note(11)], k=note(12), **{"m": note(13)})
b + note(14) < note(15)
try:
    3 + b
except TypeError as error:
    log.append(str(error))
for entry in log:
    print(entry if not isinstance(entry, Box) else "box")
print(b.value)
