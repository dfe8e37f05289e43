"""How many people are of age and have less than 40 thousand a year."""

import numpy as np
from report import COUNT, report


def program(age, income):
    return np.count_nonzero((age >= 18) & (income < 40))


rng = np.random.default_rng(2)
age, income = rng.integers(0, 128, COUNT), rng.integers(0, 256, COUNT)
report(program, [(age, (0, 127)), (income, (0, 255))], program(age, income))
