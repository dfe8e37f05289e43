"""Key rotation, and manifests of noise bounds."""

import os
import pickle
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray


def test_changes_of_keys(toy, tmp_path):
    old, new = toy.client, everlevel.Client(toy.params)
    change = old.key_change(new)
    a = toy.random(200)
    x = toy.load(a) * 3 + 1
    moved = change.apply(x)
    assert moved.server is None and moved.shape == (200,)
    np.testing.assert_array_equal(new.decrypt(moved), (3 * a + 1) % toy.t)
    with pytest.raises(everlevel.Error):
        old.decrypt(moved)
    server = new.server(program="y = x*x")
    np.testing.assert_array_equal(new.decrypt(server.load(moved) ** 2), (3 * a + 1) ** 2 % toy.t)
    change.save(tmp_path / "change.keys")
    again = everlevel.KeyChange.open(tmp_path / "change.keys", insecure_research=True)
    assert again.apply(x).fingerprint == moved.fingerprint and "KeyChange" in repr(again)
    with pytest.raises(everlevel.OtherParametersError):
        old.key_change(
            everlevel.Client(everlevel.Params("insecure_bgv-127-n8", insecure_research=True))
        )
    toy.server.save_keys(tmp_path / "server.keys")
    with pytest.raises(everlevel.KeyMissingError):
        everlevel.KeyChange.open(tmp_path / "server.keys", insecure_research=True).apply(x)


def test_threads_share_a_manifest():
    """A refusal held the lock of the manifest and waited for the interpreter's; a call of len in
    another thread held the interpreter's and waited for that of the manifest.
    """
    lines = [
        "import threading, everlevel",
        "params = everlevel.Params('insecure_bgv-257-n8', insecure_research=True)",
        "manifest, done = everlevel.Manifest(params), threading.Event()",
        "def count():",
        "    while not done.is_set():",
        "        assert len(manifest) == 0",
        "thread = threading.Thread(target=count, daemon=True)",
        "thread.start()",
        "for _ in range(200):",
        "    try:",
        "        manifest.add(b'no ciphertexts')",
        "    except everlevel.FormatError:",
        "        continue",
        "    raise AssertionError('it was listed')",
        "done.set()",
        "thread.join()",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=600)


def test_manifests(toy, tmp_path):
    key, other = everlevel.ManifestKey(), everlevel.ManifestKey()
    a = toy.random(150)
    y = toy.load(a) ** 2
    manifest = everlevel.Manifest(toy.params)
    y.save(tmp_path / "y.ct", manifest=manifest)
    z = y + 1
    manifest.add(z)
    assert len(manifest) == 2 and manifest.params_id == toy.params.id
    manifest.save(tmp_path / "m", key)
    told = everlevel.inspect(tmp_path / "m")
    assert told["key_id"] == toy.client.key_id and told["key_ids"] == [toy.client.key_id]
    with pytest.raises(everlevel.FileError):
        manifest.save(tmp_path / "m", key)
    read = everlevel.Manifest.open(tmp_path / "m", key)
    found = toy.server.read(tmp_path / "y.ct", bounds=read)
    assert found.noise_bound_bits == y.noise_bound_bits
    np.testing.assert_array_equal(toy.client.decrypt(found + 1), (a * a + 1) % toy.t)
    assert (
        EncryptedArray.from_bytes(z.to_bytes(), params=toy.params, bounds=read).fingerprint
        == z.fingerprint
    )
    with pytest.raises(everlevel.FormatError) as caught:
        toy.server.read((y + 2).to_bytes(), bounds=read)
    assert caught.value.code == "wire.not-in-manifest"
    with pytest.raises(everlevel.FormatError) as caught:
        everlevel.Manifest.open(tmp_path / "m", other)
    assert caught.value.code == "wire.not-authentic"
    # Two manifests as one, by path and by bytes.
    more = everlevel.Manifest(toy.params)
    w = y + 3
    w.save(tmp_path / "w.ct")
    more.add(tmp_path / "w.ct")
    more.add((y + 4).to_bytes())
    read.merge(everlevel.Manifest.from_bytes(more.to_bytes(key), key))
    assert len(read) == 4
    toy.server.read(tmp_path / "w.ct", bounds=read)
    with pytest.raises(everlevel.FormatError):
        everlevel.Manifest(everlevel.Params("insecure_bgv-127-n8", insecure_research=True)).merge(
            read
        )
    with pytest.raises(everlevel.FormatError):
        manifest.add(toy.params.to_bytes())
    # The key.
    key.save(tmp_path / "key")
    assert stat.S_IMODE(os.stat(tmp_path / "key").st_mode) == 0o600
    assert (
        everlevel.ManifestKey.open(tmp_path / "key").expose_secret_bytes()
        == key.expose_secret_bytes()
    )
    everlevel.Manifest.open(
        tmp_path / "m", everlevel.ManifestKey.from_secret_bytes(key.expose_secret_bytes())
    )
    assert (
        key.expose_secret_bytes() != other.expose_secret_bytes()
        and len(key.expose_secret_bytes()) == 32
    )
    assert "secret" in repr(key) and key.expose_secret_bytes().hex() not in repr(key)
    with pytest.raises(everlevel.SecretKeyError):
        pickle.dumps(key)
    with pytest.raises(everlevel.FormatError):
        everlevel.ManifestKey.from_secret_bytes(b"short")


@pytest.mark.skipif(
    not os.environ.get("EVERLEVEL_PROGRAM"), reason="EVERLEVEL_PROGRAM does not name the program"
)
def test_with_the_program(toy, tmp_path):
    program = shutil.which(os.environ["EVERLEVEL_PROGRAM"])

    def run(*args):
        subprocess.run(
            [program, *map(str, args), "--insecure-research"],
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )

    a = toy.random(20)
    toy.client.save_keys(tmp_path / "old")
    everlevel.Client(toy.params).save_keys(tmp_path / "new")
    new = everlevel.Client.open(tmp_path / "new/secret.key", insecure_research=True)
    # A change of keys by the program, and by the library.
    toy.client.encrypt_modular(a).save(tmp_path / "x.ct")
    run(
        "keys",
        "change",
        "--old-key",
        "old/secret.key",
        "--new-key",
        "new/secret.key",
        "--out",
        "change.keys",
    )
    run("change-key", "--keys", "change.keys", "--in", "x.ct", "--out", "moved.ct")
    np.testing.assert_array_equal(new.decrypt((tmp_path / "moved.ct").read_bytes()), a)
    change = everlevel.KeyChange.open(tmp_path / "change.keys", insecure_research=True)
    np.testing.assert_array_equal(new.decrypt(change.apply(toy.server.read(tmp_path / "x.ct"))), a)
    # A manifest of the program's, trusted here; one of the library's, trusted there.
    run("keys", "manifest-key", "--out", "m.key")
    key = everlevel.ManifestKey.open(tmp_path / "m.key")
    eval_ = (
        "eval",
        "--server-keys",
        "old/server.keys",
        "y = x*x",
        "x=x.ct",
        "--manifest-key",
        "m.key",
    )
    run(*eval_, "--out", "there", "--write-manifest", "there.m")
    y = toy.server.read(
        tmp_path / "there/y.ct", bounds=everlevel.Manifest.open(tmp_path / "there.m", key)
    )
    np.testing.assert_array_equal(toy.client.decrypt(y * y), a**4 % toy.t)
    mine = everlevel.Manifest(toy.params)
    (y + 1).save(tmp_path / "here.ct", manifest=mine)
    mine.save(tmp_path / "here.m", key)
    believing = ("--bounds", "manifest", "--manifest", "here.m", "--manifest-key", "m.key")
    run(
        "eval",
        "--server-keys",
        "old/server.keys",
        "z = y*y",
        "y=here.ct",
        "--out",
        "there",
        *believing,
    )
    np.testing.assert_array_equal(
        toy.client.decrypt((tmp_path / "there/z.ct").read_bytes()), (a * a + 1) ** 2 % toy.t
    )
