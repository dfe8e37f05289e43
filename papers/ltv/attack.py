"""Table 2 of Doröz-Hu-Sunar (2014) in miniature: LLL and BKZ on the lattices of small LTV keys.

Needs fpylll (see README.md). Enters a record and draws an SVG plot beside the other results of the
papers:

    python3 attack.py [--quick] [--out ../results]

Two experiments. *lengths*: at one large modulus, how long the first reduced vector is, by degree
and block size; the paper extrapolates this line to the degree at which it passes q/4. *limits*: at
small moduli, up to which degree the first vector is a multiple of the secret key, f's ideal; the
paper's model stops at δ^(2n) √q = q/4, the dense sublattice of Kirchner-Fouque and Ducas-van
Woerden reaches further.
"""

import argparse
import json
import math
import pathlib
import platform
import random
import sys
import time

from fpylll import BKZ, LLL, IntegerMatrix
from fpylll import __version__ as fpylll_version
from plot import write_plot

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import records

BOUND, DEVIATION, VARIANCE = (
    2,
    1.55,
    1.461,
)  # B and r' of the paper, and the variance of what is left within B
LOG2_DELTA_LLL = math.log2(1.0219)
LENGTHS = {
    "log2_q": 40,
    "primes": [31, 47, 61, 73, 79, 83, 89, 97, 103, 109, 113, 127],
    "block_sizes": [2, 10],
}
LIMITS = {"log2_q": [8, 9, 10, 11], "block_sizes": [2, 10, 20], "first": 0.7, "keys": 2}


def is_prime(n):
    """Whether n is prime (Miller-Rabin with bases that decide below 2^64)."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if n < 2 or any(n % p == 0 for p in bases):
        return n in bases
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(
        pow(a, odd, n) == 1 or any(pow(a, odd << i, n) == n - 1 for i in range(twos)) for a in bases
    )


def next_prime(n):
    """The least prime above n."""
    n += 1
    while not is_prime(n):
        n += 1
    return n


def multiply(a, b, m):
    """a b modulo Φ_m for a prime m, over the integers: coefficients of 1 to X^(m-2)."""
    c = [0] * m
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                c[(i + j) % m] += x * y
    return [x - c[m - 1] for x in c[: m - 1]]


def inverse(a, m, q):
    """1/a modulo q and Φ_m by Euclid's algorithm, or None."""

    def trim(v):
        return next((v[: i + 1] for i in range(len(v) - 1, -1, -1) if v[i]), [])

    r0, r1 = [1] * m, trim([x % q for x in a])
    t0, t1 = [], [1]
    while len(r1) > 1:
        lead = pow(r1[-1], -1, q)
        quotient = [0] * (len(r0) - len(r1) + 1)
        for k in range(len(quotient) - 1, -1, -1):
            factor = quotient[k] = r0[k + len(r1) - 1] * lead % q
            for i, x in enumerate(r1):
                r0[k + i] = (r0[k + i] - factor * x) % q
        t = t0 + [0] * (len(quotient) + len(t1) - 1 - len(t0))
        for i, x in enumerate(quotient):
            for j, y in enumerate(t1):
                t[i + j] = (t[i + j] - x * y) % q
        r0, r1, t0, t1 = r1, trim(r0), t1, trim(t)
    if not r1:
        return None
    unit = pow(r1[0], -1, q)
    return [x * unit % q for x in t1]


def sample(n, rng):
    """A truncated Gaussian polynomial, B-bounded."""

    def draw():
        return next(
            x for x in iter(lambda: round(rng.gauss(0, DEVIATION)), None) if abs(x) <= BOUND
        )

    return [draw() for _ in range(n)]


def key(m, q, rng):
    """(f, 2g, h) of the paper's KeyGen: f = 2u + 1, h = 2g/f modulo q."""
    while True:
        f = [2 * x for x in sample(m - 1, rng)]
        f[0] += 1
        inverted = inverse(f, m, q)
        if inverted is not None:
            g = [2 * x for x in sample(m - 1, rng)]
            return f, g, [x % q for x in multiply(g, inverted, m)]


def lattice(h, m, q):
    """The rows (X^i, X^i h) and (0, q X^i)."""
    n = m - 1
    basis = IntegerMatrix(2 * n, 2 * n)
    for i in range(n):
        row = multiply([0] * i + [1], h, m)
        basis[i, i] = 1
        basis[n + i, n + i] = q
        for j in range(n):
            basis[i, n + j] = row[j] % q
    return basis


def log2_norm(v):
    """log2 of the Euclidean length."""
    return math.log2(math.sqrt(sum(x * x for x in v)))


def attack(m, q, block_sizes, rng):
    """Reduces one key's lattice with growing block sizes; one record for each."""
    f, g, h = key(m, q, rng)
    print(f"n = {m - 1}, log q = {math.log2(q):.0f}, {time.process_time():.0f} s", file=sys.stderr)
    n, basis, seconds, records = m - 1, lattice(h, m, q), 0.0, []
    for beta in block_sizes:
        start = time.process_time()
        aborted = False
        if beta == 2:
            LLL.reduction(basis, delta=0.99)
        else:
            try:
                BKZ.reduction(
                    basis,
                    BKZ.Param(beta, max_loops=8, flags=BKZ.MAX_LOOPS | BKZ.AUTO_ABORT),
                    float_type="long double",
                )
            except RuntimeError:
                aborted = True  # Too little precision: the basis is what it was reduced to before.
        seconds += time.process_time() - start
        first = list(basis[0])
        multiple = multiply(first[:n], g, m) == multiply(first[n:], f, m)
        records.append(
            {
                "n": n,
                "log2_q": math.log2(q),
                "block_size": beta,
                "seconds": round(seconds, 3),
                "log2_length": round(log2_norm(first), 3),
                "log2_key_length": round(log2_norm(f + g), 3),
                "aborted": aborted,
                "in_the_ideal_of_f": multiple,
                "useful_by_the_paper": log2_norm(first) < math.log2(q) - 2,
            }
        )
    return records


def lengths(rng, quick):
    """The first vector's length by degree, and the line through it, for each block size."""
    q = next_prime(1 << LENGTHS["log2_q"])
    primes = LENGTHS["primes"][:9] if quick else LENGTHS["primes"]
    runs = [record for m in primes for record in attack(m, q, LENGTHS["block_sizes"], rng)]
    fits = []
    for beta in LENGTHS["block_sizes"]:
        # Where the key itself is found there is nothing to extrapolate.
        points = [
            (r["n"], r["log2_length"])
            for r in runs
            if r["block_size"] == beta and r["log2_length"] > r["log2_key_length"] + 0.5
        ]
        if len(points) < 3:
            continue
        slope, offset = line(points)
        fits.append(
            {
                "block_size": beta,
                "bits_per_degree": slope,
                "offset_bits": offset,
                "degree_at_q_over_4_for_1024_bits": round((1022 - offset) / slope),
            }
        )
    return {
        "log2_q": LENGTHS["log2_q"],
        "runs": runs,
        "fits": fits,
        "paper_degree_at_q_over_4": 26777,
    }


def line(points):
    """Slope and offset by least squares."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return round(slope, 5), round(mean_y - slope * mean_x, 3)


def limits(rng, quick):
    """The largest degree at which the first vector is in f's ideal, for each small modulus and
    block size.
    """
    rows = []
    for log2_q in LIMITS["log2_q"][:2] if quick else LIMITS["log2_q"]:
        q, failures, found = next_prime(1 << log2_q), 0, {}
        m = next_prime(round(LIMITS["first"] * dense_limit(log2_q)))
        while failures < 2:
            records = [
                r for _ in range(LIMITS["keys"]) for r in attack(m, q, LIMITS["block_sizes"], rng)
            ]
            for beta in LIMITS["block_sizes"]:
                hits = [r["in_the_ideal_of_f"] for r in records if r["block_size"] == beta]
                found.setdefault(beta, []).append((m - 1, sum(hits)))
            failures = failures + 1 if not any(r["in_the_ideal_of_f"] for r in records) else 0
            m = next_prime(m + m // 20)
        rows.append(
            {
                "log2_q": log2_q,
                "paper_model_degree": round((log2_q / 2 - 2) / (2 * LOG2_DELTA_LLL), 1),
                "dense_sublattice_degree": round(dense_limit(log2_q), 1),
                "found": [
                    {
                        "block_size": beta,
                        "largest_degree": max((n for n, hits in by if hits), default=0),
                        "hits": [
                            {"n": n, "keys": LIMITS["keys"], "in_the_ideal_of_f": hits}
                            for n, hits in by
                        ],
                    }
                    for beta, by in found.items()
                ],
            }
        )
    return rows


def dense_limit(log2_q):
    """The degree up to which LLL finds the dense sublattice: n = (ln q)^2 / (4 α (ln n σ² -
    0.963)), α = 2 ln 1.0219 (after Ducas-van Woerden 2021).
    """
    # f = 2u + 1 against g: balanced, twice the variance.
    variance, alpha, n = 2 * VARIANCE, 2 * math.log(1.0219), 64.0
    for _ in range(50):
        n = (log2_q * math.log(2)) ** 2 / (4 * alpha * (math.log(n * variance) - 0.963))
    return n


def main():
    parser = argparse.ArgumentParser(description="LLL and BKZ on small LTV keys")
    parser.add_argument("--quick", action="store_true", help="smaller, in a third of the time")
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "results"
    )
    parser.add_argument("--seed", type=int, default=2014)
    args = parser.parse_args()
    rng, start = random.Random(args.seed), time.process_time()
    record = {
        "table": "ltv table-2, experiment in miniature",
        "lengths": lengths(rng, args.quick),
        "limits": limits(rng, args.quick),
    }
    record["circumstances"] = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fpylll": fpylll_version,
        "python": platform.python_version(),
        "seed": args.seed,
        "cpu_seconds": round(time.process_time() - start, 1),
        "threads": 1,
    }
    name = "ltv-table-2-experiment" + ("-quick" if args.quick else "")
    records.enter(args.out, "quick" if args.quick else "ltv", name, record)
    write_plot(record, args.out / f"{name}.svg")
    print(
        json.dumps(
            {
                "fits": record["lengths"]["fits"],
                "limits": record["limits"],
                **record["circumstances"],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
