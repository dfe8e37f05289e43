"""AES data to ciphertexts and integers. The AES here is a plain one, checked against FIPS 197."""

import numpy as np
import pytest

import everlevel
from everlevel import aes

KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
IV = bytes(range(16))


def _tables():
    """S-box from its definition: inverses in GF(2^8), then the affine map."""

    def times(a, b):
        product = 0
        while b:
            product ^= a if b & 1 else 0
            a = a << 1 ^ (0x11B if a & 0x80 else 0)
            b >>= 1
        return product

    inverse = [0] * 256
    for a in range(1, 256):
        inverse[a] = next(b for b in range(1, 256) if times(a, b) == 1)
    turned = [[(x << k | x >> (8 - k)) & 255 for k in range(5)] for x in inverse]
    return [a ^ b ^ c ^ d ^ e ^ 0x63 for a, b, c, d, e in turned], times


SBOX, TIMES = _tables()


def encrypt_block(key, block):
    words = [list(key[4 * i : 4 * i + 4]) for i in range(4)]
    constant = 1
    for i in range(4, 44):
        word = words[-1]
        if i % 4 == 0:
            word = [SBOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = TIMES(constant, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], word)])
    keys = [sum(words[4 * r : 4 * r + 4], []) for r in range(11)]
    state = [a ^ b for a, b in zip(block, keys[0])]
    for r in range(1, 11):
        state = [SBOX[b] for b in state]
        state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]
        if r < 10:
            mixed = []
            for c in range(0, 16, 4):
                a = state[c : c + 4]
                mixed += [
                    TIMES(a[i], 2) ^ TIMES(a[(i + 1) % 4], 3) ^ a[(i + 2) % 4] ^ a[(i + 3) % 4]
                    for i in range(4)
                ]
            state = mixed
        state = [a ^ b for a, b in zip(state, keys[r])]
    return bytes(state)


def ctr(key, iv, data):
    count, out = int.from_bytes(iv, "big"), b""
    for i in range(0, len(data), 16):
        stream = encrypt_block(key, (count + i // 16).to_bytes(16, "big"))
        out += bytes(a ^ b for a, b in zip(data[i : i + 16], stream))
    return out


def test_the_plain_one():
    # FIPS 197, appendix B.
    assert (
        encrypt_block(KEY, bytes.fromhex("3243f6a8885a308d313198a2e0370734")).hex()
        == "3925841d02dc09fbdc118597196a0b32"
    )


@pytest.fixture(scope="module")
def owner():
    """The circuit of `aes-bgv-leveled` on a toy ring of 16 x 2 slots in GF(2^48)."""
    spec = everlevel.Params("aes-bgv-leveled").spec
    spec.update(name="insecure_aes-m1649", index=1649)
    return everlevel.Client(everlevel.Params(spec, insecure_research=True))


def test_upload_and_statistics(owner):
    movements = np.array([(i * 7919) % 2003 - 1000 for i in range(256)], ">i2")
    data = ctr(KEY, IV, movements.tobytes())
    server = aes.server(owner, method="byte-sliced", integers=True)
    assert server.state_bytes == 512 and "byte-sliced" in repr(server)
    key = aes.encrypt_key(KEY, owner.public_key())
    key = aes.EncryptedKey.from_bytes(key.to_bytes(), owner.params)
    assert key.bits == 128 and key.aes_key_id == aes.key_id(KEY)
    upload = aes.Upload.of_data(data, aes.key_id(KEY), owner.public_key(), iv=IV)
    upload = aes.Upload.from_bytes(upload.to_bytes(), owner.params)
    assert (upload.mode, upload.iv, upload.key_id, len(upload)) == ("ctr", IV, owner.key_id, 512)
    seen = []
    found = server.transcipher(key, upload, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] and len(found) == 512
    assert aes.decrypt(found, owner) == movements.tobytes()
    again = aes.EncryptedBytes.from_bytes(found.to_bytes(), owner.params)
    assert found.aes_key_id == again.aes_key_id == key.aes_key_id
    assert aes.decrypt(again, owner) == movements.tobytes()
    compute = aes.compute_server(server)
    columns = found.integers(2, server=compute)
    assert len(columns) == 8 and columns[0].shape == (32,) and columns[0].modulus == 1 << 16
    for j, column in enumerate(columns):
        np.testing.assert_array_equal(
            owner.decrypt(column, signed=True).astype(">i2"), movements[j::8]
        )
    total = sum(columns[1:], columns[0]).sum()
    assert int(owner.decrypt(total, signed=True)) == int(movements.astype(int).sum())


def test_other_modes_and_refusals(owner, tmp_path):
    aes.save_server_keys(owner, tmp_path / "aes.keys", decryption=True)
    server = aes.AesServer.open(
        tmp_path / "aes.keys", owner.params, method="byte-sliced", seeded_keys=True
    )
    key = aes.encrypt_key(KEY, owner)
    message = bytes(range(48))
    found = server.transcipher_unchecked(
        key, b"".join(encrypt_block(KEY, message[i : i + 16]) for i in (0, 16, 32)), mode="ecb"
    )
    # Nobody compared the keys, and whoever decrypts is told so.
    assert (
        found.aes_key_id is None
        and aes.EncryptedBytes.from_bytes(found.to_bytes(), owner.params).aes_key_id is None
    )
    with pytest.warns(everlevel.UncheckedWarning, match="not checked"):
        assert aes.decrypt(found, owner) == message
    for how in (
        dict(mode="ecb", iv=IV),
        dict(mode="ctr"),
        dict(mode="xts", iv=IV),
        dict(mode="ctr", iv=b"short"),
    ):
        with pytest.raises(everlevel.AesError):
            server.transcipher_unchecked(key, b"x" * 16, **how)
        with pytest.raises(everlevel.AesError):
            aes.Upload.of_data(b"x" * 16, aes.key_id(KEY), owner, **how)
    with pytest.raises(everlevel.AesError):
        server.transcipher_unchecked(key, b"x" * 17, mode="ecb")
    with pytest.raises(everlevel.AesError):
        server.transcipher_unchecked(key, b"", iv=IV)
    with pytest.raises(everlevel.AesError):
        aes.encrypt_key(b"short", owner)
    with pytest.raises(everlevel.AesError):
        found.integers(3)
    with pytest.raises(everlevel.FormatError):
        aes.EncryptedBytes.from_bytes(key.to_bytes(), owner.params)
    with pytest.raises(everlevel.Error):
        aes.AesServer.open(tmp_path / "aes.keys", owner.params, method="sideways")
    assert (aes.method_for(owner.params, 16), aes.method_for(owner.params, 512)) == (
        "packed",
        "byte-sliced",
    )


def test_data_of_another_key_are_refused(owner):
    """Another AES key, another owner, an encrypted key that does not say which it is, bare data, a
    cut upload.
    """

    def refused(work, code, *parts):
        with pytest.raises(everlevel.Error) as told:
            work()
        assert told.value.code == code and all(part in str(told.value) for part in parts), (
            told.value
        )

    other, wrong = everlevel.Client(owner.params), bytes(16)
    upload = aes.Upload.encrypt(b"some data", KEY, owner)
    assert ctr(KEY, upload.iv, b"some data") == upload.to_bytes()[-9:] and upload.iv[12:] == bytes(
        4
    )
    assert upload.aes_key_id[:8] in repr(upload) and upload.aes_key_id == aes.key_id(KEY)
    server = aes.server(owner, method="byte-sliced")
    ids = [aes.key_id(k)[:8] for k in (KEY, wrong)]
    refused(
        lambda: server.transcipher(aes.encrypt_key(wrong, owner), upload), "aes.wrong-key", *ids
    )
    owners = [owner.key_id[:8], other.key_id[:8]]
    refused(
        lambda: server.transcipher(aes.encrypt_key(KEY, other), upload), "scheme.wrong-key", *owners
    )
    theirs = aes.Upload.encrypt(b"some data", KEY, other.public_key())
    refused(
        lambda: server.transcipher(aes.encrypt_key(KEY, owner), theirs), "scheme.wrong-key", *owners
    )
    unnamed = aes.EncryptedKey(aes.encrypt_key(KEY, owner)._rounds, "secret")
    unnamed = aes.EncryptedKey.from_bytes(unnamed.to_bytes(), owner.params)
    assert unnamed.aes_key_id is None
    refused(lambda: server.transcipher(unnamed, upload), "aes.unknown-key", ids[0])
    refused(lambda: server.transcipher(aes.encrypt_key(KEY, owner), b"some data"), "python.upload")
    refused(lambda: aes.Upload.from_bytes(upload.to_bytes()[:-1], owner.params), "wire.truncated")
    refused(lambda: aes.Upload.from_bytes(b"bare data under AES", owner.params), "wire.not-ours")
    refused(lambda: aes.Upload.of_data(b"x", "0" * 31, owner, iv=IV), "python.aes-key-id")
    refused(lambda: aes.Upload.encrypt(b"x", KEY[:15], owner), "aes.key-length")
    # Keys and vectors of zeros, for bytes of that number of them.
    refused(lambda: aes.Upload.encrypt(b"x", 16, owner), "python.buffer")
    refused(lambda: aes.encrypt_key(16, owner), "python.buffer")
    refused(lambda: aes.key_id(16), "python.buffer")
    refused(lambda: aes.Upload.of_data(b"x", aes.key_id(KEY), owner, iv=16), "python.buffer")
    told = everlevel.inspect(upload.to_bytes(), params=owner.params)
    assert (told["kind"], told["key_id"], told["records"]) == (
        "an upload under AES",
        owner.key_id,
        1,
    )
