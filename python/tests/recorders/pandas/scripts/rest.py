"""Concatenation, equal rows, inplace, chunks, groups one by one, subclasses, pickles, signatures, warnings."""
import inspect
import pickle
import types
import warnings

import numpy as np
import pandas as pd


class Mine(pd.DataFrame):
    @property
    def _constructor(self):
        return Mine


frames = [pd.DataFrame({"a": np.arange(2000) % 50, "b": i}) for i in range(4)]
whole = pd.concat(frames, ignore_index=True)
unique = whole.drop_duplicates("a")
whole.sort_values("b", inplace=True)
whole.dropna(inplace=True)
mine = Mine({"a": [1, 2, 3]})
kept = mine[mine["a"] > 1]
print(type(kept).__name__, unique.shape, type(pickle.loads(pickle.dumps(kept))).__name__)
whole.to_csv("whole.csv", index=False)
print([len(part) for part in pd.read_csv("whole.csv", chunksize=3000)])
print([(key, group.shape) for key, group in whole.groupby("b")][:2])
print(inspect.signature(pd.DataFrame.merge), inspect.signature(pd.read_csv).parameters["sep"])
print(isinstance(whole.iterrows(), types.GeneratorType), pickle.loads(pickle.dumps(pd.DataFrame.sum)) is pd.DataFrame.sum)
print(pd.DataFrame.merge.__name__, pd.DataFrame.merge.__qualname__, callable(whole.merge), isinstance(whole.merge, types.MethodType))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    pd.to_datetime(pd.Series(["01-02-2020", "13-02-2020"]), errors="coerce", dayfirst=False)
    pd.DataFrame({"x": ["1", "b"]}).rename(columns={}).infer_objects()
print([(warning.filename.endswith("rest.py"), warning.lineno) for warning in seen])
try:
    whole.merge(unique, on="nothing")
except KeyError as error:
    trace, depth = error.__traceback__, 0
    while trace is not None:
        depth += 1
        trace = trace.tb_next
    print("KeyError", error, depth)
mixed = pd.DataFrame({"o": [1, "a", None, 2.5], "z": pd.date_range("2020", periods=4, tz="Europe/Berlin")})
twice = pd.DataFrame(np.ones((3, 2)), columns=["a", "a"])
many = whole.set_index(["a", "b"])
print(mixed.isna().sum().to_dict(), twice["a"].shape, many.loc[(3, 1)].shape, pd.DataFrame().sum().shape)
print(whole.query("a > 3 and b == 1").shape, whole.eval("a + b").sum(), np.log(whole["a"] + 1).sum().round(6))
