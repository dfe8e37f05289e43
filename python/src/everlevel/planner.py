"""Parameter sets for a computation, and what keys are worth against lattice reduction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _everlevel as _rust
from ._params import Params

__all__ = ["Candidate", "estimate_security", "plan"]


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


def plan(plain_modulus: int, slots: int, *, depth: int | None = None, minimise: str = "latency") -> list[Candidate]:
    """The sets at 128 bits that hold at least so many integers modulo p^r, the best first.

    ``depth`` is how many multiplications come in a row; without it any number, with bootstrapping. ``minimise``: ``"latency"``, ``"throughput"`` or ``"memory"``.
    Takes seconds. Where nothing fits, a :class:`everlevel.ParameterError` says why.
    """
    found = _rust.candidates(plain_modulus, slots, depth, minimise)
    return [Candidate(Params._of(row[0]), row[1], row[2], row[3], row[4], row[5]) for row in found]


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
