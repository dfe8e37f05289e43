"""Runs one of NSHEDB's own programs for a query, and prints what it measured as JSON."""

import json
import re
import subprocess
import sys

# Rows at which the sums of each program stay below half of 65537, so that its own check passes:
# beyond that they wrap around. Its time is that of full ciphertexts for any number of rows.
ROWS = {"Q1": 6, "Q6": 5000}


def main(directory, asked):
    query, runs, threads = asked["query"], asked["runs"], asked["threads"]
    number = query.removeprefix("Q")
    command = [f"{directory}/tpch{number}_omp", runs, ROWS[query], 1, threads]
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    found = re.search(rf"\[TPCH-{number}\] .*: (\d+) us", done.stdout)
    modulus = re.search(r"coeff_modulus size: (\d+)", done.stdout)
    if done.returncode != 0 or not found or not modulus:
        sys.exit(f"{query}: exit code {done.returncode}: {done.stdout[-300:]}")
    report = {
        "seconds": int(found[1]) / 1e6,
        "verified": "Verified. Done." in done.stdout,
        "rows": ROWS[query],
        "log_qp": int(modulus[1]),
        "n": 32768,
    }
    print(json.dumps(report))


main(sys.argv[1], json.loads(sys.argv[2]))
