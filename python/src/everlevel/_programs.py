"""Programs on typed integers that are planned before they run."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from . import _clear, _levels
from . import _everlevel as _rust
from ._functions import Function
from ._integers import EncryptedIntegers
from ._params import Params
from ._plan_text import Argument
from ._planned import GOALS, Plan, memory_of, size_of, within
from ._totals import EncryptedTotal
from ._tracer import Tracer
from .errors import Error, ParameterError, ProgramError, RangeError

#: The sets that programs are planned for unless others are given.
CANDIDATES = ("bgv-65537-n15", "bgv-65537-n16", "bgv-786433-n16")


class bool_(EncryptedIntegers):
    """For annotations of programs: an array of truth values."""

    __slots__ = ()
    _dtype: ClassVar[str] = "bool"


class uint8(EncryptedIntegers):
    """For annotations of programs: an array of ``uint8``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "uint8"


class uint16(EncryptedIntegers):
    """For annotations of programs: an array of ``uint16``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "uint16"


class uint32(EncryptedIntegers):
    """For annotations of programs: an array of ``uint32``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "uint32"


class uint64(EncryptedIntegers):
    """For annotations of programs: an array of ``uint64``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "uint64"


class int8(EncryptedIntegers):
    """For annotations of programs: an array of ``int8``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "int8"


class int16(EncryptedIntegers):
    """For annotations of programs: an array of ``int16``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "int16"


class int32(EncryptedIntegers):
    """For annotations of programs: an array of ``int32``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "int32"


class int64(EncryptedIntegers):
    """For annotations of programs: an array of ``int64``."""

    __slots__ = ()
    _dtype: ClassVar[str] = "int64"


class Program(Function):
    """A function of typed integers: calling it computes, on encrypted arrays or in the clear, and
    :meth:`plan` says before what it takes.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        super().__init__(function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """On encrypted arrays its results; on arrays that are not encrypted what these results are
        when they are decrypted, or the same refusal.
        """
        given = self._signature.bind(*arguments, **named).arguments
        encrypted = [name for name, x in given.items() if isinstance(x, EncryptedIntegers)]
        if not encrypted:
            return _clear.run(self._function, self.kinds, given)
        if len(encrypted) < len(given):
            others = [name for name in given if name not in encrypted]
            raise ProgramError(
                f"{', '.join(encrypted)} encrypted, {', '.join(others)} not: {self.name} takes "
                "arguments that are all encrypted, or none; encrypt them, or write public "
                "integers into the program",
                code="python.arguments",
            )
        # Their types are those of the annotations, as in a plan.
        return self._function(**{name: x._counting(False) for name, x in given.items()})

    def plan(
        self,
        rows: int,
        *,
        params: Params | None = None,
        candidates: Sequence[str | Params] = CANDIDATES,
        minimize: str | None = None,
        minimise: str | None = None,
        memory_bytes: int | None = None,
        seeded_keys: bool = False,
        small_keys: bool = False,
    ) -> Plan:
        """The cost for arrays of a given number of entries: on ``params``, or on the best of
        some sets. ``minimize``: ``"time"``, which is the default, or ``"keys"``, their bytes, or
        ``"memory"``, that of keys and ciphertexts. ``memory_bytes``: the most of the latter
        that it may take; plans that take more are refused (``integers.memory``). ``seeded_keys``:
        for a server that keeps half of each key as a seed in memory (``Server.open``), which is
        counted, and made by the plan's ``server``; the seconds are those of expanded keys.
        ``small_keys``: fewer keys for products, as of the plan's ``server``, with their bytes and
        the time that products take with them; the set is chosen, and ``memory_bytes`` is a limit,
        by all keys.

        On each set first without bootstrapping, and with it if that does not fit; where arrays are
        short, with the digits that are compared apart and side by side in one ciphertext. If the
        best of the default sets bootstraps, also with fewer used slots, such as
        ``bgv-65537-n15-s1024``, if the rows fill at most a quarter of them; so it is on those that
        take too much memory. Products and large tables are computed in blocks where the plan takes
        too much otherwise.
        Without bootstrapping, arguments are planned for the lowest levels at
        which the program takes no more than at the top. It is run a few dozen times for this, on a
        scheme that only counts. ``minimise`` is an older name of ``minimize``.
        """
        goals = [goal for goal in (minimize, minimise) if goal is not None] or ["time"]
        if goals[0] not in GOALS or any(goal != goals[0] for goal in goals):
            raise RangeError(
                f"minimize = {' and '.join(map(repr, goals))}: expected "
                f"{' or '.join(map(repr, GOALS))}",
                code="python.minimise",
            )
        # Minus an unsigned integer of NumPy's would be another one.
        rows = operator.index(rows)
        if rows < 1:
            raise RangeError(f"{rows} rows: expected at least 1", code="python.rows")
        limit = None if memory_bytes is None else operator.index(memory_bytes)
        given = (params,) if params is not None else candidates
        sets = [Params(one) if isinstance(one, str) else one for one in given]
        if not sets:
            raise ParameterError("there is no set to plan for", code="integers.set")

        def accepted(plan: Plan) -> Plan:
            plan = plan._with_seeded_keys() if seeded_keys else plan
            if limit is not None and plan.memory_bytes > limit:
                plan = self._refined(plan)
            return within(plan, limit)

        plans, refused = self._plans(sets, rows, accepted)
        large = min(
            (error for error in refused if error.code == "integers.memory"),
            key=lambda error: int(error.needed),
            default=None,
        )
        best = min(plans, key=GOALS[goals[0]], default=None)
        if given is CANDIDATES:
            # Without bootstrapping fewer slots save next to nothing.
            fewer = [best.params] if best is not None and best.bootstraps else []
            if large is not None:
                planned = {plan.params.name for plan in plans}
                fewer += [one for one in sets if one.name not in planned]
            plans += self._with_fewer_slots(fewer, rows, accepted)
        if plans:
            found = self._refined(min(plans, key=GOALS[goals[0]]))
            return found._with_small_keys() if small_keys else found
        reason = large or refused[-1]
        raise ParameterError(
            f"none of the sets can run {self.name}: {reason.message}",
            code="integers.depth" if large is None else large.code,
            **reason.fields,
        )

    def _runner(
        self, params: Params, rows: int, bootstraps: bool, beside: bool, in_blocks: bool
    ) -> Callable[..., Plan]:
        """What runs the program once on the scheme that only counts, with arguments at levels by
        name, or at the top, of an origin as ``Trace.input`` has them.
        """
        trace = _rust.Trace(params._raw, bootstraps)
        unused = [trace]

        def run(levels: _levels.Levels | None = None, origin: str = "secret") -> Plan:
            own = unused.pop() if unused else trace.again()
            factor = -(-rows // params.slots)
            tracer = Tracer(params, bootstraps, factor, beside, own, in_blocks)
            return self._traced(params, rows, tracer, levels or {}, origin)

        return run

    def _planned(
        self, params: Params, rows: int, bootstraps: bool, beside: bool, in_blocks: bool
    ) -> Plan:
        """The plan for arguments at one level, whoever encrypts them: the lowest at which the
        program takes no more than at the top, or the top if the server bootstraps.
        """
        run = self._runner(params, rows, bootstraps, beside, in_blocks)
        plan = run()
        before, hardest, top = plan, "above", params.levels - 1
        try:
            before, hardest = run(origin="public"), "public"
        except Error:
            # They have more noise, with which the program does not fit.
            plan._public = False
        else:
            # Their products meet at other levels.
            plan._with_keys_of(before)._public = True
        plan._leveled = not bootstraps
        if bootstraps:
            return plan

        def fits(levels: _levels.Levels) -> bool:
            try:
                return _takes_no_more(run(levels, hardest), before)
            except Error:
                return False

        levels = _levels.common(self.kinds, top, fits)
        return self._at(run, levels, plan)

    def _at(self, run: Callable[..., Plan], levels: _levels.Levels, plan: Plan) -> Plan:
        """A plan with arguments at other levels, and keys for all ways to make them that it is for;
        or the same plan where that would take more.
        """
        if levels == {name: x.level for name, x in plan.inputs.items()}:
            return plan
        try:
            found = run(levels)
            for origin in ("public", "above") if plan._public else ("above",):
                found._with_keys_of(run(levels, origin))
        except Error:
            # Levels of products follow from the noise, so less of it need not fit.
            return plan
        found._public, found._leveled = plan._public, plan._leveled
        if plan.seeded_keys:
            found._with_seeded_keys()
        return found if _takes_no_more(found, plan) else plan

    def _refined(self, plan: Plan) -> Plan:
        """The same plan with lower levels for some of its arguments, where it takes no more: the
        largest arguments first.
        """
        if not plan._leveled or len(self.kinds) < 2:
            return plan
        run = self._runner(plan.params, plan.rows, False, plan.side_by_side, plan.in_blocks)
        origin = "public" if plan._public else "above"
        levels = {name: x.level for name, x in plan.inputs.items()}
        try:
            before = run(levels, origin)
        except Error:
            return plan

        def lower(tried: _levels.Levels) -> bool:
            nonlocal before
            try:
                found = run(tried, origin)
            except Error:
                return False
            if not _takes_no_more(found, before):
                return False
            before = found
            return True

        order = sorted(levels, key=lambda name: -plan.inputs[name].bytes)
        return self._at(run, _levels.single(levels, order, lower), plan)

    def _with_fewer_slots(
        self, sets: Iterable[Params], rows: int, accepted: Callable[[Plan], Plan]
    ) -> list[Plan]:
        """The plans on the same sets with no more used slots than the rows need."""
        plans: list[Plan] = []
        for whole in sets:
            if 4 * rows > whole.slots:
                continue
            # Alone or, in a row, with 8 digits side by side.
            fewer = [whole._with_slots_for(values) for values in (rows, 16 * rows)]
            for given in {given.slots: given for given in fewer if given is not None}.values():
                try:
                    plans += self._plans([given], rows, accepted)[0]
                except Error:
                    # What the program makes of its arguments may need more slots than they do.
                    continue
        return plans

    def _plans(
        self, sets: Iterable[Params], rows: int, accepted: Callable[[Plan], Plan]
    ) -> tuple[list[Plan], list[Error]]:
        """The plans on sets that ``accepted`` does not refuse, and why there are none on others."""
        plans: list[Plan] = []
        refused: list[Error] = []
        for given in sets:
            # Side by side in a row, half of the slots, there is room for two digits at least.
            layouts = (False, True) if 4 * rows <= given.slots else (False,)
            for bootstraps in (False, True) if given._raw.bootstraps else (False,):
                found = []
                # In blocks products and tables take less memory, and more time: only if need be.
                ways = [(beside, in_blocks) for beside in layouts for in_blocks in (False, True)]
                large: set[bool] = set()
                for beside, in_blocks in ways:
                    if in_blocks and beside not in large:
                        continue
                    try:
                        plan = self._planned(given, rows, bootstraps, beside, in_blocks)
                        found.append(accepted(plan))
                    except Error as error:
                        if error.code not in (
                            "integers.depth",
                            "integers.memory",
                            "integers.set",
                            "circuit.not-enough-capacity",
                            "scheme.noise-overflow",
                        ):
                            raise
                        refused.append(error)
                        if error.code == "integers.memory":
                            large.add(beside)
                plans += found
                if found:
                    break
        return plans, refused

    def _traced(
        self, params: Params, rows: int, tracer: Tracer, levels: _levels.Levels, origin: str
    ) -> Plan:
        length = min(rows, params.slots)
        inputs: dict[str, EncryptedIntegers] = {}
        made: dict[str, _rust.Column] = {}
        told: dict[str, Argument] = {}
        # What the program bootstraps in place, as somebody else has it.
        kept: list[_rust.Column] = []
        for name, kind in self.kinds.items():
            interval, level = (kind.low, kind.high), levels.get(name)
            blocks = [
                tracer._trace.input(interval, length, origin, kind.indexed, level)
                for _ in range(kind.rows or 1)
            ]
            shape = (rows,) if kind.rows is None else (kind.rows, rows)
            x = EncryptedIntegers._make(blocks, shape, tracer, None, len(blocks))
            # Before it bootstraps them.
            own = [block.detached() for block in blocks]
            inputs[name], made[name] = x, own[0]
            kept += own
            known = params.levels - 1 if x.level is None else x.level
            told[name] = Argument(known, *size_of([x], tracer._factor))
        waiting = memory_of(inputs.values())
        found = self._function(**inputs)
        results = (
            found
            if isinstance(found, tuple)
            else tuple(found.values())
            if isinstance(found, dict)
            else (found,)
        )
        if not all(isinstance(x, (EncryptedIntegers, EncryptedTotal)) for x in results):
            raise ProgramError(
                f"{self.name} has to return encrypted arrays or totals, one or a tuple or a dict "
                "of them",
                code="python.program",
            )
        waiting = (tracer._factor - 1) * (waiting + memory_of(results))
        return Plan(self, params, rows, tracer, told, made, results, waiting)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {kind}" for name, kind in self.kinds.items())
        return f"<everlevel.Program {self.name}({kinds})>"


def _takes_no_more(plan: Plan, than: Plan) -> bool:
    """Whether a plan takes no more products, memory and, but for a hundredth, time."""
    return (
        plan.products <= than.products
        and plan.seconds <= 1.01 * than.seconds
        and plan.memory_bytes <= than.memory_bytes
    )


def program(function: Callable[..., Any]) -> Program:
    """Makes a program of a function whose arguments are annotated: with ``everlevel.uint8`` and its
    like, ``everlevel.ranged(low, high)``, ``everlevel.indexed(kind)``, or NumPy's types.
    """
    return Program(function)
