"""In how many bits two bytes differ."""

import numpy as np
from report import COUNT, report


def program(x, y):
    return np.bitwise_count(x ^ y)


rng = np.random.default_rng(4)
x, y = rng.integers(0, 256, (2, COUNT))
bits = np.array([bin(v).count("1") for v in range(256)])
report(program, [(x, (0, 255)), (y, (0, 255))], bits[x ^ y])
