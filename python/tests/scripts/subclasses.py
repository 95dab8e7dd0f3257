import numpy as np


class Tagged(np.ndarray):
    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", "new")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        print(ufunc.__name__, method)
        plain = [np.asarray(i) if isinstance(i, Tagged) else i for i in inputs]
        return getattr(ufunc, method)(*plain, **keywords)


class Duck:
    def __array_function__(self, function, types, args, kwargs):
        return function.__name__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method


t = np.arange(3).view(Tagged)
t.tag = "mine"
print(t[1:].tag, t + 1, np.add.reduce(t), np.sum(Duck()), np.sin(Duck()), Duck() + np.ones(2), np.ones(2) * Duck())
masked = np.ma.masked_array([1.0, 2, 3], mask=[0, 1, 0])
print(masked.mean(), masked * 2, np.matrix([[1, 2], [3, 4]]) * np.matrix([[1], [1]]))
o = np.array([1, "a", None], dtype=object)
print(o == "a", np.vectorize(lambda x: x * 2)(np.arange(3)), np.frompyfunc(lambda a, b: a + b, 2, 1)(1, np.arange(2)))
