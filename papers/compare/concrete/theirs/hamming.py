"""In how many bits two bytes differ."""

import numpy as np
from concrete import fhe
from report import report

BITS = [bin(x).count("1") for x in range(256)]
ONES = fhe.LookupTable(BITS)


@fhe.compiler({"x": "encrypted", "y": "encrypted"})
def program(x, y):
    return ONES[x ^ y]


COUNT = 4
rng = np.random.default_rng(4)
x, y = rng.integers(0, 256, (2, COUNT))
circuit = program.compile([tuple(rng.integers(0, 256, (2, COUNT))) for _ in range(200)])
report(circuit, (x, y), np.array(BITS)[x ^ y])
