"""A network of whole numbers: eight inputs, four hidden neurons with ReLU, two outputs."""

import numpy as np
from report import COUNT, report

rng = np.random.default_rng(6)
HIDDEN, OUT = rng.integers(-3, 4, (4, 8)), rng.integers(-3, 4, (2, 4))


def program(x):
    return OUT @ np.maximum(HIDDEN @ x, 0)


x = rng.integers(0, 16, (8, COUNT))
report(program, [(x, (0, 15))], program(x))
