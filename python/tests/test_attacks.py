"""What attackers found to be answered wrongly: mended, or refused."""

import collections
import os
import sys
import threading

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray, planner
from everlevel._recorded import Written, blocks_of
from everlevel._values import integers


def refused(operation):
    with pytest.raises(everlevel.Error) as caught:
        operation()
    return caught.value.code


def typed(party, values, **how):
    return party.server.load(party.client.encrypt(np.array(values), **how))


def test_ranges_that_were_lost(toy):
    """A range past 2^100 is not one that was never known."""
    x, y = toy.load([3], bounds=(0, 9)), toy.load([3])
    power = x**40
    looped = x
    for _ in range(6):
        looped = looped * looped
    for value in (
        power,
        looped,
        power + 1,
        power * x,
        power - power,
        power[0],
        power.sum(),
        power.refresh(),
        toy.server.load(power),
    ):
        assert value.range is None
        assert refused(lambda: toy.client.decrypt(value)) == "circuit.range"
    assert toy.server.run("z = x^40", x=x)["z"]._lost
    # Of each result by what it is made of.
    several = toy.server.run("z = x^40; w = y + 1; v = z + w", x=x, y=y)
    assert refused(lambda: toy.client.decrypt(several["z"])) == "circuit.range"
    assert toy.client.decrypt(several["w"])[0] == 4
    assert toy.client.decrypt(several["v"])[0] == (pow(3, 40, toy.t) + 4) % toy.t
    again = EncryptedArray.from_bytes(
        power.to_bytes(), params=toy.params, bounds="stated", server=toy.server
    )
    for operation in (
        lambda: toy.client.decrypt(again),
        lambda: toy.client.decrypt(power.compact()),
        lambda: toy.client.decrypt_for_sharing(power),
        lambda: power.equals(9),
        power.is_negative,
        lambda: power.less_than(4),
    ):
        assert refused(operation) == "circuit.range"
    expected = pow(3, 40, toy.t)
    for found in (
        toy.client.decrypt(power, wrapping=True),
        toy.client.decrypt(power.compact(), wrapping=True),
    ):
        assert found[0] == expected
    # Residues stay residues, and a bound that is stated again counts.
    assert toy.client.decrypt(y**40)[0] == toy.client.decrypt(power + y - y)[0] == expected
    assert toy.client.decrypt(power.within(0, 256))[0] == expected


def test_products_of_one_array_in_two_ranges(toy):
    """They had the range of a square, of one of the two."""
    x = toy.load([-3, 2], signed=True)
    a, b = x.within(-3, 2), x.within(254, 259)
    for product in (a * b, b * a):
        assert product.range == (-777, 518)
        assert refused(lambda: toy.client.decrypt(product)) == "circuit.range"
    np.testing.assert_array_equal(toy.client.decrypt(a * a), [9, 4])
    assert (a * a).range == (0, 9)
    assert (a * x).range is None and (x * a).range is None


def test_public_rows_among_encrypted_ones(toy):
    a = np.array([[1, 2], [3, 1]])
    x, v = typed(toy, a, bounds=(0, 9), rows=True), typed(toy, [1, 2, 3], bounds=(0, 9), rows=True)
    for arrays in ([a, [[9, 8]]], [[[9, 8], [7, 7], [0, 0]], a]):
        given = [x if array is a else array for array in arrays]
        np.testing.assert_array_equal(
            toy.client.decrypt(np.concatenate(given)), np.concatenate(arrays)
        )
    np.testing.assert_array_equal(toy.client.decrypt(np.concatenate([v, [5]])), [1, 2, 3, 5])
    np.testing.assert_array_equal(toy.client.decrypt(np.stack([x, a + 1])), np.stack([a, a + 1]))
    for operation in (
        lambda: np.stack([v, 5]),
        lambda: np.stack([x, [9, 8]]),
        lambda: np.concatenate([x, [9, 8]]),
        lambda: np.concatenate([x, [[9, 8, 7]]]),
    ):
        with pytest.raises((everlevel.Error, ValueError)):
            operation()


def test_options_of_reductions_are_not_ignored(toy):
    a = np.array([[1, 2, 3], [4, 5, 6]])
    for x in (typed(toy, a, bounds=(0, 9), rows=True), toy.load(a)):
        for options in ({"initial": 5}, {"where": a > 2}, {"out": np.zeros(3, int)}):
            assert refused(lambda: np.add.reduce(x, **options)) == "python.not-homomorphic"
    np.testing.assert_array_equal(toy.client.decrypt(np.add.reduce(toy.load(a))), a.sum(axis=0))


def test_programs_see_entries_and_nothing_else(toy):
    run, decrypt = toy.server.run, toy.client.decrypt
    x, y = toy.load([1, 2, 3, 4, 5]), toy.load([1] * 5)
    assert refused(lambda: run("z = a + b", a=x[:3], b=y)) == "python.shape"
    for program in ("s = sum(a)", "s = sum(a + 1)", "s = rotate(a, 1)", "s = swap_rows(a)"):
        assert (
            refused(
                lambda: run(program, a=toy.server.load(toy.client.encrypt_modular([1, 2, 3]))[:2])
            )
            == "python.shape"
        )
        assert refused(lambda: run(program, a=x + 1)) == "python.shape"
        if program != "s = sum(a)":
            assert refused(lambda: run(program, a=x)) == "python.shape"
    assert refused(lambda: run("s = sum(a * b)", a=x, b=x.sum().within(0, 256))) == "python.shape"
    found = run("s = sum(a); q = sum(a * b)", a=x, b=y)
    assert (decrypt(found["s"])[0], decrypt(found["q"])[0]) == (15, 15)
    assert refused(lambda: run("z = a", a=x, b=y)) == "python.input"
    np.testing.assert_array_equal(
        decrypt(run("z = a * b", a=x[:3], b=x.sum().within(0, 256))["z"]), [15, 30, 45]
    )
    full = np.arange(128)
    np.testing.assert_array_equal(
        decrypt(run("s = sum(a)", a=toy.load(full))["s"])[:2], [full.sum() % toy.t] * 2
    )


def test_masked_entries_are_refused(toy):
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    x, m = typed(toy, [1, 2, 3], bounds=(0, 9)), toy.load([1, 2, 3])
    for operation in (
        lambda: toy.client.encrypt(masked, bounds=(0, 9)),
        lambda: toy.client.encrypt_modular(masked),
        lambda: m + masked,
        lambda: x + masked,
        lambda: toy.client.encrypt([masked, masked], bounds=(0, 9)),
        lambda: toy.client.encrypt_modular([masked, masked]),
        lambda: m @ masked,
        lambda: np.where(masked > 1, m, 7),
        lambda: np.where(masked > 1, x, 7),
    ):
        assert refused(operation) == "python.masked"
    assert refused(lambda: masked + x).startswith("python.")
    plain = np.ma.array([1, 2, 3], mask=[0, 0, 0])
    np.testing.assert_array_equal(
        toy.client.decrypt(toy.client.encrypt(plain, bounds=(0, 9))), [1, 2, 3]
    )


def test_public_conditions_are_those_of_numpy(toy):
    """None was true, and so was a text without letters."""
    values = np.array([1, 2])
    for x in (typed(toy, values, bounds=(0, 9)), toy.load(values)):
        for condition in ([None, 1], [0.0, float("nan")], np.array([0, 2**70], object), [0, 1]):
            found = toy.client.decrypt(np.where(condition, x, 7))
            np.testing.assert_array_equal(found, np.where(condition, values, 7))
        found = toy.client.decrypt(np.where(None, 7, x))
        np.testing.assert_array_equal(found, np.where(None, 7, values))
        assert refused(lambda: np.where(["", "a"], x, 7)) == "python.dtype"


def test_integers_in_either_order_of_bytes(toy):
    """Big-endian integers above 2^63 were taken for those 2^64 below."""
    values = np.array([2**64 - 1, 3], ">u8")
    for operation in (
        lambda: toy.client.encrypt_modular(values, signed=True),
        lambda: toy.client.encrypt_modular(values, reduce=True),
        lambda: toy.load([1, 2]) + values,
    ):
        assert refused(operation) == "python.value-range"
    for dtype in (">u8", ">i8", ">i2", "<u4"):
        x = toy.client.encrypt_modular(np.array([5, 250], dtype))
        np.testing.assert_array_equal(toy.client.decrypt(x), [5, 250])
    # Of typed integers int64 was told by its order of bytes.
    for dtype in ("<i8", ">i8"):
        assert refused(lambda: toy.client.encrypt(np.array([5, 7], dtype))) == "integers.width"
    for dtype in ("<i2", ">i2"):
        x = toy.client.encrypt(np.array([5, -7], dtype))
        assert x.dtype == np.int16 and toy.client.decrypt(x).tolist() == [5, -7]


def test_negative_integers_in_arrays_of_objects(toy):
    """Of which data frames have nullable integers: no type of 64 bits had all of them."""
    values = np.array([-1, np.int8(5), True, -128], object)
    x = toy.client.encrypt_modular(values, signed=True)
    np.testing.assert_array_equal(toy.client.decrypt(x), values.astype(int))
    found = toy.client.decrypt(toy.load([1, 2, 3, 4]) + values)
    np.testing.assert_array_equal(found, (np.arange(1, 5) + values.astype(int)) % toy.t)
    for least, most in ((-1, 2**63), (-(2**63) - 1, 0), (0, 2**64)):
        values = np.array([least, most], object)
        assert refused(lambda: toy.client.encrypt_modular(values, reduce=True)) == (
            "python.value-range"
        )


def test_lists_of_integers_of_both_halves_of_words(toy):
    """NumPy makes floating-point numbers of them, and they were refused as such."""
    values = [2**63 + 1, -1]
    x = typed(toy, [0, 1], bounds=(0, 1))
    for found in (
        toy.server.load(toy.client.encrypt(values, bounds=(-1, 2**64))),
        x + [2**63 + 1, -2],
        everlevel.Table(values)[x],
    ):
        assert toy.client.decrypt(found).tolist() == values
    assert toy.client.decrypt(np.isin(x, [1, -1, 2**63])).tolist() == [False, True]
    for wrong in ([2.0**63, -1], [2**63, -1.0], [2**63, None], [1.0], []):
        assert refused(lambda: x + wrong) == "integers.value"


def test_durations_are_no_integers(toy):
    """NumPy's are integers by their class, and of nanoseconds they were taken for such."""
    duration = np.timedelta64(5, "ns")
    x, m = typed(toy, [1, 2], bounds=(0, 9)), toy.load([1, 2])
    for operation in (
        lambda: m * duration,
        lambda: m + duration,
        lambda: x + duration,
        lambda: x**duration,
        lambda: toy.client.encrypt(np.array([duration], object), bounds=(0, 9)),
        lambda: toy.client.encrypt_modular([duration]),
    ):
        assert refused(operation) in ("python.dtype", "integers.value", "python.not-homomorphic")


def test_kinds_are_no_dtypes(toy):
    """A range was taken for the smallest type that holds it."""
    x, kind = typed(toy, [1, 200], dtype=np.uint8), everlevel.ranged(0, 100)
    encrypt = toy.client.encrypt
    for operation in (
        lambda: x.astype(kind),
        lambda: x.wrapping(kind),
        lambda: x.astype("unit8"),
        lambda: encrypt([1], dtype="unit8"),
    ):
        assert refused(operation) == "integers.value"
    assert refused(lambda: encrypt([1], dtype=kind, bounds=(0, 200))) == "integers.range"
    rows = everlevel.rows(2, np.uint8)
    found = encrypt([[1], [2]], dtype=rows, bounds=(0, 9))
    assert found.interval == (0, 9) and found[1].shape == (1,)
    assert refused(lambda: encrypt([1], dtype=rows, bounds=(0, 9))) == "python.shape"


def test_arrays_that_another_thread_changes():
    """What is encrypted, without the interpreter's lock, is what was checked."""
    values = np.arange(5)
    assert not np.shares_memory(integers(values), values)


def test_secret_keys_are_not_overwritten(toy, tmp_path):
    key = tmp_path / "secret.key"
    toy.client.save_secret_key(key)
    before = key.read_bytes()
    x = toy.load([1, 2])
    for operation in (
        lambda: x.save(key, overwrite=True),
        lambda: typed(toy, [1], bounds=(0, 3)).save(key, overwrite=True),
        lambda: toy.client.public_key().save(key, overwrite=True),
        lambda: toy.server.save_keys(key, overwrite=True),
        lambda: toy.client.save_server_keys(key, program="y = x", overwrite=True),
        lambda: everlevel.Manifest(toy.params).save(key, everlevel.ManifestKey(), overwrite=True),
    ):
        assert refused(operation) == "wire.exists"
        assert key.read_bytes() == before
    x.save(tmp_path / "x.ct")
    x.save(tmp_path / "x.ct", overwrite=True)
    assert os.path.getsize(tmp_path / "x.ct") > 0


def test_integers_are_no_bytes(toy):
    """Of 32 a key of 32 zeros was made, as ``bytes`` does."""
    key, pieces = everlevel.ManifestKey(), memoryview(toy.client.encrypt_modular([1]).to_bytes())
    for operation in (
        lambda: everlevel.ManifestKey.from_secret_bytes(32),
        lambda: everlevel.Manifest.from_bytes(64, key),
        lambda: everlevel.Client.from_secret_bytes(64, toy.params),
        lambda: everlevel.PublicKey.from_bytes(64, toy.params),
        lambda: everlevel.Params.from_bytes(64),
        lambda: toy.client.decrypt(pieces[::2]),
    ):
        assert refused(operation) == "python.buffer"


def test_wrapping_is_kept(toy):
    a, b = np.array([200, 7], np.uint8), np.array([3, 250], np.uint8)
    w, v = (typed(toy, x).wrapping() for x in (a, b))
    most = np.uint8(200)
    cases = [
        ((w // 1) + 200, (a // 1) + most),
        ((w % 201) + 200, (a % 201) + most),
        ((w >> 1) + 200, (a >> 1) + most),
        (np.clip(w, 5, 250) + 200, np.clip(a, 5, 250) + most),
        (np.minimum(w, v) + 200, np.minimum(a, b) + most),
        (np.maximum(w, 250) + 200, np.maximum(a, np.uint8(250)) + most),
        (np.where(w > v, w, v.checked()) + 200, np.where(a > b, a, b) + most),
    ]
    for number, (found, expected) in enumerate(cases):
        decrypted = toy.client.decrypt(found)
        np.testing.assert_array_equal(decrypted, expected, err_msg=str(number))
        assert decrypted.dtype == np.uint8
    least = typed(toy, np.array([-128, 5], np.int8)).wrapping()
    np.testing.assert_array_equal(toy.client.decrypt(least // -1), np.array([-128, -5], np.int8))


def test_entries_in_order_and_normalized_ones_wrap(toy):
    """They were exact integers where entries of rows in order wrap, as NumPy's do."""
    a, most = np.array([200, 7, 90], np.uint8), np.uint8(200)
    w = typed(toy, a).wrapping()
    cases = [
        (np.sort(w) + 200, np.sort(a) + most),
        (w.nlargest(2) + 200, np.sort(a)[:0:-1] + most),
        (np.max(w) + 200, a.max(keepdims=True) + most),
        (np.min(w) - 200, a.min(keepdims=True) - most),
        (np.median(w) + 200, np.sort(a)[1:2] + most),
        (w.normalized() + 200, a + most),
    ]
    for number, (found, expected) in enumerate(cases):
        decrypted = toy.client.decrypt(found)
        np.testing.assert_array_equal(decrypted, expected, err_msg=str(number))
        assert found.dtype == decrypted.dtype == np.uint8
    # Places and sums are other integers than entries.
    np.testing.assert_array_equal(toy.client.decrypt(np.argsort(w) + 300), [301, 302, 300])
    np.testing.assert_array_equal(toy.client.decrypt(np.cumsum(w)), np.cumsum(a, dtype=int))


def test_quantiles_are_those_of_numpy(toy):
    rng = np.random.default_rng(5)
    for n in range(1, 9):
        values = rng.permutation(n)
        x = typed(toy, values, bounds=(0, 9))
        for q in (k / d for d in range(1, 10) for k in range(d + 1) if (n + d + k) % 7 == 0):
            for method in ("lower", "higher"):
                found = toy.client.decrypt(np.quantile(x, q, method=method))
                assert found == np.quantile(values, q, method=method), (n, q, method)
    # In single precision 0.7 of 10 is 7.
    values = rng.permutation(11)
    x = typed(toy, values, bounds=(0, 10))
    for q in (np.float32(0.7), np.float32(0.1), np.float64(0.7)):
        for method in ("lower", "higher"):
            found = toy.client.decrypt(np.quantile(x, q, method=method))
            assert found == np.quantile(values, q, method=method), (q, method)
    rows = typed(toy, [[1, 2], [3, 4]], bounds=(0, 9), rows=True)
    for q in (-0.4, 1.6, float("nan")):
        for a, axis in ((x, None), (rows, 0)):
            assert (
                refused(lambda: np.quantile(a, q, axis=axis, method="lower")) == "python.quantile"
            )


def test_arguments_of_quantiles_are_in_the_order_of_numpy(toy):
    """The method was taken where NumPy has out."""
    values = np.array([5, 1, 9, 7])
    x = typed(toy, values, bounds=(0, 9))
    found = np.quantile(x, 0.4, None, None, False, "higher")
    assert toy.client.decrypt(found) == np.quantile(values, 0.4, None, None, False, "higher") == 7
    found = np.percentile(x, 40, 0, None, True, "lower", False)
    assert toy.client.decrypt(found) == np.percentile(values, 40, 0, None, False, "lower") == 5
    for function, q in ((np.quantile, 0.4), (np.percentile, 40)):
        for arguments in (
            (None, "lower"),
            (None, "lower", False, "higher"),
            (None, None, "lower"),
            (None, np.zeros(1, int), False, "lower"),
            (None, None, False, "lower", "yes"),
        ):
            assert refused(lambda: function(x, q, *arguments)) == "python.not-homomorphic"
        assert refused(lambda: function(x, q, weights=[1] * 4)) == "python.not-homomorphic"


def test_places_of_partitions_are_those_of_numpy(toy):
    values = np.array([5, 1, 9, 7])
    x = typed(toy, values, bounds=(0, 9))
    rows = typed(toy, [[1, 2, 3], [3, 4, 0]], bounds=(0, 9), rows=True)
    for kth in (0, 3, -1, -4, [1, 2], np.array([0, -1])):
        for function in (np.partition, np.argpartition):
            function(values, kth)
            expected = (np.sort if function is np.partition else np.argsort)(values)
            np.testing.assert_array_equal(toy.client.decrypt(function(x, kth)), expected)
    np.testing.assert_array_equal(toy.client.decrypt(np.partition(rows, 1, axis=0))[1], [3, 4, 3])
    for function in (np.partition, np.argpartition):
        for kth in (4, -5, 2**70, [1, 4], [-5], [], [[1]], True, [False], 1.5, [1.0]):
            with pytest.raises((ValueError, TypeError)):
                function(values, kth)
            assert refused(lambda: function(x, kth)) in ("python.take", "integers.value"), kth
        assert refused(lambda: function(x, x)) == "python.not-homomorphic"
    assert refused(lambda: np.partition(rows, 2, axis=0)) == "python.take"
    assert refused(lambda: np.partition(rows, 0, axis=2)) == "python.shape"


def test_conditions_of_selections_are_truth_values(toy):
    values = np.array([5, 1, 0, 7])
    x, one = typed(toy, values, bounds=(0, 9)), typed(toy, [1, 0, 1, 0], dtype=np.uint8)
    true = typed(toy, [1, 0, 1, 0], dtype=bool)
    found = np.select([true, values > 4, np.True_, True], [x, 2 * x, 3, 4])
    np.testing.assert_array_equal(toy.client.decrypt(found), [5, 3, 0, 14])
    for condition in (x, one, one.wrapping(), values, 1, 0.5, np.int64(1), [1, 0, 1, 0]):
        for conditions in ([condition, true], [true, condition]):
            assert refused(lambda: np.select(conditions, [x, 7], 9)) == "integers.type"


def test_programs_on_arrays_in_the_clear(toy):
    """Entries that encrypted arrays could not have, and arithmetic that wraps at their width."""

    @everlevel.program
    def total(a: everlevel.uint8, b: everlevel.uint8):
        return a + b * 2

    assert list(total(np.array([200], np.uint8), [255])) == [710]
    assert refused(lambda: total([300], [1])) == "integers.value"
    assert refused(lambda: total([1], b=[-1])) == "integers.value"
    assert refused(lambda: total([1.5], [1])) == "integers.value"

    @everlevel.program
    def wide(a: everlevel.uint32):
        return a * a * a

    assert wide(np.array([2**32 - 1], np.uint32))[0] == (2**32 - 1) ** 3

    @everlevel.program
    def too_wide(a: everlevel.uint64):
        return a * a

    # As of encrypted ones, of whatever entries.
    assert refused(lambda: too_wide([1])) == "integers.range"


def test_mistakes_have_codes(toy, tmp_path):
    """What ended in errors of Python's own."""
    x, m = typed(toy, [1, 2, 3], bounds=(0, 9)), toy.load([1, 2, 3], bounds=(0, 9))
    client, server = toy.client, toy.server
    np.testing.assert_array_equal(client.decrypt(np.where(True, x, 0)), [1, 2, 3])
    np.testing.assert_array_equal(client.decrypt(np.where(np.False_, x, 7)), [7, 7, 7])
    np.testing.assert_array_equal(client.decrypt(np.select([True], [x], 5)), [1, 2, 3])
    assert client.decrypt(client.encrypt_modular(7)).shape == ()
    change = client.key_change(everlevel.Client(toy.params))
    for operation, codes in (
        (lambda: np.array([2, 3, 4]) ** m, ["python.not-homomorphic"]),
        (lambda: 2**m, ["python.not-homomorphic"]),
        (lambda: change.apply(x), ["python.input"]),
        (lambda: client.decrypt_for_sharing(x), ["python.not-homomorphic"]),
        (lambda: client.decrypt_for_sharing(b"1"), ["python.not-homomorphic"]),
        (lambda: server.load(b"1"), ["python.input"]),
        (lambda: server.load(x.sum()), ["python.input"]),
        (lambda: server.load(None), ["python.input"]),
        (lambda: np.isin([1, 2], x), ["python.not-homomorphic"]),
        (lambda: x + 2**200, ["integers.range"]),
        (lambda: x < 2**200, ["integers.range"]),
        (lambda: x.clip(-(2**200), 2), ["integers.range"]),
        (lambda: everlevel.Table([1, 2**200]), ["integers.range"]),
        (lambda: np.isin(x, [2**200]), ["integers.range"]),
        (lambda: x.dot([2**200, 1, 1]), ["integers.range"]),
        (lambda: m**2.5, ["python.not-homomorphic"]),
        (lambda: np.power(m, [1, 2, 3]), ["python.not-homomorphic"]),
        (lambda: np.sum(m, keepdims=True), ["python.not-homomorphic"]),
        (lambda: np.roll(m, 1, axis=0), ["python.not-homomorphic"]),
        (lambda: np.reshape(m, (3, 1), "F"), ["python.not-homomorphic"]),
        (lambda: m.truncate(-1), ["python.value-range"]),
        (lambda: m.rotate_columns(10**30), ["python.value-range"]),
        (lambda: m.within(0, 2**200), ["python.value-range"]),
        (lambda: client.encrypt([1], bounds=(0.5, 9.5)), ["python.value-bounds"]),
        (lambda: client.encrypt([1], bounds=5), ["python.value-bounds"]),
        (lambda: client.encrypt_modular([1], bounds=(0.5, 9.5)), ["python.value-bounds"]),
        (lambda: everlevel.ranged(0.5, 2), ["python.value-bounds"]),
        (lambda: everlevel.set_num_threads(-1), ["python.threads"]),
        (lambda: client.decrypt_for_sharing(m, statistical_bits=-1), ["python.value-range"]),
        (lambda: client.decrypt_for_sharing(m, decryptions_log2=2**40), ["python.value-range"]),
        (lambda: planner.plan(-1, 4), ["python.value-range"]),
        (lambda: planner.plan(257, 4, depth=-1), ["python.value-range"]),
        (lambda: planner.rings(2, limit=-1), ["python.value-range"]),
        (lambda: planner.estimate_security(-1, 881), ["python.value-range"]),
    ):
        assert refused(operation) in codes


def test_scalar_products_are_of_vectors_of_one_length(fermat):
    """Rows of a matrix were multiplied with a vector and all added up."""
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    x = typed(fermat, a[0], bounds=(0, 9))
    matrix = typed(fermat, a, bounds=(0, 9), rows=True)
    for operation in (lambda: x @ matrix, lambda: np.dot(x, matrix), lambda: np.matmul(x, matrix)):
        assert refused(operation) == "python.shape"
    assert refused(lambda: x @ typed(fermat, [1, 2], bounds=(0, 9))) == "python.shape"
    assert fermat.client.decrypt(x @ typed(fermat, a[1], bounds=(0, 9))) == a[0] @ a[1]


def test_tables_are_not_changed_through_their_parts():
    """``table[:2] += 1`` changed the table, and then raised."""
    table = everlevel.Table([[1, 2], [3, 4]])
    with pytest.raises((TypeError, ValueError)):
        table[:, :1] += 1
    with pytest.raises(ValueError):
        table[0][:] = 9
    assert table[:].tolist() == [[1, 2], [3, 4]]


def test_shifts_by_wrapping_amounts_wrap(fermat):
    a = np.array([9, 7, 0], np.uint8)
    amount = np.minimum(typed(fermat, a).wrapping(), 9)
    found = fermat.client.decrypt(1 << amount)
    np.testing.assert_array_equal(found, np.array([0, 128, 1], np.uint8))
    assert found.dtype == np.uint8


def test_public_integers_that_a_wrapping_type_does_not_hold(toy):
    w = typed(toy, np.array([200, 7], np.uint8)).wrapping()
    rows = typed(toy, np.array([[1], [2]], np.uint8), rows=True).wrapping()
    for operation in (
        lambda: w * 300,
        lambda: w * np.array([256, 256]),
        lambda: w // -1,
        lambda: w % 1000,
        lambda: divmod(w, 256),
        lambda: w & 0xFFFF,
        lambda: w.clip(300, 400),
        lambda: np.clip(w, -5, 9),
        lambda: np.array([2, -1]) @ rows,
    ):
        assert refused(operation) == "integers.type"
    np.testing.assert_array_equal(toy.client.decrypt(w << 8), [0, 0])


def test_axes_are_not_ignored(toy):
    x = typed(toy, [1, 2, 3], bounds=(0, 9))
    rows = typed(toy, [[1, 2], [3, 4]], bounds=(0, 9), rows=True)
    for function in (np.sort, np.argsort, np.cumsum):
        assert refused(lambda: function(x, axis=3)) == "python.shape"
    assert refused(lambda: np.partition(x, 1, axis=3)) == "python.shape"
    assert refused(lambda: np.argpartition(x, 1, axis=3)) == "python.shape"
    for function in (np.max, np.min, np.argmax, np.argmin):
        assert refused(lambda: function(rows, axis=())) == "python.not-homomorphic"
    assert refused(lambda: np.diff(rows, n=-1, axis=0)) == "python.shape"


def test_axes_that_there_are_none_of(toy):
    """Medians and quantiles along one were an IndexError without a code."""
    x = typed(toy, [1, 2, 3], bounds=(0, 9))
    rows = typed(toy, [[1, 2], [3, 4], [0, 5]], bounds=(0, 9), rows=True)
    functions = [
        *(np.sum, np.any, np.all, np.count_nonzero, np.max, np.min, np.argmax, np.argmin, np.ptp),
        *(np.cumsum, np.sort, np.argsort, np.median, np.diff, np.mean, np.average),
        lambda a, axis: np.average(a, axis=axis, weights=[1, 2, 3]),
        lambda a, axis: np.quantile(a, 0.5, axis=axis, method="lower"),
        lambda a, axis: np.percentile(a, 50, axis=axis, method="higher"),
        lambda a, axis: np.partition(a, 1, axis=axis),
        lambda a, axis: np.argpartition(a, 1, axis=axis),
        lambda a, axis: np.concatenate([np.arange(3), a], axis=axis),
    ]
    for function in functions:
        for a in (x, rows):
            for axis in (2, -3, np.int64(7), True, np.False_):
                assert refused(lambda: function(a, axis=axis)) == "python.shape", axis
            for axis in ((), [0], 0.0, "0"):
                assert refused(lambda: function(a, axis=axis)) == "python.not-homomorphic", axis
    for weights in (None, [1, 1]):
        assert refused(lambda: np.average(rows, axis=0, weights=weights)) == (
            "python.not-homomorphic"
        )
    for axis in (2, -3, True):
        assert refused(lambda: np.stack([x, x], axis=axis)) == "python.shape"
    for function in (np.quantile, np.percentile):
        for q in ([0, 1], np.array([0.5])):
            assert refused(lambda: function(x, q, method="lower")) == "python.not-homomorphic"
    np.testing.assert_array_equal(toy.client.decrypt(np.stack([x, x], axis=-2))[1], [1, 2, 3])
    np.testing.assert_array_equal(toy.client.decrypt(np.median(rows, axis=np.int64(-2))), [1, 4])
    np.testing.assert_array_equal(toy.client.decrypt(np.sum(rows, axis=np.int8(0))), [4, 11])


def test_indices_without_axes(toy):
    x = typed(toy, [1, 2, 3], bounds=(0, 9))
    rows = typed(toy, [[1, 2, 3], [4, 5, 6]], bounds=(0, 9), rows=True)
    for operation in (lambda: x[:, :], lambda: rows[:, :, :], lambda: rows[0, :, :]):
        with pytest.raises(IndexError):
            operation()


def test_public_arrays_without_entries(toy):
    x = typed(toy, [1, 2, 3], bounds=(0, 9))
    rows = typed(toy, [[1, 2, 3], [4, 5, 6]], bounds=(0, 9), rows=True)
    wrapping = typed(toy, [1, 2, 3], dtype=np.uint8).wrapping()
    for operation in (
        lambda: x + np.zeros((0, 3), int),
        lambda: wrapping + np.zeros((0, 3), int),
        lambda: rows * np.zeros((0, 2, 3), int),
        lambda: np.broadcast_to(x, (0, 3)),
    ):
        assert refused(operation) == "python.empty"


def test_programs_in_the_clear_return_named_tuples():
    """They had arrays that nobody can decrypt."""
    pair = collections.namedtuple("pair", "total less")

    @everlevel.program
    def both(x: everlevel.uint8, y: everlevel.uint8):
        return pair(x + y, x < y)

    found = both(np.array([1, 5], np.uint8), np.array([3, 4], np.uint8))
    assert isinstance(found, pair)
    assert found.total.tolist() == [4, 9] and found.less.tolist() == [True, False]


def test_wrapping_multiples_of_64_bits():
    """They were refused, as they are too large before they wrap."""

    @everlevel.program
    def hashed(x: everlevel.uint64):
        return x.wrapping() * (2**64 - 5), x.wrapping() << 63

    found, moved = hashed(np.array([3, 2**64 - 1, 0], np.uint64))
    assert found.dtype == moved.dtype == np.uint64
    assert found.tolist() == [2**64 - 15, 5, 0]
    assert moved.tolist() == [2**63, 2**63, 0]


def test_public_rows_beside_an_array_of_a_service(fermat):
    """What was computed with them alone stood without parentheses in the program."""
    remote = everlevel.Remote("http://127.0.0.1:1", "token")
    x = remote.array(fermat.client.encrypt(np.array([1, 2, 3]), bounds=(0, 9)))
    rows = np.stack([x, np.array([3, 3, 3])])
    program = Written(blocks_of((rows + 1) * np.stack([x, x]))).program
    assert "(3 + 1) * " in program and "3 + 1 * " not in program
    assert refused(lambda: everlevel.Table(range(10))[rows]) == "python.not-homomorphic"
    assert refused(lambda: Written(blocks_of(rows[1] + 1))) == "python.public"


def test_threads_share_an_array_of_a_service(fermat):
    """Two of what they computed could have one number, and one of them was left out."""
    remote = everlevel.Remote("http://127.0.0.1:1", "token")
    x = remote.array(fermat.client.encrypt(np.array([1, 2, 3]), bounds=(0, 9)))
    made = []

    def compute():
        made.extend(x.server.constant(x._blocks[0], [k]).number for k in range(300))

    threads = [threading.Thread(target=compute) for _ in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(set(made)) == len(made) == 1200
