"""Tests of ml-inference/train.py, on digits that it draws."""

import gzip
import importlib.util
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "ml-inference" / "train.py"


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class TrainTest(unittest.TestCase):
    """Each test has a directory of its own."""

    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name)

    def train(self, out: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Starts the program, with the model in a file here."""
        command = [sys.executable, str(PROGRAM), "--out", str(self.root / out), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_generated_digits_are_learnt_in_integers_that_fit(self) -> None:
        arguments = ["--generated", "2000", "--epochs", "6", "--seed", "7"]
        for out in ["a.json", "b.json"]:
            done = self.train(out, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.root / "a.json").read_text()
        self.assertEqual(text, (self.root / "b.json").read_text())
        model = json.loads(text)
        self.assertEqual(model["made"]["seed"], 7)
        accuracy = float(model["made"]["log"][-1].split()[5])
        self.assertGreater(accuracy, 0.9)
        for name, forms, values in [("hidden", 128, 484), ("results", 10, 128)]:
            self.assertEqual([len(form) for form in model[name]], [values + 1] * forms)
        self.assertLessEqual(max(abs(w) for form in model["hidden"] for w in form[1:]), 7)
        # The bounds, once more and in Python's integers; src/ml/model.rs checks them, too.
        squares, noise = [], []
        for form in model["hidden"]:
            above, below = (sum(max(0, sign * w) for w in form[1:]) for sign in (1, -1))
            squares.append(max((form[0] + 15 * above) ** 2, (form[0] - 15 * below) ** 2))
            noise.append((above + below + 1) ** 2)
        for form in model["results"]:
            for sign in [1, -1]:
                end = sum(max(0, sign * v) * x for v, x in zip(form[1:], squares))
                self.assertLessEqual(2 * abs(end + sign * form[0]), 68_719_230_976)
            self.assertLessEqual(sum(abs(v) * x for v, x in zip(form[1:], noise)) + 1, 1 << 29)

    def idx(self, name: str, shape: "tuple[int, ...]", data: bytes) -> None:
        """Writes a file in MNIST's format."""
        header = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
        text = header + data
        (self.root / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)

    def test_files_of_mnist(self) -> None:
        directory = ["--data", str(self.root), "--epochs", "1", "--hold-out", "20"]
        done = self.train("model.json", *directory)
        self.assertIn("found none", done.stderr)
        images, labels = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"
        self.idx(images, (120, 28, 28), bytes(range(196)) * 4 * 120)
        self.idx(labels, (120,), bytes(range(10)) * 12)
        done = self.train("model.json", *directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads((self.root / "model.json").read_text())["made"]
        self.assertEqual(made["data"], "100 of MNIST")
        (self.root / "model.json").unlink()
        for shape, data in [
            ((120,), bytes(119)),
            ((119,), bytes(119)),
            ((120,), bytes([10]) * 120),
        ]:
            self.idx(labels, shape, data)
            done = self.train("model.json", *directory)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("expected", done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertFalse((self.root / "model.json").exists())


if __name__ == "__main__":
    unittest.main()
