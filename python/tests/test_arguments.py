"""Arguments of NumPy's types that were computed with as they came: mended, or refused."""

import numpy as np
import pytest

import everlevel


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
