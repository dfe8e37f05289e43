"""The greater of two bytes."""

import numpy as np
from concrete import fhe
from report import report


@fhe.compiler({"x": "encrypted", "y": "encrypted"})
def program(x, y):
    return np.maximum(x, y)


COUNT = 4
rng = np.random.default_rng(3)
x, y = rng.integers(0, 256, (2, COUNT))
circuit = program.compile([tuple(rng.integers(0, 256, (2, COUNT))) for _ in range(200)])
report(circuit, (x, y), np.maximum(x, y))
