#!/usr/bin/env python3
"""Trains the model of ml-inference and writes it in integers, with bounds that hold for any image.

    train.py --data DIR [--out FILE] [--seed N] [--epochs N] [--hold-out N]
    train.py --generated COUNT [...]

DIR holds MNIST in its own files (IDX, gzip or not), here or below, as the harness downloads it:
harness/mnist/data, or datasets/NAME. Without its test files --hold-out keeps some of the images for
the test. --generated draws digits, for tests of this program. Needs NumPy alone, and a minute.
"""

import argparse
import gzip
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

# As in src/ml: protocol.rs has the shape and the parameters, model.rs the bounds.
SIDE, MARGIN, LEVEL = 28, 3, 15
INPUTS, HIDDEN, CLASSES = (SIDE - 2 * MARGIN) ** 2, 128, 10
MODULUS, TERMS, LARGEST = 68_719_230_977, 1 << 29, 1 << 15
# Weights of pixels are integers up to this, of which one is this many deviations of a form.
WEIGHT, DEVIATIONS = 7, 3.5
MODEL = Path(__file__).resolve().parent.parent / "src" / "ml" / "model.json"
BATCH, RATE, DECAY, SHIFT = 100, 2e-3, 1e-4, 2

Array = np.ndarray[Any, Any]


def fail(message: str) -> NoReturn:
    """Ends with a message."""
    sys.exit(f"train.py: {message}")


def read_idx(path: Path, dimensions: int) -> Array:
    """The bytes of a file in MNIST's format."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    start = 4 + 4 * dimensions
    known = len(data) >= start and data[:4] == bytes([0, 0, 8, dimensions])
    shape = tuple(int(n) for n in np.frombuffer(data[4:start], ">u4")) if known else ()
    if not known or len(data) - start != np.prod(shape, dtype=object):
        fail(f"{path}: expected {dimensions} dimensions of bytes, all of them, found others")
    return np.frombuffer(data[start:], np.uint8).reshape(shape)


@dataclass
class Digits:
    """Images of 28 by 28 bytes with their labels."""

    images: Array
    labels: Array

    def __post_init__(self) -> None:
        if self.images.shape != (len(self.labels), SIDE, SIDE) or (self.labels >= CLASSES).any():
            fail(f"expected a label below 10 for each image of {SIDE} x {SIDE} pixels")

    def split(self, count: int, rng: np.random.Generator) -> "tuple[Digits, Digits]":
        """All but some that are drawn, and these."""
        order = rng.permutation(len(self.labels))
        parts = order[count:], order[:count]
        kept, drawn = (Digits(self.images[part], self.labels[part]) for part in parts)
        return kept, drawn

    def levels(self, right: int = 0, down: int = 0) -> Array:
        """The inputs of the model: what is left of the images, moved, in levels."""
        rows, columns = (slice(MARGIN - by, SIDE - MARGIN - by) for by in (down, right))
        cut = self.images[:, rows, columns].reshape(len(self.images), INPUTS)
        return np.floor(cut * (LEVEL / 255) + 0.5)


def mnist(directory: Path, part: str) -> "Digits | None":
    """The images of a part, `train` or `t10k`, if they are there."""
    files = [
        sorted(directory.rglob(f"{part}-{kind}-ubyte*")) for kind in ["images-idx3", "labels-idx1"]
    ]
    if not all(files):
        return None
    return Digits(read_idx(files[0][0], 3), read_idx(files[1][0], 1))


# Digits as lines between points of a square, the first coordinate to the right, the second down.
ROUND = [(0.5 + 0.35 * np.cos(a), 0.5 + 0.5 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 13)]
STROKES: "list[list[tuple[float, float]]]" = [
    ROUND,
    [(0.35, 0.2), (0.55, 0), (0.55, 1)],
    [(0.15, 0.2), (0.5, 0), (0.85, 0.25), (0.15, 1), (0.85, 1)],
    [(0.15, 0), (0.85, 0), (0.45, 0.45), (0.85, 0.7), (0.5, 1), (0.15, 0.9)],
    [(0.7, 1), (0.7, 0), (0.1, 0.65), (0.9, 0.65)],
    [(0.85, 0), (0.2, 0), (0.2, 0.45), (0.7, 0.45), (0.85, 0.75), (0.5, 1), (0.15, 0.9)],
    [(0.75, 0), (0.25, 0.5), (0.2, 0.8), (0.5, 1), (0.8, 0.8), (0.6, 0.55), (0.25, 0.65)],
    [(0.15, 0), (0.85, 0), (0.4, 1)],
    [(0.5, 0.45), (0.2, 0.2), (0.5, 0), (0.8, 0.2), (0.2, 0.8), (0.5, 1), (0.8, 0.8), (0.5, 0.45)],
    [(0.75, 0.35), (0.45, 0.45), (0.2, 0.2), (0.5, 0), (0.75, 0.2), (0.7, 1)],
]


def generated(count: int, rng: np.random.Generator) -> Digits:
    """Digits that are drawn, turned, stretched and moved at random."""
    labels = rng.integers(0, CLASSES, count).astype(np.uint8)
    places = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 1, 2)
    images = np.empty((count, SIDE * SIDE), np.uint8)
    for image, label in zip(images, labels):
        turn = np.eye(2) + rng.normal(0, 0.12, (2, 2))
        points = (np.array(STROKES[label]) - 0.5) @ turn * rng.uniform(14, 19) + rng.normal(
            13.5, 0.8, 2
        )
        start, line = points[:-1], np.diff(points, axis=0)
        along = ((places - start) * line).sum(-1) / (line**2).sum(-1)
        nearest = start + np.clip(along, 0, 1)[..., None] * line
        distance = np.sqrt(((places - nearest) ** 2).sum(-1)).min(-1)
        image[:] = 255 * np.clip(rng.uniform(1.3, 2.2) - distance, 0, 1)
    return Digits(images.reshape(-1, SIDE, SIDE), labels)


@dataclass
class Layers:
    """What is trained: weights and constants of both layers, as real numbers."""

    values: "list[Array]"

    @staticmethod
    def draw(rng: np.random.Generator) -> "Layers":
        first = rng.normal(0, 1.5 / np.sqrt(INPUTS), (HIDDEN, INPUTS))
        second = rng.normal(0, 1 / np.sqrt(HIDDEN), (CLASSES, HIDDEN))
        return Layers([first, np.zeros(HIDDEN), second, np.zeros(CLASSES)])

    def quantized(self) -> "tuple[Array, Array]":
        """The weights of pixels in integers, and the unit of each form."""
        unit = self.values[0].std(axis=1, keepdims=True) * DEVIATIONS / WEIGHT + 1e-12
        return np.clip(np.rint(self.values[0] / unit), -WEIGHT, WEIGHT), unit

    def gradients(self, x: Array, labels: Array) -> "list[Array]":
        """Of the cross entropy; the rounding of weights passes them on as they are."""
        _, b, v, c = self.values
        integers, unit = self.quantized()
        w = integers * unit
        h = x @ w.T + b
        z = h**2 @ v.T + c
        z = np.exp(z - z.max(axis=1, keepdims=True))
        z /= z.sum(axis=1, keepdims=True)
        z[np.arange(len(x)), labels] -= 1
        z /= len(x)
        dh = 2 * h * (z @ v)
        return [dh.T @ x, dh.sum(axis=0), z.T @ h**2, z.sum(axis=0)]

    def integers(self) -> "Model":
        """The model in integers, with the finest second layer that the bounds allow."""
        first, unit = self.quantized()
        _, b, v, c = self.values
        hidden = np.column_stack([np.rint(LEVEL * b / unit[:, 0]), first])
        second = np.column_stack([LEVEL**2 * c, v * unit[:, 0] ** 2])
        scale = (LARGEST - 1) / np.abs(second[:, 1:]).max()
        while not (model := Model(hidden, np.rint(second * scale))).fits():
            scale *= 0.99
        return model


@dataclass
class Model:
    """Forms in integers: what is added, then the weights."""

    hidden: Array
    results: Array

    def evaluate(self, levels: Array) -> Array:
        """The results; exact, as no sum of magnitudes reaches 2^53."""
        h = levels @ self.hidden[:, 1:].T + self.hidden[:, 0]
        return h**2 @ self.results[:, 1:].T + self.results[:, 0]

    def accuracy(self, digits: Digits) -> float:
        """The share of images whose label has the largest result."""
        return float((self.evaluate(digits.levels()).argmax(axis=1) == digits.labels).mean())

    def fits(self) -> bool:
        """Whether no image can make a result wrap, or noise exceed the modulus."""
        above, below = (np.clip(self.hidden[:, 1:] * sign, 0, None).sum(axis=1) for sign in (1, -1))
        ends = [self.hidden[:, 0] + LEVEL * above, self.hidden[:, 0] - LEVEL * below]
        squares = np.maximum(*(end**2 for end in ends))
        v, c = self.results[:, 1:], self.results[:, 0]
        results = [np.clip(v * sign, 0, None) @ squares + sign * c for sign in (1, -1)]
        noise = np.abs(v) @ (above + below + 1) ** 2 + 1
        wrap = max(np.abs(end).max() for end in results) > (MODULUS - 1) // 2
        return not wrap and noise.max() <= TERMS and np.abs(v).max() < LARGEST

    def write(self, path: Path, made: "dict[str, Any]") -> None:
        """Writes it as src/ml/model.rs reads it, a form a line."""
        lines = [f'"made": {json.dumps(made)}']
        for name, forms in [("hidden", self.hidden), ("results", self.results)]:
            rows = ",\n".join(
                json.dumps([int(w) for w in form], separators=(",", ":")) for form in forms
            )
            lines.append(f'"{name}": [\n{rows}\n]')
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def train(
    digits: Digits, test: Digits, epochs: int, rng: np.random.Generator
) -> "tuple[Model, list[str]]":
    """The model, and the lines that were printed. Adam, its rate falling as a cosine; images are
    moved by up to two pixels."""
    layers, log = Layers.draw(rng), []
    moments = [[np.zeros_like(v), np.zeros_like(v)] for v in layers.values]
    steps, step = max(1, epochs * (len(digits.labels) // BATCH)), 0
    for epoch in range(1, epochs + 1):
        order = rng.permutation(len(digits.labels))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            part = Digits(digits.images[batch], digits.labels[batch])
            right, down = (int(by) for by in rng.integers(-SHIFT, SHIFT + 1, 2))
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for value, moment, gradient in zip(
                layers.values,
                moments,
                layers.gradients(part.levels(right, down) / LEVEL, part.labels),
            ):
                moment[0] += 0.1 * (gradient - moment[0])
                moment[1] += 0.001 * (gradient**2 - moment[1])
                mean = moment[0] / (1 - 0.9**step)
                value -= rate * (
                    mean / (np.sqrt(moment[1] / (1 - 0.999**step)) + 1e-8) + DECAY * value
                )
        accuracy = layers.integers().accuracy(test)
        log.append(f"epoch {epoch}: accuracy in integers {accuracy:.4f} on {len(test.labels)}")
        print(log[-1], flush=True)
    return layers.integers(), log


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, metavar="DIR", help="where MNIST's files are")
    source.add_argument("--generated", type=int, metavar="COUNT", help="draw digits instead")
    parser.add_argument(
        "--out", type=Path, default=MODEL, help="the model (default: src/ml/model.json)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn (default: 1)")
    parser.add_argument("--epochs", type=int, default=30, help="(default: 30)")
    parser.add_argument("--hold-out", type=int, metavar="N", help="images of --data for the test")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    if arguments.data:
        digits, test = mnist(arguments.data, "train"), mnist(arguments.data, "t10k")
        name = "MNIST"
    else:
        digits, test, name = generated(arguments.generated, rng), None, "generated digits"
        arguments.hold_out = arguments.hold_out or arguments.generated // 5
    if digits is None:
        fail(f"{arguments.data}: expected MNIST's files of images and labels, found none")
    if arguments.hold_out:
        digits, test = digits.split(arguments.hold_out, rng)
    if test is None or len(digits.labels) < BATCH or len(test.labels) < 1:
        fail(f"expected at least {BATCH} images and some for the test: their files, or --hold-out")
    model, log = train(digits, test, arguments.epochs, rng)
    digest = hashlib.sha256(digits.images.tobytes() + digits.labels.tobytes()).hexdigest()
    made = {
        "data": f"{len(digits.labels)} of {name}",
        "sha256": digest,
        "seed": arguments.seed,
        "epochs": arguments.epochs,
        "numpy": np.__version__,
        "log": log,
    }
    model.write(arguments.out, made)
    print(f"model: {arguments.out}")


if __name__ == "__main__":
    main()
