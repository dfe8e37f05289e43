"""Options and axes of reductions: those of NumPy's methods and functions, or refused with a way."""

import inspect

import numpy as np
import pytest

import everlevel

A = np.array([[4, 7, 1], [9, 2, 2]])

#: Reductions with their arguments after the axis, as methods and functions have them.
REDUCTIONS = ["sum", "max", "min", "argmax", "argmin", "any", "all"]


class Arrays:
    def __init__(self, party):
        self.client, self.server = party.client, party.server
        self.flat = self.load(A)
        self.rows = self.load(A, rows=True)
        self.vector = self.load(A[0])

    def load(self, values, **how):
        return self.server.load(self.client.encrypt(values, bounds=(0, 9), **how))

    def check(self, x, expected):
        assert x.shape == np.shape(expected)
        np.testing.assert_array_equal(self.client.decrypt(x), expected)


@pytest.fixture(scope="module")
def arrays(fermat):
    return Arrays(fermat)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_an_axis_is_kept(arrays, name):
    for x, axis in ((arrays.flat, -1), (arrays.rows, 0)):
        expected = getattr(np, name)(A, axis=axis, keepdims=True)
        arrays.check(getattr(x, name)(axis=axis, keepdims=True), expected)
        arrays.check(getattr(np, name)(x, axis=axis, keepdims=True), expected)
    if name != "sum":
        expected = getattr(np, name)(A[0], keepdims=True)
        arrays.check(getattr(arrays.vector, name)(keepdims=True), expected)


def test_an_axis_of_other_functions_is_kept(arrays):
    x = arrays.rows
    for found, expected in [
        (np.ptp(x, axis=0, keepdims=True), np.ptp(A, axis=0, keepdims=True)),
        (np.prod(x, axis=0, keepdims=True), np.prod(A, axis=0, keepdims=True)),
        (np.add.reduce(x, keepdims=True), np.add.reduce(A, keepdims=True)),
        (np.maximum.reduce(x, keepdims=True), np.maximum.reduce(A, keepdims=True)),
        (np.bitwise_or.reduce(x, keepdims=True), np.bitwise_or.reduce(A, keepdims=True)),
        (np.count_nonzero(x, axis=0, keepdims=True), np.full((1, 3), 2)),
        (np.median(arrays.flat, axis=-1, keepdims=True), np.median(A, axis=-1, keepdims=True)),
        (
            np.quantile(arrays.flat, 0.5, axis=-1, method="lower", keepdims=True),
            np.quantile(A, 0.5, axis=-1, method="lower", keepdims=True),
        ),
    ]:
        arrays.check(found, expected)
    # Rows are repeated along an axis of one entry.
    arrays.check(x - x.min(axis=0, keepdims=True), A - A.min(axis=0, keepdims=True))


@pytest.mark.parametrize("name", [*REDUCTIONS, "mean", "ptp", "cumsum"])
def test_methods_have_the_parameters_of_functions(name):
    """By name and place, for editors and type checkers."""
    own, numpys = (
        list(inspect.signature(getattr(where, name)).parameters.values())[1:]
        for where in (everlevel.EncryptedIntegers, np)
    )
    assert [(x.name, x.kind) for x in own] == [(x.name, x.kind) for x in numpys]


def test_options_as_numpy_has_them_without(arrays):
    x, flat, vector = arrays.rows, arrays.flat, arrays.vector
    for found, expected in [
        (x.sum(0, None, None, False, 0, True), A.sum(axis=0)),
        (np.sum(x, axis=0, dtype=None, out=None, keepdims=False, where=True), A.sum(axis=0)),
        (x.max(0, None, False), A.max(axis=0)),
        (x.max(0, keepdims=0), A.max(axis=0)),
        (np.min(x, 0, where=np.True_), A.min(axis=0)),
        (vector.any(None, None, False, where=True), True),
        (vector.argmax(None, None), 1),
        (vector.cumsum(None, None, None), A[0].cumsum()),
        (np.cumsum(vector, dtype=None), A[0].cumsum()),
        (vector.argsort(-1, "stable", None), A[0].argsort()),
        (np.argsort(vector, kind="stable"), A[0].argsort()),
        (np.sort(vector, order=None), np.sort(A[0])),
        (np.add.accumulate(x, dtype=None), A.cumsum(axis=0)),
        (np.logical_and.reduce(x, initial=np._NoValue), A.all(axis=0)),
        (vector.clip(2, 5, out=None), A[0].clip(2, 5)),
        (np.clip(vector, 2, 5, None), A[0].clip(2, 5)),
        (flat.reshape(3, 2, order="C"), A.reshape(3, 2)),
        (np.reshape(flat, (3, 2), "A"), A.reshape(3, 2)),
        (flat.ravel("C"), A.ravel()),
        (flat.flatten(order="K"), A.flatten()),
        (flat.copy("F"), A),
        (flat.astype(np.int16, casting="unsafe", order="K", subok=True), A),
    ]:
        arrays.check(found, expected)
    assert arrays.client.decrypt(vector.sum(dtype=None, keepdims=False)) == A[0].sum()
    assert arrays.client.decrypt(vector.dot([1, 2, 3], out=None)) == A[0] @ [1, 2, 3]


@pytest.mark.parametrize(
    "option, value, way",
    [
        ("dtype", np.int64, "astype"),
        ("out", np.zeros(3), "new arrays"),
        ("where", A > 2, "np.where"),
        ("initial", 5, "operation of its own"),
    ],
)
def test_a_method_refuses_as_its_function(arrays, option, value, way):
    """A method had Python's own error: an unexpected keyword argument."""
    asked = [(arrays.rows.sum, lambda **o: np.sum(arrays.rows, **o))]
    if option != "dtype":
        asked.append((arrays.rows.max, lambda **o: np.max(arrays.rows, **o)))
    for method, function in asked:
        said = []
        for call in (method, function):
            with pytest.raises(everlevel.NotHomomorphicError) as caught:
                call(axis=0, **{option: value})
            assert option in str(caught.value) and way in str(caught.value)
            said.append(str(caught.value))
        assert said[0] == said[1]


def test_what_has_no_such_option(arrays):
    x = arrays.vector
    for refused, told in [
        (lambda: x.sum(keepdims=True), "decrypt"),
        (lambda: np.sum(x, keepdims=True), "decrypt"),
        (lambda: x.mean(keepdims=True), "decrypt"),
        (lambda: np.count_nonzero(x, keepdims=True), "decrypt"),
        (lambda: x.std(ddof=1), "x * x"),
        (lambda: np.std(x, ddof=1), "x * x"),
        (lambda: arrays.flat.ravel("F"), "row-major"),
        (lambda: np.reshape(arrays.flat, (3, 2), order="F"), "row-major"),
        (lambda: np.argsort(x, order="a"), "fields"),
        (lambda: x.astype(np.int8, casting="safe"), "interval"),
        (lambda: x.clip(0, 5, dtype=np.int8), "astype"),
        (lambda: x.clip(0, 5, keepdims=True), "keepdims"),
        (lambda: np.bitwise_or.reduce(x, axis=None), "axis=0"),
        (lambda: np.sum([1, 2], out=x), ""),
        (lambda: np.add.reduce([1, 2], where=x), ""),
    ]:
        with pytest.raises(TypeError) as caught:
            refused()
        assert told in str(caught.value)
    for unknown in (
        lambda: x.sum(color=3),
        lambda: x.max(0, dtype=None),
        lambda: x.sum(0, None, dtype=None),
        lambda: x.argmax(0, None, True),
        lambda: np.sum(x, color=3),
    ):
        with pytest.raises(TypeError, match="argument"):
            unknown()


def test_options_modulo_p(toy):
    x = toy.load(A)
    np.testing.assert_array_equal(toy.client.decrypt(x.sum((0,), None, None, False)), A.sum(0))
    np.testing.assert_array_equal(toy.client.decrypt(x.reshape(3, 2, order="C")), A.reshape(3, 2))
    for refused in (lambda: x.sum(0, keepdims=True), lambda: np.sum(x, axis=0, keepdims=True)):
        with pytest.raises(everlevel.NotHomomorphicError, match="reshape"):
            refused()


def test_a_tuple_of_one_axis_is_that_axis(arrays):
    x, flat = arrays.rows, arrays.flat
    for found, expected in [
        (x.sum(axis=(0,)), A.sum(axis=0)),
        (flat.sum(axis=(1,)), A.sum(axis=1)),
        (flat.max(axis=(-1,)), A.max(axis=1)),
        (np.min(x, axis=(-2,), keepdims=True), A.min(axis=0, keepdims=True)),
        (x.any(axis=(0,)), A.any(axis=0)),
        (flat.all(axis=(-1,)), A.all(axis=1)),
        (np.prod(x, axis=(0,)), A.prod(axis=0)),
        (np.ptp(x, axis=(0,)), np.ptp(A, axis=0)),
        (np.count_nonzero(flat, axis=(1,)), np.count_nonzero(A, axis=1)),
        (np.median(flat, axis=(1,)), np.median(A, axis=1)),
        (np.maximum.reduce(x, axis=(0,)), A.max(axis=0)),
        (arrays.vector.max(axis=(0,)), A[0].max()),
    ]:
        arrays.check(found, expected)
    assert arrays.client.decrypt(arrays.vector.sum(axis=(-1,))) == A[0].sum()
    for refused, code in [
        (lambda: x.sum(axis=(0, 0)), "python.shape"),
        (lambda: x.sum(axis=(0, -2)), "python.shape"),
        (lambda: x.max(axis=(2,)), "python.shape"),
        (lambda: x.sum(axis=(True,)), "python.shape"),
        (lambda: x.max(axis=(0, 1)), "python.not-homomorphic"),
        # Which take no tuples in NumPy, either.
        (lambda: x.argmax(axis=(0,)), "python.not-homomorphic"),
        (lambda: np.sort(x, axis=(0,)), "python.not-homomorphic"),
        (lambda: x.cumsum(axis=(0,)), "python.not-homomorphic"),
    ]:
        with pytest.raises(everlevel.Error) as caught:
            refused()
        assert caught.value.code == code, caught.value
    with pytest.raises(everlevel.Error, match="axis=0"):
        x.argmax(axis=(0,))


def test_what_is_asked_of_all_entries_has_a_way(arrays):
    """They named rows only, which the array does not have, and not the axis that works."""
    for ask in (
        lambda x: x.max(),
        lambda x: np.argmin(x),
        lambda x: np.cumsum(x),
        lambda x: np.argsort(x, axis=None),
        lambda x: np.sort(x, axis=None),
        lambda x: np.median(x[:]),
        lambda x: x.any(),
        lambda x: np.all(x),
    ):
        with pytest.raises(everlevel.Error, match="axis=-1") as caught:
            ask(arrays.load(np.arange(9).reshape(3, 3)))
        assert "ravel" in str(caught.value) and "rows=True" not in str(caught.value)
    # And these are the ways.
    arrays.check(arrays.flat.ravel().max(), A.max())
    arrays.check(arrays.flat.ravel().any(), A.any())
    arrays.check(arrays.flat.max(axis=-1), A.max(axis=-1))


def test_rows_say_how_their_entries_are_computed_with_each_other(arrays):
    for ask in (lambda x: x.max(axis=-1), lambda x: x.sum(axis=1), lambda x: np.sort(x)):
        with pytest.raises(everlevel.NotHomomorphicError) as caught:
            ask(arrays.rows)
        said = str(caught.value)
        assert "without rows=True" in said and "transposed" in said
    with pytest.raises(everlevel.NotHomomorphicError, match="^max along axis 1: entries of a row"):
        arrays.rows.max(axis=-1)


def test_places_along_an_axis_of_one_entry(arrays):
    for shape, axis in [((1, 1), -1), ((1, 1), 0), ((1, 3), 0), ((3, 1), -1), ((1, 1, 1), 1)]:
        a = np.arange(np.prod(shape)).reshape(shape)
        found = np.argsort(arrays.load(a), axis=axis)
        arrays.check(found, np.argsort(a, axis=axis))
        assert found.dtype == np.uint8
    arrays.check(arrays.load(A[:, :1], rows=True).argsort(), np.zeros((2, 1), int))
    with pytest.raises(everlevel.RangeError):
        arrays.load([[5]]).argsort(take=2)
