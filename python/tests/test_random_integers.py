"""Random expressions on typed integers, against Python's integers, which do not wrap."""

import numpy as np
import pytest
from test_integers import Columns

from everlevel import Table


def unary(a, x, rng):
    """Operations on one array, each with what Python's integers give."""
    k, d = int(rng.integers(-20, 20)), int(rng.integers(1, 300))
    low, high = x.interval
    found = [
        lambda: (a * k, x * k),
        lambda: (k - a, k - x),
        lambda: (abs(a), abs(x)),
        # Of truth values it is their negation.
        lambda: (1 - a if x.dtype == bool else ~a, ~x),
        lambda: (a >> 2, x >> 2),
        lambda: (a << 1, x << 1),
        lambda: (a & 37, x & 37),
        lambda: (a // d, x // d),
        lambda: (a % d, x % d),
        lambda: (a % -d, x % -d),
        lambda: ((a >= k).astype(int), x >= k),
        lambda: (np.clip(a, -40, 90), np.clip(x, -40, 90)),
        lambda: ((a > 0).astype(int) - (a < 0).astype(int), np.sign(x)),
        lambda: (np.cumsum(a), np.cumsum(x)),
    ]
    if high - low < 1 << 10:
        found.append(lambda: (a * a, x * x))
    if low == 0 < high < 256:
        entries = rng.integers(-500, 500, high + 1)
        found.append(lambda: (entries[a.astype(int)], Table(entries)[x]))
        found.append(lambda: (d // np.maximum(a, 1), d // np.maximum(x, 1)))
    return found


def binary(a, x, b, y):
    """The same on two."""
    found = [
        lambda: (a + b, x + y),
        lambda: (a - b, x - y),
        lambda: (3 * a - 2 * b, 3 * x - 2 * y),
        lambda: (np.where((a < b).astype(bool), a, 5), np.where(x < y, x, 5)),
        lambda: (np.where((a >= b).astype(bool), b, a), np.where(x >= y, y, x)),
        lambda: (np.minimum(a, b), np.minimum(x, y)),
        lambda: (np.maximum(a, b), np.maximum(x, y)),
        lambda: (a & b, x & y),
        lambda: (a | b, x | y),
        lambda: (a ^ b, x ^ y),
        lambda: ((a == b).astype(int), x == y),
        lambda: ((a != b).astype(int), x != y),
        lambda: (a >> (b & 3), x >> (y & 3)),
        lambda: (a * (b & 1), x * (y & 1)),
    ]
    width = max(high - low for low, high in (x.interval, y.interval))
    if width < 1 << 10:
        found.append(lambda: (a * b, x * y))
    if width < 256 and min(x.interval[0], y.interval[0]) >= 0:
        found.append(lambda: (a // np.maximum(b, 1), x // np.maximum(y, 1)))
        found.append(lambda: (a % np.maximum(b, 1), x % np.maximum(y, 1)))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_random_expressions(fermat, seed):
    columns = Columns(fermat, seed=seed)
    rng = np.random.default_rng(seed)
    pairs = [
        columns.random(0, 255),
        columns.random(-128, 127),
        columns.random(0, 15),
        columns.random(0, 3_000),
    ]
    for _ in range(10):
        (a, x), (b, y) = (pairs[i] for i in rng.integers(0, len(pairs), 2))
        a, b = a.astype(object), b.astype(object)
        if x.interval[1] - x.interval[0] > 1 << 24 or y.interval[1] - y.interval[0] > 1 << 24:
            continue
        operations = unary(a, x, rng) + binary(a, x, b, y)
        expected, found = operations[rng.integers(len(operations))]()
        columns.check(found, expected)
        low, high = found.interval
        assert low <= min(expected) and max(expected) <= high
        pairs.append((expected, found))
