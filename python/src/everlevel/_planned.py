"""The cost of a program on typed integers on a parameter set, and how it is run as planned."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from . import _everlevel as _rust
from ._functions import Function
from ._integers import EncryptedIntegers
from ._params import Params
from ._plan_text import Argument, Told, html, text, told_bytes, told_seconds
from ._totals import EncryptedTotal
from ._tracer import Stage, Tracer
from ._values import by_name
from .errors import (
    DtypeError,
    Error,
    OtherParametersError,
    ParameterError,
    RangeError,
    ShapeError,
)

if TYPE_CHECKING:
    from ._public_key import PublicKey
    from ._roles import Client
    from ._server import Server


class Plan(Told):
    """The cost of a program on a parameter set, found by running it once on a scheme that only
    counts. ``print`` shows it.

    Seconds are those of the model of a typical core, on one thread: an estimate. Everything else is
    what will be done.
    """

    def __init__(
        self,
        program: Function,
        params: Params,
        rows: int,
        tracer: Tracer,
        inputs: dict[str, Argument],
        made: dict[str, _rust.Column],
        results: Sequence[Any],
        waiting: int,
    ) -> None:
        self._program, self._keys = program, tracer._trace.keys
        #: The parameter set.
        self.params = params
        #: Entries of each array.
        self.rows = rows
        #: Whether comparisons of short arrays have all digits in one ciphertext.
        self.side_by_side = tracer._beside
        #: Whether products and large tables are computed in blocks, for less memory.
        self.in_blocks = tracer._in_blocks
        # How many blocks one stands for.
        self._factor = tracer._factor
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
        #: The arguments by name, each with its level, its ciphertexts and their bytes.
        self.inputs = inputs
        #: Ciphertexts of all arguments, and their bytes, about.
        self.input_ciphertexts = sum(x.ciphertexts for x in inputs.values())
        self.input_bytes = sum(x.bytes for x in inputs.values())
        #: Ciphertexts of its results, and their bytes, about.
        self.result_ciphertexts, self.result_bytes = size_of(results, tracer._factor)
        #: The most bytes that ciphertexts take in memory at a time, those of arguments and results
        #: included: one operation after the other, each on one thread. Arguments and results of
        #: other blocks wait for their turn.
        self.working_bytes = tracer._trace.working_bytes + waiting
        #: Bytes of memory for keys and ciphertexts. What transforms need, and other threads, is
        #: additional.
        self.memory_bytes = self._keys.memory_bytes(params._raw) + self.working_bytes
        #: The values that each result can have.
        self.intervals = tuple(x.interval for x in results)
        #: Whether its server keeps half of each key as a seed in memory.
        self.seeded_keys = False
        # Whether arguments may be encrypted with the public key, and whether the server does not
        # bootstrap.
        self._public = self._leveled = False
        # Blocks of the arguments, as each way to make them leaves them that the keys are for.
        self._made = [made]

    def _with_keys_of(self, other: Plan) -> Plan:
        """This plan with the keys of one for arguments that are made in another way, too."""
        raw, before = self.params._raw, self._keys
        self._keys = before.merge(other._keys)
        self.key_bytes = self._keys.bytes(raw)
        self.memory_bytes += self._keys.memory_bytes(raw) - before.memory_bytes(raw)
        self._made += other._made
        return self

    def _with_seeded_keys(self) -> Plan:
        """This plan for a server that keeps half of each key as a seed in memory."""
        if not self.seeded_keys:
            self.seeded_keys = True
            self.memory_bytes -= self.key_bytes
        return self

    def _tracer(self, trace: _rust.Trace, bootstraps: bool, factor: int) -> Tracer:
        """What runs the program once more as it is planned, on a scheme that only counts."""
        return Tracer(self.params, bootstraps, factor, self.side_by_side, trace, self.in_blocks)

    def _with_small_keys(self) -> Plan:
        """This plan with fewer keys for products, which take fewer bytes, and with the time that
        products by these take; or as it is where that would save less than a tenth of the bytes, or
        where the program does not fit with these keys and no others.
        """
        raw, before = self.params._raw, self._keys
        smaller = before.smaller(raw)
        if smaller is None:
            return self
        stages: list[tuple[Stage, ...]] = []
        for made in self._made:
            trace = _rust.Trace.holding(raw, smaller, not self._leveled)
            tracer = self._tracer(trace, not self._leveled, self._factor)
            given = {}
            for name, kind in self._program.kinds.items():
                blocks = [trace.like(made[name]) for _ in range(kind.rows or 1)]
                shape = (self.rows,) if kind.rows is None else (kind.rows, self.rows)
                given[name] = EncryptedIntegers._make(blocks, shape, tracer, None, len(blocks))
            try:
                self._program._function(**given)
            except Error:
                return self
            stages.append(tuple(tracer._stages))
        found = copy.copy(self)
        found._keys, found.key_bytes = smaller, smaller.bytes(raw)
        found.memory_bytes += smaller.memory_bytes(raw) - before.memory_bytes(raw)
        if self.seeded_keys:
            found.memory_bytes += self.key_bytes - found.key_bytes
        # As the plan itself: of arguments under the secret key.
        found.stages = stages[0]
        found.seconds = sum(stage.seconds for stage in found.stages)
        found.products = sum(stage.products for stage in found.stages)
        found.bootstraps = sum(stage.bootstraps for stage in found.stages)
        return found

    def server(self, client: Client, *, small_keys: bool = False, progress: Any = None) -> Server:
        """A server of a client with the keys that the program takes, and no others. With
        ``small_keys`` there are fewer keys for products, which take fewer bytes; results are the
        same, and relinearizations take up to 1.6 times as many transforms. Where that would save
        less than a tenth, or would not suffice for the program, keys stay as they are.
        """
        self._of(client.params)
        plan = self._with_small_keys() if small_keys else self
        return client._server(plan._keys, plan.seeded_keys, progress)

    def encrypt(
        self, client: Client | PublicKey, **arrays: npt.ArrayLike
    ) -> dict[str, EncryptedIntegers]:
        """The arguments by name, encrypted as the annotations say, at the levels of the plan."""
        self._of(client.params)
        if not self._public and not hasattr(client, "decrypt"):
            raise ParameterError(
                "encryptions under the public key have more noise, with which the program does not "
                "fit as planned: encrypt with the client, or plan for a larger set",
                code="integers.depth",
            )
        self._program._named(arrays)
        found = {
            name: client.encrypt(
                values, dtype=self._program.kinds[name], level=self.inputs[name].level
            )
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
        planned for. Only indexes of arguments that are annotated with ``everlevel.indexed`` are
        read, as the plan counts no others.

        Arguments above the levels of the plan, such as those of ``Client.encrypt``, are switched
        down to these, but for servers with general keys, and the keys of ``Plan.server`` are for
        them, too. If others are below, have
        another noise bound, or if the server has other keys, the program is run on the scheme that
        only counts first, with these keys: what does not fit is refused before anything is
        computed.
        """
        arrays = by_name(arguments, named)
        self._of(server.params)
        self._program._named(arrays)
        for name, x in arrays.items():
            self._fits(name, x)
        function = self._program._function
        place = server._of_a_run(self.side_by_side, self.in_blocks)
        given = {name: place.load(x) for name, x in arrays.items()}
        # A server that can compute everything keeps capacity for bootstrapping, which levels of a
        # plan without it do not have.
        general = server._compiled.is_general
        for name, x in given.items():
            # Its type is that of the annotation, as for the plan.
            x = x._counting(False)
            # What an index decides takes other keys, and has fewer levels left.
            own = x if self._program.kinds[name].indexed else x.without_index()
            # In the plan arguments have ciphertexts of their own: what a run bootstraps in place is
            # not fresh for another argument, nor for a later run.
            blocks = [block.detached() for block in own._blocks]
            own = own._make(blocks, own._shape, place, own._wrap, own._runs)
            given[name] = own if general else self._lowered(place, own, self.inputs[name].level)
        self._check(server, given)
        found = function(**given)
        if isinstance(found, tuple):
            return tuple(_on_server(x, server) for x in found)
        if isinstance(found, dict):
            return {name: _on_server(x, server) for name, x in found.items()}
        return _on_server(found, server)

    def _lowered(self, place: Server, x: EncryptedIntegers, level: int) -> EncryptedIntegers:
        """The array, no higher than at a level."""
        if x.level is None or x.level <= level:
            return x
        blocks = [place._integers.lowered(block, level) for block in x._blocks]
        return EncryptedIntegers._make(blocks, x.shape, place, None, x._runs)

    def _check(self, server: Server, given: Mapping[str, EncryptedIntegers]) -> None:
        """Refuses what the server could not compute, unless it has the keys of the plan, and all
        arguments were made in one of the ways that these are for.
        """

        def alike(made: Mapping[str, _rust.Column]) -> bool:
            return all(
                block.is_like(made[name]) for name, x in given.items() for block in x._blocks
            )

        # A server that bootstraps keeps capacity for that, so that levels may be others than those
        # of a plan that does not.
        if (
            server.can_bootstrap != self._leveled
            and server._raw.keys.has(self._keys)
            and any(alike(made) for made in self._made)
        ):
            return
        trace = _rust.Trace.of_server(server._compiled)
        if trace is None:
            return
        tracer = self._tracer(trace, server.can_bootstrap, 1)
        pretended = {
            name: EncryptedIntegers._make(
                [trace.like(block) for block in x._blocks], x.shape, tracer, None, x._runs
            )
            for name, x in given.items()
        }
        self._program._function(**pretended)

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
        if kind.indexed and not x.has_index:
            raise DtypeError(
                f"{name} has no index: the plan is for {kind}; encrypt it with index=True",
                code="integers.type",
            )

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __repr__(self) -> str:
        return (
            f"<everlevel.Plan of {self._program.name} on {self.params.name}: "
            f"{told_seconds(self.seconds)}, keys of {told_bytes(self.key_bytes)}, "
            f"{told_bytes(self.memory_bytes)} of memory>"
        )


#: What plans are chosen by.
GOALS: dict[str, Callable[[Plan], float]] = {
    "time": lambda plan: plan.seconds,
    "keys": lambda plan: plan.key_bytes,
    "memory": lambda plan: plan.memory_bytes,
}


def size_of(xs: Iterable[Any], factor: int) -> tuple[int, int]:
    """The ciphertexts of arrays and totals in all blocks, of which one was traced, and their
    bytes.
    """
    each = (x._parts if isinstance(x, EncryptedTotal) else x._blocks for x in xs)
    parts = [part for parts in each for part in parts]
    return (
        factor * sum(part.ciphertexts for part in parts),
        factor * sum(part.bytes for part in parts),
    )


def memory_of(xs: Iterable[Any]) -> int:
    """The bytes in memory of one block of arrays and totals."""
    each = (x._parts if isinstance(x, EncryptedTotal) else x._blocks for x in xs)
    return sum(part.memory_bytes for parts in each for part in parts)


def within(plan: Plan, limit: int | None) -> Plan:
    """The plan, if it takes at most ``limit`` bytes of memory."""
    if limit is None or plan.memory_bytes <= limit:
        return plan
    needed, most = -(-plan.memory_bytes // 2**20), limit // 2**20
    raise ParameterError(
        f"{plan.params.name}: keys and ciphertexts of {needed} MiB: expected at most {most} MiB; "
        "plan for fewer entries and run the plan on one part after the other, or allow more",
        code="integers.memory",
        needed=needed,
        limit=most,
    )


def _on_server(x: Any, server: Server) -> Any:
    return x._on_server(server) if isinstance(x, EncryptedIntegers) else x
