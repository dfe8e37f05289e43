"""The greater of two bytes."""

import numpy as np
from report import COUNT, report


def program(x, y):
    return np.maximum(x, y)


rng = np.random.default_rng(3)
x, y = rng.integers(0, 256, (2, COUNT))
report(program, [(x, (0, 255)), (y, (0, 255))], program(x, y))
