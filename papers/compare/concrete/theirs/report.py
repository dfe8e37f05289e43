"""Runs a compiled program on one argument list, and prints what it took."""

import json
import runpy
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np


def report(circuit, arguments, expected):
    marks = [time.perf_counter()]
    circuit.keygen()
    marks.append(time.perf_counter())
    encrypted = circuit.encrypt(*arguments)
    marks.append(time.perf_counter())
    result = circuit.run(encrypted)
    marks.append(time.perf_counter())
    found = circuit.decrypt(result)
    keys, encryption, seconds = np.diff(marks).tolist()
    print(
        json.dumps(
            {
                "version": version("concrete-python"),
                "keys": keys,
                "encryption": encryption,
                "seconds": seconds,
                "values": np.shape(arguments[0])[-1],
                "bootstraps": circuit.programmable_bootstrap_count,
                "error": circuit.p_error,
                "verified": bool(np.array_equal(found, expected)),
            }
        )
    )


if __name__ == "__main__":
    # What is asked for is a program beside this one.
    runpy.run_path(str(Path(__file__).with_name(json.loads(sys.argv[1])["program"] + ".py")))
