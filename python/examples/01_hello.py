"""Example 1. Hello: twenty squarings of 2048 numbers, far past the last level, all exact.

python python/examples/01_hello.py
"""

import numpy as np

import everlevel

# A toy set for a quick run. For real data: everlevel.Params("bgv-65537-n15")
params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
client = everlevel.Client(params)  # holds the secret key
server = client.server()  # holds evaluation keys only

values = np.arange(params.slots)
x = server.load(client.encrypt_modular(values))
expected = values
for _ in range(20):
    x = x**2 + 1  # bootstraps by itself when it must
    expected = (expected**2 + 1) % 65537
assert (client.decrypt(x) == expected).all()
print(f"{params.slots} slots, {server.bootstraps} bootstraps, all exact")
