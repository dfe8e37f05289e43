"""What an interrupted run had left is taken care of, and told."""

import os
import warnings

import numpy as np
import pytest

import everlevel


def interrupted(directory, keys):
    """As a run leaves it that ended when the first of these new keys had its name."""
    part = directory / ".keys.0.part"
    (part / "old").mkdir(parents=True)
    os.rename(keys, part / "new")
    os.rename(directory / "server.keys", part / "old" / "server.keys")
    os.rename(part / "new" / "server.keys", directory / "server.keys")


@pytest.mark.parametrize("name", ["secret.key", "public.key", "server.keys"])
def test_keys_are_of_one_generation_when_they_are_opened(tmp_path, toy, name):
    old, new = toy.client, everlevel.Client(toy.params)
    keys, other = tmp_path / "keys", tmp_path / "other"
    old.save_keys(keys, program="y=x*x")
    new.save_keys(other, program="y=x*x")
    interrupted(keys, other)
    kinds = {
        "secret.key": everlevel.Client,
        "public.key": everlevel.PublicKey,
        "server.keys": everlevel.Server,
    }
    with pytest.warns(everlevel.RecoveryWarning, match="finished what an interrupted run") as told:
        opened = kinds[name].open(keys / name, insecure_research=True)
    assert len(told) == 1 and told[0].filename == __file__
    assert opened.key_id == new.key_id
    assert sorted(os.listdir(keys)) == ["params.json", "public.key", "secret.key", "server.keys"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client = everlevel.Client.open(keys / "secret.key", insecure_research=True)
        server = everlevel.Server.open(keys / "server.keys", insecure_research=True)
    x = server.load(
        everlevel.PublicKey.open(keys / "public.key", insecure_research=True).encrypt_modular(
            [1, 2, 3]
        )
    )
    assert (client.decrypt(x * x) == [1, 4, 9]).all()


def test_leftovers_are_removed_by_the_next_one_that_writes(tmp_path, toy):
    (tmp_path / "keys" / ".keys.1.part" / "new").mkdir(parents=True)
    (tmp_path / "keys" / ".keys.1.part" / "new" / "server.keys").write_bytes(b"half")
    with pytest.warns(everlevel.RecoveryWarning, match="keys: removed 4 bytes"):
        toy.client.save_keys(tmp_path / "keys", program="y=x*x")
    files = {
        "server": lambda path: toy.client.save_server_keys(path, program="y=x*x"),
        "secret": toy.client.save_secret_key,
        "public": toy.client.public_key().save,
        "array": toy.client.encrypt_modular(np.arange(3)).save,
    }
    for name, save in files.items():
        (tmp_path / f".{name}.2.part").write_bytes(b"some")
        with pytest.warns(everlevel.RecoveryWarning, match=f"{name}: removed 4 bytes"):
            save(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == sorted([*files, "keys"])


def test_warnings_can_be_errors(tmp_path, toy):
    (tmp_path / ".x.0.part").write_bytes(b"some")
    with warnings.catch_warnings():
        warnings.simplefilter("error", everlevel.RecoveryWarning)
        with pytest.raises(everlevel.RecoveryWarning):
            toy.client.save_secret_key(tmp_path / "x")
    assert everlevel.Client.open(tmp_path / "x", params=toy.params).key_id == toy.client.key_id
