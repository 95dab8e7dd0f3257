def outer():
    n = 1
    total = 0

    def inner():
        nonlocal n
        n += 1
        return locals(), n

    total += inner()[1]
    return sorted(locals()), inner()[0], total


class Base:
    attribute = [1, 2]

    def hello(self):
        return "base"


class Derived(Base):
    attribute = Base.attribute + [3]
    squares = [x * x for x in range(4)]

    def __init__(self):
        super().__init__()
        self.count = 0

    def hello(self):
        self.count += 1
        return super().hello() + str(self.count)

    def __getitem__(self, key):
        return key

    def __setitem__(self, key, value):
        print("set", key, value)

    def __class_getitem__(cls, key):
        return key


def generator(n):
    for i in range(n):
        got = yield i * 2
        if got:
            n += got


d = Derived()
print(outer(), d.hello(), d.hello(), sorted(vars(d)), Derived.squares, Derived.attribute)
print(d[1:2, ..., None], d[()], d[1:], d[::2], Derived[int], d[1,])
d[1:2] = 3
d["a"], other = 4, 5
x = y = [0] * 3
x[0] = y[1] = 9
x[2] += 1
d[0] += 2
print(x, y, list(generator(3)), eval("x[0] + 1"), sorted(dir())[:3], *[1, 2], **{"sep": "|"})
exec("z = x[0] * 2")
print(z, (lambda a, b=-1: a - b)(3), f"{x[0] + 1:>5}", "%s-%d" % ("a", 3), [i for i in x if i > 1], -x[0], not x)
match (1, -1, "k", {"k": [2]}):
    case (1, -1, str(k), {"k": [v]}) if v + 1 == 3:
        print("matched", k, v)
print(1 < x[0] < 20, x[0] if x else None, {**{"a": 1}}, {k: v * 2 for k, v in {"a": 1}.items()})
assert x[0] == 9, "never"
while x:
    x.pop()
else:
    print("emptied")
