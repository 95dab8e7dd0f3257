"""The native module: NumPy hooks, the table of events that every recorder writes to, and the engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, final

_T = TypeVar("_T")

__all__ = [
    "MECHANISMS",
    "Backward",
    "Dies",
    "Dispatch",
    "Frameless",
    "Function",
    "GivesBack",
    "Loop",
    "ModuleCall",
    "Moment",
    "Moves",
    "Named",
    "OneOp",
    "Passing",
    "PassingAttribute",
    "Reads",
    "StepHook",
    "Whole",
    "__version__",
    "after_fork_child",
    "answer",
    "autocast_is",
    "beside",
    "calibrate",
    "call_noted",
    "called_with",
    "callables",
    "calls_must_pass",
    "calls_pass",
    "compiled_again",
    "compiled_watch",
    "clock_ns",
    "clock_ticks",
    "constructor",
    "compiled",
    "device_memory",
    "device_tag",
    "die_with_parent",
    "enter",
    "event",
    "exported_hook",
    "fleet",
    "flush",
    "flush_every",
    "host_made",
    "host_read",
    "idle",
    "import_begins",
    "import_ends",
    "install",
    "is_mode_off",
    "jitted_fast",
    "jitted_hook",
    "jitted_missed",
    "jitted_next",
    "jitted_number",
    "jitted_ran",
    "jitted_read",
    "jitted_within",
    "know_arrays",
    "leave",
    "leave_unwatched",
    "loading",
    "marker",
    "mode_on",
    "no_gap",
    "of_script",
    "of_steps",
    "on_library_code",
    "placed_again",
    "pretend",
    "reads_differ",
    "recording",
    "report",
    "rescan",
    "reset",
    "set_program",
    "sides_known",
    "snapshot",
    "start",
    "step_calls",
    "step_end",
    "step_in_part",
    "stop",
    "storage_bytes",
    "storage_done_without",
    "storage_freed",
    "storage_left",
    "storage_new",
    "storage_put",
    "storage_refused",
    "storage_resized",
    "storage_role",
    "storage_side",
    "tensor_context",
    "tensor_event",
    "time_frees",
    "undo",
    "unseen",
    "unsupported",
    "watch",
    "watched",
    "watched_host",
    "watched_pick",
    "watched_put_back",
    "watched_store",
    "work_of_call",
]

__version__: str

# Hooks -----------------------------------------------------------------------------------------------------------

def unsupported() -> str | None:
    """Why native hooks may not run in this process, one sentence, or None where they may."""

MECHANISMS: tuple[str, ...]
"""Names that `install` takes: ufunc, dispatcher, methods, mapping, number, text, iterate, buffer, alloc, random, clock."""

def install(mechanisms: Sequence[str] | None = None) -> dict[str, str]:
    """Patch NumPy in place and test every hook with a tiny op.

    Returns `{mechanism: "on"}`, or the reason why one is off. Raises RuntimeError where `unsupported()` says so.
    A second call does nothing new. Recording begins with `start`.
    """

def know_arrays() -> None:
    """Learn what an array is without patching anything, for the AST recorder; after `import numpy`."""

def undo() -> None:
    """Put back every pointer that is still ours."""

def rescan() -> dict[str, str]:
    """Hook what modules imported since hold: ufuncs, array functions, `numpy.random`. Returns as `install` does.

    Call it after the import of `numpy.fft`, `numpy.random`, `numpy.linalg` and modules of SciPy.
    """

# Recording -------------------------------------------------------------------------------------------------------

def start() -> None:
    """Begin, or nest."""

def stop() -> None:
    """End the innermost `start`."""

def recording() -> bool:
    """Whether a `start` is open."""

def reset() -> None:
    """Forget everything recorded; hooks stay."""

def event(
    name: str,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    ns: int,
    file: str,
    line: int,
    function: str,
    via: str | None = None,
    keywords: Mapping[str, Any] | None = None,
    tag: int = 0,
) -> None:
    """One array op that ended just now and took `ns`.

    `name` is the public name (`numpy.linalg.svd`); arrays among inputs and outputs count, other objects do not.
    `keywords` matter only where shapes do not tell (`axis`). `tag` is that of `device_tag` where the program itself
    gave the op to a device.
    """

def enter(name: str, whole: bool = False, ambient: int = 0) -> int:
    """Begin a library call that is one op; hooked calls inside are not recorded apart. Returns a token for `leave`.

    Functions that are made of recorded calls (`numpy.roots`) are no op of their own, unless `whole`; with a tag for
    those calls, `ambient`, they are recorded as the device's.
    """

def leave(
    token: int,
    inputs: tuple[Any, ...],
    result: Any,
    keywords: Mapping[str, Any] | None = None,
    tag: int = 0,
    other_name: str | None = None,
) -> None:
    """End it. The site is the innermost user frame. `result` None and no inputs record nothing (the call raised), unless
    the keyword `op` or `facts` tells the work. `other_name`: it turned out to be another function."""

def compiled_watch(
    class_: type, place: int, before: Callable[..., Any], after: Callable[[Any, int, Any, bool], None], /
) -> None:
    """Have calls of this class's objects recorded, which Numba compiled: `before(object, args, words)` gives what
    `after(that, token, result, whether it returned)` gets, or None where the call is not to be recorded; that ends it by
    `leave`. `place` numbers the class, 0 to 3."""

def compiled_again(
    function: Any,
    args: tuple[Any, ...],
    words: dict[str, Any],
    name: str,
    keywords: Mapping[str, Any],
    given: int,
    made: int,
    values: int,
    coarse: bool,
    calls: int,
) -> None:
    """Record calls of `function` that look like this one under `name` with these keywords, `calls` times, without asking:
    arguments whose bits are in `given` are read, those in `made` written. `values`: bits of those whose value decides what
    is computed; `coarse`: lengths of arrays count by their order of magnitude."""

def device_tag(device: str, stream: int | None = None, graph: str | None = None) -> int:
    """The number, 1 to 31, under which `event` and `leave` know a device and stream that the program itself chose.

    `graph`: `capture` for what is only recorded into a graph of launches, `launch` for the call that hands one over
    (`torch.cuda.CUDAGraph.replay`, `cupy.cuda.Graph.launch`), `node` for what runs as part of it, told after that call.
    """

def die_with_parent() -> None:
    """Have this process killed (SIGKILL) when the one that started it ends, also after `exec`; Linux only."""

def device_memory(bytes: int) -> None:
    """The program holds so much memory on its device now; the most is kept."""

def host_made(array: Any) -> None:
    """This array's values come from the host (a file, a list): a GPU port must copy it in at first use."""

def host_read(array: Any) -> None:
    """The host reads this array's values (`print(a)`, `float(a)`)."""

def marker(clock: str) -> None:
    """The script read a clock, such as `time.perf_counter`."""

def idle(ns: int) -> None:
    """The script slept, or waited for input."""

def unseen(reason: str, text: str, ns: int = 0) -> None:
    """Something ran and was not seen as ops; `reason` is a stable name, `text` one sentence."""

def on_library_code(*prefixes: str) -> None:
    """File name prefixes that are no user code, besides the standard library and site-packages."""

def calibrate() -> None:
    """Measures what hooks cost in this process, on a tiny op and on an index; kept for the file."""

# Tensors ---------------------------------------------------------------------------------------------------------

_Described = tuple[int, int, int, tuple[int, ...], int]

@final
class Dies:
    """What is called when a storage dies: takes it out of `live`, where it is by its `key`, and tells its `id`."""

    def __new__(cls, live: dict[int, Any]) -> Dies: ...
    def __call__(self, gone: Any) -> None: ...

@final
class Dispatch:
    """The `__torch_dispatch__` of a PyTorch mode: runs an op, then tells
    `after(func, args, kwargs, result, own, gap)`, which may give back an exception for the script. Without
    `timed` an op takes no time. Its way here and back takes `beside` ns, which are none of the script's.
    `before(func, args, kwargs)` is told of each op that is about to run; `refused()` that PyTorch got no memory for one,
    and answers whether to try again."""

    def __new__(
        cls,
        after: Callable[..., Any],
        timed: bool = True,
        before: Callable[..., object] | None = None,
        refused: Callable[[], object] | None = None,
        beside: int = 0,
    ) -> Dispatch: ...
    def __call__(
        self, mode: Any, func: Any, types: Any, args: tuple[Any, ...] | None = None, kwargs: Any = None
    ) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

@final
class Function:
    """The `__torch_function__` of a PyTorch mode: calls what `handlers` have for a function with `(args, kwargs)`, and
    `other(func, args, kwargs)` where a device is named; a function of Python's is first what `unpatched` gives for it. A
    call takes `beside` ns on its way here and back, which are none of the script's, and `unwatched` ns in steps that
    nobody watches, where the recorder does little between two of them."""

    def __new__(
        cls,
        handlers: Mapping[Any, Any],
        other: Callable[..., Any],
        unpatched: Callable[[Any], Any],
        beside: int = 0,
        unwatched: int = 0,
    ) -> Function: ...
    def __call__(
        self, mode: Any, func: Any, types: Any, args: tuple[Any, ...] | None = None, kwargs: Any = None
    ) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

def constructor(plain: Callable[..., Any], tensor: type, modes: Callable[[], int]) -> Callable[..., Any]:
    """What stands in for `torch.Tensor.__new__`, which is `plain`, where `modes` that see ops are on in this thread."""

def tensor_event(
    name: str,
    inputs: Sequence[_Described],
    outputs: Sequence[_Described],
    keywords: Sequence[tuple[str, str]],
    context: int,
    own: int,
    gap: int,
    apart: bool | None = None,
) -> bool:
    """One op on tensors, each described by element type, its bytes, layout (0 rows, 1 columns first, 2 strided, 3
    channels last; 255: memory only), dims and storage. `own` and `gap` are as `Dispatch` gives them."""

def tensor_context(
    phase: str | None = None,
    device: str | None = None,
    stream: int | None = None,
    module: str | None = None,
    graph: str | None = None,
    aside: bool = False,
) -> int:
    """The number under which ops of this phase, device, stream, module and `graph` (see `device_tag`) are told apart; what is
    `aside` is the host's if `sides_known` is called."""

def storage_new(bytes: int, role: int, host: bool, made: bool) -> int:
    """A storage for role 0 parameter, 1 gradient, 2 optimizer state, 3 activation, 4 input, 5 temporary; its number."""

def storage_freed(id: int, _gone: object = None) -> None:
    """Its memory was given back; `_gone` is what died of it, where that tells."""

def storage_resized(id: int, bytes: int) -> None:
    """It is as long as this now."""

def storage_left(more: int) -> None:
    """Unwatched steps left so many bytes more than the last watched one had, which lived beside what lives within a step."""

def storage_role(id: int, role: int) -> None:
    """It is for this, and was all along."""

def storage_side(id: int, host: bool) -> None:
    """It is in the host's memory, or the device's, from now on."""

def sides_known() -> None:
    """The script has its tensors on a device by itself. The peak of memory begins anew."""

def storage_bytes(reset: bool = False) -> tuple[int, int]:
    """Live and peak bytes on the device; `reset` begins the peak anew."""

def storage_refused() -> int | None:
    """Bytes of the last storage that the memory set by `pretend` had no room for, once."""

def storage_done_without() -> None:
    """The program has done without what there was no room for: that counts to the peak no more."""

def pretend(memory: int) -> None:
    """From now on a GPU with so many bytes is imitated."""

def loading(on: bool) -> bool:
    """A data loader begins to work in this thread, or has ended; whether one was at work before."""

def step_end(whole: bool) -> int:
    """A step of a loop ends; a number that is equal for equal steps. Without `whole` what ran since is no step."""

def clock_ns() -> int:
    """The recorder's own clock, ns from some moment on; reading it is no clock read of the script's."""

def import_begins(_what: str, arguments: tuple[Any, ...]) -> bool:
    """A module is about to be imported, by the loader that comes first in `arguments`; what the script waited for until
    now is its own waiting. For `import_ends`: whether that is the import of a library, as it is without a loader, and part
    of no other one."""

def import_ends(begun: bool, *rest: object) -> None:
    """The import has ended. What it took is start-up, and no gap."""

def work_of_call(work: Callable[..., Any], *args: Any) -> Any:
    """`work(*args)`, which the stand-in at work does for the call around it: its time is that call's."""

def no_gap() -> None:
    """What this thread has done since its last event is none of the script's code."""

def beside(on: bool) -> bool: ...
def step_calls() -> None:
    """The step that is watched calls an outermost module."""

def step_in_part(back: int, calls: int, before: bool = False) -> bool:
    """The step `back` steps ago, 1 for the last, ran again unwatched, as far as the path on which PyTorch was called or asked
    for memory last, with so many `calls` of outermost modules."""

def call_noted(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Calls a function of PyTorch's API for which there is a handler, so that `called_with` knows of it."""

def called_with() -> tuple[tuple[Any, ...], dict[str, Any] | None] | None:
    """What the innermost function of PyTorch's API that passes through a `Function` was called with."""

def time_frees() -> bool:
    """Times what PyTorch gives back of its memory from now on; whether it could be hooked."""

def clock_ticks() -> int:
    """The recorder's own clock, in which `own` and `gap` of an event are."""

# Calls without a frame of their own ------------------------------------------------------------------------------

@final
class Named:
    """Stands in for a library function and reports each call between `enter(name)` and `leave(token, …)`."""

    def __new__(
        cls,
        function: Callable[..., Any],
        name: str,
        enter: Callable[..., Any],
        leave: Callable[..., Any],
        arguments: bool = False,
        of_steps: bool = False,
        plain_with_function: bool = False,
        parameters: Sequence[str] = ...,
        keywords: bool = False,
        passing: bool = False,
    ) -> Named: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

@final
class OneOp:
    """Stands in for a function of a library for data frames, each outermost call of which is one op: `told(token, args,
    kwargs, result)` hears of it and ends it by `leave`. With `before(args, kwargs)`, what that gives is told too; also,
    with a token of 0, where the call raised. `whole`: a function of NumPy's calls it, whose work it is."""

    def __new__(
        cls,
        function: Callable[..., Any],
        name: str,
        told: Callable[..., object],
        before: Callable[..., Any] | None = None,
        whole: bool = False,
    ) -> OneOp: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

def callables(package: str) -> list[tuple[str, str, str]]:
    """Every name of a package in the tables: name; its rule (a verb of data frames, `none`, `composite`, or `op`); where its port
    runs it: `device`, `view` or `host`."""

@final
class Frameless:
    """Stands in for a function, without its frames in the tracebacks of what it raises: those of files in `folder`, and of
    what they called in `libraries`."""

    def __new__(
        cls, function: Callable[..., Any], folder: str, libraries: Sequence[str], method: bool = False
    ) -> Frameless: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

@final
class Moment:
    """The moment at which it is made."""

    def __new__(cls) -> Moment: ...

@final
class Loop:
    """The loop that the script runs, some of whose steps may go unwatched, and the step that goes on."""

    def __new__(cls) -> Loop: ...
    def begins(self, computed: int) -> None:
        """A step begins, before which `computed` elements without values were."""

    def so_far(self) -> tuple[tuple[list[Any], int, int], int]:
        """What the step is known by so far: what its outermost modules were given, calls of modules, nodes of PyTorch's graph;
        and ns."""

    @property
    def roots(self) -> int:
        """How many outermost modules were called so far in the step, or what else it was given."""

    def gives(self, given: Any) -> None:
        """An outermost module is given this."""

    def expects(self, given: Any) -> bool:
        """Whether this is what steps give next."""

    def calls_anew(self) -> None:
        """What it has called and made so far is none of it."""

    def made_more(self) -> bool:
        """Whether it has made more nodes than steps do at its place."""

    def called_less(self) -> bool:
        """Whether it has called modules less often than steps do at its place."""

    def leave_out(self, since: Moment) -> None:
        """What was done since is none of the step's."""

    def know(self, since: Moment) -> None:
        """What was done since is known."""

    def know_all(self) -> None:
        """What was done so far in the step is known."""

    def forget(self) -> None:
        """Steps were as none before."""

    def settle(
        self, round: Sequence[tuple[list[Any], int, int]], hashes: Sequence[int], took: int, optimizes: bool
    ) -> None:
        """Steps go unwatched from here on: what the outermost modules are given at each place of a round, how many modules
        are called there, how many nodes made; what watched ones did, and how long the last of them took, ns. Whether
        optimizers end them."""

    def simply(self, args: tuple[Any, ...]) -> bool:
        """An outermost module is called with these arguments, itself the first; whether it is given what steps give it there, on
        a path that they take. Not where that is nothing simple, or a mode of the script's would hear of the question."""

    @property
    def back(self) -> int:
        """How many steps ago the last watched one ended that was at the same place of a round, 1 for the last."""

    @property
    def longest(self) -> int:
        """For how long the loop is not looked for its end, ns."""

    def steps_aside(self) -> None:
        """Something else is done than steps do."""

    @property
    def mixed(self) -> bool:
        """Whether something else was done in the step that goes on."""

    def watched(self) -> None:
        """What is done from here on is watched."""

    def ended(self, computed: int, valueless: bool) -> bool | None:
        """A step ends that went unwatched, and is counted. None: so does the next one; whether all are watched from here on,
        not only a round."""

    def differs(self, ns: int | None = None) -> None:
        """Tells that the step has done something else, so many ns of it unwatched: by default all until now."""

    def beyond(self) -> int | None:
        """How much of the time since the step began is not known, ns, where it is longer than steps take."""

@final
class GivesBack:
    """What is called when a block of the stand-in for CuPy dies: takes it out of `live`, where it is by its `key`; gives its
    `size` back to its `pool`, unless that is None, and to `all` of them. While there are `hooks`, `telling(gone)` does so."""

    def __new__(cls, live: dict[int, Any], all: object, hooks: dict[str, Any], telling: Callable[[Any], None]) -> GivesBack: ...
    def __call__(self, gone: Any) -> None: ...

@final
class ModuleCall:
    """Stands in for what calls a module: `outermost(args)` where that is not what unwatched `steps` do, then `enter(args)` and
    `leave()` unless unwatched."""

    def __new__(
        cls,
        function: Callable[..., Any],
        outermost: Callable[..., Any],
        enter: Callable[..., Any],
        leave: Callable[..., Any],
        steps: Loop,
    ) -> ModuleCall: ...
    @property
    def root(self) -> Any:
        """The outermost module that was called last; None where the script is done with it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __reduce__(self) -> Any: ...

@final
class Backward:
    """Stands in for what computes gradients: `begins(args)`, `ended()`, but where unwatched `steps` are known to need neither."""

    def __new__(
        cls,
        function: Callable[..., Any],
        begins: Callable[..., Any],
        ended: Callable[..., Any],
        steps: Loop,
    ) -> Backward: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class StepHook:
    """What PyTorch calls around an optimizer's step: `told(optimizer)`, of whose failures the script does not hear."""

    def __new__(cls, told: Callable[[Any], None]) -> StepHook: ...
    def __call__(self, optimizer: Any, *_given: Any) -> None: ...

@final
class Moves:
    """Stands in for `.to`: `told(name, args, result, kwargs)` gives back the line that has put a tensor on its device;
    unwatched, the same instruction's next tensor of that shape is counted without, unless its storage is in `live`."""

    def __new__(
        cls,
        function: Callable[..., Any],
        name: str,
        told: Callable[..., Any],
        live: dict[int, Any],
        tensor: Any,
        modes: Callable[[], int],
    ) -> Moves: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class Reads:
    """Stands in for what reads a single value: `enter()`, then `leave(inputs, result)`, which gives back whether it has told of it; unwatched, the same instruction's next read is counted without, unless its storage is in `live`."""

    def __new__(
        cls,
        function: Callable[..., Any],
        enter: Callable[[], Any],
        leave: Callable[..., bool],
        live: dict[int, Any],
        tensor: Any,
        modes: Callable[[], int],
        now: dict[str, Any],
    ) -> Reads: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class Passing:
    """Stands in for a function that the mode of `calls_pass` does something for (`named`: where a keyword names a device, a
    generator, pinned memory or a product's type; `filled`: but of a number that stays on the host): it is on while that runs."""

    def __new__(cls, function: Callable[..., Any], named: bool = False, filled: bool = False) -> Passing: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class Whole:
    """Stands in for a function within which the mode of `calls_pass` is off in steps that go unwatched; `alone`: where it is given
    nothing but its object, and there is nothing in what that has under the names of `own_hooks`, nor more than one in each of
    `all_hooks`."""

    def __new__(
        cls,
        function: Callable[..., Any],
        alone: bool = False,
        own_hooks: Sequence[str] = ...,
        all_hooks: Sequence[dict[Any, Any]] = ...,
    ) -> Whole: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> Any: ...

@final
class PassingAttribute:
    """The same of an attribute. Where calls do not pass, it is `told(device)` of tensors of which that is known."""

    def __new__(cls, attribute: Any, told: Callable[[str], Any] | None = None) -> PassingAttribute: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __set__(self, instance: Any, value: Any, /) -> None: ...
    def __delete__(self, instance: Any, /) -> None: ...

def calls_pass(mode: Any, core: Any, plain: tuple[type, ...], live: dict[int, Any]) -> None:
    """Calls of PyTorch's API pass through this function mode, which may be off in steps that go unwatched; `core` is
    `torch._C`, `plain` are PyTorch's own classes of tensors, `live` the storages that are known."""

def calls_must_pass() -> None:
    """From now on it may not be off."""

def autocast_is(on: bool) -> None:
    """`torch.autocast` is on for the CPU from here on in this thread, or off: composite ops that a mode is given whole are cast by
    their parts."""

def mode_on() -> None:
    """It is on from here on, whoever has taken it off."""

def is_mode_off() -> bool:
    """Whether it is off in this thread."""

def of_script(error: BaseException) -> bool:
    """Whether a handler of the script's signals has raised it in the midst of a call of ours, whose frames are taken out of
    its traceback."""

def reads_differ() -> None:
    """A read is not what it was at the same instruction: `Reads` knows none from here on."""

def placed_again() -> list[tuple[Any, Any, int]]:
    """Tensors that `Moves` has counted since this was last asked and that live: each, the line, the copy's entry."""

def storage_put(id: int, entry: int) -> None:
    """The copy of this entry has filled a storage on the device."""

def leave_unwatched(on: bool, longest_ns: int = 0, alike: int = 0, aside: bool = False) -> None:
    """Steps go unwatched from now on, or no longer: stand-ins report less. Where none has ended for `longest_ns` while
    tensors die, `sampler.left_loop` is asked whether the loop is over. They do
    what the last `alike` watched ones did, 0: what they did before. No longer, but `aside`: ops on paths that steps
    take are not told, and the others apart from steps."""

def of_steps() -> bool:
    """Whether the running call is on a path through the script that steps take; while they are watched it is learned."""

def watch(
    before: Callable[..., Any], after: Callable[..., Any], stored: Callable[..., Any], host: Callable[..., Any]
) -> None:
    """Set what is called around watched operations; once in a process."""

def watched(function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
    """`function(*args, **kwargs)`."""

def watched_store(value: Any, target: Any, index: Any, /) -> None:
    """`target[index] = value`."""

def watched_pick(target: Any, index: Any, /) -> tuple[Any, Any, Any]:
    """The first half of `target[index] += value`: the target, the index and what is there now."""

def watched_put_back(picked: tuple[Any, Any, Any], function: Callable[..., Any], value: Any, /) -> None:
    """The second half: the operator on what was there and the value, and the result stored back."""

def watched_host(value: _T, /) -> _T:
    """`value`, which the host is about to read if it is an array."""

# Files -----------------------------------------------------------------------------------------------------------

def set_program(program: str) -> None:
    """Set fields of `program` in the workload, as a JSON object (name, argv, versions, recorder, start_unix_ms, exit,
    startup_ns, wall_ns, cpu, cpu_threads). `wall_ns` absent means: from the first `start` until now, while events are
    being recorded."""

def flush() -> None:
    """Write the workload to the file that `flush_every` was told of, if it was: a temporary file beside it, then a
    rename. OSError where that fails."""

def flush_every(path: str, seconds: float) -> None:
    """Flush to `path` by itself from now on, at an event once so much time has passed; `seconds` 0 ends that."""

def snapshot() -> str:
    """The workload so far, as JSON (`breakeven.workload/1`)."""

def after_fork_child(path: str | None = None) -> None:
    """In a child made by fork: forget the parent's counts and flush to `path` from now on."""

# Engine ----------------------------------------------------------------------------------------------------------

def answer(request: str) -> str:
    """The answer to a `breakeven.request/1`: a `breakeven.estimate/1`, or `{"error": …}`, as JSON."""

def report(estimate: str, format: str, quiet: bool = False, verbose: bool = False) -> str:
    """A `breakeven.estimate/1` as the command prints it: `text` or `markdown`."""

# Job logs --------------------------------------------------------------------------------------------------------

def fleet(
    stream: bytes,
    mapping: str | None = None,
    gpu: str | None = None,
    named: list[tuple[str, str]] = ...,
    price: float | None = None,
    cpu_price: float | None = None,
) -> bytes:
    """One row a job, as an Arrow IPC stream, of the rows of another; ValueError for what is no job log."""

# Compiled functions ----------------------------------------------------------------------------------------------

def compiled(graph: str) -> str:
    """The kernels that a graph of primitive operations becomes on a GPU, JSON in and out; ValueError for what is no graph.

    `{"told": {"op": …, "dtype": …}, "kernels": 5, "unknown": [], "uncounted": [], "calls_host": false}`
    """

def jitted_hook(
    function: type,
    array: type,
    ndarray: type,
    flatten: Callable[[Any], Any],
    waits: Callable[[Any], object],
    tag: int,
) -> str | None:
    """See calls of compiled functions of this type from now on; why that cannot be, or None.

    `array` is the type of their arrays, `flatten` takes trees of these apart, `waits` waits for one; `tag` is that of
    `device_tag`.
    """

def exported_hook(array: type) -> bool:
    """See reads of arrays of this type by the buffer protocol; whether they could be hooked."""

def jitted_missed() -> None:
    """The call under way asks Python what to do."""

def jitted_ran(number: int, ns: int, goes_fast: bool) -> None:
    """It ran the executable with this number for so many ns, and runs it without Python from now on if it `goes_fast`."""

def jitted_next(number: int) -> None:
    """The next call runs this one, unless it asks."""

def jitted_within() -> bool:
    """Whether a call is under way, and Python has not been asked: what is done now is part of it."""

def jitted_fast() -> int:
    """How many calls have run without Python."""

def jitted_number(name: str, op: str) -> int:
    """The number of a call with this name that runs this op, as the keyword `op` of `leave` has it."""

def jitted_read(bytes: int) -> None:
    """The host reads so many bytes of an array on the device."""
