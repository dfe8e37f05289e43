"""Arrays of typed integers by rows: what is indexed, stacked and computed along them is what NumPy
says, or is refused.
"""

import itertools
import pickle

import numpy as np
import pytest

import everlevel
from everlevel import Table
from everlevel._rows import exchanges


class Rows:
    """NumPy's arrays and the encrypted ones of a party."""

    def __init__(self, party):
        self.client, self.server, self.rng = party.client, party.server, np.random.default_rng(5)
        self.slots = party.params.slots

    def load(self, values, **how):
        return self.server.load(self.client.encrypt(values, **how))

    def random(self, low, high, *shape, rows=True):
        values = self.rng.integers(low, high, shape, endpoint=True)
        return values, self.load(values, bounds=(low, high), rows=rows)

    def check(self, x, expected):
        assert x.shape == np.shape(expected)
        np.testing.assert_array_equal(self.client.decrypt(x), expected)


@pytest.fixture(scope="module")
def rows(fermat):
    return Rows(fermat)


def test_indices_are_numpys(rows):
    a, x = rows.random(0, 99, 4, 3)
    assert x.ciphertexts == 8 and "by rows" in repr(x)
    deep = x.reshape(2, 2, 3)
    for key in [
        0,
        -1,
        np.int64(2),
        slice(1, 3),
        slice(None, None, -2),
        [2, 0, 0],
        np.array([True, False, True, True]),
        None,
        (1, slice(None)),
        (Ellipsis,),
        (1, ...),
        (slice(None), slice(None)),
        (None, 2),
    ]:
        rows.check(x[key], a[key])
    for key in [
        0,
        (1, 0),
        (slice(None), 1),
        (..., 1, slice(None)),
        ([0, 1], [1, 0]),
        (slice(None), [1, 0]),
        (1, None, 0),
    ]:
        if Ellipsis not in (key if isinstance(key, tuple) else ()):
            rows.check(deep[key], a.reshape(2, 2, 3)[key])
    for i, row in enumerate(x):
        rows.check(row, a[i])
    rows.check(x[1] + x[3], a[1] + a[3])
    rows.check(x[::-1] < x, a[::-1] < a)
    columns, y = rows.random(0, 9, 5)
    rows.check(y[2], columns[2])
    rows.check(y[[4, 1]], columns[[4, 1]])


def test_long_rows(rows):
    n = rows.slots + 5
    a, x = rows.random(0, 15, 3, n)
    assert x.ciphertexts == 6
    rows.check(x[1:], a[1:])
    rows.check(np.array([[1, -2, 3], [0, 0, 0]]) @ x, np.array([[1, -2, 3], [0, 0, 0]]) @ a)
    rows.check(x * np.arange(n), a * np.arange(n))
    rows.check(x.argmax(axis=0), a.argmax(axis=0))
    assert rows.client.decrypt(x.sum()) == a.sum()
    assert rows.client.decrypt(x[2].sum()) == a[2].sum()


def test_tables_of_blocks_with_intervals_of_their_own(rows):
    a, x = rows.random(0, 15, 2, 4)
    y = np.where(np.array([[True], [False]]), x, 3)
    rows.check(Table(np.arange(16) ** 2)[y], np.where([[True], [False]], a, 3) ** 2)
    rows.check(np.stack([x[0], x[1] + 7]).clip(9, 12), np.stack([a[0], a[1] + 7]).clip(9, 12))


def test_broadcasting(rows):
    a, x = rows.random(-20, 20, 3, 6)
    b, y = rows.random(0, 20, 6, rows=False)
    k = np.array([[3], [-1], [8]])
    for found, expected in [
        (x + y, a + b),
        (y - x, b - a),
        (np.where(x < y, x, y), np.where(a < b, a, b)),
        (x * k, a * k),
        (k * x, k * a),
        (x // k, a // k),
        (x % k, a % k),
        (x <= k, a <= k),
        (np.minimum(x, k), np.minimum(a, k)),
        (np.maximum(k, x), np.maximum(k, a)),
        (x + k, a + k),
        (y + k, b + k),
        (y * k, b * k),
        (y >> np.array([[1], [0], [4]]), b >> np.array([[1], [0], [4]])),
        (y << np.array([[1], [0], [4]]), b << np.array([[1], [0], [4]])),
        (y & np.array([[1], [6], [15]]), b & np.array([[1], [6], [15]])),
        (x + np.arange(6), a + np.arange(6)),
        (x * np.arange(18).reshape(3, 6), a * np.arange(18).reshape(3, 6)),
        (y + np.arange(18).reshape(3, 6), b + np.arange(18).reshape(3, 6)),
        (y * np.full(6, 3), b * 3),
        (x[:, None] + x, a[:, None] + a),
        (np.broadcast_to(y, (2, 6)), np.broadcast_to(b, (2, 6))),
        (
            y // np.array([[0, 1, 2, 3, 4, 0], [3] * 6]),
            np.stack([[0, *(b[1:5] // [1, 2, 3, 4]), 0], b // 3]),
        ),
    ]:
        rows.check(found, expected)
    for refused in (
        lambda: x + rows.random(0, 9, 3, 6, rows=False)[1],
        lambda: x + rows.random(0, 9, 5)[1],
        lambda: x + rows.load(3, dtype=np.uint8),
        lambda: x + np.arange(5),
        lambda: rows.load(3, dtype=np.uint8) + np.arange(5),
        lambda: np.broadcast_to(x, (3, 5)),
        lambda: np.broadcast_to(x, (6,)),
    ):
        with pytest.raises(everlevel.ShapeError):
            refused()


def test_sums_and_products_with_matrices(rows):
    for low, high in ((0, 1), (-3, 3), (0, 200), (-1000, 5)):
        a, x = rows.random(low, high, 7, 9)
        w = rows.rng.integers(-4, 5, (3, 7))
        for found, expected in [
            (w @ x, w @ a),
            (w[0] @ x, w[0] @ a),
            (np.dot(w, x), w @ a),
            (w.tolist() @ x, w @ a),
        ]:
            rows.check(found, expected)
            least, most = found.interval
            assert least <= expected.min() and expected.max() <= most
        rows.check(x.sum(axis=0), a.sum(axis=0))
        rows.check(np.add.reduce(x), a.sum(axis=0))
        assert rows.client.decrypt(x.sum()) == a.sum()
    b, y = rows.random(0, 9, 4)
    rows.check(y @ np.array([1, 2, 3, -4]), b @ np.array([1, 2, 3, -4]))
    rows.check(np.ones((2, 4), int) @ y, np.ones((2, 4), int) @ b)
    c, z = rows.random(0, 3, 4, 2)
    rows.check(z.reshape(2, 2, 2).sum(axis=1), c.reshape(2, 2, 2).sum(axis=1))
    rows.check(np.zeros((1, 4), int) @ z, np.zeros((1, 2)))
    # Few of the products need carries where entries are bits.
    bits, m = rows.random(0, 1, 30, 4)
    before = rows.server.bootstraps
    rows.check(np.ones((2, 30), int) @ m, np.ones((2, 30), int) @ bits)
    assert rows.server.bootstraps == before and m.sum(axis=0).ciphertexts == 1


def test_order_along_rows(rows):
    for n in (1, 2, 5):
        a, x = rows.random(-9, 9, n, 7)
        for name in ("max", "min", "argmax", "argmin"):
            rows.check(getattr(x, name)(axis=0), getattr(a, name)(axis=0))
            rows.check(getattr(np, name)(x, axis=-2), getattr(np, name)(a, axis=0))
        rows.check(np.sort(x, axis=0), np.sort(a, axis=0))
        rows.check(np.any(x > 5, axis=0), np.any(a > 5, axis=0))
        rows.check(np.all(x > -5, axis=0), np.all(a > -5, axis=0))
        rows.check(np.count_nonzero(x > 0, axis=0), np.count_nonzero(a > 0, axis=0))
        rows.check(np.cumsum(x, axis=0), np.cumsum(a, axis=0))
        rows.check(np.ptp(x, axis=0), np.ptp(a, axis=0))
        if n > 1:
            rows.check(np.diff(x, axis=0), np.diff(a, axis=0))
    rows.check(np.diff(x, n=2, axis=0), np.diff(a, n=2, axis=0))
    rows.check(np.median(x, axis=0), np.median(a, axis=0))
    rows.check(
        np.quantile(x, 0.25, axis=0, method="lower"), np.quantile(a, 0.25, axis=0, method="lower")
    )
    b, y = rows.random(0, 9, 5)
    rows.check(y.max(), b.max())
    rows.check(np.sort(y, axis=0), np.sort(b))
    b, y = rows.random(0, 9, 4, 3)
    rows.check(np.sort(y.reshape(2, 2, 3), axis=1), np.sort(b.reshape(2, 2, 3), axis=1))


def test_rows_are_chosen_and_arranged(rows):
    a, x = rows.random(-9, 9, 4, 3)
    b, y = rows.random(0, 9, 4)
    for found, expected in [
        (np.take(x, [2, 0, 0], axis=0), np.take(a, [2, 0, 0], axis=0)),
        (np.take(x, -1, axis=-2), np.take(a, -1, axis=0)),
        (np.take(y, [[3, 0]]), np.take(b, [[3, 0]])),
        (np.compress([True, False, True], x, axis=0), a[[0, 2]]),
        (np.compress([0, 5, 0, 1], y), b[[1, 3]]),
        (np.repeat(x, 2, axis=0), np.repeat(a, 2, axis=0)),
        (np.repeat(y, [1, 0, 2, 1]), np.repeat(b, [1, 0, 2, 1])),
        (np.roll(x, 1, axis=0), np.roll(a, 1, axis=0)),
        (np.roll(y, -3), np.roll(b, -3)),
        (np.flip(x, axis=0), np.flip(a, axis=0)),
        (np.flip(y), np.flip(b)),
        (np.flipud(x), np.flipud(a)),
        (np.split(x, 2)[1], np.split(a, 2)[1]),
        (np.array_split(x, 3)[0], np.array_split(a, 3)[0]),
        (np.vstack([x, x[0], np.arange(3)]), np.vstack([a, a[0], np.arange(3)])),
        (np.hstack([y, y]), np.hstack([b, b])),
        (np.squeeze(x[None]), a),
        (np.expand_dims(x, 1), np.expand_dims(a, 1)),
        (np.atleast_2d(x[0]), a[:1]),
        (np.copy(x), a),
        (x.flatten(), a.flatten()),
    ]:
        rows.check(found, expected)
    for refused, code in [
        (lambda: np.take(x, 0), "python.not-homomorphic"),
        (lambda: np.take(x, [0, 1], axis=1), "python.not-homomorphic"),
        (lambda: np.take(x, [9], axis=0, mode="clip"), "python.not-homomorphic"),
        (lambda: np.take(x, y, axis=0), "python.not-homomorphic"),
        (lambda: np.take(x, [0], axis=2), "python.shape"),
        (lambda: np.compress(y, x, axis=0), "python.not-homomorphic"),
        (lambda: np.compress([False], x, axis=0), "python.empty"),
        (lambda: np.compress([[True]], x, axis=0), "python.shape"),
        (lambda: np.repeat(x, 2), "python.not-homomorphic"),
        (lambda: np.roll(x, 1), "python.not-homomorphic"),
        (lambda: np.flip(rows.random(0, 9, 4, rows=False)[1]), "python.not-homomorphic"),
        (lambda: np.split(x, [0]), "python.empty"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code
    with pytest.raises(IndexError):
        np.take(x, [4], axis=0)


def test_reductions_along_rows(rows):
    a, x = rows.random(-9, 9, 3, 4)
    b, y = rows.random(0, 15, 3, 4)
    for found, expected in [
        (np.prod(x, axis=0), np.prod(a, axis=0)),
        (np.multiply.reduce(x), np.prod(a, axis=0)),
        (np.cumprod(x, axis=0), np.cumprod(a, axis=0)),
        (np.multiply.accumulate(x), np.cumprod(a, axis=0)),
        (np.maximum.reduce(x), np.max(a, axis=0)),
        (np.minimum.reduce(x, axis=-2), np.min(a, axis=0)),
        (np.logical_and.reduce(x), np.all(a, axis=0)),
        (np.logical_or.reduce(x > 8), np.any(a > 8, axis=0)),
        (np.bitwise_and.reduce(y), np.bitwise_and.reduce(b)),
        (np.bitwise_or.reduce(y), np.bitwise_or.reduce(b)),
        (np.bitwise_xor.reduce(y), np.bitwise_xor.reduce(b)),
        (np.add.accumulate(x), np.cumsum(a, axis=0)),
        (np.maximum.accumulate(x), np.maximum.accumulate(a)),
        (np.minimum.accumulate(x), np.minimum.accumulate(a)),
        (np.tril(x), np.tril(a)),
        (np.triu(x, 1), np.triu(a, 1)),
    ]:
        rows.check(found, expected)
    assert rows.client.decrypt(np.trace(x)) == np.trace(a)
    assert rows.client.decrypt(np.trace(x, offset=-1)) == np.trace(a, offset=-1)
    flat = rows.load(a, bounds=(-9, 9))
    assert rows.client.decrypt(np.trace(flat, offset=1)) == np.trace(a, offset=1)
    assert rows.client.decrypt(np.trace(flat, offset=9)) == 0
    rows.check(np.tril(flat, -1), np.tril(a, -1))
    for refused, code in [
        (lambda: np.prod(x), "python.not-homomorphic"),
        (lambda: np.cumprod(x), "python.not-homomorphic"),
        (lambda: np.prod(x, axis=1), "python.not-homomorphic"),
        (lambda: np.prod(x, axis=2), "python.shape"),
        (lambda: np.maximum.reduce(x, initial=5), "python.not-homomorphic"),
        (lambda: np.subtract.reduce(x), "python.not-homomorphic"),
        (lambda: np.add.outer(x, x), "python.not-homomorphic"),
        (lambda: np.trace(x[0]), "python.shape"),
        (lambda: x.mean(axis=0), "python.not-homomorphic"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code


@pytest.mark.parametrize("n", range(1, 11))
def test_exchanges_sort(n):
    """By the 0-1 principle all inputs of zeros and ones are enough."""
    pairs = list(exchanges(n))
    for bits in itertools.product((0, 1), repeat=n):
        found = list(bits)
        for i, j in pairs:
            found[i], found[j] = min(found[i], found[j]), max(found[i], found[j])
        assert found == sorted(bits)


def test_stacks(rows):
    a, x = rows.random(0, 9, 5, rows=False)
    b, y = rows.random(-3, 3, 5, rows=False)
    for found, expected in [
        (np.stack([x, y]), np.stack([a, b])),
        (np.stack([x, np.arange(5), y]), np.stack([a, np.arange(5), b])),
        (np.concatenate([np.stack([x, y]), np.stack([y])]), np.stack([a, b, b])),
        (np.select([x < 3, x < 6], [y, 7], 9), np.select([a < 3, a < 6], [b, 7], 9)),
        (np.select([x < 3, a < 6], [1, y]), np.select([a < 3, a < 6], [1, b])),
    ]:
        rows.check(found, expected)
    for refused in (
        lambda: np.stack([x, y], axis=1),
        lambda: np.concatenate([x, y]),
        lambda: np.stack([x, rows.load([1, 2], dtype=np.uint8)]),
        lambda: np.stack([x, rows.client.encrypt(a, bounds=(0, 9))]),
        lambda: np.stack([x, y.wrapping()]),
        lambda: np.select([x < 3], [1, 2]),
    ):
        with pytest.raises(everlevel.Error):
            refused()


def test_wrapping_rows(rows):
    a = rows.rng.integers(0, 256, (2, 6)).astype(np.uint8)
    x = rows.load(a, rows=True).wrapping()
    rows.check(x * np.array([[3], [200]], np.uint8), a * np.array([[3], [200]], np.uint8))
    rows.check((x[0] + x[1]) ^ x[1], (a[0] + a[1]) ^ a[1])
    assert x[1].dtype == (x + 1).dtype == np.uint8
    rows.check(x.sum(axis=0), a.sum(axis=0, dtype=np.uint8))
    rows.check(np.maximum(x, 9), np.maximum(a, 9))


def test_small_tables_for_bounds(rows):
    a, x = rows.random(-128, 127, 60, rows=False)
    b, y = rows.random(-200, 200, 60, rows=False)
    for v, w in ((a, x), (b, y), (a + a, x + x)):
        for found, expected in [
            (np.maximum(w, 0), np.maximum(v, 0)),
            (np.minimum(5, w), np.minimum(5, v)),
            (np.clip(w, -3, 3), np.clip(v, -3, 3)),
            (w.clip(300, 400), v.clip(300, 400)),
            (w.clip(3, -3), np.clip(v, 3, -3)),
            (np.clip(w, -3, None), np.clip(v, -3, None)),
            (np.clip(w, np.full(60, 3), -3), np.clip(v, 3, -3)),
            (abs(w), abs(v)),
        ]:
            rows.check(found, expected)
    a, x = rows.random(-9000, 9000, 60, rows=False)
    for low, high in ((-3, 3), (3, -3)):
        rows.check(np.clip(x, low, high), np.clip(a, low, high))
        rows.check(np.clip(x, np.arange(60), high), np.clip(a, np.arange(60), high))
    _, x = rows.random(-128, 127, 60, rows=False)
    assert np.maximum(x, 0).interval == (0, 127) and np.clip(y, -3, 3).interval == (-3, 3)


def test_what_rows_refuse(rows):
    _, x = rows.random(0, 9, 3, 4)
    _, flat = rows.random(0, 9, 12, rows=False)
    for refused, way in [
        (lambda: x[:, 1], "rows=True"),
        (lambda: x[0, 1], "rows=True"),
        (lambda: flat[3], "rows=True"),
        (lambda: flat.reshape(3, 4)[1], "rows=True"),
        (lambda: x.sum(axis=1), "rows=True"),
        (lambda: flat.reshape(3, 4).max(axis=0), "rows=True"),
        (lambda: x @ np.arange(4), "transposed"),
        (lambda: x @ x, "axis=0"),
        (lambda: x[flat], "Table"),
        (lambda: x.any(None), "axis=0"),
        (lambda: np.any(x), "axis=0"),
        (lambda: x.all(), "count_nonzero"),
        (lambda: x.sum(axis=(0, 1)), "axis after"),
        (lambda: np.sum(x, keepdims=True), "keepdims"),
        (lambda: np.mean(x, axis=0), "axis"),
        (lambda: list(flat), "decrypt"),
        (lambda: x.T, "transposed"),
        (lambda: np.transpose(x), "transposed"),
    ]:
        with pytest.raises(everlevel.NotHomomorphicError) as caught:
            refused()
        assert way in str(caught.value), caught.value
    for refused in (
        lambda: np.ones((2, 4), int) @ x,
        lambda: x // np.zeros((3, 1), int),
        lambda: x.sum(axis=5),
        lambda: x[3:],
        lambda: x.max(),
        lambda: np.sort(x.ravel()),
        lambda: x.ravel().mean(),
        lambda: rows.client.encrypt(3, dtype=np.uint8, rows=True),
    ):
        with pytest.raises(everlevel.Error):
            refused()
    for key in (3, (0, 1, 2)):
        with pytest.raises(IndexError):
            x[key]


def test_files_of_rows(rows, tmp_path):
    a, x = rows.random(0, 9, 3, 4)
    path = tmp_path / "x.ct"
    everlevel.integers_to_bytes({"x": x, "y": x[0]})
    x.save(path)
    for found in (
        rows.server.read(path),
        rows.server.read(x.to_bytes()),
        rows.server.load(pickle.loads(pickle.dumps(x))),
    ):
        rows.check(found, a)
        rows.check(found[1], a[1])
    np.testing.assert_array_equal(rows.client.decrypt(path.read_bytes()), a)
    public = rows.client.public_key().encrypt(a, bounds=(0, 9), rows=True)
    rows.check(rows.server.load(public)[2], a[2])


@pytest.mark.parametrize(
    "told",
    [
        '"shape":[3],"runs":2',
        '"shape":[3],"runs":0',
        '"shape":[3],"runs":3',
        '"shape":[1000000000000000000]',
        '"shape":[1000000000000000000],"runs":1000000000000000000',
        '"shape":[3],"runs":"a"',
    ],
)
def test_descriptions_of_rows_that_do_not_fit(rows, told):
    x = rows.client.encrypt([1, 2, 3], dtype=np.uint8)
    data = everlevel._everlevel.columns_to_bytes(
        rows.server.params._raw, [("x", x._blocks[0])], {"arrays": f'{{"x":{{"blocks":1,{told}}}}}'}
    )
    with pytest.raises(everlevel.Error):
        everlevel.integers_from_bytes(data, params=rows.server.params)


def test_programs_with_rows(fermat):
    @everlevel.program
    def largest(x: everlevel.uint8, y: everlevel.uint8, z: everlevel.uint8):
        whole = np.stack([x, y, z])
        return whole.argmax(axis=0), np.array([[1, 2, -1], [0, 0, 1]]) @ whole

    values = np.random.default_rng(3).integers(0, 256, (3, 5000))
    plan = largest.plan(rows=5000, params=fermat.params)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    place, product = plan.run(server, plan.encrypt(client, **dict(zip("xyz", values))))
    np.testing.assert_array_equal(client.decrypt(place), values.argmax(axis=0))
    np.testing.assert_array_equal(
        client.decrypt(product), np.array([[1, 2, -1], [0, 0, 1]]) @ values
    )
    assert server.bootstraps == plan.bootstraps and product.shape == (2, 5000)


@everlevel.program
def network(x: everlevel.rows(4, everlevel.ranged(0, 3)), bias: everlevel.int8):
    return (np.array([[1, 2, -1, 0], [0, -3, 1, 1]]) @ x + bias).argmax(axis=0)


def test_programs_of_rows(fermat):
    rng = np.random.default_rng(6)
    x, bias = rng.integers(0, 4, (4, 3000)), rng.integers(-9, 9, 3000)
    plan = network.plan(rows=3000, params=fermat.params)
    assert plan.input_ciphertexts == 2 * (4 + 2)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    arrays = plan.encrypt(client, x=x, bias=bias)
    assert arrays["x"].shape == (4, 3000)
    np.testing.assert_array_equal(client.decrypt(plan.run(server, arrays)), network(x, bias))
    assert server.bootstraps == plan.bootstraps
    for refused in (
        lambda: plan.encrypt(client, x=x[:3], bias=bias),
        lambda: plan.encrypt(client, x=x[:, :9], bias=bias),
        lambda: plan.run(server, {**arrays, "x": client.encrypt(x, bounds=(0, 3))}),
        lambda: everlevel.rows(0, np.uint8),
        lambda: everlevel.rows(3, np.float64),
    ):
        with pytest.raises(everlevel.Error):
            refused()


def test_long_plans_are_shown_by_operation(fermat):
    @everlevel.program
    def long(x: everlevel.rows(30, everlevel.uint8)):
        return np.sort(x, axis=0)[0], x.max(axis=0)

    plan = long.plan(rows=10, params=fermat.params)
    lines = str(plan).splitlines()
    assert len(plan.stages) > 60 and len(lines) < 11
    sums = [sum(int(line.split()[i]) for line in lines[6:]) for i in range(1, 5)]
    assert sums == [
        len(plan.stages),
        plan.products,
        sum(s.key_switches for s in plan.stages),
        plan.bootstraps,
    ]


def test_public_rows(rows):
    """Rows that are public, as products with 0 are."""
    a, x = rows.random(0, 9, 3, 4)
    b, y = rows.random(0, 9, 4, rows=False)
    w = np.array([[0, 0, 0], [1, 0, -1]])
    for found, expected in [
        (x * np.array([[0], [1], [2]]), a * [[0], [1], [2]]),
        ((w @ x).max(axis=0), (w @ a).max(axis=0)),
        ((w @ x).argmax(axis=0), (w @ a).argmax(axis=0)),
        (w @ x + y, w @ a + b),
        (np.where(np.array([[True], [False]]), y, w @ x), np.where([[True], [False]], b, w @ a)),
        (Table([5, 6, 7])[np.clip(w @ x, 0, 2)], np.array([5, 6, 7])[np.clip(w @ a, 0, 2)]),
        ((w @ x).sum(axis=0), (w @ a).sum(axis=0)),
    ]:
        rows.check(found, expected)
    zero = w[:1] @ x
    rows.check(zero, np.zeros((1, 4)))
    assert rows.client.decrypt(zero.sum()) == 0
    rows.check(rows.server.read((w @ x).to_bytes()), w @ a)
