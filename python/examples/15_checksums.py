"""Example 15. Checksums: FNV-1a of encrypted account numbers, with arithmetic modulo 2^32 as
NumPy's, and which accounts fall in the bucket that is asked for.

Elsewhere typed integers never wrap. Here they do, as ``wrapping`` says so.

python python/examples/15_checksums.py; with --secure at 128 bits: 32,768 account numbers.
"""

import sys
import time

import numpy as np

import everlevel

SECURE = "--secure" in sys.argv
BYTES = 4 if SECURE else 2


def fnv1a(hashed, octets):
    """The hash of rows of bytes, from the start value on."""
    for octet in octets:
        hashed = (hashed ^ octet) * np.uint32(16_777_619)
    return hashed


params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
server = client.server()
accounts = np.random.default_rng(15).integers(0, 256, (BYTES, params.slots)).astype(np.uint8)
x = server.load(client.encrypt(accounts, rows=True))

start = time.monotonic()
basis = np.full(params.slots, 2_166_136_261, np.uint32)
hashed = fnv1a(server.load(client.encrypt(basis)).wrapping(), x)
bucket = hashed.checked() % 16
chosen = np.count_nonzero(bucket == 7)
print(f"{time.monotonic() - start:.1f} s, {server.bootstraps} refreshes")

expected = fnv1a(basis, accounts)
np.testing.assert_array_equal(client.decrypt(hashed), expected)
np.testing.assert_array_equal(client.decrypt(bucket), expected % 16)
assert client.decrypt(chosen) == np.count_nonzero(expected % 16 == 7)
print(
    f"{params.slots} account numbers of {BYTES} bytes, {client.decrypt(chosen)} of them in bucket "
    "7, all exact"
)
