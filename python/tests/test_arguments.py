"""Arguments of NumPy's types that were computed with as they came: mended, or refused."""

import decimal

import numpy as np
import pytest

import everlevel
import everlevel.tables as et
from everlevel import EncryptedIntegers, bench
from everlevel._nodes import Source
from everlevel._recorded import Recorder


def refused(operation):
    with pytest.raises(everlevel.Error) as caught:
        operation()
    return caught.value.code


def typed(party, values, **how):
    return party.server.load(party.client.encrypt(np.array(values), **how))


def test_unsigned_shifts_turn_the_other_way(toy):
    """Minus 3 of ``uint8`` is 253."""
    values = np.arange(7)
    x = toy.load(values)
    for shift in (np.uint8(3), np.uint16(3), np.uint64(3), np.int8(-2), 9):
        np.testing.assert_array_equal(
            toy.client.decrypt(np.roll(x, shift)), np.roll(values, int(shift))
        )


def test_numbers_of_rows_of_any_type():
    """A plan for 300 rows of ``uint16`` counted 65,027 ciphertexts for each array."""

    @everlevel.program
    def twice(x: everlevel.uint8):
        return x + x

    params = everlevel.Params("insecure_bgv-257-n8", insecure_research=True)
    plan = twice.plan(300, params=params)
    assert plan.input_ciphertexts == 3 * 2
    for rows in (np.uint16(300), np.int64(300), np.uint64(300)):
        again = twice.plan(rows, params=params)
        assert (again.input_ciphertexts, again.products) == (plan.input_ciphertexts, plan.products)
        assert again.rows == 300
    for rows in (np.uint8(0), -1):
        assert refused(lambda: twice.plan(rows, params=params)) == "python.rows"


def test_ranges_at_the_end_of_64_bits(toy):
    """A residue that no integer of such a range has became a negative one."""
    low, high = 2**63 - 10, 2**63 - 1
    for value in (low, 2**63 - 3, high):
        x = toy.load([value % toy.t]).within(low, high)
        assert toy.client.decrypt(x)[0] == value
    for residue in ((low - 1) % toy.t, (high + 1) % toy.t):
        x = toy.load([residue]).within(low, high)
        assert refused(lambda: toy.client.decrypt(x)) == "scheme.not-decryptable"
    x = toy.load([-(2**63) % toy.t]).within(-(2**63), -(2**63) + 9)
    assert toy.client.decrypt(x)[0] == -(2**63)


def test_tables_do_not_change(toy):
    values = np.array([5, 6, 7, 8])
    objects = np.array([5, 6, 7, 8], object)
    tables = [everlevel.Table(values), everlevel.Table(objects)]
    values[0], objects[1] = 99, 1.5
    x = typed(toy, [0, 1, 3], bounds=(0, 3))
    for table in tables:
        np.testing.assert_array_equal(toy.client.decrypt(table[x]), [5, 6, 8])


def test_arrays_that_are_no_bytes(toy):
    """Of an array of objects it was their addresses."""
    for data in (np.array([1, 2], object), np.array([(1, None)], "i4,O")):
        for operation in (
            lambda: toy.client.decrypt(data),
            lambda: everlevel.inspect(data),
            lambda: everlevel.aes.key_id(data),
        ):
            assert refused(operation) == "python.buffer"
    masked = np.ma.array(np.zeros(16, np.uint8), mask=[1] + [0] * 15)
    assert refused(lambda: everlevel.aes.key_id(masked)) == "python.masked"
    assert everlevel.aes.key_id(np.zeros(16, np.uint8)) == everlevel.aes.key_id(bytes(16))


def test_masks_of_choices_are_not_ignored(toy):
    """Of several public choices NumPy made an array without the mask."""
    x = typed(toy, [1, 2, 3], bounds=(0, 9))
    rows = typed(toy, [[1, 2, 3], [4, 5, 6]], bounds=(0, 9), rows=True)
    masked = np.ma.array([True, False, True], mask=[0, 0, 1])
    values = np.ma.array([7, 8, 9], mask=[0, 1, 0])
    plain = np.array([True, False, False])
    for operation in (
        lambda: np.select([x > 1, masked], [x, 5]),
        lambda: np.select([x > 1, plain], [x, values]),
        lambda: np.select([x > 1, plain], [x, 5], values),
        lambda: np.compress(masked[1:], rows, axis=0),
    ):
        assert refused(operation) == "python.masked"
    found = toy.client.decrypt(np.select([x > 2, plain], [x, 5], 6))
    np.testing.assert_array_equal(found, [5, 6, 3])
    assert refused(lambda: np.compress(["", "a"], rows, axis=0)) == "python.dtype"
    np.testing.assert_array_equal(
        toy.client.decrypt(np.compress([0, 2], rows, axis=0)), [[4, 5, 6]]
    )


def test_indices_that_there_are_none_of(toy):
    """Above 2^63 they were counted from the end."""
    rows = typed(toy, [[1, 2], [3, 4], [5, 6]], bounds=(0, 9), rows=True)
    for indices in (
        np.uint64(2**64 - 1),
        np.array([0, 2**64 - 2], np.uint64),
        [0, 2**70],
        np.array([-(2**70)], object),
    ):
        assert refused(lambda: np.take(rows, indices, axis=0)) == "python.take"
    found = toy.client.decrypt(np.take(rows, np.array([2, 0], np.uint64), axis=0))
    np.testing.assert_array_equal(found, [[5, 6], [1, 2]])


def test_diagonals_of_any_type(toy):
    """The diagonal below that of ``uint8`` 0 was the one of 255."""
    a = np.arange(9).reshape(3, 3)
    x = typed(toy, a, bounds=(0, 9))
    for k in (np.uint8(0), np.uint8(1), np.int8(-1), 1):
        for function in (np.triu, np.tril):
            np.testing.assert_array_equal(toy.client.decrypt(function(x, k)), function(a, int(k)))
        assert toy.client.decrypt(np.trace(x, k)) == np.trace(a, int(k))
    for function in (np.triu, np.tril):
        with pytest.raises(TypeError):
            function(x, 0.5)


def test_bins_of_a_service_are_counted_first(fermat):
    """A line of a program was written for each of the 2^32 values of ``uint32``."""
    recorder = Recorder(None, fermat.params, fermat.params.bootstraps, 1)
    for dtype in (np.uint32, np.uint16):
        x = fermat.client.encrypt(np.array([1, 2], dtype))
        node = recorder.input(Source(None, "0" * 64, None), x)
        lazy = EncryptedIntegers._make([node], x.shape, recorder)
        assert refused(lambda: np.bincount(lazy)) == "integers.table"
    x = fermat.client.encrypt([1, 2], bounds=(0, 3))
    node = recorder.input(Source(None, "1" * 64, None), x)
    assert len(np.bincount(EncryptedIntegers._make([node], x.shape, recorder))) == 4


def test_measurements_of_wrong_results_fail(monkeypatch, capsys):
    """They were printed, and the exit code was 0."""
    monkeypatch.setattr("sys.argv", ["bench", "bootstrap", "--runs", "1"])
    monkeypatch.setattr(bench._rust, "set_num_threads", lambda threads: None)
    monkeypatch.setattr(bench, "bootstrap", lambda *given: {"wrong_slots": 0})
    bench.main()
    for found in ({"wrong_slots": 2}, {"wrong_slots": 0, "different_results": 1}):
        monkeypatch.setattr(bench, "bootstrap", lambda *given, found=found: found)
        with pytest.raises(SystemExit) as ended:
            bench.main()
        assert "please report this" in ended.value.code
    assert "wrong_slots" in capsys.readouterr().out


def test_constants_that_were_rounded_or_are_no_cells():
    """A floating-point number may be another one than was written, and bytes were the text of
    their representation.
    """
    schema = et.Schema(
        {
            "columns": [
                {"name": "n", "type": "integer", "low": 0, "high": 2**54},
                {"name": "c", "type": "decimal", "scale": 2, "low": "0", "high": "9"},
                {"name": "w", "type": "category", "values": ["b'x'", "x"]},
            ]
        }
    )
    data = {"n": [2**53 + 1], "c": [decimal.Decimal("0.05")], "w": ["b'x'"]}

    def count(column, value):
        plan = et.Plan(f"select count(*) as n from t where {column} = :x", schema)
        return plan.answer(data, arrow=False, x=value)["n"][0]

    for column, value in (
        ("n", float(2**53)),
        ("n", np.float64(2**54)),
        ("n", float("inf")),
        ("c", 0.1 + 0.2),
        ("c", np.float32(0.05)),
        ("w", b"x"),
        ("w", ["b'x'"]),
        ("w", np.array(["b'x'"])),
    ):
        assert refused(lambda: count(column, value)) == "table.constants", (column, value)
    for column, value in (
        ("n", 2**53 + 1),
        ("c", 0.05),
        ("c", np.float64(0.05)),
        ("c", decimal.Decimal("0.05")),
        ("w", "b'x'"),
    ):
        assert count(column, value) == 1, (column, value)
