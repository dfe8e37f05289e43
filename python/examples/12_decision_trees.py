"""Example 12. Decision trees: a tree and gradient-boosted trees of scikit-learn, which say whether
a loan is repaid, on applicants whose data the bank never sees.

Trees compare features with thresholds. Features are integers of 4 bits, so that a comparison with a
threshold is one with an integer, exactly; what the leaves of the boosted trees add up is rounded to
integers. Then every answer is that of the integer model, and of how many that of scikit-learn's is
said.

pip install scikit-learn; python python/examples/12_decision_trees.py; with --secure at 128 bits:
32,768 applicants.
"""

import sys
import time

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import everlevel

SCALE = 16  # of what leaves add up
SECURE = "--secure" in sys.argv
rng = np.random.default_rng(12)


def applicants(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Age, income, debt, years of employment, late payments and savings in 16 brackets each, one
    applicant a row; and who repays.
    """
    x = rng.integers(0, 16, (count, 6))
    age, income, debt, years, late, savings = x.T
    risk = (
        2 * debt
        - income
        + 3 * np.maximum(late - 9, 0)
        - np.minimum(years, 6)
        - savings // 2
        + np.abs(age - 8) // 2
    )
    return x, risk + rng.normal(0, 3, count) < 4


def integer_tree(tree, leaf) -> tuple:
    """A tree of scikit-learn as (feature, threshold, left, right), or a leaf: x <= 3.5 is x <= 3
    for integers.
    """

    def node(i: int):
        if tree.children_left[i] < 0:
            return leaf(tree.value[i])
        return (
            int(tree.feature[i]),
            int(np.floor(tree.threshold[i])),
            node(tree.children_left[i]),
            node(tree.children_right[i]),
        )

    return node(0)


def walk(tree, x):
    """The leaves that entries of x come to: a row of x for each feature."""
    if not isinstance(tree, tuple):
        return tree
    feature, threshold, left, right = tree
    return np.where(x[feature] <= threshold, walk(left, x), walk(right, x))


def one_tree(x):
    return walk(tree, x)


def boosted(x):
    return np.stack([walk(tree, x) for tree in forest]).sum(axis=0) + first > 0


data, repaid = applicants(5_000)
model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(data, repaid)
tree = integer_tree(model.tree_, lambda value: int(np.argmax(value)))
booster = GradientBoostingClassifier(
    n_estimators=12, max_depth=3, learning_rate=0.4, random_state=0
).fit(data, repaid)
forest = [
    integer_tree(
        part[0].tree_, lambda value: round(SCALE * booster.learning_rate * float(value[0, 0]))
    )
    for part in booster.estimators_
]
first = round(SCALE * float(np.log(repaid.mean() / (1 - repaid.mean()))))

params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
server = client.server()
people, repay = applicants(params.slots)
x = server.load(client.encrypt(people.T, bounds=(0, 15), rows=True))

for name, run, scikit in (("a tree", one_tree, model), ("boosted trees", boosted, booster)):
    start, before = time.monotonic(), server.bootstraps
    found = run(x)
    seconds, refreshes = time.monotonic() - start, server.bootstraps - before
    answers = client.decrypt(found)
    np.testing.assert_array_equal(answers, run(people.T))
    alike, right = np.mean(answers == scikit.predict(people)), np.mean(answers == repay)
    print(
        f"{name}: {seconds:.1f} s, {refreshes} refreshes; as scikit-learn for {alike:.2%}, right "
        f"for {right:.1%}"
    )
    if run is one_tree:
        assert alike == 1
print(
    f"{len(people)} applicants, {sum(answers)} of whom repay, by {1 + len(forest)} trees of "
    "integers, all exact"
)
