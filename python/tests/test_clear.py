"""Programs on arrays that are not encrypted give what they give on encrypted ones: the same entries
in the same dtype, or the same refusal.
"""

import itertools
import re

import numpy as np
import pytest
from conftest import ROOT

import everlevel
from everlevel import Table, _clear

DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")

#: Operations on two arrays of one type.
OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "neg": lambda x, y: -x,
    "pos": lambda x, y: np.positive(x) + np.floor(y),
    "sums": lambda x, y: 3 + x + y - np.array([7]) - (5 - y),
    "mul": lambda x, y: x * y,
    "square": lambda x, y: np.square(x),
    "times": lambda x, y: (x * 3, -5 * x, x * 0, 2 * x + 2**70),
    "sum of comparisons": lambda x, y: (x < y) + (x == y) + (x >= 1),
    "minus a comparison": lambda x, y: x - (x > y),
    "comparisons": lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y),
    "public comparisons": lambda x, y: (x < 1, 1 <= x, np.less(2, y), x == -1, x != 2**40),
    "bits": lambda x, y: (x & y, x | y, x ^ y),
    "public bits": lambda x, y: (x & 1, x | 0, x ^ 1, x & 6, 255 & x, x | -2),
    "invert": lambda x, y: (~x, ~(x < y), np.logical_not(x)),
    "truths": lambda x, y: (np.logical_and(x, y), np.logical_or(x, y), np.logical_xor(x, y)),
    "div": lambda x, y: (x // 3, x // -3, x % 7, x % -4, x // 256, x % 16),
    "shifts": lambda x, y: (x >> 3, x << 2, x >> 40, x >> 4),
    "shifts by": lambda x, y: (x << (y & 3), x >> (y & 3), 1 << (x & 7)),
    "extremes": lambda x, y: (np.minimum(x, y), np.maximum(x, y), np.maximum(x, 1)),
    "clip": lambda x, y: (np.clip(x, -3, 2), x.clip(0, 100), np.clip(x, y, None)),
    "abs": lambda x, y: (abs(x), np.sign(x)),
    "where": lambda x, y: (np.where(x > y, x, y), np.where(x, 5, -7), np.where(y < 2, x, 3)),
    "select": lambda x, y: np.select([x == y, x < y], [x, 1], y - 1),
    "table": lambda x, y: Table([7, -(2**40), 2**70, 5])[np.clip(x, 0, 3)],
    "tables": lambda x, y: Table([[1, 2], [3, 4]])[x > y, x < y],
    "powers shared": lambda x, y: Table([[1, 2], [3, 4], [5, 6]])[:, x > y],
    "whole table": lambda x, y: Table(np.arange(256) * 3)[x],
    "choose": lambda x, y: np.choose(x & 1, [10, 20]),
    "isin": lambda x, y: (np.isin(x, [0, 1, 5, -1]), np.isin(x, [2], invert=True)),
    "brackets": lambda x, y: (np.searchsorted([0, 1, 9], x), np.digitize(x, [-1, 0, 127])),
    "wrapping": lambda x, y: (x.wrapping() + y, x.wrapping() - y, -x.wrapping(), ~x.wrapping()),
    "wrapping products": lambda x, y: (x.wrapping() * 3, x.wrapping() << 3, abs(x.wrapping())),
    "casts": lambda x, y: (x.astype(np.uint8, wrap=True), x.astype(bool)),
    "lossy cast": lambda x, y: x.astype(np.int8),
    "totals": lambda x, y: (x.sum(), np.mean(x), np.count_nonzero(x)),
    "products": lambda x, y: (x @ (np.arange(x.size) % 3 - 1), np.dot(np.arange(x.size) % 2, x)),
    "scalar products": lambda x, y: (x @ y, x.dot(x), np.vdot(x < y, y)),
    "average": lambda x, y: np.average(x, weights=np.arange(x.size) % 2 + 1),
    "truth of all": lambda x, y: (np.any(x), np.all(x), (x == x).all(), (x != x).any()),
    "equal": lambda x, y: np.array_equal(x, y),
    "counts": lambda x, y: np.bincount(x & 3),
    "counts of more values": lambda x, y: np.bincount(x & 3, minlength=6),
    "more counts": lambda x, y: np.bincount(x >> 4),
    "histogram": lambda x, y: np.histogram(x, bins=[-1, 0, 2, 300]),
    "each sum": lambda x, y: (x.sum_of_each(), np.cumsum(x)),
    "order": lambda x, y: (np.sort(x), np.argsort(x), np.partition(y, 2)),
    "first": lambda x, y: (x.nlargest(2), x.nsmallest(3), y.argsort(take=3, descending=True)),
    "best": lambda x, y: (x.max(), x.min(), np.argmax(y), np.argmin(y), np.ptp(x)),
    "shared best": lambda x, y: np.max(x) - np.min(y),
    "between": lambda x, y: (
        np.quantile(x, 0.3, method="lower"),
        np.quantile(x, 0.3, method="higher"),
    ),
    "median": lambda x, y: np.median(x),
    "stack": lambda x, y: (np.stack([x, y]), np.array([[1, -2], [0, 3]]) @ np.stack([x, y])),
    "rows": lambda x, y: (
        np.stack([x, y, x])[1],
        np.stack([x, y]).argmax(axis=0),
        np.sort(np.stack([x, y]), axis=0),
        np.diff(np.stack([x, y]), axis=0),
    ),
    "arranged": lambda x, y: (
        np.take(np.stack([x, y]), [1, 1, 0], axis=0),
        np.repeat(np.stack([x, y]), 2, axis=0),
        np.flip(np.stack([x, y]), axis=0),
        np.vstack([x, y]),
        np.split(np.stack([x, y]), 2),
        np.maximum.reduce(np.stack([x, y])),
    ),
    "products of rows": lambda x, y: np.prod(np.stack([x & 7, y & 7]), axis=0),
    "powers": lambda x, y: (np.power(x & 3, 3), pow(x & 7, 3, 5), (y & 3) ** 0),
    "public array": lambda x, y: (x + np.arange(x.size), x * (np.arange(x.size) % 2)),
    "public condition": lambda x, y: np.where(np.arange(x.size) % 2 == 0, x, y),
    "quotients": lambda x, y: (x // ((y & 3) - 1), x % (y & 3), 100 // (x & 3), 100 % (x & 3)),
    "popcount": lambda x, y: np.bitwise_count(x) if hasattr(np, "bitwise_count") else x,
    "shape": lambda x, y: x.reshape(-1, 1) + y.reshape(y.size, 1),
    "true division": lambda x, y: x / y,
    "branch": lambda x, y: 1 if x.max() > 0 else 2,
    "value": lambda x, y: int(x),
}

#: What takes long on many wide entries, or more than the toy's modulus has room for.
LONG = {
    *("mul", "square", "order", "first", "between", "median"),
    *("products of rows", "powers", "scalar products"),
}
WIDE = ("uint32", "uint64", "int32", "int64")


def edges(dtype):
    """Pairs of all values at the edges of a dtype, in an odd number."""
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    some = {int(low), int(low) + 1, int(high) - 1, int(high), -1, 0, 1, 2, 127, 128}
    values = sorted(v for v in some if low <= v <= high)
    pairs = [*itertools.product(values, repeat=2), (values[0], values[-1])]
    pairs = pairs[: len(pairs) - (len(pairs) % 2 == 0)]
    return tuple(np.array(column, dtype=dtype) for column in zip(*pairs))


def made(dtype, function):
    def named(x, y):
        return function(x, y)

    named.__annotations__ = {"x": np.dtype(dtype), "y": np.dtype(dtype)}
    return everlevel.program(named)


def outcome(work):
    """What comes out: results, or the kind of the refusal and its code."""
    try:
        return work()
    except Exception as error:
        return type(error), getattr(error, "code", str(error))


def decrypted(client, x):
    if isinstance(x, (everlevel.EncryptedIntegers, everlevel.EncryptedTotal)):
        return client.decrypt(x)
    if isinstance(x, dict):
        return {name: decrypted(client, value) for name, value in x.items()}
    return type(x)(decrypted(client, v) for v in x) if isinstance(x, (tuple, list)) else x


def alike(found, expected):
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            alike(a, b)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        alike(list(found.values()), list(expected.values()))
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation_at_the_edges_of_types(toy, fermat, dtype):
    x, y = edges(dtype)
    few = slice(None, None, -(-x.size // 5) if dtype in WIDE else 1)
    done = 0
    for name, function in OPERATIONS.items():
        party, pair = (fermat, (x[few], y[few])) if name in LONG else (toy, (x, y))
        a, b = (party.server.load(party.client.encrypt(v, dtype=dtype)) for v in pair)
        program = made(dtype, function)
        expected = outcome(lambda: decrypted(party.client, program(a, b)))
        found = outcome(lambda: program(*pair))
        try:
            alike(found, expected)
        except AssertionError as error:
            raise AssertionError(f"{name} of {dtype}: {found} in the clear, {expected}") from error
        done += not (isinstance(expected, tuple) and isinstance(expected[0], type))
    assert done > 30


def test_every_operation_of_the_library_has_a_meaning():
    source = (ROOT / "python/rust/integers/operations.rs").read_text()
    names = set(re.findall(r'^ +"(\w+)" =>', source, re.MULTILINE))
    known = [_clear.EACH, _clear.LISTED, _clear.ALONG, _clear.TOTALS]
    assert len(names) > 50
    assert sorted(names) == sorted(name for meanings in known for name in meanings)


def test_what_wrapped_in_numpy(toy):
    """int64 wrapped, and the sum of truth values was one of them."""

    @everlevel.program
    def cubed(a: everlevel.int32):
        return a * a * a

    most = 2**31 - 1
    assert list(cubed([most, -most - 1])) == [most**3, -((most + 1) ** 3)]

    @everlevel.program
    def both(a: everlevel.bool_, b: everlevel.bool_):
        return a + b, ~a, -a, a - b, (a + b).sum()

    a, b = [True, True, False], [1, 0, 0]
    x, y = (toy.server.load(toy.client.encrypt(v, dtype=bool)) for v in (a, b))
    alike(both(a, b), decrypted(toy.client, both(x, y)))
    assert list(both(a, b)[0]) == [2, 1, 0]


def test_arguments_in_the_clear(toy):
    @everlevel.program
    def mixed(x: everlevel.rows(2, everlevel.ranged(-3, 9)), y: everlevel.uint8 = 4):
        return {"sums": x.sum(axis=0) + y, "rows": [x[0], x[1].sum()], "public": 3}

    rows = np.array([[1, 2, 3], [-3, 9, 0]])
    x = toy.client.encrypt(rows, bounds=(-3, 9), rows=True)
    # A default is a public integer; so is what a program gives without its arguments.
    alike(mixed(rows), decrypted(toy.client, mixed(toy.server.load(x))))
    assert mixed(rows)["public"] == 3
    y = toy.server.load(toy.client.encrypt([5, 6, 7], dtype=np.uint8))
    alike(mixed(rows, y=[5, 6, 7]), decrypted(toy.client, mixed(toy.server.load(x), y)))

    @everlevel.program
    def grown(x: everlevel.uint8):
        return x + 1

    alike(grown(255), np.uint16(256))
    alike(grown(np.array([[1], [2]])), np.array([[2], [3]], dtype=np.uint16))
    for arguments, code in [
        (([[1, 2]],), "python.shape"),
        ((rows + 1,), "integers.value"),
        ((rows, [5, 6]), "python.shape"),
        ((rows[:, :0],), "python.empty"),
        ((rows, y), "python.arguments"),
        ((rows / 2,), "integers.value"),
    ]:
        assert outcome(lambda: mixed(*arguments))[1] == code


def test_programs_of_programs_in_the_clear():
    @everlevel.program
    def least(x: everlevel.uint8, y: everlevel.uint8):
        return np.minimum(x, y)

    @everlevel.program
    def span(x: everlevel.uint8, y: everlevel.uint8):
        return x + y - least(x, y)

    alike(span([200, 3], [9, 250]), np.array([200, 250], dtype=np.int16))


def test_programs_that_leave_indexes(toy):
    """On an array with an index, without one, and in the clear."""

    @everlevel.program
    def adult(age: everlevel.uint8):
        return age.without_index() >= 18, age.has_index

    ages = np.array([5, 18, 200], dtype=np.uint8)
    for index in (False, True):
        x = toy.server.load(toy.client.encrypt(ages, index=index))
        assert (toy.client.decrypt(adult(x)[0]) == (ages >= 18)).all()
        assert adult(x)[1] == index
    assert list(adult(ages)[0]) == [False, True, True]


def test_long_arrays_in_the_clear():
    """In blocks, as they are encrypted."""

    @everlevel.program
    def total(x: everlevel.uint8, y: everlevel.uint16):
        weights = np.arange(x.size) % 7
        return (x + weights).sum(), x.dot(weights), x + y, np.where(weights > 3, x, y)

    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 256, 70_000), rng.integers(0, 65_536, 70_000)
    weights = np.arange(x.size) % 7
    found = total(x, y)
    assert found[:2] == ((x + weights).sum(), x @ weights)
    np.testing.assert_array_equal(found[2], x + y)
    np.testing.assert_array_equal(found[3], np.where(weights > 3, x, y))

    @everlevel.program
    def best(x: everlevel.uint8):
        return np.argmax(x)

    assert best(x[:40_000]) == np.argmax(x[:40_000])
    assert outcome(lambda: best(x))[1] == "python.shape"
