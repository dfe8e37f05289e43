"""``python -m everlevel.bench bootstrap``: what Python adds to a bootstrapping.

The same ciphertext is bootstrapped by ``EncryptedArray.refresh`` and by a loop that stays in Rust, in turns, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from . import Client, Params, get_num_threads, set_num_threads
from . import _everlevel as _rust


def bootstrap(name: str, runs: int, insecure_research: bool = False) -> dict[str, Any]:
    """Seconds of a bootstrapping from Python and from Rust, and what Python adds, in percent of the median and of the best."""
    params = Params(name, insecure_research=insecure_research)
    client = Client(params)
    # Bootstrapping only: the keys of a program that does nothing else.
    server = client.server(program="y = refresh(x)")
    values = np.arange(params.slots) % params.plain_modulus
    x = server.load(client.encrypt(values))
    fresh = x.refresh()  # keys and tables are warm from here on
    wrong = int(np.count_nonzero(client.decrypt(fresh) != values))
    python: list[float] = []
    rust: list[float] = []
    for _ in range(runs):
        rust += _rust.time_bootstraps(server._raw, x._x, 1)
        started = time.perf_counter()
        fresh = x.refresh()
        python.append(time.perf_counter() - started)
    both = {"python": python, "rust": rust}
    return {
        "params": name,
        "threads": get_num_threads(),
        "runs": runs,
        "wrong_slots": wrong + int(np.count_nonzero(client.decrypt(fresh) != values)),
        **{f"{who}_seconds_median": statistics.median(seconds) for who, seconds in both.items()},
        **{f"{who}_seconds_min": min(seconds) for who, seconds in both.items()},
        "overhead_percent_median": 100 * (statistics.median(python) / statistics.median(rust) - 1),
        "overhead_percent_min": 100 * (min(python) / min(rust) - 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m everlevel.bench", description=__doc__)
    parser.add_argument("what", choices=["bootstrap"])
    parser.add_argument("--params", default="bgv-65537-n15")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--insecure-research", action="store_true")
    given = parser.parse_args()
    set_num_threads(given.threads)
    print(json.dumps(bootstrap(given.params, max(given.runs, 1), given.insecure_research), indent=2))


if __name__ == "__main__":
    main()
