"""Parameter sets for a computation, and what keys are worth against lattice reduction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _everlevel as _rust
from ._params import Params

__all__ = ["Candidate", "Ring", "Tuned", "estimate_security", "plan", "rings", "tune"]


@dataclass(frozen=True)
class Candidate:
    """A parameter set that meets the requirements, and what to expect of it. Times are modelled, for one thread of a typical machine."""

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


def plan(plain_modulus: int, slots: int, *, depth: int | None = None, minimize: str = "latency") -> list[Candidate]:
    """The sets at 128 bits that hold at least so many integers modulo p^r, the best first.

    ``depth`` is how many multiplications come in a row; without it any number, with bootstrapping. ``minimize``: ``"latency"``, ``"throughput"`` or ``"memory"``.
    Takes seconds. Where nothing fits, a :class:`everlevel.ParameterError` says why.
    """
    found = _rust.candidates(plain_modulus, slots, depth, minimize)
    return [Candidate(Params._of(row[0]), row[1], row[2], row[3], row[4], row[5]) for row in found]


@dataclass(frozen=True)
class Tuned:
    """A parameter set with a bootstrapping plan filled in, and what it costs and leaves by the model of a typical machine."""

    params: Params
    #: Seconds of a bootstrapping on one thread.
    seconds: float
    #: What is left to compute with afterwards.
    capacity_bits: float
    #: Multiplications in a row until the next one; a fraction is what is left over.
    multiplications: float
    #: Server keys for it.
    key_bytes: int


def tune(params: Params, *, by: str = "throughput") -> Tuned:
    """A good bootstrapping plan for a set, as ``everlevel params plan NAME``: by ``"throughput"`` (time by multiplication), ``"latency"`` or ``"capacity"``.

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
    #: Sizes of the slots' dimensions, and whether they are good: rotations along others take a mask and a level.
    dimensions: tuple[tuple[int, bool], ...]
    #: log2 of the largest QP at the security that was asked for; none if no modulus has it.
    log_qp: float | None
    #: Primes in the lengths of transforms, added up: about how many operations a coefficient takes.
    transform_radices: int


def rings(
    p: int, *, slots: int = 1, degree_of: int = 1, security: float = 128.0, index_below: int = (1 << 16) + 1, limit: int = 20
) -> list[Ring]:
    """Rings by their slots, by degree, as ``everlevel params rings``: at least so many slots, of a degree that ``degree_of`` divides; the first ``limit`` of them.

    Takes up to seconds, most of them for the moduli.
    """
    found = []
    for text, log_qp in _rust.rings(p, slots, degree_of, security, index_below, limit):
        ring = json.loads(text)
        dimensions = tuple((d["size"], d["good"]) for d in ring["dimensions"])
        found.append(
            Ring(ring["m"], tuple(ring["factors"]), ring["n"], ring["d"], ring["slots"], dimensions, log_qp, ring["transform_radices"])
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
    """The attacks on a key of dimension ``n`` and modulus 2^``log_qp``, the cheapest first, with log2 of their cost as ``bits``.

    Secrets are ternary unless a weight or a deviation is given. ``rotations``: those of a secret in Z[X]/(X^n + 1) are counted. Costs in gates (MATZOV), or
    2^(0.292 β) with ``core_svp``. Estimates are no proofs: see SECURITY.md.
    """
    weight, deviation = sparse_weight or 0, gaussian_deviation or 0.0
    found: list[dict[str, Any]] = json.loads(
        _rust.estimate_security(n, log_qp, weight, deviation, error_deviation, rotations, core_svp, ntru)
    )
    return found
