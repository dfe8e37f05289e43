"""Arrays behave like NumPy's modulo p, at any depth."""

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray


def check(party, x, expected, t=None):
    found = party.client.decrypt(x, signed=False, wrapping=True)
    np.testing.assert_array_equal(found, np.asarray(expected) % (t or party.t))


def test_arithmetic(toy):
    a, b, c = toy.random(100), toy.random(100), toy.random(100)
    x, y = toy.load(a), toy.load(b)
    check(toy, x + y, a + b)
    check(toy, x - y, a - b)
    check(toy, x * y, a * b)
    check(toy, -x, -a)
    check(toy, +x, a)
    check(toy, 3 * x * (1 - x), 3 * a * (1 - a))
    check(toy, x + c, a + c)
    check(toy, c - x, c - a)
    check(toy, x * c, a * c)
    check(toy, c * x, a * c)
    check(toy, x - np.int8(-5), a + 5)
    check(toy, x * True, a)
    check(toy, x**1, a)
    check(toy, x**13, [pow(int(v), 13, toy.t) for v in a])
    check(toy, x * 0 + 1, np.ones(100))


def test_shapes(toy):
    a = toy.random(5, 7)
    x = toy.load(a)
    assert (x.shape, x.ndim, x.size, len(x)) == ((5, 7), 2, 35, 5)
    check(toy, x * np.arange(7), a * np.arange(7))
    check(toy, x[3], a[3])
    check(toy, x[1:4], a[1:4])
    check(toy, x[:2] + a[:2], 2 * a[:2])
    check(toy, x[-1], a[-1])
    check(toy, x.reshape(7, 5), a.reshape(7, 5))
    check(toy, x.reshape(-1)[20:], a.reshape(-1)[20:])
    check(toy, x[2].sum(), a[2].sum())
    check(toy, x[:2].sum(), a[:2].sum())
    with pytest.raises(everlevel.ShapeError):
        x + toy.load(toy.random(7, 5))
    with pytest.raises(everlevel.ShapeError):
        x + np.zeros((7, 5), int)
    with pytest.raises(everlevel.ShapeError):
        x.reshape(6, 6)
    check(toy, x[::2], a[::2])
    check(toy, x[:, 2:5], a[:, 2:5])
    with pytest.raises(everlevel.ShapeError):
        x[3:3]
    with pytest.raises(IndexError):
        x[5]


@pytest.mark.parametrize("n", [1, 10, 64, 100, 128])
def test_rotations_and_parts(toy, n):
    a = toy.random(n)
    x = toy.load(a) + 1  # slots after the last entry are not 0 any more
    for k in (0, 1, -3, n // 2 + 1):
        check(toy, x.rotate(k), np.roll(a + 1, -k))
    if n > 2:
        check(toy, x[2:n], a[2:] + 1)
        check(toy, x[n // 2], a[n // 2] + 1)


def test_sums_see_entries_only(toy):
    a = toy.random(77)
    x = toy.load(a)
    check(toy, x.sum(), a.sum())
    check(toy, (1 - x).sum(), (1 - a).sum())
    total = (1 - x).sum()
    assert total.shape == ()
    check(toy, x * total, a * (1 - a).sum())
    check(toy, total + x, a + (1 - a).sum())
    check(toy, (total * np.arange(5)).sum(), 10 * (1 - a).sum())
    check(toy, x + x[3].broadcast(), a + a[3])
    column = x[3].broadcast().reshape(1, 1)
    for found in (x + column, column * x, column - x, column + column):
        assert found.shape[0] == 1 and found.ndim == 2
    check(toy, x + column, (a + a[3]).reshape(1, 77))
    with pytest.raises(everlevel.ShapeError, match="broadcast"):
        x + x[3]
    check(toy, (x.sum() + 5).sum(), a.sum() + 5)


def test_columns_and_rows(toy):
    a = toy.random(128)
    x = toy.load(a)
    rows = a.reshape(2, 64)
    check(toy, x.rotate_columns(5), np.roll(rows, -5, axis=1).reshape(-1))
    check(toy, x.swap_rows(), rows[::-1].reshape(-1))


@pytest.mark.parametrize("shape", [(1, 10), (10, 10), (64, 64), (3, 40), (40, 3)])
def test_matrices(toy, shape):
    matrix = toy.rng.integers(-128, 129, shape)
    a = toy.random(shape[1])
    x = toy.load(a) + 1
    check(toy, matrix @ x, matrix @ (a + 1))
    check(toy, x @ matrix.T, matrix @ (a + 1))
    check(toy, matrix[0] @ x, matrix[0] @ (a + 1))


def test_any_depth(toy):
    a = toy.random(128)
    x, expected = toy.load(a), a
    before = toy.server.bootstraps
    for _ in range(25):
        x, expected = 3 * x * (1 - x), 3 * expected * (1 - expected) % toy.t
    check(toy, x, expected)
    assert toy.server.bootstraps > before
    fresh = x.refresh()
    check(toy, fresh, expected)
    assert fresh.capacity_bits >= x.capacity_bits


def test_comparisons(toy):
    a = np.arange(-50, 50)
    x = toy.load(a, bounds=(-50, 49))
    assert x.comparison_range == 128 and x.signed
    check(toy, x.is_negative(), a < 0)
    check(toy, x.sign(), np.sign(a))
    b = np.roll(a, 7)
    check(toy, x.less_than(toy.load(b, bounds=(-50, 49))), a < b)
    check(toy, x.less_than(7), a < 7)
    check(toy, x.between(-3, 12), (a >= -3) & (a <= 12))
    check(toy, x.equals(7), a == 7)
    check(toy, x.equals(7).sum(), 1)
    assert toy.client.decrypt(x.sign()[0]) == -1


def test_digits():
    # 64 slots modulo 127^2: fixed-point numbers with a digit to drop.
    params = everlevel.Params("insecure_bfv-127e2-n8", insecure_research=True)
    client = everlevel.Client(params)
    server = client.server()
    a = np.arange(params.slots) * 121 - 3600
    x = server.load(client.encrypt_modular(a, bounds=(-4000, 4100)))
    p = params.plain_prime
    rounded = x.truncate(1)
    assert rounded.modulus == p
    np.testing.assert_array_equal(client.decrypt(rounded), np.floor_divide(2 * a + p, 2 * p))
    b = np.arange(params.slots) * 241
    floored = server.load(client.encrypt_modular(b, bounds=(0, params.plain_modulus - 1))).truncate(
        1, rounding="floor"
    )
    np.testing.assert_array_equal(client.decrypt(floored), b // p)
    cleared = client.decrypt(x.clear_lowest_digit())
    np.testing.assert_array_equal(cleared, np.floor_divide(2 * a + p, 2 * p) * p)
    with pytest.raises(everlevel.ParameterError, match="prime"):
        x.equals(3)
    with pytest.raises(everlevel.RangeError):
        x.truncate(1, rounding="up")


def test_programs(toy):
    a, b = toy.random(50), toy.random(50)
    x, y = toy.client.encrypt_modular(a), toy.client.encrypt_modular(b)
    seen = []
    found = toy.server.run(
        "_s = x*y + 2; z = _s^3; w = -x",
        x=x,
        y=y,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert sorted(found) == ["w", "z"] and seen == [(1, 3), (2, 3), (3, 3)]
    check(toy, found["z"], (a * b + 2) ** 3 % toy.t)
    check(toy, found["w"], -a)
    with pytest.raises(everlevel.ProgramError) as caught:
        toy.server.run("z = x +", x=x)
    assert caught.value.code == "expression.syntax" and caught.value.column >= 6
    with pytest.raises(everlevel.ProgramError):
        toy.server.run("z = x + q", x=x)
    # One of the two would not be computed with.
    for operation in (toy.server.run, toy.server.explain):
        with pytest.raises(everlevel.ProgramError) as caught:
            operation("z = x + 1", {"x": x}, x=y)
        assert caught.value.code == "python.arguments"
    check(toy, toy.server.run("z = x - y", {"x": x}, y=y)["z"], a - b)


def test_explanations(toy):
    told = toy.server.explain("y = 3*x*(1-x)", x=toy.client.encrypt_modular([1, 2]))
    text = str(told)
    assert "3" in text and told.failure_log2 < -60 and len(told.steps) >= 4
    levels = [step["level"] for step in told.steps]
    assert levels == sorted(levels, reverse=True)


def test_what_arrays_say(toy):
    x = toy.load(np.arange(3), signed=True)
    text = repr(x)
    for part in ("(3,)", "257", "insecure_bgv-257-n8", "level", "noise bound 2^", "capacity"):
        assert part in text
    assert "no server" in repr(toy.client.encrypt_modular([1]))
    assert x.capacity_bits > 0 and x.level > 0 and x.multiplications_left >= 1
    y = x * x
    assert y.depth > x.depth and y.capacity_bits < x.capacity_bits
    assert "squarings" in x.explain()
    with pytest.raises(TypeError):
        EncryptedArray()
    assert toy.client.decrypt(x[1]) == 1


def test_threads_do_not_change_results(fermat):
    a = fermat.random(2048)
    x = fermat.client.encrypt_modular(a)
    prints = []
    try:
        for count in (1, 2):
            everlevel.set_num_threads(count)
            assert everlevel.get_num_threads() == count
            y = fermat.server.load(x).refresh()
            prints.append((y * y).fingerprint)
    finally:
        everlevel.set_num_threads(0)
    assert prints[0] == prints[1]


def test_numpy_means_what_it_says(toy):
    a, b = toy.random(4, 5), toy.random(4, 5)
    x, y = toy.load(a), toy.load(b)
    for found, expected in [
        (x == a, a == a),
        (x == 3, a == 3),
        (np.equal(b, x), a == b),
        (x != y, a != b),
        (x.T, a.T),
        (np.sum(x), a.sum()),
        (np.where(a > 90, x, y), np.where(a > 90, a, b)),
        (np.where(a > 90, 7, x), np.where(a > 90, 7, a)),
        (x + np.broadcast_to(y[0], (4, 5)), a + b[0]),
        (np.int64(3) * x, 3 * a),
        (np.subtract(b, x), b - a),
        (np.square(x), a * a),
    ]:
        check(toy, found, expected)
    assert x.dtype == toy.client.decrypt(x).dtype and np.shape(x) == (4, 5)


@pytest.mark.parametrize(
    "refused, way",
    [
        (lambda x: bool(x), "np.where"),
        (lambda x: x < 3, "less_than"),
        (lambda x: np.less(3, x), "less_than"),
        (lambda x: sorted([x, x]), "less_than"),
        (lambda x: x // 2, "dtype"),
        (lambda x: x & 1, "dtype"),
        (lambda x: 1 << x, "dtype"),
        (lambda x: ~x, "dtype"),
        (lambda x: abs(x), "dtype"),
        (lambda x: x.__setitem__(0, 1), "np.where"),
        (lambda x: {x: 1}, "hash"),
        (lambda x: float(x), "decrypt"),
        (lambda x: np.asarray(x), "decrypt"),
        (lambda x: 3 in x, "=="),
        (lambda x: x.mean(), "x.sum()"),
        (lambda x: np.mean(x), "x.sum()"),
        (lambda x: x.max(), "dtype"),
        (lambda x: np.concatenate([x, x]), "encrypt the arrays as one"),
        (lambda x: np.stack([x, x]), "encrypt the arrays as one"),
        (lambda x: np.where(x, 1, 2), "c * (a - b) + b"),
        (lambda x: np.sort(x), "dtype"),
    ],
)
def test_what_residues_cannot_do_names_the_way(toy, refused, way):
    x = toy.load([[1, 2], [3, 4]])
    with pytest.raises(TypeError) as caught:
        refused(x)
    assert caught.value.code == "python.not-homomorphic" and way in str(caught.value)
    with pytest.raises(everlevel.ShapeError, match="np.broadcast_to"):
        x + toy.load([1, 2])
