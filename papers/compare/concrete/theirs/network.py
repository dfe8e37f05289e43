"""A network of whole numbers: eight inputs, four hidden neurons with ReLU, two outputs."""

import numpy as np
from concrete import fhe
from report import report

rng = np.random.default_rng(6)
HIDDEN, OUT = rng.integers(-3, 4, (4, 8)), rng.integers(-3, 4, (2, 4))


def scores(x):
    return OUT @ np.maximum(HIDDEN @ x, 0)


@fhe.compiler({"x": "encrypted"})
def program(x):
    return scores(x)


COUNT = 4
x = rng.integers(0, 16, (8, COUNT))
circuit = program.compile([rng.integers(0, 16, (8, COUNT)) for _ in range(300)])
report(circuit, (x,), scores(x))
