"""Keys and arrays know whose they are."""

import pathlib

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray

GOLDEN = pathlib.Path(__file__).parent.parent.parent / "crates" / "wire" / "tests" / "golden" / "v1"


@pytest.fixture(scope="module")
def two(toy):
    """Two clients of one parameter set, with a server each."""
    other = everlevel.Client(toy.params)
    return toy.client, toy.server, other, other.server(program="y = x*x")


def both(caught, a, b):
    """The one error, with both ids."""
    assert caught.value.code == "scheme.wrong-key"
    assert {caught.value.left, caught.value.right} == {a.key_id[:8], b.key_id[:8]}
    assert a.key_id[:8] in str(caught.value) and b.key_id[:8] in str(caught.value)


def test_ids_go_everywhere(two, tmp_path):
    a, server, b, _ = two
    assert len(a.key_id) == 32 and int(a.key_id, 16) and a.key_id != b.key_id
    x = a.encrypt_modular([1, 2, 3])
    public = a.public_key()
    change = a.key_change(b)
    assert {public.key_id, server.key_id, x.key_id, public.encrypt_modular([1]).key_id} == {
        a.key_id
    }
    assert (server.load(x) ** 2).key_id == a.key_id
    assert (change.from_key_id, change.key_id) == (a.key_id, b.key_id)
    again = EncryptedArray.from_bytes(x.to_bytes(), params=a.params)
    assert again.key_id == a.key_id
    assert everlevel.PublicKey.from_bytes(public.to_bytes(), a.params).key_id == a.key_id
    assert everlevel.Client.from_secret_bytes(a.expose_secret_bytes(), a.params).key_id == a.key_id
    change.save(tmp_path / "change.keys")
    found = everlevel.inspect(tmp_path / "change.keys", params=a.params)
    assert (found["format_version"], found["key_id"], found["changes_from"]) == (
        2,
        b.key_id,
        a.key_id,
    )
    assert everlevel.inspect(x.compact())["key_id"] == a.key_id


def test_two_owners_do_not_go_together(two):
    a, server, b, other = two
    x, y = a.encrypt_modular([1, 2, 3]), b.encrypt_modular([4, 5, 6])
    for refused in (
        lambda: b.decrypt(x),
        lambda: b.decrypt(x.to_bytes()),
        lambda: b.decrypt(x.compact()),
        lambda: b.decrypt_for_sharing(x),
        lambda: server.load(y),
        lambda: server.load(x) + y,
        lambda: server.load(x) * other.load(y),
        lambda: other.read(x.to_bytes()),
        lambda: other.run("y = x*x", x=x),
        lambda: a.key_change(b).apply(y),
    ):
        with pytest.raises(everlevel.Error) as caught:
            refused()
        both(caught, a, b)
    moved = a.key_change(b).apply(x)
    np.testing.assert_array_equal(b.decrypt(moved), [1, 2, 3])
    with pytest.raises(everlevel.WrongKeyError) as caught:
        a.decrypt(moved)
    both(caught, a, b)


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the stored objects are not here")
def test_older_files_are_read_on_request(two):
    a = two[0]
    stored = {
        kind: (GOLDEN / f"insecure_bgv-257-n8.{kind}").read_bytes()
        for kind in ("public_key", "results", "server_keys")
    }
    owner = everlevel.Client.from_secret_bytes(
        (GOLDEN / "insecure_bgv-257-n8.secret_key").read_bytes(), a.params
    )
    with pytest.raises(everlevel.FormatError, match="allow_unknown_owner") as caught:
        everlevel.PublicKey.from_bytes(stored["public_key"], a.params)
    assert caught.value.code == "wire.unknown-owner"
    public = everlevel.PublicKey.from_bytes(
        stored["public_key"], a.params, allow_unknown_owner=True
    )
    x = public.encrypt_modular([7, 8])
    assert public.key_id is None and x.key_id is None
    np.testing.assert_array_equal(owner.decrypt(x), [7, 8])
    with pytest.raises(everlevel.DecryptionError) as caught:
        a.decrypt(x)
    assert caught.value.code == "scheme.not-decryptable"
    with pytest.raises(everlevel.FormatError):
        owner.decrypt(x.to_bytes())
    np.testing.assert_array_equal(owner.decrypt(x.to_bytes(), allow_unknown_owner=True), [7, 8])
    with pytest.raises(everlevel.FormatError):
        owner.decrypt(stored["results"], all_slots=True)
    with pytest.raises(everlevel.FormatError):
        everlevel.Server.from_bytes(stored["server_keys"], a.params)
    server = everlevel.Server.from_bytes(stored["server_keys"], a.params, allow_unknown_owner=True)
    assert server.key_id is None
    # With no bound believed nothing would tell a wrong key: neither the one nor the other decrypts.
    untrusted = EncryptedArray.from_bytes(
        x.to_bytes(), params=a.params, bounds="untrusted", allow_unknown_owner=True
    )
    for client in (a, owner):
        with pytest.raises(everlevel.DecryptionError) as caught:
            client.decrypt(untrusted)
        assert caught.value.code == "scheme.unknown-owner"


def test_a_name_is_no_parameter_set():
    with pytest.raises(everlevel.ParameterError, match="Params") as caught:
        everlevel.Client("bgv-65537-n15")
    assert caught.value.code == "python.params"
