"""The numbered examples run as programs, and say what they should; they mirror those of Rust."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example(path):
    if path.stem == "12_decision_trees":
        pytest.importorskip(
            "sklearn", reason="scikit-learn is not installed: pip install 'everlevel[examples]'"
        )
    if path.stem == "06_aes_upload":
        pytest.importorskip(
            "cryptography", reason="cryptography is not installed: pip install 'everlevel[test]'"
        )
    # As in pyproject.toml: what a package says of its next versions is no fault of the example.
    strict = ["-W", "error", "-W", "ignore::DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *strict, path], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    expected = {
        "01_hello": r"2048 slots, [1-9]\d* bootstraps, all exact",
        "02_levels_and_refresh": r"\d+ products with [1-9]\d* bootstraps, all exact",
        "03_private_statistics": r"age 47\.\d ± 17\.\d, income .* "
        r"correlation 0\.\d+: five sums, all exact",
        "04_encrypted_lookup": r"64 keys modulo 16129: "
        r"a key that is there and one that is not, exact",
        "05_comparison_and_truncation": r"56 areas, [1-9]\d* of them below 32\.5, all exact",
        "06_aes_upload": r"256 movements under AES add up to -?\d+ modulo 2\^16, "
        r"in an answer of \d+ bytes",
        "07_researchers_corner": r"p = 17: both digits, all exact",
        "08_typed_integers": r"2041 customers, \d+ of working age, "
        r"fees of \d+; \d+ ciphertexts refreshed",
        "09_credit_scoring": r"500 applicants, [1-9]\d* of them with a limit, all exact",
        "10_salaries": r"300 salaries of \d+ on average, \d+ above 60,000, \d+ raised, all exact",
        "11_neural_network": r"2048 pictures read by 12 neurons and 10, all as in NumPy, all exact",
        "12_decision_trees": r"2048 applicants, [1-9]\d* of whom repay, "
        r"by 13 trees of integers, all exact",
        "13_edit_distance": r"2048 names, [1-9]\d* of them at most a letter from martin, all exact",
        "14_payroll": r"500 people are paid [\d,]+\.\d\d and taxed [\d,]+\.\d\d, all exact",
        "15_checksums": r"2048 account numbers of 2 bytes, [1-9]\d* of them in bucket 7, all exact",
    }
    assert re.fullmatch(expected[path.stem], last), last


def test_there_are_fifteen_with_headers():
    assert [path.stem[:3] for path in EXAMPLES] == [f"{i:02}_" for i in range(1, 16)]
    for number, path in enumerate(EXAMPLES, 1):
        head = path.read_text().split('"""')[1]
        assert (
            head.startswith(f"Example {number}. ") and f"python python/examples/{path.name}" in head
        ), path.name


def test_rust_has_the_same():
    rust = ROOT.parent / "everlevel" / "examples"
    if not rust.is_dir():
        pytest.skip("the Rust sources are not here")
    assert {path.stem for path in EXAMPLES if path.stem < "09"} == {
        path.stem for path in rust.glob("*.rs") if path.stem < "09"
    }
