"""Measurements: ``python -m everlevel.bench bootstrap`` measures the overhead of Python for a
bootstrapping, and ``.. cluster`` that of Ray, and how the time scales.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

import numpy as np

from . import _everlevel as _rust
from ._params import Params
from ._roles import Client
from ._server import Server
from ._values import counted


def bootstrap(name: str, runs: int, insecure_research: bool = False) -> dict[str, Any]:
    """Seconds of a bootstrapping from Python and from Rust, and what Python adds, in percent of the
    median and of the best.

    The same ciphertext is bootstrapped by ``EncryptedArray.refresh`` and by a loop that stays in
    Rust, in turns, so that both see the same machine.
    """
    params = Params(name, insecure_research=insecure_research)
    client = Client(params)
    # Bootstrapping only: the keys of a program that does nothing else.
    server = client.server(program="y = refresh(x)")
    values = np.arange(params.slots) % params.plain_modulus
    x = server.load(client.encrypt_modular(values))
    fresh = x.refresh()  # keys and tables are warm from here on
    wrong = int(np.count_nonzero(client.decrypt(fresh) != values))
    python: list[float] = []
    rust: list[float] = []
    for _ in range(runs):
        rust += _rust.time_bootstraps(server._compiled, x._xs[0], 1)
        started = time.perf_counter()
        fresh = x.refresh()
        python.append(time.perf_counter() - started)
    both = {"python": python, "rust": rust}
    return {
        "params": name,
        "threads": _rust.num_threads(),
        "runs": runs,
        "wrong_slots": wrong + int(np.count_nonzero(client.decrypt(fresh) != values)),
        **{f"{who}_seconds_median": statistics.median(seconds) for who, seconds in both.items()},
        **{f"{who}_seconds_min": min(seconds) for who, seconds in both.items()},
        "overhead_percent_median": 100 * (statistics.median(python) / statistics.median(rust) - 1),
        "overhead_percent_min": 100 * (min(python) / min(rust) - 1),
    }


def cluster(
    name: str, count: int, workers: list[int], insecure_research: bool = False
) -> dict[str, Any]:
    """Seconds of ``count`` bootstrappings here, and on Ray by numbers of actors with a thread each:
    until the first result is there, and from then on.
    """
    from .cluster import imap

    params = Params(name, insecure_research=insecure_research)
    client = Client(params)
    values = np.arange(params.slots) % params.plain_modulus
    x = client.encrypt_modular(values)
    _rust.set_num_threads(1)
    runs = []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "server.keys")
        key_bytes = client.save_server_keys(path, program="y = refresh(x)")
        server = Server.open(path, params=params)
        prints, y = set(), x
        for who in [0, *workers]:
            started = time.perf_counter()
            seconds = []
            for y in imap(
                "y = refresh(x)", (x for _ in range(count)), server=server, ray=who > 0, workers=who
            ):
                seconds.append(time.perf_counter() - started)
                prints.add(y.fingerprint)
            later = (seconds[-1] - seconds[0]) / max(count - 1, 1)
            runs.append({"actors": who, "first_seconds": seconds[0], "seconds_each_after": later})
    return {
        "params": name,
        "bootstraps": count,
        "server_key_bytes": key_bytes,
        "ciphertext_bytes": len(y.to_bytes()),
        "different_results": len(prints) - 1,
        "wrong_slots": int(np.count_nonzero(client.decrypt(y) != values)),
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m everlevel.bench", description=__doc__)
    parser.add_argument("what", choices=["bootstrap", "cluster"])
    parser.add_argument("--params", default="bgv-65537-n15")
    parser.add_argument("--runs", type=int, default=5, help="bootstrappings, of each kind")
    parser.add_argument("--threads", type=int, default=0, help="of bootstrap; 0: one per core")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], help="numbers of actors of cluster"
    )
    parser.add_argument("--insecure-research", action="store_true")
    given = parser.parse_args()
    runs = max(given.runs, 1)
    _rust.set_num_threads(counted("threads", given.threads, code="python.threads"))
    if given.what == "bootstrap":
        found = bootstrap(given.params, runs, given.insecure_research)
    else:
        found = cluster(given.params, runs, given.workers, given.insecure_research)
    print(json.dumps(found, indent=2))
    wrong, different = found["wrong_slots"], found.get("different_results", 0)
    if wrong or different:
        sys.exit(f"{wrong} slots wrong, {different} results different: please report this")


if __name__ == "__main__":
    main()
