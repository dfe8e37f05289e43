"""Typed integers are those of NumPy and Python, or are refused before anything is computed."""

import pickle
import warnings

import numpy as np
import pytest

import everlevel
from everlevel import Table


class Columns:
    """NumPy's arrays and the encrypted ones of a party."""

    def __init__(self, party, size=60, seed=3):
        self.party, self.size, self.rng = party, size, np.random.default_rng(seed)

    def load(self, values, **how):
        return self.party.server.load(self.party.client.encrypt(values, **how))

    def random(self, low, high, size=None):
        """Integers with both ends among them, and the encrypted array."""
        values = self.rng.integers(low, high, size or self.size, endpoint=True)
        values[:2] = low, high
        return values, self.load(values, bounds=(low, high))

    def check(self, x, expected):
        found = self.party.client.decrypt(x)
        np.testing.assert_array_equal(found, expected)
        return found


@pytest.fixture(scope="module")
def columns(fermat):
    return Columns(fermat)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
)
def test_every_dtype_comes_back(columns, dtype):
    kind = np.dtype(dtype)
    ends = [0, 1] if kind.kind == "b" else [np.iinfo(kind).min, np.iinfo(kind).max]
    values = np.array([*ends, 1, 0], dtype=kind)
    x = columns.load(values, dtype=kind)
    found = columns.check(x, values)
    assert (
        found.dtype == x.dtype == kind
        and x.shape == (4,)
        and x.interval == (int(ends[0]), int(ends[1]))
    )
    if kind != np.int64:
        assert columns.load(values).dtype == kind
    public = columns.party.client.public_key().encrypt(values, dtype=kind)
    columns.check(public, values)
    assert public.key_id == columns.party.client.key_id


def test_operators(columns):
    a, x = columns.random(-300, 4_000)
    b, y = columns.random(0, 255)
    for found, expected in [
        (x + y, a + b),
        (x - y, a - b),
        (7 - x, 7 - a),
        (-x, -a),
        (abs(x), abs(a)),
        (x * 37, a * 37),
        (-5 * y, -5 * b),
        (y << 3, b << 3),
        (x >> 3, a >> 3),
        (y // 7, b // 7),
        (y % 10, b % 10),
        (x // 16, a // 16),
        (x // 37, a // 37),
        (x % -37, a % -37),
        (y // (b + 1), b // (b + 1)),
        (1000 // (y + 1), 1000 // (b + 1)),
        (1000 % (y + 1), 1000 % (b + 1)),
        (y << (y & 3), b << (b & 3)),
        (x >> (y & 7), a >> (b & 7)),
        (3 << (y & 3), 3 << (b & 3)),
        (np.bitwise_count(y), np.bitwise_count(b)),
        (x % 16, a % 16),
        (~y, ~b),
        (y & 12, b & 12),
        (y | 12, b | 12),
        (y ^ x, b ^ a),
        (x < y, a < b),
        (x <= 17, a <= 17),
        (17 < x, 17 < a),
        (x >= b, a >= b),
        (x == 255, a == 255),
        (y != b, b != b),
        (x * (y > 100), a * (b > 100)),
        (x * y, a * b),
        (y**3, b**3),
        (b * x, a * b),
        (np.arange(60) + y, np.arange(60) + b),
        (np.int16(3) - x, 3 - a),
    ]:
        columns.check(found, expected)
    low, high = (x + y).interval
    assert (low, high) == (-300, 4_255) and (x + y).dtype == np.int16


def test_truth_values(columns):
    a, x = columns.random(0, 1)
    b, y = columns.random(0, 1)
    a, b = a == 1, b == 1
    for found, expected in [
        (x & y, a & b),
        (x | y, a | b),
        (x ^ y, a ^ b),
        (~x, ~a),
        (x & True, a),
        (x | True, a | True),
        (x ^ True, ~a),
        (np.logical_and(x, b), a & b),
        (np.logical_not(x), ~a),
        (np.logical_or(x, y), a | b),
        (np.logical_xor(x, y), a ^ b),
    ]:
        assert columns.check(found, expected).dtype == bool
    columns.check(x + y, a.astype(int) + b)


def test_numpy_functions(columns):
    a, x = columns.random(-50, 200)
    b, y = columns.random(0, 100)
    for found, expected in [
        (np.where(x < y, x, y), np.where(a < b, a, b)),
        (np.where(np.arange(60) < 30, x, 5), np.where(np.arange(60) < 30, a, 5)),
        (np.minimum(x, 10), np.minimum(a, 10)),
        (np.maximum(b, x), np.maximum(b, a)),
        (np.clip(x, 0, 99), np.clip(a, 0, 99)),
        (np.sign(x), np.sign(a)),
        (np.isin(y, [1, 50, 1000]), np.isin(b, [1, 50, 1000])),
        (np.digitize(y, [10, 40, 90]), np.digitize(b, [10, 40, 90])),
        (np.searchsorted([10, 40, 90], y), np.searchsorted([10, 40, 90], b)),
        (np.greater(b, x), np.greater(b, a)),
        (np.reshape(x, (6, 10)), a.reshape(6, 10)),
        (x.reshape(6, 10) + np.arange(10), a.reshape(6, 10) + np.arange(10)),
    ]:
        columns.check(found, expected)
    assert columns.party.client.decrypt(np.sum(x)) == a.sum()
    assert columns.party.client.decrypt(np.count_nonzero(y)) == np.count_nonzero(b)
    assert np.shape(x) == (60,) and np.size(x) == 60


def test_order_statistics(columns):
    a, x = columns.random(-40, 99, 15)
    client = columns.party.client
    for found, expected in [
        (np.sort(x), np.sort(a)),
        (np.argsort(x), np.argsort(a, kind="stable")),
        (x.argsort(take=4, descending=True), np.argsort(-a, kind="stable")[:4]),
        (x.nlargest(3), np.sort(a)[:-4:-1]),
        (x.nsmallest(3), np.sort(a)[:3]),
        (np.max(x), a.max()),
        (x.min(), a.min()),
        (np.argmax(x), np.argmax(a)),
        (np.argmin(x), np.argmin(a)),
        (np.median(x), np.median(a)),
        (np.quantile(x, 0.25, method="lower"), np.quantile(a, 0.25, method="lower")),
        (np.cumsum(x), np.cumsum(a)),
    ]:
        columns.check(found, expected)
    w = columns.rng.integers(-9, 9, 15)
    b, y = columns.random(0, 5, 15)
    assert client.decrypt(np.mean(x)) == a.sum() // 15
    assert client.decrypt(np.dot(w, x)) == client.decrypt(x @ w) == a @ w
    assert client.decrypt(x @ y) == a @ b
    assert [client.decrypt(n) for n in np.bincount(y)] == list(np.bincount(b, minlength=6))
    for least in (0, 4, 6, 9):
        found = np.bincount(y, minlength=least)
        assert [client.decrypt(n) for n in found] == list(np.bincount(b, minlength=max(least, 6)))
    for refused, code in [
        (lambda: np.median(columns.random(0, 9, 10)[1]), "python.not-homomorphic"),
        (lambda: np.quantile(x, 0.5), "python.not-homomorphic"),
        (lambda: np.bincount(x), "python.not-homomorphic"),
        (lambda: np.bincount(b, weights=y), "python.not-homomorphic"),
        (lambda: np.bincount(y, minlength=-1), "python.shape"),
        (lambda: columns.random(0, 9, 3000)[1].max(), "python.shape"),
        (lambda: x.nlargest(0), "python.take"),
        (lambda: x.argsort(take=16), "python.take"),
        (lambda: x @ np.arange(5), "python.shape"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code


def test_along_long_vectors(columns):
    client = columns.party.client
    a, x = columns.random(-3, 3, 1030)
    columns.check(np.cumsum(x), np.cumsum(a))
    b, y = columns.random(0, 200, 1030)
    assert [client.decrypt(n) for n in np.bincount(y)] == list(np.bincount(b, minlength=201))
    edges = [-2, 10, 11, 11, 150, 200]
    for values, array in ((b, y), (a, x)):
        totals, found = np.histogram(array, bins=edges)
        expected, _ = np.histogram(values, bins=edges)
        assert [client.decrypt(n) for n in totals] == list(expected)
        assert (found == edges).all()
    weights = columns.rng.integers(-2, 9, 1030)
    assert client.decrypt(np.average(x)) == a.sum() // 1030
    assert client.decrypt(np.average(x, weights=weights)) == a @ weights // weights.sum()
    assert client.decrypt(np.average(x, axis=np.int64(0))) == a.sum() // 1030
    assert client.decrypt(np.average(x, -1, weights)) == a @ weights // weights.sum()
    for refused, code in [
        (lambda: np.histogram(x), "python.not-homomorphic"),
        (lambda: np.histogram(x, bins=[3, 1]), "python.shape"),
        (lambda: np.average(x, weights=[1, 2]), "python.shape"),
        (lambda: np.average(x, weights=np.zeros(1030, int)), "python.shape"),
        (lambda: np.bincount(columns.random(0, 256)[1]), "integers.table"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code


def test_small_functions(columns):
    a, x = columns.random(-40, 99, 15)
    for found, expected in [
        (np.any(x), np.any(a)),
        (np.any(x > 99), np.any(a > 99)),
        (np.all(x), np.all(a)),
        (np.all(x >= -40), np.all(a >= -40)),
        ((x == 7).any(), (a == 7).any()),
        (np.where(np.any(x < 0), 3, 4), np.where(np.any(a < 0), 3, 4)),
        (np.array_equal(x, a), np.array_equal(a, a)),
        (np.array_equal(x, a + 1), False),
        (np.ptp(x), np.ptp(a)),
        (np.round(x), np.round(a)),
        (np.around(x, 2), np.around(a, 2)),
        (np.floor(x), a),
        (np.percentile(x, 30, method="lower"), np.percentile(a, 30, method="lower")),
    ]:
        columns.check(found, expected)
    assert np.array_equal(x, a[:3]) is False
    for refused, way in [
        (lambda: np.round(x, -2), "// 100"),
        (lambda: np.diff(x), "rows=True"),
        (lambda: np.percentile(x, 30), "method"),
        (lambda: np.unique(x), "bincount"),
        (lambda: np.std(x), "sum"),
    ]:
        with pytest.raises(everlevel.NotHomomorphicError) as caught:
            refused()
        assert way in str(caught.value), caught.value


def test_more_of_numpys_functions(columns):
    a, x = columns.random(-40, 99)
    b, y = columns.random(0, 15)
    w = columns.rng.integers(-9, 9, 60)
    for found, expected in [
        (np.power(y, 2), b**2),
        (y**0, np.ones(60)),
        (pow(y, 5, 7), [pow(int(v), 5, 7) for v in b]),
        (pow(x, 2, -9), [pow(int(v), 2, -9) for v in a]),
        (pow(y, 0, 7), np.ones(60)),
        (pow(y, 3, 1), np.zeros(60)),
        (np.fmin(x, y), np.minimum(a, b)),
        (np.fmax(x, 7), np.maximum(a, 7)),
        (np.rint(x), a),
        (np.signbit(x), a < 0),
        (x.clip(0, None), a.clip(0, None)),
        (x.clip(min=0, max=9), a.clip(min=0, max=9)),
        (x.clip(max=9), a.clip(max=9)),
        (x.clip(None, w), np.minimum(a, w)),
        (np.outer([2, -1], x), np.outer([2, -1], a)),
        (np.amax(x), a.max()),
    ]:
        columns.check(found, expected)
    # No bound takes the place of another one.
    for twice in [
        lambda: x.clip(3, min=5),
        lambda: x.clip(3, 9, min=None),
        lambda: np.clip(x, 0, 9, max=7),
    ]:
        with pytest.raises(TypeError, match="two bounds"):
            twice()
    client = columns.party.client
    assert client.decrypt(np.inner(x, w)) == client.decrypt(np.vdot(w, x)) == a @ w
    for refused, way in [
        (lambda: np.fmod(x, 7), "sign of y"),
        (lambda: np.gcd(x, y), "Table"),
        (lambda: np.heaviside(x, 1), "np.where"),
        (lambda: np.float_power(x, 2), "x**n"),
        (lambda: pow(x, 2, y), "x**n % m"),
        (lambda: x**-1, "exponents"),
        (lambda: 2**x, "Table"),
        (lambda: np.where(x), "decrypt"),
        (lambda: np.choose(y & 1, [x, x]), "np.select"),
        (lambda: np.allclose(x, a), "np.array_equal"),
        (lambda: np.einsum("i,i", x, w), "axis=0"),
        (lambda: np.tensordot(x, w, 1), "axis=0"),
        (lambda: np.outer(x, x), "public y"),
        (lambda: np.pad(x, 1), "before"),
        (lambda: np.put(x, [0], 1), "np.where"),
        (lambda: np.nonzero(x), "decrypt"),
        (lambda: np.var(x), "decrypt"),
        (lambda: np.zeros_like(x), "np.zeros"),
        (lambda: np.prod(x), "axis=0"),
        (lambda: np.inner(x.reshape(6, 10), w), "axis=0"),
        (lambda: x.prod(), "axis=0"),
        (lambda: x.trace(), "np.trace"),
        (lambda: x.repeat(2), "np.repeat"),
        (lambda: x.view(np.int8), "wrap=True"),
        (lambda: x.sort(), "np.sort"),
    ]:
        with pytest.raises(everlevel.NotHomomorphicError) as caught:
            refused()
        assert way in str(caught.value), caught.value


def test_wrapping_is_numpys(columns):
    for dtype in ("uint8", "int8", "uint16"):
        info = np.iinfo(dtype)
        a = columns.rng.integers(info.min, info.max, 60, endpoint=True).astype(dtype)
        b = columns.rng.integers(info.min, info.max, 60, endpoint=True).astype(dtype)
        x, y = columns.load(a).wrapping(), columns.load(b)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for found, expected in [
                (x + y, a + b),
                (x - y, a - b),
                (x * 7, a * a.dtype.type(7)),
                (x * y, a * b),
                (x * x, a * a),
                (-x, -a),
                (~x, ~a),
                (x << 3, a << 3),
                (x ^ y, a ^ b),
            ]:
                assert columns.check(found, expected).dtype == found.dtype == dtype
    a = np.array([250, 3], dtype=np.uint8)
    x = columns.load(a)
    columns.check((x + 10).astype(np.uint8, wrap=True), a + np.uint8(10))
    for refused in (
        lambda: x.wrapping() + 256,
        lambda: x.wrapping() + columns.load([1, 2], dtype=np.uint16),
    ):
        with pytest.raises(everlevel.DtypeError) as caught:
            refused()
        assert caught.value.code == "integers.type"


def test_tables(columns):
    a, x = columns.random(0, 255)
    sbox = columns.rng.permutation(256)
    columns.check(Table(sbox)[x], sbox[a])
    columns.check(Table(sbox - 1000)[np.minimum(x, 9)], (sbox - 1000)[np.minimum(a, 9)])
    columns.check(np.choose(x >> 6, [5, 70_000, -3, 9]), np.choose(a >> 6, [5, 70_000, -3, 9]))
    np.testing.assert_array_equal(Table(sbox)[a], sbox[a])
    for bad in (Table(sbox[:255]), Table([1])):
        with pytest.raises(everlevel.RangeError) as caught:
            bad[x]
        assert caught.value.code == "integers.table"


def test_tables_on_one_input(columns):
    a, x = columns.random(0, 255)
    tables = np.array([columns.rng.permutation(256), np.arange(256) ** 2 - 9, np.full(256, 7)])
    found = Table(tables)[:, x]
    assert found.shape == (3, *a.shape)
    columns.check(found, tables[:, a])
    square, low = Table(tables[1:, :10])[:, np.minimum(x, 9)]
    columns.check(square, tables[1][np.minimum(a, 9)])
    columns.check(low, tables[2][np.minimum(a, 9)])
    columns.check(Table(tables[:1])[:, x][0], tables[0][a])
    columns.check(Table(tables)[:, np.stack([x, x])][1], tables[1][np.stack([a, a])])
    np.testing.assert_array_equal(Table(tables)[:, a], tables[:, a])
    assert repr(Table(tables)) == "<everlevel.Table of 3 rows of 256 integers>"
    for refused in (
        lambda: Table(tables)[x],
        lambda: Table(tables)[[1, 2], x],
        lambda: Table(tables[0])[:, x],
        lambda: Table(tables)[x, :],
    ):
        with pytest.raises(everlevel.NotHomomorphicError):
            refused()
    with pytest.raises(everlevel.RangeError) as caught:
        Table(tables[:, :255])[:, x]
    assert caught.value.code == "integers.table"
    with pytest.raises(everlevel.ShapeError):
        Table(np.zeros((2, 2, 2), dtype=int))


def test_tables_of_two_arrays(columns):
    (a, x), (b, y) = columns.random(0, 20), columns.random(0, 11)
    table = columns.rng.integers(-9, 5_000, (21, 12))
    columns.check(Table(table)[x, y], table[a, b])
    columns.check(Table(table)[np.minimum(x, 3), y], table[np.minimum(a, 3), b])
    columns.check(Table(table)[3, y], table[3, b])
    columns.check(Table(table)[x, 11], table[a, 11])
    for bad in (Table(table[:20]), Table(table[:, :11])):
        with pytest.raises(everlevel.RangeError) as caught:
            bad[x, y]
        assert caught.value.code == "integers.table"


def test_tables_of_more_than_two_digits(columns):
    for low, high in ((0, 1_000), (0, 65_535)):
        a, x = columns.random(low, high)
        table = np.arange(high + 1) * 31 % 1_009 - 40
        columns.check(Table(table)[x], table[a])
    with pytest.raises(everlevel.RangeError) as caught:
        Table(np.zeros(65_537, dtype=int))[columns.load([1], bounds=(0, 65_536))]
    assert caught.value.code == "integers.table"


def test_sums_that_are_computed_on(columns):
    a, x = columns.random(-40, 90)
    total = x.sum_of_each()
    assert total.shape == a.shape
    columns.check(total, np.full(a.shape, a.sum()))
    columns.check(a.size * x > total, a.size * a > a.sum())
    columns.check(np.where(total >= int(a.sum()), x, 0), a)
    with pytest.raises(TypeError, match="sum_of_each"):
        assert x.sum() > 3


def test_signed_divisors(columns):
    (a, x), (b, y) = columns.random(-90, 40), columns.random(-7, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy of the divisor 0
        expected, rest = a // b, a % b
    columns.check(x // y, expected)
    columns.check(x % y, rest)


def test_partitions(columns):
    a, x = columns.random(-9, 9, size=25)
    found = columns.party.client.decrypt(np.partition(x, 4))
    assert found[4] == np.partition(a, 4)[4] and (np.sort(found) == np.sort(a)).all()
    places = columns.party.client.decrypt(np.argpartition(x, 4))
    assert a[places[4]] == found[4]


def test_tables_share_powers():
    tables = [[v * v for v in range(256)], [v // 3 for v in range(256)]]

    @everlevel.program
    def together(x: everlevel.uint8):
        return Table(tables)[:, x][0] + Table(tables)[:, x][1]

    @everlevel.program
    def apart(x: everlevel.uint8):
        return Table(tables[0])[x] + Table(tables[1])[x]

    @everlevel.program
    def shared(x: everlevel.uint8):
        square, third = Table(tables)[:, x]
        return square + third

    products = [f.plan(rows=4).products for f in (shared, apart, together)]
    assert products[0] < products[1] < products[2]


def test_long_arrays_are_blocks(columns):
    a, x = columns.random(0, 100, 5_000)
    assert x.ciphertexts == 6
    columns.check(np.where(x > 50, x, a), a)
    assert columns.party.client.decrypt(x.sum()) == a.sum()
    assert columns.party.client.decrypt(x.reshape(50, 100)).shape == (50, 100)


def test_scalars(columns):
    x = columns.load(5, dtype=np.uint8)
    assert x.shape == () and columns.party.client.decrypt(x * 3) == 15
    with pytest.raises(TypeError):
        len(x)


REFUSED = {
    "bool": (lambda x: bool(x), "np.where"),
    "if": (lambda x: 1 if x < 3 else 2, "np.where"),
    "chain": (lambda x: 1 < x < 3, "np.where"),
    "hash": (lambda x: {x: 1}, "hash"),
    "float": (lambda x: float(x), "decrypt"),
    "int": (lambda x: int(x), "decrypt"),
    "item": (lambda x: x.item(), "decrypt"),
    "array": (lambda x: np.asarray(x), "decrypt"),
    "table[x]": (lambda x: np.arange(256)[x], "Table"),
    "take": (lambda x: np.take(np.arange(256), x), "Table"),
    "list[x]": (lambda x: [1, 2, 3][x], "Table"),
    "in": (lambda x: 3 in x, "=="),
    "loop": (lambda x: list(x), "decrypt"),
    "x / y": (lambda x: x / 2, "//"),
    "sqrt": (lambda x: np.sqrt(x), "Table"),
    "fft": (lambda x: np.fft.fft(x), "decrypt"),
    "std": (lambda x: np.std(x), "decrypt"),
    "method": (lambda x: x.std(), "decrypt"),
    "out": (lambda x: np.add(x, 1, out=np.zeros(60, int)), "new arrays"),
    "total": (lambda x: x.sum() + 1, "decrypt"),
    "total == 1": (lambda x: x.sum() == 1, "decrypt"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_homomorphic_names_the_way(columns, name):
    refused, way = REFUSED[name]
    _, x = columns.random(0, 255)
    with pytest.raises(TypeError) as caught:
        refused(x)
    assert isinstance(caught.value, everlevel.NotHomomorphicError), caught.value
    assert caught.value.code == "python.not-homomorphic" and way in str(caught.value)


@pytest.mark.parametrize("values", [np.array([]), [], np.zeros((0, 3), np.uint8), [[], []]])
def test_arrays_without_values_are_refused(columns, values):
    client = columns.party.client
    for encrypt in (client.encrypt, client.public_key().encrypt, client.encrypt_modular):
        with pytest.raises(everlevel.ShapeError) as caught:
            encrypt(values)
        assert caught.value.code == "python.empty" and "at least one" in str(caught.value)


def test_bad_values_are_refused(columns, toy):
    client = columns.party.client
    for values, how, code in [
        ([1, 2], {}, "integers.width"),
        (np.array([1, 2]), {}, "integers.width"),
        ([1, 256], {"dtype": np.uint8}, "integers.value"),
        ([-1], {"bounds": (0, 9)}, "integers.value"),
        ([0.5], {"dtype": np.uint8}, "integers.value"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), {"dtype": np.uint8}, "integers.value"),
        (np.array([1, "x"], dtype=object), {"dtype": np.uint8}, "integers.value"),
        ([1], {"dtype": np.float32}, "integers.value"),
        ([1], {"bounds": (3, 2)}, "integers.range"),
        ([1], {"bounds": (0, 300), "dtype": np.uint8}, "integers.range"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            client.encrypt(values, **how)
        assert caught.value.code == code, (values, caught.value)
    with pytest.raises(everlevel.RangeError) as caught:
        client.encrypt([4, 300, 5], dtype=np.uint8)
    assert (caught.value.value, caught.value.position) == (300, 1)
    small = everlevel.Client(everlevel.Params("insecure_bfv-127e2-n8", insecure_research=True))
    with pytest.raises(everlevel.ParameterError, match="encrypt_modular") as caught:
        small.encrypt([1], dtype=np.uint8)
    assert caught.value.code == "integers.set"
    with pytest.raises(everlevel.ParameterError):
        client.decrypt(client.encrypt([1], dtype=np.uint8), signed=True)


def test_an_index_answers_comparisons_and_tables(columns):
    client, server = columns.party.client, columns.party.server
    a = columns.rng.integers(0, 256, 60).astype(np.uint8)
    encrypted = client.encrypt(a, index=True)
    assert encrypted.has_index and encrypted.ciphertexts == 2 + 2 * 15
    x = server.read(encrypted.to_bytes("a"), bounds="fresh")
    assert x.has_index and "with an index" in repr(x)
    squares, limits = np.arange(256) ** 2 // 7, [18, 65, 200]
    cases = [
        (x >= 18, a >= 18),
        (100 > x, a < 100),
        (x == a[0], a == a[0]),
        (np.isin(x, limits), np.isin(a, limits)),
        (np.digitize(x, limits), np.digitize(a, limits)),
        (Table(squares)[x], squares[a]),
        (x + 3, a.astype(int) + 3),
        (x * x, a.astype(int) ** 2),
    ]
    for found, expected in cases:
        assert not found.has_index
        columns.check(found, expected)
    plain = x.without_index()
    assert not plain.has_index and plain.ciphertexts == 2 and "index" not in repr(plain)
    columns.check(plain >= 18, a >= 18)
    assert (x >= 18).capacity_bits > 0 and not client.encrypt(a).has_index
    b = columns.rng.integers(-300, 300, 5_000)
    y = server.load(client.public_key().encrypt(b, bounds=(-300, 300), index=True))
    assert y.has_index
    columns.check(y < -17, b < -17)
    for values in ([True, False], np.array([1, 2], dtype=np.uint64)):
        with pytest.raises(everlevel.Error) as caught:
            client.encrypt(values, index=True)
        assert caught.value.code == "integers.type"


def test_bytes(columns, tmp_path):
    client, server = columns.party.client, columns.party.server
    a, b = columns.rng.integers(0, 100, (50, 50)), columns.rng.integers(-5, 5, 30)
    x, y = client.encrypt(a, bounds=(0, 99)), client.encrypt(b, dtype=np.int8)
    loaded = server.read(x.to_bytes("a"), bounds="fresh")
    assert (
        loaded.shape == (50, 50)
        and loaded.ciphertexts == x.ciphertexts == 4
        and loaded.interval == (0, 99)
    )
    columns.check(loaded + 1, a + 1)
    found = everlevel.integers_from_bytes(
        everlevel.integers_to_bytes(
            {"y": server.load(y) * 3, "n": loaded.sum(), "w": server.load(y).wrapping()}
        ),
        params=columns.party.params,
    )
    assert (
        list(found) == ["y", "n", "w"]
        and found["w"].dtype == np.int8
        and "wrapping" in repr(found["w"])
    )
    columns.check(found["y"], 3 * b)
    assert client.decrypt(found["n"]) == a.sum()
    y.save(tmp_path / "y.ct", name="y")
    columns.check(server.read(tmp_path / "y.ct") < 0, b < 0)
    np.testing.assert_array_equal(client.decrypt((tmp_path / "y.ct").read_bytes()), b)
    assert everlevel.inspect(tmp_path / "y.ct")["kind"] == "columns of integers"
    columns.check(pickle.loads(pickle.dumps(y)), b)
    opened = client.decrypt(everlevel.integers_to_bytes({"y": y, "n": loaded.sum()}))
    np.testing.assert_array_equal(opened["y"], b)
    assert opened["n"] == a.sum()
    np.testing.assert_array_equal(client.decrypt(x.compact()), a)
    small = (server.load(y) * 3).compact("y")
    assert 2 * len(small) < len((server.load(y) * 3).to_bytes())
    np.testing.assert_array_equal(client.decrypt(small), 3 * b)
    assert client.decrypt(small).dtype == (server.load(y) * 3).dtype
    assert client.decrypt(server.load(y).wrapping().compact()).dtype == np.int8
    assert client.decrypt(loaded.sum().compact()) == a.sum()
    with pytest.raises(everlevel.Error) as caught:
        server.read(small, bounds="stated")
    assert caught.value.code == "wire.wrong-kind"
    with pytest.raises(everlevel.ParameterError) as caught:
        client.decrypt(small, signed=True)
    assert caught.value.code == "python.typed"
    with pytest.raises(everlevel.Error):
        server.read((server.load(y) * server.load(y)).to_bytes(), bounds="fresh")
    with pytest.raises(everlevel.FormatError):
        everlevel.EncryptedTotal.from_bytes(y.to_bytes(), params=columns.party.params)


@pytest.mark.parametrize(
    "described",
    [
        "{}",
        "[]",
        "no",
        '{"x":{}}',
        '{"x":{"blocks":2,"shape":[3]}}',
        '{"x":{"blocks":1,"shape":[4]}}',
        '{"x":{"blocks":1,"shape":[0]}}',
        '{"z":{"blocks":1,"shape":[3]}}',
        '{"x":{"blocks":1,"shape":["a"]}}',
        '{"x":{"blocks":1,"shape":[3],"wrapping":"float64"}}',
        '{"x":{"blocks":1,"shape":[3],"wrapping":"bool"}}',
        '{"x":{"blocks":1,"shape":[3],"wrapping":"int8"}}',
        '{"x":{"blocks":-1,"shape":[3]}}',
    ],
)
def test_descriptions_that_do_not_fit(columns, described):
    x = columns.party.client.encrypt([1, 2, 3], dtype=np.uint8)
    data = everlevel._everlevel.columns_to_bytes(
        columns.party.params._raw, [("x", x._blocks[0])], {"arrays": described}
    )
    with pytest.raises(everlevel.Error):
        everlevel.integers_from_bytes(data, params=columns.party.params)


def test_bad_operations_are_refused(columns):
    _, x = columns.random(0, 255)
    _, y = columns.random(0, (1 << 63) - 1, 60)
    wide = columns.load(np.zeros(60, np.uint64)) * (1 << 60)
    for refused, error, code in [
        (lambda: x + columns.load([1, 2], dtype=np.uint8), everlevel.ShapeError, "python.shape"),
        (lambda: x + np.zeros(7, int), everlevel.ShapeError, "python.shape"),
        (lambda: x + 0.5, everlevel.DtypeError, "integers.value"),
        (lambda: x.astype(np.int8), everlevel.RangeError, "integers.range"),
        (lambda: x << 64, everlevel.RangeError, "integers.range"),
        (lambda: x >> -1, everlevel.RangeError, "integers.range"),
        (lambda: wide * (1 << 60), everlevel.RangeError, "integers.range"),
        (
            lambda: columns.party.client.encrypt([1], dtype=np.uint8) + 1,
            everlevel.NoServerError,
            "python.no-server",
        ),
    ]:
        with pytest.raises(error) as caught:
            refused()
        assert caught.value.code == code
    with pytest.raises(ZeroDivisionError):
        x // 0
    other = everlevel.Client(columns.party.params)
    with pytest.raises(everlevel.WrongKeyError):
        columns.party.server.load(other.encrypt([1], dtype=np.uint8))
    with pytest.raises(everlevel.WrongKeyError):
        other.decrypt(x)
    thin = columns.party.client.server(program="y = x * x")
    with pytest.raises(everlevel.OtherParametersError):
        thin.load(x) + x
    with pytest.raises(TypeError):
        everlevel.EncryptedIntegers()


def test_what_they_say(columns):
    a, x = columns.random(0, 120)
    assert repr(x).startswith(
        "<EncryptedIntegers of shape (60,), uint8 from 0 to 120, insecure_bgv-65537-n11 in 2 "
        "ciphertexts"
    )
    assert x.capacity_bits > (x > 3).capacity_bits
    assert "wrapping uint8" in repr(x.wrapping())
    assert x.sum().interval == (0, 7200) and x.sum().dtype == np.uint16
    assert not hasattr(x, "std") and not hasattr(x, "nothing")
    with pytest.raises(everlevel.MissingMethodError) as caught:
        x.std()
    assert isinstance(caught.value, (everlevel.NotHomomorphicError, AttributeError))
    assert "std of encrypted integers: " in repr(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is everlevel.MissingMethodError and str(again) == str(caught.value)
    columns.check((x + x).normalized(), a + a)
