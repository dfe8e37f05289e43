"""Example 7. A researcher's corner: a custom digit polynomial, checked on every input in NumPy,
evaluated on ciphertexts, and compared with the library's.

The lowest balanced digit z of x = z + p m modulo p^2. The idea: x^p = z^p modulo p^2, whatever m
is, and z^p - z = p w(z) for a polynomial w modulo p, so that z = x^p - p w(x). (Halevi and Shoup
2015.) In Rust, example 07 goes on to programs at two moduli.

python python/examples/07_researchers_corner.py
"""

import numpy as np

import everlevel

p = 17
t = p * p
spec = everlevel.Params("bgv-17e4-m38309").spec
del spec["bootstrap"]
# A toy ring of 56 slots.
params = everlevel.Params(
    {**spec, "name": "insecure_bgv-17e2-m435", "index": 435, "plain_exponent": 2},
    insecure_research=True,
)

# w by interpolation at all digits: Lagrange's basis polynomial at z is 1 - (x - z)^(p - 1) modulo
# p.
digits = range(-(p // 2), p // 2 + 1)
w = np.zeros(p, dtype=int)
for z in digits:
    basis = np.array([1])
    for _ in range(p - 1):
        basis = np.convolve(basis, [-z, 1]) % p
    basis = -basis
    basis[0] += 1
    w = (w + ((z**p - z) // p) * basis) % p
assert not w[::2].any(), "w is odd"

# Proved: on all p^2 inputs.
xs = np.arange(t)
own = np.array(
    [(pow(int(x), p, t) - p * sum(int(c) * int(x) ** k for k, c in enumerate(w))) % t for x in xs]
)
balanced = (xs + p // 2) % p - p // 2
assert (own == balanced % t).all()

# Evaluated: powers of x are shared, and constants are centred, as noise grows by them.
client = everlevel.Client(params)
server = client.server()
values = np.arange(params.slots) ** 2 * 31 % t
x = server.load(client.encrypt_modular(values))
square = x * x
odd = [x]
while 2 * len(odd) + 1 < p:
    odd.append(odd[-1] * square)
centred = [int(c) - p if c > p // 2 else int(c) for c in w[1::2]]
digit = odd[-1] * square
for c, power in zip(centred, odd):
    if c:
        digit = digit - power * (p * c)
expected = ((values + p // 2) % p - p // 2) % t
assert (client.decrypt(digit) == expected).all()

library = x - x.clear_lowest_digit()
assert (client.decrypt(library) == expected).all()
for name, result in (("own, power by power", digit), ("library", library)):
    taken = x.capacity_bits - result.capacity_bits
    print(
        f"{name:20} depth {result.depth:2}, {taken:5.1f} bits of capacity, noise below "
        f"2^{result.noise_bound_bits:.1f}"
    )
print(f"p = {p}: both digits, all exact")
