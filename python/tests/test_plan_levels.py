"""The levels at which the arguments of plans are encrypted, and arguments at other levels."""

import numpy as np
import pytest

import everlevel

#: The codes of what is refused as its arguments are too low, or have no keys.
REFUSED = {
    "integers.depth",
    "circuit.not-enough-capacity",
    "scheme.noise-overflow",
    "scheme.missing-key",
    "scheme.key-too-short",
}

A, B = np.array([2, 3, 15, 0]), np.array([1, 9, 8, 14])


@everlevel.program
def shallow(x: everlevel.ranged(0, 15), y: everlevel.ranged(0, 15)):
    """A selection by a comparison of y, for which x is needed late."""
    return np.where(y < 3, x, 1)


@everlevel.program
def deep(x: everlevel.ranged(0, 15), y: everlevel.ranged(0, 15)):
    """The same, and a comparison after it."""
    return np.where(y < 3, y * y, x) < 9


@pytest.fixture(scope="module")
def plan(fermat):
    return deep.plan(rows=4, params=fermat.params)


@pytest.fixture(scope="module")
def server(plan, fermat):
    return plan.server(fermat.client)


def encrypt(key, x=None, y=None):
    return {
        name: key.encrypt(values, bounds=(0, 15), level=level)
        for name, values, level in (("x", A, x), ("y", B, y))
    }


def test_arguments_have_levels(plan, server, fermat):
    top = fermat.params.levels - 1
    x, y = (plan.inputs[name] for name in "xy")
    assert plan.bootstraps == 0 and not server.can_bootstrap
    assert x.level < y.level < top and x.bytes < y.bytes
    assert (x.ciphertexts, x.bytes + y.bytes) == (1, plan.input_bytes)
    assert f"levels of the arguments, of 0 to {top}: x {x.level} (" in str(plan)
    assert f"x {x.level} (" in plan._repr_html_()
    low = shallow.plan(rows=4, params=fermat.params).inputs
    assert low["y"].level < y.level
    for key in (fermat.client, fermat.client.public_key()):
        given = plan.encrypt(key, x=A, y=B)
        assert [given[name].level for name in "xy"] == [x.level, y.level]
        at_top = encrypt(key)
        assert [at_top[name].level for name in "xy"] == [top, top]
        for name in "xy":
            assert len(given[name].to_bytes()) < len(at_top[name].to_bytes())
        # Also from bytes that come from others.
        sent = {name: server.read(a.to_bytes(), bounds="fresh") for name, a in given.items()}
        for arrays in (given, sent):
            np.testing.assert_array_equal(
                fermat.client.decrypt(plan.run(server, arrays)), deep(A, B)
            )


def test_arguments_at_other_levels(plan, server, fermat):
    """What is above the level of the plan is switched down, what is below it refused."""
    client, levels = fermat.client, {name: x.level for name, x in plan.inputs.items()}
    top = plan.run(server, encrypt(client))
    np.testing.assert_array_equal(client.decrypt(top), deep(A, B))
    # Of several kinds, for which products may meet at other levels: exact, or refused.
    mixed = [
        {"x": encrypt(client)["x"], "y": encrypt(client, **levels)["y"]},
        {"x": encrypt(client.public_key(), **levels)["x"], "y": encrypt(client, **levels)["y"]},
        encrypt(client.public_key()),
        encrypt(client, x=levels["x"] // 2, y=levels["y"]),
    ]
    for given in mixed:
        try:
            found = plan.run(server, given)
        except everlevel.Error as error:
            assert error.code in REFUSED
        else:
            np.testing.assert_array_equal(client.decrypt(found), deep(A, B))
    low = encrypt(client, x=levels["x"], y=levels["y"] // 2)
    with pytest.raises(everlevel.Error) as caught:
        plan.run(server, low)
    assert caught.value.code in REFUSED
    # On a server that bootstraps and has keys for any program, it is refreshed.
    before = fermat.server.bootstraps
    found = plan.run(fermat.server, low)
    np.testing.assert_array_equal(client.decrypt(found), deep(A, B))
    assert fermat.server.bootstraps > before
    # What is at the top stays there, where it needs no bootstrapping.
    before = fermat.server.bootstraps
    found = shallow.plan(rows=4, params=fermat.params).run(fermat.server, encrypt(client))
    np.testing.assert_array_equal(client.decrypt(found), shallow(A, B))
    assert fermat.server.bootstraps == before


def test_keys_of_another_program(plan, fermat):
    server = shallow.plan(rows=4, params=fermat.params).server(fermat.client)
    with pytest.raises(everlevel.KeyMissingError) as caught:
        plan.run(server, plan.encrypt(fermat.client, x=A, y=B))
    assert caught.value.code in ("scheme.missing-key", "scheme.key-too-short")


def test_what_keys_of_another_program_do_not_reach(fermat):
    """Whoever divided was to take a larger set, and not the keys for it."""
    server = shallow.plan(rows=4, params=fermat.params).server(fermat.client)
    x, y = (server.load(fermat.client.encrypt(v, dtype=np.uint16)) for v in (A, B))
    with pytest.raises(everlevel.Error) as caught:
        x // y
    said = str(caught.value)
    assert "another program or plan" in said or "generate the keys again" in said, said


def test_plans_that_bootstrap_are_at_the_top(fermat):
    @everlevel.program
    def long(x: everlevel.uint8, y: everlevel.uint8):
        for _ in range(6):
            x = np.minimum(x, y) ^ y
        return x

    plan = long.plan(rows=4, params=fermat.params)
    top = fermat.params.levels - 1
    assert plan.bootstraps > 0 and {x.level for x in plan.inputs.values()} == {top}


def test_levels_that_are_refused(fermat):
    levels = fermat.params.levels
    assert fermat.client.encrypt(A, bounds=(0, 15), level=np.uint8(3)).level == 3
    for level, code in ((levels, "scheme.bad-level"), (-1, "python.value-range")):
        with pytest.raises(everlevel.RangeError) as caught:
            fermat.client.encrypt(A, bounds=(0, 15), level=level)
        assert caught.value.code == code
    with pytest.raises(TypeError):
        fermat.client.encrypt(A, bounds=(0, 15), level=1.5)
    # Also where nothing is encrypted.
    with pytest.raises(everlevel.RangeError) as caught:
        fermat.client.encrypt([5, 5], bounds=(5, 5), level=levels)
    assert caught.value.code == "scheme.bad-level"


def test_public_arguments_have_no_level(fermat):
    """An interval of one integer takes no ciphertext."""
    x = fermat.client.encrypt([5, 5], bounds=(5, 5))
    assert x.level is None and x.ciphertexts == 0
