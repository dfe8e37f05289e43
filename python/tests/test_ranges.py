"""Ranges of arrays modulo p^r: stated at encryption, carried along, and what they do not allow is
refused.
"""

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray

A = np.arange(100) % 6 - 3
B = np.arange(100) ** 2 % 5 + 1


def refused(operation):
    with pytest.raises(everlevel.Error) as caught:
        operation()
    return caught.value.code


def stated(toy, values, low, high):
    return toy.load(values, bounds=(low, high))


def test_ranges_follow_what_is_computed(toy):
    x, y = stated(toy, A, -3, 2), stated(toy, B, 1, 5)
    # Slots without an entry hold 0.
    assert (x.range, y.range) == ((-3, 2), (0, 5)) and x.signed and not y.signed
    square = A[:16].reshape(4, 4)
    z = stated(toy, square, -3, 2)
    matrix = np.array([[1, -2, 0, 3], [0, 0, 0, 0]])
    cases = [
        (x + y, A + B, (-3, 7)),
        (x - y, A - B, (-8, 2)),
        (x * y, A * B, (-15, 10)),
        (x * x, A * A, (0, 9)),
        (x**3, A**3, (-27, 8)),
        (-x, -A, (-2, 3)),
        (7 - x, 7 - A, (5, 10)),
        (40 * x, 40 * A, (-120, 80)),
        (x + np.full(100, 9), A + 9, (-3, 11)),
        (x * np.full(100, 9), A * 9, (-27, 18)),
        (x[5], A[5], (-3, 2)),
        (x[10:20], A[10:20], (-3, 2)),
        (x[::-1], A[::-1], (-3, 2)),
        (x.rotate(7), np.roll(A, -7), (-3, 2)),
        (x[:20].sum(), A[:20].sum(), (-60, 40)),
        (z.sum(axis=0), square.sum(axis=0), (-12, 8)),
        (z.sum(axis=1), square.sum(axis=1), (-12, 8)),
        (z.T, square.T, (-3, 2)),
        (matrix @ x[:4], matrix @ A[:4], (-16, 14)),
        (x.refresh(), A, (-3, 2)),
        (x.equals(-3), A == -3, (0, 1)),
        (x == y, A == B, (0, 1)),
        (x != y, A != B, (0, 1)),
        (x.is_negative(), A < 0, (0, 1)),
        (x.less_than(y), A < B, (0, 1)),
        (x.between(-1, y), (A >= -1) & (A <= B), (0, 1)),
        (x.sign(), np.sign(A), (-1, 1)),
        (np.where(np.arange(100) < 50, x, y), np.where(np.arange(100) < 50, A, B), (-3, 7)),
    ]
    for number, (value, expected, found) in enumerate(cases):
        assert value.range == found, number
        np.testing.assert_array_equal(toy.client.decrypt(value), expected, err_msg=str(number))
        np.testing.assert_array_equal(
            toy.client.decrypt(value.compact()), expected, err_msg=str(number)
        )


def test_unknown_ranges_stay_unknown(toy):
    x, y = toy.load(B), stated(toy, B, 1, 5)
    for value in (x, x + y, x * y, x[3], x.sum(), toy.server.run("z = x + y", x=x, y=y)["z"]):
        assert value.range is None
    assert toy.server.run("z = x * y - 1", x=y, y=y)["z"].range == (-1, 24)
    assert x.equals(3).range == (0, 1), "of residues, whatever they stand for"
    assert y.within(-128, 128).range == (-128, 128)


def test_comparisons_without_a_range_are_refused(toy):
    """[5, 100, 200, 250] < 150 modulo 257 was a wrong row."""
    x = toy.load(np.array([5, 100, 200, 250]))
    for operation in (
        x.is_negative,
        x.sign,
        lambda: x.less_than(150),
        lambda: x.between(3, 9),
        lambda: x.less_than(x),
    ):
        assert refused(operation) == "circuit.range"
    wide = stated(toy, [5, 100, 200, 250], 0, 255)
    assert refused(lambda: wide.less_than(150)) == "circuit.range"
    assert refused(lambda: (wide + wide).equals(9)) == "circuit.range", "9 and 266 have one residue"
    narrow = stated(toy, [5, 100, 120, 127], 0, 127)
    np.testing.assert_array_equal(toy.client.decrypt(narrow.less_than(100)), [1, 0, 0, 0])
    # At both ends.
    edge = stated(toy, [-128, 127], -128, 127)
    np.testing.assert_array_equal(toy.client.decrypt(edge.is_negative()), [1, 0])
    assert refused(edge.sign) == "circuit.range", "-128 has no sign"
    assert refused((edge + 1).is_negative) == "circuit.range"


def test_what_may_have_wrapped_is_not_decrypted(toy):
    x = stated(toy, [100, 120], 0, 127)
    product = x * x
    assert refused(lambda: toy.client.decrypt(product)) == "circuit.range"
    assert refused(lambda: toy.client.decrypt(product.compact())) == "circuit.range"
    assert refused(lambda: toy.client.decrypt_for_sharing(product)) == "circuit.range"
    for found in (
        toy.client.decrypt(product, wrapping=True),
        toy.client.decrypt(product.compact(), wrapping=True),
        toy.client.decrypt_for_sharing(product, wrapping=True),
    ):
        np.testing.assert_array_equal(found, [10000 % 257, 14400 % 257])
    # A sign that the range does not have.
    signed = stated(toy, [-3, 5], -3, 5)
    assert refused(lambda: toy.client.decrypt(signed, signed=False)) == "circuit.range"
    assert refused(lambda: toy.client.decrypt(2 * x, signed=True)) == "circuit.range"
    np.testing.assert_array_equal(toy.client.decrypt(signed, signed=True), [-3, 5])
    np.testing.assert_array_equal(toy.client.decrypt(signed, signed=False, wrapping=True), [254, 5])
    # A claim that is false shows where a residue does not fit.
    assert refused(lambda: toy.client.decrypt(x.within(0, 110))) == "scheme.not-decryptable"


def test_bounds_are_kept_at_encryption(toy):
    encrypt = toy.client.encrypt_modular
    for how in ({"reduce": True}, {"elements": True}):
        assert refused(lambda: encrypt([1, 2], bounds=(0, 5), **how)).startswith("python.")
    for bounds in ((5, 0), (0, 257), (-200, 200)):
        assert refused(lambda: encrypt([1, 2], bounds=bounds)) == "python.value-bounds"
    for values in ([-4, 0], [0, 3]):
        assert refused(lambda: encrypt(values, bounds=(-3, 2))) == "python.value-range"
    public = toy.client.public_key().encrypt_modular([1, 2], bounds=(1, 5))
    assert public.range == (0, 5)
    full = toy.client.encrypt_modular(np.full(128, 7), bounds=(7, 9))
    assert full.range == (7, 9)
    assert toy.server.load(full).sum().range == (128 * 7, 128 * 9)


def test_ranges_travel_with_arrays(toy):
    x = stated(toy, np.arange(300) % 50, 0, 60)
    data = x.to_bytes()
    again = EncryptedArray.from_bytes(data, params=toy.params, bounds="stated", server=toy.server)
    assert again.range == (0, 60)
    np.testing.assert_array_equal(toy.client.decrypt(again.less_than(25)), np.arange(300) % 50 < 25)
    assert toy.server.load(EncryptedArray.from_bytes(data, params=toy.params)).range == (0, 60)
    other = everlevel.Client(toy.params)
    assert toy.client.key_change(other).apply(x).range == (0, 60)


def test_truncation_needs_a_range():
    params = everlevel.Params("insecure_bfv-127e2-n8", insecure_research=True)
    client = everlevel.Client(params)
    server = client.server()
    t = params.plain_modulus
    values = np.array([-1000, -64, -63, 0, 63, 64, 5000])
    x = server.load(client.encrypt_modular(values, signed=True))
    assert (
        refused(lambda: x.truncate(1))
        == refused(lambda: x.truncate(1, rounding="floor"))
        == "circuit.range"
    )
    assert refused(lambda: (2 * x.within(-t // 2, t // 2)).truncate(1)) == "circuit.range"
    y = x.within(-1000, 5000)
    assert y.truncate(1).range == (-8, 39) and y.truncate(1, rounding="floor").range == (-8, 39)
    np.testing.assert_array_equal(client.decrypt(y.truncate(1)), (values + 63) // 127)
    np.testing.assert_array_equal(client.decrypt(y.truncate(1, rounding="floor")), values // 127)
    cleared = y.clear_lowest_digit()
    assert cleared.range == (-1063, 5063)
    np.testing.assert_array_equal(client.decrypt(cleared), (values + 63) // 127 * 127)
