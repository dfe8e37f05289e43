"""Operators and functions of NumPy's integer arrays on encrypted ones: in place, reversed, with the
options that NumPy has, or refused with a way.
"""

import operator

import numpy as np
import pytest

import everlevel


class Arrays:
    """NumPy's arrays and the encrypted ones of a party."""

    def __init__(self, party):
        self.client, self.server, self.params = party.client, party.server, party.params

    def load(self, values, **how):
        return self.server.load(self.client.encrypt(values, **how))

    def check(self, x, expected):
        found = self.client.decrypt(x)
        np.testing.assert_array_equal(found, expected)
        return found

    def totals(self, found):
        return [self.client.decrypt(total) for total in found]


@pytest.fixture(scope="module")
def arrays(fermat):
    return Arrays(fermat)


A = np.array([3, 250, 17, 0, 96, 255])
B = np.array([1, 7, 3, 4, 5, 2])


def test_operators_in_place_make_new_arrays(arrays):
    x = arrays.load(A, dtype=np.uint8)
    for name in ("iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "irshift"):
        function = getattr(operator, name)
        arrays.check(function(x, 3), function(A.copy(), 3))
    arrays.check(operator.ilshift(x, 2), A << 2)
    arrays.check(operator.ipow(x, 2), A**2)
    arrays.check(x, A)
    y = x
    y += 1
    arrays.check(y, A + 1)
    arrays.check(x, A)
    with pytest.raises(everlevel.NotHomomorphicError, match=r"np\.where"):
        x[0] = 3
    with pytest.raises(everlevel.NotHomomorphicError, match="new arrays"):
        A.copy().__iadd__(x)


def test_public_entries_with_public_arrays(arrays):
    """What is computed can be known from its range alone, and was refused beside an array."""
    x = arrays.load(A, dtype=np.uint8)
    zeros = x // 1000
    assert zeros.key_id is None and zeros.interval == (0, 0)
    for found, expected in [
        (zeros + B, B),
        (B - zeros, B),
        (zeros == np.array([0, 1, 0, 0, 2, 0]), np.array([0, 1, 0, 0, 2, 0]) == 0),
        (np.where(zeros == 0, B, A), B),
        (zeros + B + x, A + B),
        ((zeros + B) * x, A * B),
    ]:
        arrays.check(found, expected)

    @everlevel.program
    def added(x: everlevel.uint8):
        return x // 1000 + B + x

    assert added(A.astype(np.uint8)).tolist() == (A + B).tolist()
    plan = added.plan(len(A), params=arrays.params)
    server = plan.server(arrays.client)
    found = plan.run(server, plan.encrypt(arrays.client, x=A))
    arrays.check(found, A + B)


def test_operators_whose_left_operand_is_public(arrays):
    x, y = arrays.load(A, dtype=np.uint8), arrays.load(B, bounds=(1, 7))
    for found, expected in [
        (1000 >> y, 1000 >> B),
        (12 & x, 12 & A),
        (12 | x, 12 | A),
        (12 ^ x, 12 ^ A),
        (B.tolist() + x, B + A),
        (B - x, B - A),
        (np.int64(100) < x, A > 100),
        (np.array(7) * y, 7 * B),
        (B % y, B % B),
    ]:
        arrays.check(found, expected)


def test_quotient_and_remainder_together(arrays):
    x, y = arrays.load(A, dtype=np.uint8), arrays.load(B, bounds=(1, 7))
    for found, expected in [
        (divmod(x, y), divmod(A, B)),
        (np.divmod(x, y), np.divmod(A, B)),
        (divmod(1000, y), divmod(1000, B)),
        (divmod(A, y), divmod(A, B)),
        (divmod(x, 7), divmod(A, 7)),
        (divmod(x, B), divmod(A, B)),
    ]:
        for one, other in zip(found, expected):
            arrays.check(one, other)
    quotient, rest = divmod(x.wrapping(), y)
    assert quotient.dtype == rest.dtype == np.uint8
    arrays.check(quotient, A // B)
    arrays.check(rest, A % B)

    @everlevel.program
    def together(x: everlevel.uint8, y: everlevel.ranged(1, 7)):
        quotient, rest = divmod(x, y)
        return quotient + rest

    @everlevel.program
    def apart(x: everlevel.uint8, y: everlevel.ranged(1, 7)):
        return x // y + x % y

    products = [f.plan(rows=6, params=arrays.params).products for f in (together, apart)]
    assert products[0] < products[1]
    np.testing.assert_array_equal(together(A, B), A // B + A % B)


def test_counts_with_weights(arrays):
    a, w = np.array([3, 0, 2, 3, 1, 0]), np.array([5, -1, 2, 7, 0, 4])
    x = arrays.load(a, bounds=(0, 3))
    assert arrays.totals(np.bincount(x, weights=w)) == [3, 0, 2, 12]
    assert arrays.totals(np.bincount(x, w, 6)) == [3, 0, 2, 12, 0, 0]
    # More values than are taken at the same time.
    x = arrays.load(a * 6, bounds=(0, 20))
    assert arrays.totals(np.bincount(x, w)) == np.bincount(a * 6, w, 21).tolist()
    for refused, code in [
        (lambda: np.bincount(x, weights=w[:3]), "python.shape"),
        (lambda: np.bincount(x, weights=w / 2), "integers.value"),
        (lambda: np.bincount(x, weights=x), "python.not-homomorphic"),
        (lambda: np.bincount(a, weights=x), "python.not-homomorphic"),
        (lambda: np.bincount(arrays.load(a, bounds=(0, 256)), weights=w), "integers.table"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code
    # What the refusal says.
    assert arrays.client.decrypt((a == 3) @ x) == (a * 6)[a == 3].sum()


def test_quantiles_that_are_entries(arrays):
    a = np.array([-4, 9, 3, 7, 0, 5])
    x = arrays.load(a, bounds=(-9, 9))
    for method, q in [
        ("lower", 0.5),
        ("higher", 0.5),
        ("nearest", 0.25),
        ("nearest", 0.5),
        ("inverted_cdf", 0.5),
        ("inverted_cdf", 0),
    ]:
        arrays.check(np.quantile(x, q, method=method), np.quantile(a, q, method=method))
    arrays.check(
        np.percentile(x, 60, method="inverted_cdf"), np.percentile(a, 60, method="inverted_cdf")
    )
    b = np.array([[1, 9], [5, 2], [3, 3]])
    rows = arrays.load(b, bounds=(0, 9), rows=True)
    arrays.check(
        np.quantile(rows, 0.4, axis=0, method="nearest"),
        np.quantile(b, 0.4, axis=0, method="nearest"),
    )
    with pytest.raises(everlevel.NotHomomorphicError, match="nearest"):
        np.quantile(x, 0.5, method="midpoint")


def test_edges_that_descend(arrays):
    x = arrays.load(A, dtype=np.uint8)
    for edges in ([250, 96, 3], [3, 96, 250], [7]):
        for right in (False, True):
            arrays.check(np.digitize(x, edges, right=right), np.digitize(A, edges, right=right))
    arrays.check(np.searchsorted([3, 96], x, side="right"), np.searchsorted([3, 96], A, "right"))
    with pytest.raises(everlevel.ShapeError):
        np.digitize(x, [3, 250, 96])


def test_logic_along_rows(arrays):
    a = np.array([[3, 0, 5], [0, 2, 7], [1, 1, 0]])
    x = arrays.load(a, bounds=(0, 7), rows=True)
    arrays.check(np.logical_xor.reduce(x), np.logical_xor.reduce(a))
    for function in (np.logical_and, np.logical_or, np.logical_xor):
        arrays.check(function.accumulate(x), function.accumulate(a))
    for function in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        arrays.check(function.accumulate(x), function.accumulate(a))
    if hasattr(np, "unstack"):
        for found, expected in zip(np.unstack(x), np.unstack(a), strict=True):
            arrays.check(found, expected)


def test_scalar_products_of_two_encrypted_vectors(arrays):
    x, y = arrays.load(A, dtype=np.uint8), arrays.load(B, bounds=(1, 7))
    assert arrays.client.decrypt(x.dot(y)) == arrays.client.decrypt(np.dot(x, y)) == A @ B
    assert arrays.client.decrypt(x @ x) == arrays.client.decrypt(np.vdot(x, x)) == A @ A
    signed = arrays.load(A - 128, dtype=np.int8)
    assert arrays.client.decrypt(np.inner(signed, x)) == (A - 128) @ A
    assert arrays.client.decrypt((x > 16) @ signed) == (A - 128)[A > 16].sum()
    # Those of wrapping vectors are exact, whether the other one is encrypted or not.
    narrow = arrays.load(A, dtype=np.uint8).wrapping()
    for other in (narrow, x, A):
        assert arrays.client.decrypt(narrow @ other) == A @ A
    assert arrays.client.decrypt((narrow * narrow).sum()) == (A * A % 256).sum()
    assert arrays.client.decrypt(np.dot(x, y, out=None)) == A @ B
    # As it is stored and read again.
    stored = (x @ y).to_bytes()
    again = everlevel.EncryptedTotal.from_bytes(stored, params=arrays.client.params)
    assert arrays.client.decrypt(again) == A @ B


REFUSED = {
    "nan_to_num": (lambda x: np.nan_to_num(x), "finite"),
    "nansum": (lambda x: np.nansum(x), "np.sum"),
    "unpackbits": (lambda x: np.unpackbits(x), ">> k"),
    "unravel_index": (lambda x: np.unravel_index(x, (16, 16)), "x // n"),
    "copysign": (lambda x: np.copysign(x, x), "np.where"),
    "polyval": (lambda x: np.polyval([1, 2, 3], x), "x + b"),
    "log10": (lambda x: np.log10(x), "Table"),
    "block": (lambda x: np.block([x, x]), "np.stack"),
    "apply_along_axis": (lambda x: np.apply_along_axis(np.sum, 0, x), "rows"),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, x), "np.broadcast_to"),
    "tobytes": (lambda x: x.tobytes(), "to_bytes"),
    "not x": (lambda x: not x, "np.where"),
    "x and y": (lambda x: x and x, "& and |"),
    "assert x == 3": (lambda x: bool(x == 3), "decrypt"),
    "chain": (lambda x: 3 <= x <= 9, "np.where"),
    "range(x)": (lambda x: range(x), "Table"),
    "round": (lambda x: round(x), "decrypt"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_the_way(arrays, name):
    refused, way = REFUSED[name]
    x = arrays.load(A, dtype=np.uint8)
    with pytest.raises(TypeError) as caught:
        refused(x)
    assert isinstance(caught.value, everlevel.NotHomomorphicError), caught.value
    assert way in str(caught.value), caught.value
