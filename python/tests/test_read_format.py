"""docs/read_format.py, which shares no code with the library, reads what the library writes."""

import csv
import importlib.util
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

import everlevel

ROOT = pathlib.Path(__file__).parent.parent.parent
SCRIPT = ROOT / "docs" / "read_format.py"
GOLDEN = ROOT / "crates" / "wire" / "tests" / "golden"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the book is not here")

# Every form, slots over p = 1 and p = 3 modulo 4, p^2, a q0 of one and of two primes.
SETS = [
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_bgv-127-n8",
    "insecure_bfv-127e2-n8",
    "insecure_bgv-65537-n11",
    "insecure_bfv-65537-n11",
    "insecure_bgv-786433-n11",
]


def read(*arguments, environment=None):
    """Runs the script as a process of its own."""
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)


def values(*arguments):
    """What the script prints, as an array with a row for each ciphertext."""
    done = read(*arguments)
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] in (["ciphertext", "slot", "value"], ["ciphertext", "coefficient", "value"])
    table = np.array(rows[1:], dtype=np.int64)
    count = table[-1, 0] + 1
    length = len(table) // count
    places = [[i, j] for i in range(count) for j in range(length)]
    assert (table[:, :2] == places).all()
    return table[:, 2].reshape(count, length)


class Files:
    """The files of a client: parameters in both ways, the secret key."""

    def __init__(self, directory, name):
        self.directory = directory
        self.params = everlevel.Params(name, insecure_research=True)
        self.client = everlevel.Client(self.params)
        self.object = self.write("set.params", self.params.to_bytes())
        self.key = self.write("secret.key", self.client.expose_secret_bytes())

    def write(self, name, data):
        path = self.directory / name
        path.write_bytes(data)
        return path

    def agrees(self, x):
        """Whether the script and the library decrypt every slot of an array to the same."""
        data = x if isinstance(x, bytes) else x.to_bytes()
        found = values(self.object, self.key, self.write("x.ct", data))
        wanted = self.client.decrypt(data, signed=False, all_slots=True)
        assert np.array_equal(found.ravel(), wanted.ravel())
        return found.ravel()


@pytest.mark.parametrize("name", SETS)
def test_every_slot_of_a_small_set(name, tmp_path):
    files = Files(tmp_path, name)
    t, slots = files.params.plain_modulus, files.params.slots
    v = np.random.default_rng(1).integers(0, t, slots)
    fresh = files.client.encrypt_modular(v)
    assert (files.agrees(fresh) == v).all()
    assert (files.agrees(files.client.public_key().encrypt_modular(v)) == v).all()

    # Lower levels, other correction factors, results.
    program = "a = x^2; b = a^2; c = b^2; d = c^2 + rotate(x, 1)"
    server = files.client.server(program=program)
    computed = server.run(program, x=server.load(fresh))
    wanted = v.astype(object)
    for letter in "abcd":
        wanted = wanted * wanted % t
        if letter != "d":
            assert (files.agrees(computed[letter]) == wanted).all()
    files.agrees(computed["d"])
    files.agrees(computed["d"].compact())


def test_every_slot_of_a_set_that_uses_fewer(tmp_path):
    whole = everlevel.Params("insecure_bgv-257-n8", insecure_research=True)
    spec = whole.spec
    spec["name"] += "-s16"
    spec["bootstrap"]["used_slots"] = 16
    files = Files(tmp_path, json.dumps(spec))
    assert files.params.slots == 16
    v = np.random.default_rng(4).integers(0, 257, 16)
    fresh = files.client.encrypt_modular(v)
    assert (files.agrees(fresh) == v).all()
    server = files.client.server(program="y = rotate(x^2, 3)")
    moved = server.run("y = rotate(x^2, 3)", x=server.load(fresh))["y"]
    wanted = np.roll((v * v % 257).reshape(2, 8), -3, axis=1).ravel()
    assert (files.agrees(moved) == wanted).all()


def test_every_slot_of_a_secure_set(tmp_path):
    files = Files(tmp_path, "bgv-65537-n15")
    v = np.random.default_rng(2).integers(0, 65537, 32768)
    assert (files.agrees(files.client.encrypt_modular(v)) == v).all()
    assert (files.agrees(files.client.public_key().encrypt_modular(v)) == v).all()


def test_many_ciphertexts_and_the_json_of_parameters(tmp_path):
    files = Files(tmp_path, "insecure_bgv-257-n8")
    files.client.save_keys(tmp_path / "keys", program="y = x^2")
    v = np.random.default_rng(3).integers(0, 257, 3 * 128)
    x = files.write("x.ct", files.client.encrypt_modular(v).to_bytes())
    keys = tmp_path / "keys"
    found = values(keys / "params.json", keys / "secret.key", x)
    assert found.shape == (3, 128) and (found.ravel() == v).all()


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the stored objects are not here")
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("name", ["insecure_bgv-257-n8", "insecure_bfv-257-n8"])
def test_the_stored_objects_of_every_version(name, version):
    params, key, *others = (
        GOLDEN / version / f"{name}.{kind}"
        for kind in ("params", "secret_key", "plaintexts", "ciphertexts", "results")
    )
    message, ciphertexts, results = (
        values("--coefficients", params, key, other) for other in others
    )
    assert len(ciphertexts) == 2 and (ciphertexts == message).all() and (results == message).all()
    refused = read(params, key, others[1])
    assert refused.returncode == 2 and "slots hold elements" in refused.stderr


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the stored objects are not here")
@pytest.mark.parametrize("stored", ["products", "product_results"])
@pytest.mark.parametrize("name", ["insecure_bgv-257-n8", "insecure_bfv-257-n8"])
def test_stored_products_are_squares(name, stored):
    params, key, plaintexts, products = (
        GOLDEN / "v2" / f"{name}.{kind}" for kind in ("params", "secret_key", "plaintexts", stored)
    )
    message = values("--coefficients", params, key, plaintexts)[0]
    # Modulo X^n + 1 and 257.
    whole = np.convolve(message, message)
    square = whole[: len(message)].copy()
    square[: len(whole) - len(message)] -= whole[len(message) :]
    found = values("--coefficients", params, key, products)
    assert found.shape == (1, len(message)) and (found[0] == square % 257).all()


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the stored objects are not here")
def test_the_bytes_on_the_page_are_those_of_the_file():
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    lines = re.findall(r"^([0-9a-f]{3})  ((?:[0-9a-f]{2} ?){16})$", page, re.M)
    data = (GOLDEN / "v2" / "insecure_bgv-257-n8.ciphertexts").read_bytes()
    assert [int(offset, 16) for offset, _ in lines] == list(range(0, 256, 16))
    assert bytes.fromhex(" ".join(line for _, line in lines)) == data[:256]
    assert (len(data), data[0x20]) == (7414, 214)
    assert struct.unpack_from("<d", data, 0xD2)[0] == pytest.approx(17.47, abs=0.01)


# Malformed files


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    files = Files(tmp_path_factory.mktemp("toy"), "insecure_bgv-257-n8")
    files.data = files.client.encrypt_modular(np.arange(128)).to_bytes()
    files.path = files.write("x.ct", files.data)
    return files


def refused(done, *words):
    """One line that says what is wrong, and exit code 2."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("not checked")]
    assert done.returncode == 2 and done.stdout == "" and len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ") and all(word in lines[0] for word in words), lines[0]


def patched(data, offset, value):
    return data[:offset] + bytes(value) + data[offset + len(value) :]


def test_what_is_refused_in_one_line(toy):
    def ciphertext(data, *words):
        refused(read(toy.object, toy.key, toy.write("bad", data)), *words)

    ciphertext(b"", "8 more bytes expected")
    ciphertext(toy.data[:40], "more bytes expected")
    ciphertext(toy.data[:-1], "after the header")
    ciphertext(toy.data + b"\0", "after the header")
    ciphertext(patched(toy.data, 1, b"e"), "magic")
    ciphertext(patched(toy.data, 8, b"\3"), "format version 3")
    refused(read(toy.object, toy.key, toy.key), "a secret key", "ciphertexts")
    refused(read(toy.object, toy.path, toy.path), "a secret key expected, found ciphertexts")
    refused(read(toy.key, toy.key, toy.path), "parameters expected")
    refused(read(toy.write("no.json", b'{"name":'), toy.key, toy.path), "not JSON")
    refused(read(toy.object, toy.key, toy.directory / "absent"), "No such file")


def test_another_key_is_refused(toy):
    other = everlevel.Client(toy.params)
    key = toy.write("another.key", other.expose_secret_bytes())
    pytest.importorskip("blake3")
    refused(read(toy.object, key, toy.path), toy.client.key_id, other.key_id)
    result = toy.write("x.small", toy.client.encrypt_modular(np.arange(128)).compact())
    refused(read(toy.object, key, result), toy.client.key_id, other.key_id)
    # A file of version 1 does not say whose it is, but its phase does.
    version_1 = GOLDEN / "v1"
    if version_1.is_dir():
        older = version_1 / "insecure_bgv-257-n8.ciphertexts"
        refused(read("--coefficients", toy.object, key, older), "not of this key")


def test_a_flipped_bit_is_refused(toy):
    pytest.importorskip("blake3")
    for offset in (0x48, len(toy.data) // 2, len(toy.data) - 1):
        flipped = patched(toy.data, offset, [toy.data[offset] ^ 4])
        refused(read(toy.object, toy.key, toy.write("bad", flipped)), "checksum")
    other = everlevel.Client(everlevel.Params("insecure_bfv-257-n8", insecure_research=True))
    foreign = toy.write("other.key", other.expose_secret_bytes())
    refused(read(toy.object, foreign, toy.path), "another parameter set")


def test_without_blake3_it_says_what_it_did_not_check(toy):
    directory = toy.directory / "without"
    directory.mkdir()
    (directory / "blake3.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    done = read(toy.object, toy.key, toy.path, environment=environment)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 129
    assert done.stderr.startswith("not checked: ") and "blake3" in done.stderr


@pytest.fixture
def script():
    """The script as a module."""
    specification = importlib.util.spec_from_file_location("read_format", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    sys.modules["read_format"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["read_format"]


def test_malformed_files_never_end_in_another_error(toy, script, monkeypatch):
    """Without checksums, so that what they cover is parsed."""
    monkeypatch.setattr(script, "blake3", None)
    params = script.read_params(toy.object.read_bytes())
    secret, _ = script.read_secret(toy.key.read_bytes(), params)

    def attempt(read_one, data):
        try:
            read_one(data)
        except script.FormatError as error:
            assert str(error) and "\n" not in str(error)
            return True
        return False

    def ciphertext(data):
        for record in script.parse(data, (script.CIPHERTEXTS,)).records:
            script.decode(*script.read_ciphertext(record, secret, params), params)

    key = toy.key.read_bytes()
    whole = (
        (ciphertext, toy.data, 0xA0 + 34),
        (lambda data: script.read_secret(data, params), key, 0x80 + 34),
    )
    for read_one, data, head in whole:
        assert not attempt(read_one, data)
        assert all(attempt(read_one, data[:length]) for length in range(head))
        count = sum(attempt(read_one, patched(data, i, [data[i] ^ 0xFF])) for i in range(head))
        # Not all: ids, checksums, metadata and the depth can be anything.
        assert count > head // 3
    text = toy.object.read_bytes()
    json = text[text.index(b"{") :]
    for i in range(len(json)):
        attempt(script.read_params, patched(json, i, b"\x22"))
        attempt(script.read_params, patched(json, i, b"9"))
    assert attempt(script.read_params, b"[" * 100_000)
    assert attempt(script.read_params, b"9" * 100_000)
