"""Storages made in steps that were not traced: each is taken to be where the traced steps had those of its size and
type, and for the same use. Where these differ, nothing is known."""

from __future__ import annotations

import collections
import gc

from ... import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Whether the last step read, at one instruction, what is on either side, and by the kind nothing tells where.
    mixes = False
    #: The device of most that their ops make.
    mostly = "cpu"
    #: Where to look for what nobody saw being made: all that steps make while they go unwatched, what they leave after
    #: that, and nowhere once all tensors were looked at: then it is new.
    sought: Likes = {}
    stale = False
    more = 0
    #: What looking at all tensors took last and in all, ns; it may take so much at first, and so much of the time since
    #: steps went unwatched.
    took = spent = 0
    began = 0


state = State()


#: Bytes and element type of a storage.
Kind = tuple[int, "Any"]
#: Whether an op made it (the host filled it otherwise), its device where one is imitated, whether it was computed on
#: the device of a script without a GPU, what it is for.
Like = tuple[bool, "str | None", bool, int]

#: None where the storages of a step differ.
Likes = dict[Kind, "Like | None"]

#: What the step that goes on has made: whether by an op, and whether a loader did.
_step: list[tuple[Kind, Any, bool, bool]] = []
#: A step that makes more is not kept.
_MOST = 1 << 15
#: What the step that goes on reads at each instruction: kinds that are on the host, and kinds that are on the device.
_reads: dict[Any, tuple[set[Kind | None], set[Kind | None]]] = {}
#: The same of all steps that were watched.
_were_read: dict[Any, tuple[set[Kind | None], set[Kind | None]]] = {}
#: Of each step that was watched: all that it made, and what of that it left; the latter's storages.
_steps: collections.deque[tuple[Likes, Likes, list[Any]]] = collections.deque(maxlen=12)
#: The same of the loops that went unwatched; of the last one where they differ.
_usual: tuple[Likes, Likes] = ({}, {})
#: What loaders make on the host, and what of that steps make, too.
_loaded: set[Kind] = set()
shared: set[Kind] = set()
#: Addresses of what ops made before it was noticed that no step does so.
missed: set[int] = set()
#: What the host fills: an input.
OF_HOST: Like = (False, "cpu", False, 4)
#: Storages that steps left, and how many bytes more these are than the last watched step left.
_left: list[Any] = []
_AT_FIRST, _SHARE = 75_000_000, 0.03


def made(kind: Kind, known: Any, by_op: bool, loads: bool) -> None:
    """A storage that was not known is used, or was made, in a step that is watched; `loads`: by a loader."""
    if len(_step) < _MOST:
        _step.append((kind, known, by_op, loads))


def is_read(place: Any, tensor: Any, there: bool) -> None:
    """The host reads a tensor at an instruction, in a step that is watched, which is on the device or on the host."""
    if len(_reads) < _MOST:
        _reads.setdefault(place, (set(), set()))[there].add(_kind(tensor))


def was_read(place: Any, tensor: Any) -> bool | None:
    """Whether the device had what is like this where watched steps read it at an instruction; None where the host
    had it, too, and where nothing like it was read."""
    host, there = _were_read.get(place, (set(), set()))
    kind = _kind(tensor)
    return None if (kind in host) == (kind in there) else kind in there


def begins() -> None:
    """What was made so far is none of the step's."""
    _step.clear()
    _reads.clear()


def ended() -> None:
    """A step that was watched is over."""
    likes: tuple[Likes, Likes, list[Any]] = ({}, {}, [])
    for kind, known, by_op, loads in _step if len(_step) < _MOST else ():
        if loads and known.device in (None, "cpu"):
            _loaded.add(kind)
            continue
        like = by_op, "cpu" if known.aside and known.device is None else known.device, known.placed, known.role
        _add(likes[0], kind, like)
        if known() is not None:
            _add(likes[1], kind, like)
            if known.device != "cpu":
                likes[2].append(known)
    either = [kinds for kinds in _reads.values() if all(kinds)]
    for place, kinds in _reads.items():
        for kept, of_step in zip(_were_read.setdefault(place, (set(), set())), kinds):
            kept |= of_step
    state.mixes = any(kind is None or likes[0].get(kind, ...) is None for kinds in either for kind in set.union(*kinds))
    _step.clear()
    _reads.clear()
    _steps.append(likes)


def goes_unwatched(alike: int) -> None:
    """The next steps make what each of the last `alike` ones did."""
    state.stale, state.sought = True, _usual[0]
    state.began = state.began or _native.clock_ns()
    if alike:
        all_made, all_left, storages = zip(*list(_steps)[-alike:])
        state.more = 0
        _left.extend(storage for of_step in storages for storage in of_step)
        _left[:] = {id(storage): storage for storage in _left if storage() is not None}.values()
        for usual, of_steps in zip(_usual, (all_made, all_left)):
            loop: Likes = {}
            for likes in of_steps:
                for kind, like in likes.items():
                    _add(loop, kind, like)
            usual.update(loop)
        devices = collections.Counter(like[1] or "cpu" for like in _usual[0].values() if like is not None and like[0])
        state.mostly = max(devices, key=devices.__getitem__, default="cpu")
        shared.clear()
        shared.update(_loaded & _usual[0].keys())


def _add(likes: Likes, kind: Kind, like: Like | None) -> None:
    before = likes.get(kind, like)
    likes[kind] = like if before is not None and like is not None and before[:3] == like[:3] else None


def watched_again() -> None:
    """What is not known from here on steps have left, unless it is new."""
    if state.stale:
        state.sought = _usual[1]


def of_kind(kind: Kind) -> Like | None:
    """What is known of a storage of this kind that nobody saw being made; None: as far as is known, the host has
    just filled it."""
    return state.sought.get(kind) or (OF_HOST if state.stale and kind in _loaded - shared else None)


def of_tensor(tensor: Any) -> Like | None:
    """The same of a tensor's storage."""
    kind = _kind(tensor) if state.stale else None
    return of_kind(kind) if kind is not None else None


def left(tensor: Any) -> Like | None:
    """The same of one that a step has left, though others of its kind may be elsewhere."""
    kind = _kind(tensor) if state.stale else None
    return None if kind is None else _usual[0].get(kind) or _usual[1].get(kind) or of_kind(kind)


def is_shared(tensor: Any) -> bool:
    """Whether loaders make what is like this, and steps do, too."""
    return _kind(tensor) in shared


def _kind(tensor: Any) -> Kind | None:
    try:
        return tensor.untyped_storage().nbytes(), tensor.dtype
    except Exception as error:  # sparse, opaque, in a transform: there is no such storage
        if _native.of_script(error):
            raise
        return None


def look(torch: Any, told: Any, going: bool, sparingly: bool = False, young: bool = False) -> None:
    """Hand to `told` each tensor of the process, if steps have gone unwatched since the last time, or are `going`
    so; it gives back the storage of one that was not known. `sparingly`: only the `young` ones where all would take
    more of the time than may be."""
    began = _native.clock_ns()
    if not state.stale:
        return
    whole = not (young or sparingly and state.spent + state.took > _AT_FIRST + _SHARE * (began - state.began))
    # None of these lists holds itself, which would keep all that it holds.
    lists = (gc.get_objects(),) if whole else (gc.get_objects(generation=0), gc.get_objects(generation=1))
    # By identity: a class may have been told how to compare itself.
    plain, parameter, abstract = torch.Tensor, torch.nn.Parameter, torch._subclasses.FakeTensor
    tensors = [
        one for objects in lists for one in objects if (of := type(one)) is plain or of is parameter or of is abstract
    ]
    with torch._C.DisableTorchFunction():
        found(map(told, tensors))
    if whole:
        if not going:
            state.stale, state.sought = False, {}
        state.took = _native.clock_ns() - began
        state.spent += state.took
    _native.no_gap()


def found(storages: Iterable[Any]) -> None:
    """Steps have left these, which nobody knew (None: one that somebody did): so much more was there beside what
    lives within a step."""
    new = [storage for storage in storages if storage is not None and storage.device != "cpu"]
    gone = [storage for storage in _left if storage() is None]
    _left[:] = [storage for storage in _left if storage() is not None] + new
    state.more += sum(storage.bytes for storage in new) - sum(storage.bytes for storage in gone)
    _native.storage_left(max(0, state.more))
