"""Runs a program on encrypted columns, and prints what it took."""

import json
import os
import runpy
import sys
import time
from pathlib import Path

import numpy as np

import everlevel

NAME = os.environ.get("COMPARE_SET", "bgv-65537-n15")
params = everlevel.Params(NAME, insecure_research=NAME.startswith("insecure_"))
COUNT = params.slots


def report(program, columns, expected):
    """`columns` are pairs of values and of their bounds."""
    marks = [time.perf_counter()]
    client = everlevel.Client(params)
    server = client.server()
    marks.append(time.perf_counter())
    arguments = [
        server.load(client.encrypt(values, bounds=bounds, rows=values.ndim > 1))
        for values, bounds in columns
    ]
    marks.append(time.perf_counter())
    result = program(*arguments)
    marks.append(time.perf_counter())
    keys, encryption, seconds = np.diff(marks).tolist()
    print(
        json.dumps(
            {
                "version": everlevel.__version__,
                "keys": keys,
                "encryption": encryption,
                "seconds": seconds,
                "values": COUNT,
                "bootstraps": server.bootstraps,
                "verified": bool(np.array_equal(client.decrypt(result), expected)),
            }
        )
    )


if __name__ == "__main__":
    # What is asked for is a program beside this one.
    runpy.run_path(str(Path(__file__).with_name(json.loads(sys.argv[1])["program"] + ".py")))
