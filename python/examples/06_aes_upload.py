"""Example 6. AES upload: a column of 16-bit integers that its owner keeps under AES-CTR.

What travels: once the server keys and the AES key, encrypted; then data in the size that they have
under AES, with a label of 174 bytes; back one compact ciphertext.

python python/examples/06_aes_upload.py [--secure]
"""

import os
import pathlib
import sys
import tempfile

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import everlevel
from everlevel import aes

IV = b"account 4711\0\0\0\0"  # the first counter block


class Owner:
    """Has the secret key of the scheme, and that of AES."""

    def __init__(self, params: everlevel.Params) -> None:
        self.client, self.key = everlevel.Client(params), os.urandom(16)

    def introduce(self, keys: pathlib.Path) -> bytes:
        """Once: server keys to a file, the AES key under encryption as bytes."""
        aes.save_server_keys(self.client, keys, integers=True)
        return aes.encrypt_key(self.key, self.client).to_bytes()

    def upload(self, movements: np.ndarray) -> bytes:
        """AES-CTR as ever, by another implementation of it (``aes.Upload.encrypt`` is the one
        here), and what the server has to know of the data.
        """
        encryptor = Cipher(algorithms.AES(self.key), modes.CTR(IV)).encryptor()
        data = encryptor.update(movements.astype(">i2").tobytes()) + encryptor.finalize()
        return aes.Upload.of_data(
            data, aes.key_id(self.key), self.client, mode="ctr", iv=IV
        ).to_bytes()

    def read(self, answer: bytes) -> int:
        return int(self.client.decrypt(answer, signed=True, all_slots=True)[0])


def serve(params: everlevel.Params, keys: pathlib.Path, key: bytes, upload: bytes) -> bytes:
    """The server: AES-CTR undone under encryption, pairs of bytes as integers modulo 2^16, and the
    sum of them all. An upload under another AES key is refused.
    """
    server = aes.AesServer.open(keys, params, method="byte-sliced")
    found = server.transcipher(
        aes.EncryptedKey.from_bytes(key, params, bounds="fresh"),
        aes.Upload.from_bytes(upload, params),
    )
    columns = found.integers(2, byteorder="big", server=aes.compute_server(server))
    return sum(columns[1:], columns[0]).sum().compact()


if "--secure" in sys.argv:
    params = everlevel.Params("aes-bgv-leveled")
else:
    # A toy ring of 32 slots.
    toy = {**everlevel.Params("aes-bgv-leveled").spec, "name": "insecure_aes-m1649", "index": 1649}
    params = everlevel.Params(toy, insecure_research=True)
# Movements of an account: eight in a block, a block a slot.
movements = np.arange(8 * params.slots) * 7919 % 2003 - 1000

owner = Owner(params)
with tempfile.TemporaryDirectory() as directory:
    keys = pathlib.Path(directory) / "server.keys"
    key, upload = owner.introduce(keys), owner.upload(movements)
    print(f"bytes: server keys {keys.stat().st_size}, AES key {len(key)}, upload {len(upload)}")
    answer = serve(params, keys, key, upload)
total = owner.read(answer)
assert total == int(movements.sum().astype(np.int16))
print(
    f"{len(movements)} movements under AES add up to {total} modulo 2^16, in an answer of "
    f"{len(answer)} bytes"
)
