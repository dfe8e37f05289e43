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
