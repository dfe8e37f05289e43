"""The edit distance of words of four letters."""

import numpy as np
from concrete import fhe
from report import report


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            near = np.minimum(row[j] + 1, row[j - 1] + 1)
            last, row[j] = row[j], np.minimum(near, last + (x != y))
    return row[-1]


@fhe.compiler({"a": "encrypted", "b": "encrypted"})
def program(a, b):
    return distance([a[i] for i in range(4)], [b[i] for i in range(4)])


COUNT = 2
rng = np.random.default_rng(7)
a, b = rng.integers(0, 26, (2, 4, COUNT))
b[:3] = a[1:]
circuit = program.compile([tuple(rng.integers(0, 26, (2, 4, COUNT))) for _ in range(300)])
report(circuit, (a, b), distance(list(a), list(b)))
