"""A test that this build computes correctly on this machine: ``python -m everlevel.selftest``."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

from . import _everlevel as _rust
from ._params import Params
from ._roles import Client
from .errors import Error

__all__ = ["Check", "SETS", "selftest"]

#: Toy sets: two forms, a Fermat prime, a prime power, slots in two rows and in one.
SETS = (
    "insecure_bgv-257-n8",
    "insecure_bfv-127e2-n8",
    "insecure_bgv-127-n8",
    "insecure_bgv-65537-n11",
)

#: Steps within which every set has to bootstrap.
LONGEST = 100


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    passed: bool
    seconds: float
    detail: str


def selftest() -> list[Check]:
    """Under fresh keys of toy sets: sums, products, rotations, bootstrappings, bytes, compared with
    NumPy's integers. Some seconds.
    """
    return [_checked(name) for name in SETS]


def _checked(name: str) -> Check:
    started = time.perf_counter()
    try:
        passed, detail = _round_trip(Params(name, insecure_research=True))
    except Error as error:
        passed, detail = False, str(error)
    return Check(f"round trip, {name}", passed, time.perf_counter() - started, detail)


def _round_trip(params: Params) -> tuple[bool, str]:
    client = Client(params)
    server = client.server()
    t, size = params.plain_modulus, params.slots + params.slots // 2
    values = np.random.default_rng().integers(0, t, size).astype(object)
    x, expected = server.load(client.encrypt_modular(values.astype(np.int64))), values
    steps = 0
    while server.bootstraps < 2 and steps < LONGEST:
        steps += 1
        x, expected = (
            3 * x * (1 - x) + x.rotate(5),
            (3 * expected * (1 - expected) + np.roll(expected, -5)) % t,
        )
    found = client.decrypt(server.read(x.to_bytes()))
    wrong = int(np.count_nonzero(found != expected))
    return (
        wrong == 0 and server.bootstraps > 0,
        f"{wrong} of {size} entries wrong after {steps} steps, {server.bootstraps} bootstraps",
    )


def main() -> int:
    print(f"everlevel {_rust.build()[0]}, {_rust.build()[1]}")
    failed = 0
    for check in selftest():
        failed += not check.passed
        print(
            f"{'pass' if check.passed else 'FAIL'}  {check.name} ({check.seconds:.2f} s): "
            f"{check.detail}"
        )
    if failed:
        print(
            f"{failed} of {len(SETS)} checks failed: do not use this build, and please report this",
            file=sys.stderr,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
