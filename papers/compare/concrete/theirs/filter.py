"""How many people are of age and have less than 40 thousand a year."""

import numpy as np
from concrete import fhe
from report import report


@fhe.compiler({"age": "encrypted", "income": "encrypted"})
def program(age, income):
    return np.sum((age >= 18) & (income < 40))


COUNT = 4
rng = np.random.default_rng(2)
age, income = rng.integers(0, 128, COUNT), rng.integers(0, 256, COUNT)
inputs = [(rng.integers(0, 128, COUNT), rng.integers(0, 256, COUNT)) for _ in range(200)]
circuit = program.compile(inputs)
report(circuit, (age, income), np.sum((age >= 18) & (income < 40)))
