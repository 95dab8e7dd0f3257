"""How often loops run and which branches are taken: a twin of a jaxpr that computes the same and gives the counts.

It is run beside an execution on the same arguments, which it changes nothing of: only what has no effects has a twin.
Sites are numbered as `graph.py` numbers them.
"""

from __future__ import annotations

from .graph import called, given_to_call, opened, platform_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: What calls Python, also where JAX takes it to be pure.
_CALLBACKS = ("callback", "outside_call", "debug_print", "infeed", "outfeed")


class Plan:
    """Where the numbers of a jaxpr's loops and branches lie in the counts that its twin gives."""

    def __init__(self, jaxpr: Any) -> None:
        #: For each site how many numbers it has: a loop one, a branch one for each body.
        self.widths: list[int] = []
        #: It calls Python, or changes something.
        self.acts = bool(getattr(jaxpr, "effects", ())) or bool(getattr(opened(jaxpr), "effects", ()))
        self._look(jaxpr)
        self.starts = [sum(self.widths[:site]) for site in range(len(self.widths))]

    def _look(self, jaxpr: Any) -> None:
        for equation in opened(jaxpr).eqns:
            name, params = equation.primitive.name, equation.params
            if any(word in name for word in _CALLBACKS):
                self.acts = True
            if (branch := platform_branch(equation)) is not None:
                self._look(branch)
            elif name == "scan":
                self._look(params["jaxpr"])
            elif name == "while":
                self.widths.append(1)
                self._look(params["cond_jaxpr"])
                self._look(params["body_jaxpr"])
            elif name == "cond":
                self.widths.append(len(params["branches"]))
                for branch in params["branches"]:
                    self._look(branch)
            elif (inner := called(equation)) is not None:
                self._look(inner)

    def by_site(self, counts: Sequence[int]) -> dict[int, float | list[int]]:
        """Numbers by site: rounds of a loop, times that each branch was taken."""
        found: dict[int, float | list[int]] = {}
        for site, (start, width) in enumerate(zip(self.starts, self.widths)):
            taken = [int(number) for number in counts[start : start + width]]
            found[site] = taken[0] if width == 1 else taken
        return found


def twin(jaxpr: Any, plan: Plan) -> Callable[..., Any]:
    """A function of the jaxpr's arguments that gives the counts, compiled at its first call."""
    import jax
    import jax.numpy as jnp

    def counts(*args: Any) -> Any:
        zero = jnp.zeros((sum(plan.widths),), jnp.uint32)
        return _Twin(plan).run(jaxpr, list(args), zero)[1]

    compiled: Callable[..., Any] = jax.jit(counts, keep_unused=True)
    return compiled


class _Twin:
    """Evaluates a jaxpr with counts beside its values."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.site = 0

    def run(self, jaxpr: Any, args: list[Any], counts: Any) -> tuple[list[Any], Any]:
        inner = opened(jaxpr)
        constants = list(getattr(jaxpr, "consts", ()))
        variables = [*inner.constvars, *inner.invars]
        values = dict(zip(variables, [*constants, *args] if len(variables) > len(args) else args))

        def read(variable: Any) -> Any:
            return variable.val if hasattr(variable, "val") else values[variable]

        for equation in inner.eqns:
            given, counts = self.equation(equation, [read(v) for v in equation.invars], counts)
            values.update(zip(equation.outvars, given))
        return [read(variable) for variable in inner.outvars], counts

    def take(self) -> int:
        self.site += 1
        return self.plan.starts[self.site - 1]

    def skip(self, jaxpr: Any) -> None:
        """Passes over the sites of a jaxpr."""
        self.site += len(Plan(jaxpr).widths)

    def equation(self, equation: Any, args: list[Any], counts: Any) -> tuple[list[Any], Any]:
        name, params = equation.primitive.name, equation.params
        if (branch := platform_branch(equation)) is not None:
            self.skip(branch)
        elif name == "scan" and Plan(params["jaxpr"]).widths:
            return self.scan(params, args, counts)
        elif name == "while":
            return self.loop(params, args, counts)
        elif name == "cond":
            return self.branch(params, args, counts)
        elif (inner := called(equation)) is not None and Plan(inner).widths:
            if equation.primitive.name == "custom_linear_solve":
                lookup = dict(zip(equation.invars, args))
                args = [lookup[v] if v in lookup else v.val for v in given_to_call(equation)]
            return self.run(inner, args, counts)
        given = equation.primitive.bind(*args, **_bind_params(equation, args))
        return (list(given) if equation.primitive.multiple_results else [given]), counts

    def loop(self, params: Any, args: list[Any], counts: Any) -> tuple[list[Any], Any]:
        from jax import lax

        start, first = self.take(), self.site
        nc, nb = params["cond_nconsts"], params["body_nconsts"]
        of_cond, of_body, state = args[:nc], args[nc : nc + nb], args[nc + nb :]

        def more(carried: Any) -> Any:
            self.site = first
            return self.run(params["cond_jaxpr"], [*of_cond, *carried[0]], carried[1])[0][0]

        def round_(carried: Any) -> Any:
            self.site = first
            self.skip(params["cond_jaxpr"])
            values, counts = self.run(params["body_jaxpr"], [*of_body, *carried[0]], carried[1])
            return values, counts.at[start].add(1)

        batched = len(opened(params["cond_jaxpr"]).outvars[0].aval.shape) > 0
        if batched:
            raise NotImplementedError("a loop with a condition for each of a batch")
        values, counts = lax.while_loop(more, round_, (list(state), counts))
        self.site = first
        self.skip(params["cond_jaxpr"])
        self.skip(params["body_jaxpr"])
        return list(values), counts

    def scan(self, params: Any, args: list[Any], counts: Any) -> tuple[list[Any], Any]:
        from jax import lax

        first = self.site
        constants, carried = params["num_consts"], params["num_carry"]

        def step(state: Any, each: Any) -> Any:
            self.site = first
            given, counts = self.run(params["jaxpr"], [*args[:constants], *state[0], *each], state[1])
            return (given[:carried], counts), given[carried:]

        start = (args[constants : constants + carried], counts)
        rows = args[constants + carried :]
        (state, counts), given = lax.scan(step, start, rows, length=params["length"], reverse=params["reverse"])
        self.site = first
        self.skip(params["jaxpr"])
        return [*state, *given], counts

    def branch(self, params: Any, args: list[Any], counts: Any) -> tuple[list[Any], Any]:
        from jax import lax

        start, first = self.take(), self.site

        def taken(place: int) -> Any:
            def run(*given: Any) -> Any:
                self.site = first
                for before in params["branches"][:place]:
                    self.skip(before)
                values, counts = self.run(params["branches"][place], list(given[:-1]), given[-1])
                return values, counts.at[start + place].add(1)

            return run

        branches = [taken(place) for place in range(len(params["branches"]))]
        values, counts = lax.switch(args[0].astype("int32"), branches, *args[1:], counts)
        self.site = first
        for branch in params["branches"]:
            self.skip(branch)
        return list(values), counts


def _bind_params(equation: Any, args: list[Any]) -> dict[str, Any]:
    """What the primitive is bound with, as JAX's own interpreter does."""
    get = getattr(equation.primitive, "get_bind_params", None)
    if get is None:
        return dict(equation.params)
    found = get(equation.params)
    if isinstance(found, tuple):
        functions, params = found
        args[:0] = functions
        return dict(params)
    return dict(found)
