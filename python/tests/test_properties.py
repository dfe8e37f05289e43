"""Properties of typed arrays, for expressions and entries that hypothesis finds, against Python's
integers and NumPy's: exact where nothing wraps, NumPy's where something does, and its order of
equal entries. Programs run in the clear, where each operation is planned and refused as on a
server; test_clear.py compares this with encrypted arrays.
"""

import operator

import numpy as np
import pytest

import everlevel

hypothesis = pytest.importorskip(
    "hypothesis", reason="hypothesis is not installed: pip install hypothesis"
)
given, st = hypothesis.given, hypothesis.strategies

#: The same examples in each run.
PROPERTY = hypothesis.settings(max_examples=60, deadline=None, derandomize=True, database=None)
#: Of products, which take long to plan.
FEWER = hypothesis.settings(PROPERTY, max_examples=30)

#: Of an array and a public integer, and the same of an entry.
UNARY = {
    "times": (lambda x, k: x * k, lambda v, k: v * k),
    "from": (lambda x, k: k - x, lambda v, k: k - v),
    "abs": (lambda x, k: abs(x), lambda v, k: abs(v)),
    "sign": (lambda x, k: np.sign(x), lambda v, k: (v > 0) - (v < 0)),
    "clip": (lambda x, k: np.clip(x, -40, 90), lambda v, k: min(max(v, -40), 90)),
    "at least": (lambda x, k: x >= k, lambda v, k: int(v >= k)),
    "quotient": (lambda x, k: x // (k or 7), lambda v, k: v // (k or 7)),
    "remainder": (lambda x, k: x % (k or 7), lambda v, k: v % (k or 7)),
    "half": (lambda x, k: x >> 1, lambda v, k: v >> 1),
    "bits": (lambda x, k: x & 37, lambda v, k: v & 37),
}
#: Of two arrays, and the same of their entries.
BINARY = {
    "add": (operator.add, operator.add),
    "sub": (operator.sub, operator.sub),
    "combined": (lambda x, y: 3 * x - 2 * y, lambda v, w: 3 * v - 2 * w),
    "mul": (operator.mul, operator.mul),
    "less": (operator.lt, lambda v, w: int(v < w)),
    "equal": (operator.eq, lambda v, w: int(v == w)),
    "chosen": (lambda x, y: np.where(x < y, x, 5), lambda v, w: v if v < w else 5),
    "minimum": (np.minimum, min),
    "maximum": (np.maximum, max),
    "and": (operator.and_, operator.and_),
    "or": (operator.or_, operator.or_),
    "xor": (operator.xor, operator.xor),
}


def grown(trees):
    """One operation more."""
    return st.one_of(
        st.tuples(st.sampled_from(sorted(UNARY)), st.integers(-20, 20), trees),
        st.tuples(st.sampled_from(sorted(BINARY)), trees, trees),
    )


TREES = st.recursive(grown(st.sampled_from("xy")), grown, max_leaves=5)


def columns(kinds, count, least=1, most=6, values=None):
    """Columns of one length, and their type."""

    def filled(kind, length):
        low, high = values or (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        column = st.lists(st.integers(low, high), min_size=length, max_size=length)
        return st.tuples(st.just(kind), st.tuples(*[column] * count))

    return st.tuples(st.sampled_from(kinds), st.integers(least, most)).flatmap(
        lambda chosen: filled(*chosen)
    )


def width(x):
    low, high = x.interval
    return high - low


def evaluate(tree, leaves):
    """A tree on entries, which are Python's integers, and on the array that holds them."""
    if isinstance(tree, str):
        return leaves[tree]
    name, first, second = tree
    if name in UNARY:
        values, x = evaluate(second, leaves)
        of_array, of_entry = UNARY[name]
        return [of_entry(v, first) for v in values], of_array(x, first)
    (values, x), (others, y) = evaluate(first, leaves), evaluate(second, leaves)
    # What takes long on wide entries.
    if max(width(x), width(y)) >= (1 << 10 if name == "mul" else 1 << 24):
        return values, x
    of_arrays, of_entries = BINARY[name]
    return [of_entries(v, w) for v, w in zip(values, others)], of_arrays(x, y)


def program(function, kind):
    function.__annotations__ = {"x": kind, "y": kind}
    return everlevel.program(function)


@PROPERTY
@given(tree=TREES, pair=columns(["uint8", "int8", "uint16"], 2))
def test_expressions_are_exact(tree, pair):
    kind, (a, b) = pair
    expected = []

    def expression(x, y):
        values, found = evaluate(tree, {"x": (a, x), "y": (b, y)})
        low, high = found.interval
        assert low <= min(values) and max(values) <= high
        expected.extend(values)
        return found

    found = program(expression, np.dtype(kind))(np.array(a, kind), np.array(b, kind))
    assert [int(v) for v in found] == expected


@FEWER
@given(
    pair=columns(["uint8", "int8", "uint16", "int16", "uint32", "int32"], 2),
    k=st.integers(0, 127),
)
def test_wrapping_arrays_are_those_of_numpy(pair, k):
    kind, (a, b) = pair

    def expression(x, y):
        x = x.wrapping()
        return x + y, x - y, x * y, -x, x * k, k - x, (x + k) * (x - y)

    a, b, constant = np.array(a, kind), np.array(b, kind), np.array([k], kind)
    found = program(expression, np.dtype(kind))(a, b)
    numpy = (a + b, a - b, a * b, -a, a * constant, constant - a, (a + constant) * (a - b))
    for one, other in zip(found, numpy, strict=True):
        assert one.dtype == other.dtype == np.dtype(kind)
        np.testing.assert_array_equal(one, other)


@PROPERTY
@given(pair=columns(["uint8"], 2, least=2, values=(0, 3)))
def test_order_is_that_of_numpy(pair):
    """Of few values, so that many entries are equal."""
    _, (a, b) = pair

    def ordered(x, y):
        return np.sort(x), np.argsort(x), np.argmax(y), np.argmin(y), np.cumsum(x), y.sum()

    a, b = np.array(a), np.array(b)
    found = program(ordered, everlevel.ranged(0, 3))(a, b)
    places = np.argsort(a, kind="stable")
    numpy = (np.sort(a), places, np.argmax(b), np.argmin(b), np.cumsum(a), b.sum())
    for one, other in zip(found, numpy, strict=True):
        np.testing.assert_array_equal(one, other)
