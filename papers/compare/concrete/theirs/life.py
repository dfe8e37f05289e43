"""A generation of the game of life: what cells become, from themselves and their neighbours."""

import numpy as np
from concrete import fhe
from report import report

# By the number of living neighbours, and 9 more if the cell lives.
NEXT = [int(n == 3 or n == 11 or n == 12) for n in range(18)]
BECOMES = fhe.LookupTable(NEXT + [0] * 14)


@fhe.compiler({"cell": "encrypted", "around": "encrypted"})
def program(cell, around):
    return BECOMES[np.sum(around, axis=0) + 9 * cell]


COUNT = 4
rng = np.random.default_rng(5)
cell, around = rng.integers(0, 2, COUNT), rng.integers(0, 2, (8, COUNT))
inputs = [(rng.integers(0, 2, COUNT), rng.integers(0, 2, (8, COUNT))) for _ in range(200)]
circuit = program.compile(inputs + [(np.ones(COUNT, int), np.ones((8, COUNT), int))])
report(circuit, (cell, around), np.array(NEXT)[around.sum(axis=0) + 9 * cell])
