"""Programs on typed integers that are planned before they run."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._html import facts, grid
from ._integers import EncryptedIntegers
from ._kinds import Interval, Kind, interval_of
from ._params import Params
from ._totals import EncryptedTotal
from ._values import by_name
from .errors import (
    DtypeError,
    Error,
    OtherParametersError,
    ParameterError,
    ProgramError,
    RangeError,
    ShapeError,
)

if typing.TYPE_CHECKING:
    from ._public_key import PublicKey
    from ._roles import Client
    from ._server import Server

#: Operations above which a plan is shown by their kinds.
LONG = 60

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


@dataclass(frozen=True)
class Stage:
    """An operation of a program, on all its blocks."""

    name: str
    interval: Interval
    products: int
    key_switches: int
    bootstraps: int
    #: By the model of a typical core, one thread.
    seconds: float
    #: What its result has left to compute with; none if that is public.
    capacity_bits: float | None


class Tracer:
    """A server that computes nothing and counts: a program runs on it once, on a block that stands
    for all.
    """

    def __init__(self, params: Params, bootstraps: bool, factor: int, beside: bool) -> None:
        self._trace = _rust.Trace(params._raw, bootstraps)
        self._inner = self._trace.server(beside)
        self._beside = beside
        self._factor = factor
        self._stages: list[Stage] = []

    @property
    def _integers(self) -> Tracer:
        return self

    def _check_public(self, run: npt.NDArray[Any]) -> None:
        """Passes a run of public integers that is computed with."""

    def _told(
        self, name: str, before: tuple[int, int, int, float], x: _rust.Column | _rust.Total
    ) -> None:
        k, after = self._factor, self._trace.cost
        products, switches, bootstraps = (k * (b - a) for a, b in zip(before[:3], after[:3]))
        capacity = x.capacity_bits if isinstance(x, _rust.Column) else None
        self._stages.append(
            Stage(
                name,
                x.interval,
                products,
                switches,
                bootstraps,
                k * (after[3] - before[3]),
                capacity,
            )
        )

    def apply(
        self, name: str, operands: list[_rust.Column | int], numbers: list[int]
    ) -> list[_rust.Column]:
        before = self._trace.cost
        found = self._inner.apply(name, operands, numbers)
        self._told(name, before, found[0])
        return found

    def constant(self, like: _rust.Column, values: list[int]) -> _rust.Column:
        before = self._trace.cost
        found = self._inner.constant(like, values)
        self._told("constant", before, found)
        return found

    def totals(
        self, name: str, x: _rust.Column, numbers: list[int] | None = None
    ) -> list[_rust.Total]:
        before = self._trace.cost
        found = self._inner.totals(name, x, numbers or [])
        self._told(name, before, found[0])
        return found


class Plan:
    """What a program takes on a parameter set, found by running it once on a scheme that only
    counts. ``print`` shows it.

    Seconds are those of the model of a typical core, on one thread: an estimate. Everything else is
    what will be done.
    """

    def __init__(
        self,
        program: Program,
        params: Params,
        rows: int,
        tracer: Tracer,
        inputs: Mapping[str, EncryptedIntegers],
        results: Sequence[Any],
    ) -> None:
        trace = tracer._trace
        self._program, self._keys = program, trace.keys
        #: The parameter set.
        self.params = params
        #: Entries of each array.
        self.rows = rows
        #: Whether comparisons of short arrays have all digits in one ciphertext.
        self.side_by_side = tracer._beside
        #: The operations, in the order of the program.
        self.stages = tuple(tracer._stages)
        #: Modeled seconds on one thread.
        self.seconds = sum(stage.seconds for stage in self.stages)
        #: Products of ciphertexts.
        self.products = sum(stage.products for stage in self.stages)
        #: Bootstrappings.
        self.bootstraps = sum(stage.bootstraps for stage in self.stages)
        #: Bytes of the server keys that it takes, in a file.
        self.key_bytes = self._keys.bytes(params._raw)
        #: Ciphertexts of its arguments, and their bytes, about.
        self.input_ciphertexts = tracer._factor * sum(x.ciphertexts for x in inputs.values())
        self.input_bytes = self.input_ciphertexts * trace.ciphertext_bytes
        #: The values that each result can have.
        self.intervals = tuple(x.interval for x in results)

    def server(self, client: Client, *, progress: Any = None) -> Server:
        """A server of a client with the keys that the program takes, and no others."""
        self._of(client.params)
        return client._server(self._keys, progress)

    def encrypt(
        self, client: Client | PublicKey, **arrays: npt.ArrayLike
    ) -> dict[str, EncryptedIntegers]:
        """The arguments by name, encrypted as the annotations say."""
        self._of(client.params)
        self._program._named(arrays)
        found = {
            name: client.encrypt(values, dtype=self._program.kinds[name])
            for name, values in arrays.items()
        }
        for name, x in found.items():
            self._fits(name, x)
        return found

    def run(
        self,
        server: Server,
        arguments: Mapping[str, EncryptedIntegers] | None = None,
        **named: EncryptedIntegers,
    ) -> Any:
        """Runs the program on a server: on arguments by name, of the types and lengths that were
        planned for.
        """
        arrays = by_name(arguments, named)
        self._of(server.params)
        self._program._named(arrays)
        for name, x in arrays.items():
            self._fits(name, x)
        function = self._program._function
        if not self.side_by_side:
            return function(**{name: server.load(x) for name, x in arrays.items()})
        place = server._beside()
        found = function(**{name: place.load(x) for name, x in arrays.items()})
        if isinstance(found, tuple):
            return tuple(_on_server(x, server) for x in found)
        if isinstance(found, dict):
            return {name: _on_server(x, server) for name, x in found.items()}
        return _on_server(found, server)

    def _of(self, params: Params) -> None:
        if not params._raw.same(self.params._raw):
            raise OtherParametersError(
                f"the plan is for {self.params.name}, not for {params.name}",
                code="scheme.wrong-params",
            )

    def _fits(self, name: str, x: EncryptedIntegers) -> None:
        kind = self._program.kinds[name]
        if x._wrap is not None:
            raise DtypeError(
                f"{name} is wrapping {x._wrap}: the plan is for exact arithmetic; give "
                f"{name}.checked(), and let the program say where it wraps",
                code="integers.type",
            )
        if x.shape != (
            (self.rows,) if kind.rows is None else (kind.rows, self.rows)
        ) or x._runs != (kind.rows or 1):
            entries = (
                f"{self.rows} rows"
                if kind.rows is None
                else f"{kind.rows} rows of {self.rows} entries, encrypted with rows=True"
            )
            raise ShapeError(
                f"{name} of shape {x.shape}: the plan is for {entries}", code="python.shape"
            )
        if x.interval != (kind.low, kind.high):
            raise RangeError(
                f"{name} of {x.interval[0]} to {x.interval[1]}: the plan is for {kind}",
                code="integers.range",
            )

    def __str__(self) -> str:
        lines = [
            f"{self._program.name} on {self.params.name}, {self.rows} rows",
            (
                f"{self.products} products, {self.bootstraps} bootstrappings; about "
                f"{_seconds(self.seconds)} on one core"
                + (", digits side by side" if self.side_by_side else "")
            ),
            (
                f"server keys of {_bytes(self.key_bytes)}; {self.input_ciphertexts} ciphertexts of "
                f"arguments, {_bytes(self.input_bytes)}"
            ),
        ]
        if len(self.stages) > LONG:
            return "\n".join(lines + self._by_operation())
        lines.append(
            f"{'operation':14}{'values':>28}{'products':>10}{'switches':>10}{'refreshes':>11}"
            f"{'seconds':>10}{'bits left':>11}"
        )
        for s in self.stages:
            values, left = (
                f"{s.interval[0]} to {s.interval[1]}",
                "" if s.capacity_bits is None else f"{s.capacity_bits:.0f}",
            )
            lines.append(
                f"{s.name:14}{values:>28}{s.products:>10}{s.key_switches:>10}{s.bootstraps:>11}{s.seconds:>10.3g}{left:>11}"
            )
        return "\n".join(lines)

    def _by_operation(self) -> list[str]:
        """A line for each kind of operation, the longest first."""
        groups: dict[str, list[Stage]] = {}
        for stage in self.stages:
            groups.setdefault(stage.name, []).append(stage)
        lines = [
            f"{'operation':14}{'times':>10}{'products':>10}{'switches':>10}{'refreshes':>11}{'seconds':>10}"
        ]
        for name, group in sorted(
            groups.items(), key=lambda item: -sum(s.seconds for s in item[1])
        ):
            products = sum(s.products for s in group)
            switches = sum(s.key_switches for s in group)
            refreshes = sum(s.bootstraps for s in group)
            seconds = sum(s.seconds for s in group)
            lines.append(
                f"{name:14}{len(group):>10}{products:>10}{switches:>10}{refreshes:>11}"
                f"{seconds:>10.3g}"
            )
        return lines

    def _repr_html_(self) -> str:
        summary = [
            ("parameter set", self.params.name),
            ("rows", f"{self.rows:,}"),
            ("products", self.products),
            ("bootstrappings", self.bootstraps),
            ("modeled time, one thread", _seconds(self.seconds)),
            ("server keys", _bytes(self.key_bytes)),
            ("arguments", f"{self.input_ciphertexts} ciphertexts, {_bytes(self.input_bytes)}"),
        ]
        header = (
            "operation",
            "values",
            "products",
            "key switches",
            "bootstrappings",
            "seconds",
            "capacity, bits",
        )
        stages = [
            (
                s.name,
                f"{s.interval[0]} to {s.interval[1]}",
                s.products,
                s.key_switches,
                s.bootstraps,
                f"{s.seconds:.3g}",
                "" if s.capacity_bits is None else f"{s.capacity_bits:.0f}",
            )
            for s in self.stages
        ]
        return facts(f"Plan of {self._program.name}", summary) + grid("Operations", header, stages)

    def __repr__(self) -> str:
        return (
            f"<everlevel.Plan of {self._program.name} on {self.params.name}: "
            f"{_seconds(self.seconds)}, keys of {_bytes(self.key_bytes)}>"
        )


class Program:
    """A function of typed integers: calling it computes, on encrypted arrays or in the clear, and
    :meth:`plan` says before what it takes.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)
        #: The name of the function.
        self.name: str = function.__name__
        #: What its arguments may be, by name.
        self.kinds = _kinds(function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """On encrypted arrays its results; on arrays that are not encrypted what these results are
        when they are decrypted, or the same refusal.
        """
        given = self._signature.bind(*arguments, **named).arguments
        encrypted = [name for name, x in given.items() if isinstance(x, EncryptedIntegers)]
        if not encrypted:
            from ._clear import run

            return run(self._function, self.kinds, given)
        if len(encrypted) < len(given):
            others = [name for name in given if name not in encrypted]
            raise ProgramError(
                f"{', '.join(encrypted)} encrypted, {', '.join(others)} not: {self.name} takes "
                "arguments that are all encrypted, or none; encrypt them, or write public "
                "integers into the program",
                code="python.arguments",
            )
        return self._function(**given)

    def plan(
        self,
        rows: int,
        *,
        params: Params | None = None,
        candidates: Sequence[str | Params] = CANDIDATES,
        minimize: str | None = None,
        minimise: str | None = None,
    ) -> Plan:
        """What it takes for arrays of a given number of entries: on ``params``, or on the best of
        some sets. ``minimize``: ``"time"``, which is the default, or ``"keys"``, their bytes.

        On each set first without bootstrapping, and with it if that does not fit; where arrays are
        short, with the digits that are compared apart and side by side in one ciphertext. It is run
        a few times for this, on a scheme that only counts. ``minimise`` is an older name of
        ``minimize``.
        """
        goals = [goal for goal in (minimize, minimise) if goal is not None] or ["time"]
        if any(goal not in ("time", "keys") or goal != goals[0] for goal in goals):
            raise RangeError(
                f"minimize = {' and '.join(map(repr, goals))}: expected 'time' or 'keys'",
                code="python.minimise",
            )
        if rows < 1:
            raise RangeError(f"{rows} rows: expected at least 1", code="python.rows")
        plans, refused = [], []
        for candidate in (params,) if params is not None else candidates:
            given = Params(candidate) if isinstance(candidate, str) else candidate
            # Side by side in a row, half of the slots, there is room for two digits at least.
            layouts = (False, True) if 4 * rows <= given.slots else (False,)
            for bootstraps in (False, True) if given._raw.bootstraps else (False,):
                found = []
                for beside in layouts:
                    try:
                        found.append(self._traced(given, rows, bootstraps, beside))
                    except Error as error:
                        if error.code not in (
                            "integers.depth",
                            "integers.set",
                            "circuit.not-enough-capacity",
                            "scheme.noise-overflow",
                        ):
                            raise
                        refused.append(error)
                plans += found
                if found:
                    break
        if not plans:
            raise ParameterError(
                f"none of the sets can run {self.name}: {refused[-1].message}",
                code="integers.depth",
            )
        return min(plans, key=lambda plan: plan.seconds if goals[0] == "time" else plan.key_bytes)

    def _traced(self, params: Params, rows: int, bootstraps: bool, beside: bool) -> Plan:
        slots = params.slots
        tracer = Tracer(params, bootstraps, -(-rows // slots), beside)
        inputs = {}
        for name, kind in self.kinds.items():
            blocks = [
                tracer._trace.input(kind.low, kind.high, min(rows, slots))
                for _ in range(kind.rows or 1)
            ]
            shape = (rows,) if kind.rows is None else (kind.rows, rows)
            inputs[name] = EncryptedIntegers._make(blocks, shape, tracer, None, len(blocks))
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
        return Plan(self, params, rows, tracer, inputs, results)

    def _named(self, arrays: Mapping[str, Any]) -> None:
        if set(arrays) != set(self.kinds):
            raise ProgramError(
                f"arguments {', '.join(arrays) or 'none'}: {self.name} takes "
                f"{', '.join(self.kinds)}",
                code="python.arguments",
            )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {kind}" for name, kind in self.kinds.items())
        return f"<everlevel.Program {self.name}({kinds})>"


def _on_server(x: Any, server: Server) -> Any:
    return x._on_server(server) if isinstance(x, EncryptedIntegers) else x


def program(function: Callable[..., Any]) -> Program:
    """Makes a program of a function whose arguments are annotated: with ``everlevel.uint8`` and its
    like, ``everlevel.ranged(low, high)``, or NumPy's types.
    """
    return Program(function)


def _kinds(function: Callable[..., Any]) -> dict[str, Kind]:
    found = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        said = parameter.annotation
        if typing.get_origin(said) is typing.Annotated:
            said = next((x for x in said.__metadata__ if isinstance(x, Kind)), said)
        if said is inspect.Parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise DtypeError(
                f"argument {name} of {function.__name__} has no type: annotate it, with "
                "everlevel.uint8 for example",
                code="python.annotation",
            )
        if not isinstance(said, Kind):
            try:
                dtype = np.dtype(getattr(said, "_dtype", said))
                said = Kind(*interval_of(dtype))
            except (TypeError, ValueError):
                raise DtypeError(
                    f"argument {name} of {function.__name__}: expected everlevel.bool_, uint8 to "
                    "uint64, int8 to int64 or everlevel.ranged(low, high)",
                    code="python.annotation",
                ) from None
        found[name] = said
    return found


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _bytes(count: float) -> str:
    return f"{count / 2**20:.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"
