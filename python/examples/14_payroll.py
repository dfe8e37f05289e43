"""Example 14. Payroll: wages from hours and rates, overtime, a progressive tax, shares in percent, and totals beyond 32 bits, computed by an office that sees no wage.

Nothing overflows: what a product or a sum can be follows from what its operands can be, and is printed.

python python/examples/14_payroll.py; with --secure at 128 bits: 20,000 people.
"""

import sys
import time

import numpy as np

import everlevel

#: From these wages on, in units of 5 cents, how many percent more are taken of what exceeds them.
BRACKETS = [(8_000, 10), (18_000, 12), (40_000, 13)]
SECURE = "--secure" in sys.argv
people = 20_000 if SECURE else 500


def payroll(hours, rate):
    """Wages and taxes, and how many percent of the hours are overtime, which is paid half as much again: of NumPy's arrays and of encrypted ones."""
    overtime = np.maximum(hours - 40, 0)
    wage = (2 * hours + overtime) * rate
    tax = sum(percent * np.maximum(wage - limit, 0) for limit, percent in BRACKETS) // 100
    return wage, tax, overtime * 100 // np.maximum(hours, 1)


rng = np.random.default_rng(14)
hours, rates = rng.integers(0, 61, people), rng.integers(120, 900, people)  # in tenths

params = everlevel.Params("bgv-65537-n15") if SECURE else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
client = everlevel.Client(params)
server = client.server()
h, r = server.load(client.encrypt(hours, bounds=(0, 63))), server.load(client.encrypt(rates, bounds=(0, 899)))

start = time.monotonic()
wage, tax, share = payroll(h, r)
paid, taken, most = (wage - tax).sum(), tax.sum(), np.count_nonzero(share >= 25)
print(f"{time.monotonic() - start:.1f} s, {server.bootstraps} refreshes")
for name, x in (("wage", wage), ("tax", tax), ("share", share), ("all wages", paid)):
    print(f"{name}: {x.interval[0]:,} to {x.interval[1]:,}")

expected = payroll(hours, rates)
for found, known in zip((wage, tax, share), expected):
    np.testing.assert_array_equal(client.decrypt(found), known)
assert client.decrypt(paid) == (expected[0] - expected[1]).sum()
assert client.decrypt(taken) == expected[1].sum()
assert client.decrypt(most) == np.count_nonzero(expected[2] >= 25)
print(f"{people} people are paid {client.decrypt(paid) / 20:,.2f} and taxed {client.decrypt(taken) / 20:,.2f}, all exact")
