"""Example 2. Levels and refresh: what a product takes from a ciphertext, what bootstrapping gives
back, and a server that does it by itself.

python python/examples/02_levels_and_refresh.py [--secure]
"""

import sys

import numpy as np

import everlevel

if "--secure" in sys.argv:
    params = everlevel.Params("bgv-257-n15")
else:
    params = everlevel.Params("insecure_bgv-257-n8", insecure_research=True)  # a toy ring
client = everlevel.Client(params)
server = client.server()
values = np.arange(params.slots)


def step(v):
    return (v * v + 3) % params.plain_modulus


# Every product needs room for its noise, and takes it from the modulus.
x = server.load(client.encrypt_modular(values))
products, capacity = 0, x.capacity_bits
while not server.bootstraps:
    print(
        f"{products:2} products: noise below 2^{x.noise_bound_bits:4.1f}, {x.capacity_bits:5.1f} "
        "bits left"
    )
    assert x.capacity_bits <= capacity
    capacity = x.capacity_bits
    x, values, products = x**2 + 3, step(values), products + 1
# The last product did not fit any more: its operand was refreshed first.
print(
    f"{products:2} products, the last of them after a bootstrapping: {x.capacity_bits:5.1f} bits "
    "left"
)
assert (client.decrypt(x) == values).all()

# By hand.
fresh = x.refresh()
print(f"refreshed: from {x.capacity_bits:.1f} bits to {fresh.capacity_bits:.1f}")
assert (client.decrypt(fresh) == values).all()

# By itself, without an end.
x = fresh
for _ in range(50):
    x, values = x**2 + 3, step(values)
assert (client.decrypt(x) == values).all()
print(f"{products + 50} products with {server.bootstraps} bootstraps, all exact")
