"""Parameter sets for a computation, and security estimates of keys against lattice reduction."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

from . import _everlevel as _rust
from ._params import Params
from ._values import counted
from .errors import RangeError

__all__ = [
    "Candidate",
    "OperationCost",
    "Recommendation",
    "Ring",
    "SetCost",
    "Tuned",
    "estimate_security",
    "operations",
    "plan",
    "rings",
    "tune",
]


@dataclass(frozen=True)
class Candidate:
    """A parameter set that meets the requirements, and what to expect of it. Times are modeled, for
    one thread of a typical machine.
    """

    params: Params
    #: Multiplications in a row, of a fresh ciphertext or of a bootstrapped one.
    multiplications: int
    #: Seconds: of all multiplications in a row, or of one bootstrapping.
    latency_seconds: float
    #: Seconds of a multiplication in one slot, bootstrapping included.
    seconds_per_slot: float
    #: Server keys and four fresh ciphertexts, in memory.
    bytes: int
    #: log2 of the probability that the computation of ``latency_seconds`` fails.
    failure_log2: float


@dataclass(frozen=True)
class OperationCost:
    """The cost of an operation on all rows."""

    operation: str
    #: What was rehearsed: a line of a program, or a query.
    rehearsed: str
    #: The least and the largest result; none for answers of tables.
    interval: tuple[int, int] | None
    #: Products of ciphertexts, and bootstrappings.
    products: int
    refreshes: int
    #: By the model of a typical core, one thread.
    seconds: float


@dataclass(frozen=True)
class SetCost:
    """The cost of the operations on one of the sets that are compared. Seconds are those of the
    model of a typical core, one thread.
    """

    #: The name of the set, and its slots.
    set: str
    slots: int
    #: Server keys in a file, and in memory with a column of all rows.
    key_bytes: int
    memory_bytes: int
    #: A bootstrapping.
    refresh_seconds: float
    #: All operations once, on arrays as they are encrypted.
    seconds: float
    #: The same on arrays that have to be bootstrapped before anything; none unless they are typed
    #: integers.
    exhausted_seconds: float | None


@dataclass(frozen=True)
class Recommendation:
    """A parameter set and a way to compute with the values that :func:`plan` was told of.

    ``print`` shows it.

    All operations were rehearsed on the set, without cryptography: none of them is refused there
    later.
    """

    #: ``"integers"``: typed integers; ``"modular"``: arithmetic modulo p^r that cannot wrap;
    #: ``"tables"``: :mod:`everlevel.tables`.
    way: str
    params: Params
    #: The smallest and the largest value: the ``bounds`` to encrypt with.
    bounds: tuple[int, int]
    #: Ciphertexts of a column of all rows, and their bytes when the public key encrypts.
    ciphertexts: int
    ciphertext_bytes: int
    #: Server keys in a file.
    key_bytes: int
    #: Whether ciphertexts are bootstrapped by themselves.
    refreshes_automatically: bool
    #: All operations once, by the model of a typical core, one thread.
    seconds: float
    operations: tuple[OperationCost, ...]
    #: If the set uses fewer slots than its ring has: what it takes, and what the one with all slots
    #: takes. Otherwise empty.
    compared: tuple[SetCost, ...]
    #: The next commands, of the program and in Python.
    commands: tuple[str, ...]
    python: tuple[str, ...]
    #: Remarks.
    notes: tuple[str, ...]
    #: Why other ways are not recommended, by their names.
    others: dict[str, str]

    def __str__(self) -> str:
        low, high = self.bounds
        lines = [
            f"{self.way} on {self.params.name}, values from {low} to {high}",
            (
                f"{self.ciphertexts} ciphertexts a column, {self.ciphertext_bytes / 2**20:.1f} "
                "MiB; "
                f"server keys of {self.key_bytes / 2**20:.1f} MiB"
            ),
            f"about {self.seconds:.3g} s on one core",
            *(
                f"{cost.set}: {cost.slots} slots, a bootstrapping {cost.refresh_seconds:.2g} s, "
                f"server keys {cost.key_bytes / 2**20:.1f} MiB"
                for cost in self.compared
            ),
            *(f"not {way}: {reason}" for way, reason in self.others.items()),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join([*lines, "", *self.python])


def operations() -> dict[str, str]:
    """The operations that ``ops`` of :func:`plan` may name, with what they compute.

    Python's operators and other usual names are understood, too.
    """
    return {name: help for name, _, help in _rust.workload_operations()}


@overload
def plan(
    plain_modulus: int, slots: int, *, depth: int | None = None, minimize: str = "latency"
) -> list[Candidate]: ...


@overload
def plan(
    *,
    max_value: float,
    rows: int,
    ops: Iterable[str],
    signed: bool = False,
    insecure_research: bool = False,
) -> Recommendation: ...


def plan(
    plain_modulus: int | None = None,
    slots: int | None = None,
    *,
    depth: int | None = None,
    minimize: str | None = None,
    max_value: float | None = None,
    rows: int | None = None,
    ops: Iterable[str] | None = None,
    signed: bool = False,
    insecure_research: bool = False,
) -> list[Candidate] | Recommendation:
    """Parameter sets, by what the values are or, for research, by their modulus.

    With ``max_value``, the largest magnitude, ``rows`` and ``ops``, names of :func:`operations`:
    how to compute and on which set of 128 bits, as a :class:`Recommendation`. Operations that no
    set does raise :class:`everlevel.ParameterError` with the code ``workload.unsupported`` and the
    way out. ``insecure_research`` allows toys, which are then preferred.

    With ``plain_modulus`` and ``slots``: the sets at 128 bits that hold at least that many integers
    modulo p^r, the best first.
    ``depth`` is how many multiplications come in a row; without it any number, with bootstrapping.
    ``minimize``: ``"latency"``, ``"throughput"`` or ``"memory"``.

    Takes seconds. Where nothing fits, a :class:`everlevel.ParameterError` says why.
    """
    by_values = not (
        max_value is None and rows is None and ops is None and not signed and not insecure_research
    )
    by_modulus = not (
        plain_modulus is None and slots is None and depth is None and minimize is None
    )
    if by_values == by_modulus:
        problem = "expected either max_value, rows and ops, or plain_modulus and slots"
        raise RangeError(problem, code="python.plan")
    if by_modulus:
        if plain_modulus is None or slots is None:
            raise RangeError("expected both plain_modulus and slots", code="python.plan")
        found = _rust.candidates(
            counted("plain_modulus", plain_modulus, 65),
            counted("slots", slots),
            None if depth is None else counted("depth", depth, 32),
            "latency" if minimize is None else minimize,
        )
        return [
            Candidate(Params._of(row[0]), row[1], row[2], row[3], row[4], row[5]) for row in found
        ]
    if max_value is None or rows is None or ops is None:
        raise RangeError("expected max_value, rows and ops together", code="python.plan")
    words = ops.split(",") if isinstance(ops, str) else [str(word) for word in ops]
    text = _rust.workload_plan(_digits(max_value), signed, _digits(rows), words, insecure_research)
    return _recommendation(json.loads(text), insecure_research)


def _digits(value: object) -> str:
    """An integer as text; of anything else a text that is refused with the right code."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def _recommendation(found: dict[str, Any], insecure_research: bool) -> Recommendation:
    best = found["recommended"]

    def cost(row: dict[str, Any]) -> OperationCost:
        interval = None if row["low"] is None else (int(row["low"]), int(row["high"]))
        return OperationCost(
            row["operation"],
            row["rehearsed"],
            interval,
            row["products"],
            row["refreshes"],
            row["seconds"],
        )

    return Recommendation(
        way=best["way"],
        params=Params(best["set"], insecure_research=insecure_research),
        bounds=(int(best["low"]), int(best["high"])),
        ciphertexts=best["ciphertexts"],
        ciphertext_bytes=best["ciphertext_bytes"],
        key_bytes=best["key_bytes"],
        refreshes_automatically=best["refreshes_automatically"],
        seconds=best["seconds"],
        operations=tuple(cost(row) for row in best["operations"]),
        compared=tuple(SetCost(**row) for row in best["compared"]),
        commands=tuple(best["commands"]),
        python=tuple(best["python"]),
        notes=tuple(best["notes"]),
        others={other["way"]: other["reason"] for other in found["others"]},
    )


@dataclass(frozen=True)
class Tuned:
    """A parameter set with a bootstrapping plan filled in, and what it costs and leaves by the
    model of a typical machine.
    """

    params: Params
    #: Seconds of a bootstrapping on one thread.
    seconds: float
    #: The capacity that is left afterwards, in bits.
    capacity_bits: float
    #: Multiplications in a row until the next one; a fraction is what is left over.
    multiplications: float
    #: Server keys for it.
    key_bytes: int


def tune(params: Params, *, by: str = "throughput") -> Tuned:
    """A good bootstrapping plan for a set, as ``everlevel params plan NAME``: by ``"throughput"``
    (time by multiplication), ``"latency"`` or ``"capacity"``.

    The set that comes of it has an id of its own: its keys and files are not those of ``params``.
    """
    spec, seconds, capacity, multiplications, size = _rust.tuned(params._raw, by)
    tuned = Params(json.loads(spec), insecure_research=params._insecure_research)
    return Tuned(tuned, seconds, capacity, multiplications, size)


@dataclass(frozen=True)
class Ring:
    """A ring, and the slots that plaintexts modulo powers of p have in it."""

    #: m, and its prime powers.
    index: int
    factors: tuple[int, ...]
    #: n.
    degree: int
    #: d: n / d slots.
    slot_degree: int
    slots: int
    #: Sizes of the slots' dimensions, and whether they are good: rotations along others take a mask
    #: and a level.
    dimensions: tuple[tuple[int, bool], ...]
    #: log2 of the largest QP at the security that was asked for; none if no modulus has it.
    log_qp: float | None
    #: About how many operations a coefficient takes in a transform: the primes in the lengths of
    #: its parts added up, and for a power of a prime the length.
    transform_radices: int


def rings(
    p: int,
    *,
    slots: int = 1,
    degree_of: int = 1,
    security: float = 128.0,
    index_below: int = (1 << 16) + 1,
    limit: int = 20,
) -> list[Ring]:
    """Rings by their slots, by degree, as ``everlevel params rings``: at least ``slots`` slots, of
    a degree that ``degree_of`` divides; the first ``limit`` of them.

    Takes up to seconds, most of them for the moduli.
    """
    found = []
    wanted = _rust.rings(
        counted("p", p),
        counted("slots", slots),
        counted("degree_of", degree_of),
        security,
        counted("index_below", index_below),
        counted("limit", limit),
    )
    for text, log_qp in wanted:
        ring = json.loads(text)
        dimensions = tuple((d["size"], d["good"]) for d in ring["dimensions"])
        found.append(
            Ring(
                ring["m"],
                tuple(ring["factors"]),
                ring["n"],
                ring["d"],
                ring["slots"],
                dimensions,
                log_qp,
                ring["transform_radices"],
            )
        )
    return found


def estimate_security(
    n: int,
    log_qp: float,
    *,
    sparse_weight: int | None = None,
    gaussian_deviation: float | None = None,
    error_deviation: float = 3.2,
    rotations: bool = True,
    core_svp: bool = False,
    ntru: bool = False,
) -> list[dict[str, Any]]:
    """The attacks on a key of dimension ``n`` and modulus 2^``log_qp``, the cheapest first, with
    log2 of their cost as ``bits``.

    Secrets are ternary unless a weight or a deviation is given. ``rotations``: those of a secret in
    Z[X]/(X^n + 1) are counted. Costs in gates (MATZOV), or 2^(0.292 β) with ``core_svp``. Estimates
    are no proofs: see SECURITY.md.
    """
    problem = None
    if sparse_weight is not None and (sparse_weight < 1 or gaussian_deviation is not None or ntru):
        problem = (
            f"sparse_weight = {sparse_weight!r}: expected at least 1, without gaussian_deviation, "
            "and no key of NTRU, as sparse ones are not estimated"
        )
    elif gaussian_deviation is not None and not 0 < gaussian_deviation < math.inf:
        problem = f"gaussian_deviation = {gaussian_deviation!r}: expected a positive number"
    elif ntru and (error_deviation != 3.2 or not rotations):
        problem = (
            "ntru=True: expected neither error_deviation nor rotations=False, which say nothing of "
            "a key g/f; gaussian_deviation is that of f and g"
        )
    if problem is not None:
        raise RangeError(problem, code="security.out-of-range")
    n, weight = counted("n", n), counted("sparse_weight", sparse_weight or 0)
    deviation = gaussian_deviation or 0.0
    found: list[dict[str, Any]] = json.loads(
        _rust.estimate_security(
            n, log_qp, weight, deviation, error_deviation, rotations, core_svp, ntru
        )
    )
    return found
