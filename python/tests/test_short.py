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
    # Sums are those of a vector, which are exact, as NumPy's are wider.
    short.check(x.sum(axis=-1), a.sum(axis=-1))
    short.check(np.cumsum(x, axis=-1), np.cumsum(a, axis=-1))
    short.check(np.count_nonzero(x, axis=-1), np.count_nonzero(a, axis=-1))
    b = np.array([200, 100], np.uint8)
    y = short.load(b, dtype=np.uint8).wrapping()
    short.check(y.cumsum(), [200, 300])
    short.check(y.reshape(1, 2).cumsum(axis=-1), [[200, 300]])
    short.check(y.reshape(1, 2).sum(axis=-1), [short.client.decrypt(y.sum())])
    assert x.max(axis=-1).dtype == np.sort(x).dtype == np.uint8
    short.check(x.max(axis=-1) + 200, a.max(axis=-1) + np.uint8(200))


def test_places_and_counts_are_integers(short):
    """Also where they can only be 0 and 1: an index of bool chooses entries."""
    a = np.array([[4, 7], [9, 2], [5, 5]])
    x = short.load(a, bounds=(0, 9))
    rows = short.load(a[:2], bounds=(0, 9), rows=True)
    pair, one = short.load(a[1], bounds=(0, 9)), short.load(a[:1, 0], bounds=(0, 9))
    bits = short.load(np.array([True, False]))
    for found, expected in [
        (x.argmax(axis=-1), a.argmax(axis=-1)),
        (x.argmin(axis=-1), a.argmin(axis=-1)),
        (np.argsort(x), np.argsort(a, kind="stable")),
        (x.argsort(axis=1, descending=True), np.argsort(-a, kind="stable")),
        (x.reshape(6, 1).argmax(axis=-1), np.zeros(6, int)),
        (x.reshape(6, 1).argsort(), np.zeros((6, 1), int)),
        (np.count_nonzero(x.reshape(6, 1), axis=-1), np.ones(6, int)),
        (rows.argmax(axis=0), a[:2].argmax(axis=0)),
        (rows[:1].argmax(axis=0), [0, 0]),
        (np.count_nonzero(rows[:1], axis=0), [1, 1]),
        (pair.argmax(), 0),
        (pair.argmin(), 1),
        (pair.argsort(), [1, 0]),
        (one.argmax(), 0),
        (bits[:].sum_of_each(), [1, 1]),
        (np.searchsorted([5], pair), [1, 0]),
        (np.digitize(pair, [5]), [1, 0]),
    ]:
        short.check(found, expected)
        assert found.dtype == short.client.decrypt(found).dtype == np.uint8, found
        short.check(~found, ~np.asarray(expected))
        short.check(found + found, 2 * np.asarray(expected))
        assert (found * 1).dtype == np.uint8
        if found.key_id is None:
            continue  # All places are public.
        if found.shape == (2,):
            assert (found * bits).dtype == np.where(bits, found, 0).dtype == np.uint8
        # In files, and in those for decryption, too.
        read = everlevel.EncryptedIntegers.from_bytes(
            found.to_bytes(), params=short.params, bounds="stated"
        )
        assert read.dtype == short.client.decrypt(read).dtype == np.uint8
        assert short.client.decrypt(found.compact()).dtype == np.uint8
    # So an index it is: of both entries, not of some.
    place = short.client.decrypt(x.argmax(axis=-1))[:2]
    assert a[1][place].tolist() == [a[1][i] for i in a[:2].argmax(axis=-1)]
    # What is compared is a truth value, and a table has an entry for each place.
    assert (x.argmax(axis=-1) == 1).dtype == x.any(axis=-1).dtype == bool
    assert x.argmax(axis=-1).astype(bool).dtype == (~bits).dtype == bool
    short.check(everlevel.Table([10, 20])[x.argmax(axis=-1)], [20, 10, 10])
    assert x.max(axis=-1).interval == (0, 9)


def test_programs_give_integers_for_places(short):
    @everlevel.program
    def places(x: everlevel.uint8):
        return x.reshape(-1, 2).argmax(axis=-1), x.reshape(-1, 2).argsort()

    values = np.array([3, 200, 9, 1], np.uint8)
    given = places(values), tuple(map(short.client.decrypt, places(short.load(values))))
    for first, order in given:
        assert first.dtype == order.dtype == np.uint8
        assert first.tolist() == [1, 0] and order.tolist() == [[0, 1], [1, 0]]


def test_places_stay_integers_in_files(short):
    """Also those whose range tells it, in what is computed of them."""
    a = np.array([[9, 3, 1, 2], [0, 7, 7, 1], [4, 4, 5, 9]])
    places = short.load(a, bounds=(0, 9)).argmax(axis=-1)
    assert places.interval == (0, 3)
    read = everlevel.EncryptedIntegers.from_bytes(
        places.to_bytes(), params=short.params, bounds="stated"
    )
    for x in (places, short.server.load(read)):
        short.check(~(x % 2), ~(a.argmax(axis=-1) % 2))


def test_arguments_of_programs_have_the_types_of_annotations(short):
    @everlevel.program
    def opposite(b: everlevel.bool_):
        return ~b

    a = np.array([[3, 200], [9, 1]], np.uint8)
    places = short.load(a).argmax(axis=-1)
    short.check(opposite(places), ~(a.argmax(axis=-1).astype(bool)))


def test_other_kinds_of_entries(short):
    a = np.array([[True, False], [False, False], [True, True]])
    x = short.load(a)
    assert x.max(axis=-1).dtype == np.sort(x).dtype == bool
    short.check(np.sort(x), np.sort(a))
    short.check(x.sum(axis=-1), a.sum(axis=-1))
    short.check(x.argmax(axis=-1), a.argmax(axis=-1))
    b = np.array([[-128, 127, 0], [-1, -1, -2]], np.int8)
    y = short.load(b)
    for name in ("sum", "cumsum", "max", "min", "argmax", "argmin"):
        short.check(getattr(y, name)(axis=-1), getattr(b, name)(axis=-1))
    # A single array, along which there is nothing to compute.
    z = short.load(b[:1])
    for name in ("sum", "cumsum", "max", "min", "argmax", "argmin"):
        short.check(getattr(z, name)(axis=0), getattr(b[:1], name)(axis=0))
        short.check(getattr(z, name)(axis=1), getattr(b[:1], name)(axis=1))
    short.check(np.sort(z, axis=0), b[:1])
    short.check(z.argsort(axis=0), b[:1].argsort(axis=0))
    for refused in (lambda: y.argsort(axis=0), lambda: y.argsort(take=2)):
        with pytest.raises(everlevel.Error):
            refused()


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
    # A single array in two rows of slots, which was to have at most 0 entries.
    columns = short.params.dimensions[-1]
    one = short.load(np.arange(columns + 2).reshape(1, -1) % 10, bounds=(0, 9))
    with pytest.raises(everlevel.ShapeError, match=f"at most {columns},") as caught:
        one.max(axis=-1)
    assert caught.value.code == "integers.length" and "x.ravel()" in str(caught.value)
    with pytest.raises(everlevel.Error, match="rows=True") as caught:
        ten.min(axis=-1)
    assert "power of two" not in str(caught.value)
