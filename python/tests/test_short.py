"""Many short arrays in one ciphertext: along the last axis they are NumPy's, or refused."""

import itertools

import numpy as np
import pytest

import everlevel

#: What is computed along the last axis.
OPERATIONS = {
    "sum": lambda x: np.sum(x, axis=-1),
    "prefix": lambda x: np.cumsum(x, axis=-1),
    "accumulated": lambda x: np.add.accumulate(x, axis=-1),
    "reduced": lambda x: np.add.reduce(x, axis=-1),
    "max": lambda x: x.max(axis=-1),
    "min": lambda x: np.min(x, axis=x.ndim - 1),
    "argmax": lambda x: np.argmax(x, axis=-1),
    "argmin": lambda x: np.argmin(x, axis=-1),
    "ptp": lambda x: np.ptp(x, axis=-1),
    "sort": np.sort,
    "lower": lambda x: np.quantile(x, 0.5, axis=-1, method="lower"),
    "higher": lambda x: np.percentile(x, 70, axis=-1, method="higher"),
    "any": lambda x: np.any(x, axis=-1),
    "all": lambda x: (x != 1).all(axis=-1),
    "count": lambda x: np.count_nonzero(x, axis=-1),
    "greatest": lambda x: np.maximum.reduce(x, axis=-1),
}


class Short:
    def __init__(self, party):
        self.client, self.server, self.params = party.client, party.server, party.params

    def load(self, values, **how):
        return self.server.load(self.client.encrypt(values, **how))

    def check(self, x, expected):
        assert x.shape == np.shape(expected)
        np.testing.assert_array_equal(self.client.decrypt(x), expected)


@pytest.fixture(scope="module")
def short(fermat):
    return Short(fermat)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_numpys(short, name):
    function = OPERATIONS[name]
    # All arrays of three of these values, with all ties.
    a = np.array(list(itertools.product((-2, 0, 1), repeat=3)))
    found = function(short.load(a, bounds=(-2, 1)))
    short.check(found, function(a))
    # It is an array like others.
    short.check(found + 1, np.asarray(function(a)) + np.asarray(1))
    b = np.random.default_rng(4).integers(0, 256, (2, 3, 5))
    short.check(function(short.load(b, dtype=np.uint8)), function(b))


def test_places_are_those_of_a_stable_sort(short):
    a = np.array(list(itertools.product((3, 4), repeat=4)))
    x = short.load(a, bounds=(0, 9))
    short.check(np.argsort(x), np.argsort(a, kind="stable"))
    short.check(np.argsort(x, axis=1), np.argsort(a, axis=1, kind="stable"))
    short.check(np.partition(x, 2), np.sort(a))
    short.check(np.median(x.reshape(-1)[:].reshape(-1, 1), axis=-1), a.reshape(-1))
    b = np.random.default_rng(5).integers(-99, 99, (4, 7))
    y = short.load(b, bounds=(-99, 99))
    short.check(np.median(y, axis=-1), np.median(b, axis=-1))
    # Arrays of one entry, and one array.
    short.check(y.reshape(28, 1).sum(axis=-1), b.reshape(28))
    short.check(y.reshape(1, 28).max(axis=-1), b.reshape(1, 28).max(axis=-1))


def test_what_wraps(short):
    a = np.random.default_rng(6).integers(0, 256, (3, 4)).astype(np.uint8)
    x = short.load(a, dtype=np.uint8).wrapping()
    found = x.sum(axis=-1)
    assert found.dtype == np.uint8
    short.check(found, a.sum(axis=-1, dtype=np.uint8))
    short.check(np.cumsum(x, axis=-1), np.cumsum(a, axis=-1, dtype=np.uint8))
    assert x.max(axis=-1).dtype == np.sort(x).dtype == np.uint8
    short.check(x.max(axis=-1) + 200, a.max(axis=-1) + np.uint8(200))


def test_programs_are_planned(short):
    """With another shape inside, as arguments of planned programs are vectors."""

    @everlevel.program
    def second(x: everlevel.uint8):
        pairs = np.sort(x.reshape(-1, 3))
        return pairs, x.reshape(-1, 3).max(axis=-1)

    values = np.random.default_rng(7).integers(0, 256, 12).astype(np.uint8)
    expected = np.sort(values.reshape(-1, 3)), values.reshape(-1, 3).max(axis=-1)
    for found, wanted in zip(second(values), expected):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(second(short.load(values)), expected):
        short.check(found, wanted)
    plan = second.plan(12, params=short.params)
    names = [stage.name for stage in plan.stages]
    assert names == ["arrays_sort", "arrays_nth"]
    assert "arrays_sort" in str(plan)


def test_what_is_refused(short):
    rng = np.random.default_rng(8)
    x = short.load(rng.integers(0, 9, (6, 4)), bounds=(0, 9))
    rows = short.load(rng.integers(0, 9, (3, 4)), bounds=(0, 9), rows=True)
    long = short.load(np.ones((short.params.slots, 2), int), bounds=(0, 1))
    ten = short.load(np.ones((120, 10), int), bounds=(0, 1))
    for refused, code in [
        (lambda: x.sum(axis=0), "python.not-homomorphic"),
        (lambda: x.reshape(2, 3, 4).max(axis=1), "python.not-homomorphic"),
        (lambda: rows.max(axis=1), "python.not-homomorphic"),
        (lambda: x.mean(axis=-1), "python.not-homomorphic"),
        (lambda: np.median(x, axis=-1), "python.not-homomorphic"),
        (lambda: np.cumprod(x, axis=-1), "python.not-homomorphic"),
        (lambda: np.sort(x, axis=2), "python.shape"),
        (lambda: long.max(axis=-1), "python.shape"),
        (lambda: np.argsort(long), "python.shape"),
        # One array would be in two rows of slots.
        (lambda: ten.max(axis=-1), "integers.length"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code, caught.value
