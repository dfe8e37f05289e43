"""Example 4. Encrypted lookup: a client sends an encrypted key, a server finds the entry of its
table without learning which one.

Equality in two ways: by Fermat, 1 - (x - key)^(p - 1), for keys modulo p; and digit by digit for
keys modulo p^2: a difference is 0 if its digits are.

python python/examples/04_encrypted_lookup.py [--secure]
"""

import pathlib
import sys
import tempfile

import numpy as np

import everlevel

secure = "--secure" in sys.argv


def named(name: str) -> everlevel.Params:
    return (
        everlevel.Params(name)
        if secure
        else everlevel.Params("insecure_" + name, insecure_research=True)
    )


class Asker:
    """Has the secret key."""

    def __init__(self, params: everlevel.Params) -> None:
        self.client = everlevel.Client(params)

    def query(self, key: int) -> bytes:
        return self.client.encrypt_modular(np.full(self.client.params.slots, key)).to_bytes()

    def read(self, answer: bytes) -> int:
        return int(self.client.decrypt(answer))


class Lookup:
    """The server: a table of public keys and values, and server keys."""

    def __init__(
        self,
        params: everlevel.Params,
        server_keys: pathlib.Path,
        keys: np.ndarray,
        values: np.ndarray,
    ) -> None:
        self.server = everlevel.Server.open(server_keys, params=params)
        self.keys, self.values = keys, values

    def small(self, query: bytes) -> bytes:
        """Keys below p."""
        x = self.server.read(query, bounds="fresh")
        return self.one_of((x.equals(self.keys) * self.values).sum())

    def large(self, query: bytes) -> bytes:
        """Keys below p^2.

        Of the difference d truncation leaves the upper digit; p d has the lower digit of d for its
        upper one.
        """
        difference, p = (
            self.server.read(query, bounds="fresh") - self.keys,
            self.server.params.plain_prime,
        )
        upper, lower = (self.residues(x).truncate(1) for x in (difference, difference * p))
        return self.one_of((upper.equals(0) * lower.equals(0) * self.values).sum())

    def residues(self, x: everlevel.EncryptedArray) -> everlevel.EncryptedArray:
        """As the integers of least absolute value, of which truncation gives the upper digit:
        differences and products may have wrapped.
        """
        half = self.server.params.plain_modulus // 2
        return x.within(-half, half)

    def one_of(self, total: everlevel.EncryptedArray) -> bytes:
        """Keys differ, so the sum is the value of one of them, or 0."""
        return total.within(0, int(self.values.max())).compact()


# An entry a slot.
for name, method in (
    ("bgv-257-n15" if secure else "bgv-257-n8", "small"),
    ("bfv-127e2-n15" if secure else "bfv-127e2-n8", "large"),
):
    params = named(name)
    p, t = params.plain_prime, params.plain_modulus
    i = np.arange(params.slots)
    keys, values, missing = i * 7919 % t if t > p else 3 * i % p, 1 + i * i % 100, 1 if t > p else 2
    assert missing not in keys and len(set(keys)) == len(keys)
    asker = Asker(params)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "server.keys"
        asker.client.save_server_keys(path)
        lookup = Lookup(params, path, keys, values)
        for key, expected in ((keys[17], values[17]), (missing, 0)):
            answer = getattr(lookup, method)(asker.query(int(key)))
            assert asker.read(answer) == expected
    print(f"{params.slots} keys modulo {t}: a key that is there and one that is not, exact")
