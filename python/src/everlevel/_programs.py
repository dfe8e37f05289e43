"""Programs on typed integers that are planned before they run."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from . import _clear
from ._integers import EncryptedIntegers
from ._kinds import kinds_of
from ._params import Params
from ._plan_text import html, text, told_bytes, told_seconds
from ._totals import EncryptedTotal
from ._tracer import Stage, Tracer
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

if TYPE_CHECKING:
    from ._public_key import PublicKey
    from ._roles import Client
    from ._server import Server

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


class Plan:
    """The cost of a program on a parameter set, found by running it once on a scheme that only
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
        self.stages: tuple[Stage, ...] = tuple(tracer._stages)
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
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __repr__(self) -> str:
        return (
            f"<everlevel.Plan of {self._program.name} on {self.params.name}: "
            f"{told_seconds(self.seconds)}, keys of {told_bytes(self.key_bytes)}>"
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
        self.kinds = kinds_of(function)

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
        """The cost for arrays of a given number of entries: on ``params``, or on the best of some
        sets. ``minimize``: ``"time"``, which is the default, or ``"keys"``, their bytes.

        On each set first without bootstrapping, and with it if that does not fit; where arrays are
        short, with the digits that are compared apart and side by side in one ciphertext. If the
        best of the default sets bootstraps, also on that set with fewer used slots, such as
        ``bgv-65537-n15-s1024``, if the rows fill at most a quarter of its slots. It is run a few
        times for this, on a scheme that only counts. ``minimise`` is an older name of ``minimize``.
        """
        goals = [goal for goal in (minimize, minimise) if goal is not None] or ["time"]
        if any(goal not in ("time", "keys") or goal != goals[0] for goal in goals):
            raise RangeError(
                f"minimize = {' and '.join(map(repr, goals))}: expected 'time' or 'keys'",
                code="python.minimise",
            )
        # Minus an unsigned integer of NumPy's would be another one.
        rows = operator.index(rows)
        if rows < 1:
            raise RangeError(f"{rows} rows: expected at least 1", code="python.rows")

        def cost(plan: Plan) -> float:
            return plan.seconds if goals[0] == "time" else plan.key_bytes

        sets = (params,) if params is not None else candidates
        plans, refused = self._plans(
            [Params(given) if isinstance(given, str) else given for given in sets], rows
        )
        if not plans:
            raise ParameterError(
                f"none of the sets can run {self.name}: {refused[-1].message}",
                code="integers.depth",
            )
        best = min(plans, key=cost)
        if sets is not CANDIDATES or best.bootstraps == 0 or 4 * rows > best.params.slots:
            return best
        # Alone or, in a row, with 8 digits side by side.
        fewer = [best.params._with_slots_for(values) for values in (rows, 16 * rows)]
        plans = [best]
        for given in {given.slots: given for given in fewer if given is not None}.values():
            try:
                plans += self._plans([given], rows)[0]
            except Error:
                # What the program makes of its arguments may need more slots than they do.
                continue
        return min(plans, key=cost)

    def _plans(self, sets: Iterable[Params], rows: int) -> tuple[list[Plan], list[Error]]:
        """The plans on sets, and why there are none on others."""
        plans: list[Plan] = []
        refused: list[Error] = []
        for given in sets:
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
        return plans, refused

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
