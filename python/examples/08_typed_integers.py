"""Example 8. Typed integers: ages, balances and bonuses of customers, a filter, a fee by brackets,
a table, the greater of two columns, and totals, all exact.

python python/examples/08_typed_integers.py; with --secure at 128 bits: 32,761 customers, in 3.2
GiB.
"""

import sys

import numpy as np

import everlevel

SECURE = "--secure" in sys.argv
params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
server = client.server()

# The client's columns: what values can be is public, the values are not.
i = np.arange(params.slots - 7)
ages, balances, bonuses = (
    18 + i * 37 % 83,
    (i * 40_503 % 65_536).astype(np.uint16),
    (i * 2_749 % 9_000 - 4_500).astype(np.int16),
)
age = client.encrypt(ages, bounds=(18, 100))
balance, bonus = client.encrypt(balances), client.encrypt(bonuses)

# The server. A public integer stands for an array of it.
age, balance, bonus = (server.load(x) for x in (age, balance, bonus))
risks = (np.arange(101) - 50) ** 2 // 7
working = (age >= 25) & (age < 65)
fee = np.where(balance < 1_000, 12, np.where(balance < 50_000, 5, 0))
risk = everlevel.Table(risks)[age]
better = np.maximum(bonus, 100)
people, income = np.count_nonzero(working), np.where(working, fee, 0).sum()

# The client again.
fees = np.where(balances < 1_000, 12, np.where(balances < 50_000, 5, 0))
is_working = (ages >= 25) & (ages < 65)
np.testing.assert_array_equal(client.decrypt(fee), fees)
np.testing.assert_array_equal(client.decrypt(risk), risks[ages])
np.testing.assert_array_equal(client.decrypt(better), np.maximum(bonuses, 100))
assert client.decrypt(people) == np.count_nonzero(is_working)
assert client.decrypt(income) == fees[is_working].sum()
print(
    f"{len(i)} customers, {client.decrypt(people)} of working age, fees of "
    f"{client.decrypt(income)}; {server.bootstraps} ciphertexts refreshed"
)
