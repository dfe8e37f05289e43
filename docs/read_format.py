"""Decrypts files of everlevel without everlevel.

This program was written from docs/format.md and shares no code with the library: it is that page as
a program, and a check that the page is complete.
It reads parameters, a secret key, and ciphertexts, results, products or plaintexts, and prints what
each slot holds as CSV:

    python docs/read_format.py params.json secret.key numbers.ct

It covers ring-LWE over rings of power-of-two index, in BGV and in BFV form, with slots that hold
integers.
It needs NumPy, and the package `blake3` to verify checksums and ids.
Files of version 1 do not say which secret key they belong to; a phase above its bound is refused
nevertheless.
It is not constant-time and does not wipe its memory: use it to learn and to check.
"""

from __future__ import annotations

import argparse
import json
import math
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from blake3 import blake3
except ImportError:
    blake3 = None  # type: ignore[assignment, misc]

Words = npt.NDArray[np.uint64]
Signed = npt.NDArray[np.int64]

MAGIC = b"\x89EVL\r\n\x1a\n"
VERSIONS = (1, 2)
#: What the id of a secret key is derived with.
ID_CONTEXT = "everlevel 2026-11-22 id of a secret key"
PARAMETERS, SECRET_KEY, PLAINTEXTS, CIPHERTEXTS, RESULTS = 1, 2, 5, 6, 7
PRODUCTS, PRODUCT_RESULTS = 16, 17
KINDS = {
    PARAMETERS: "parameters",
    SECRET_KEY: "a secret key",
    3: "a public key",
    4: "server keys",
    PLAINTEXTS: "plaintexts",
    CIPHERTEXTS: "ciphertexts",
    RESULTS: "results",
    8: "LTV parameters",
    9: "an LTV secret key",
    10: "an LTV public key",
    11: "LTV evaluation keys",
    12: "LTV ciphertexts",
    13: "a manifest",
    14: "columns of integers",
    15: "an upload under AES",
    PRODUCTS: "products for decryption",
    PRODUCT_RESULTS: "results of products",
    18: "columns for decryption",
}


class FormatError(Exception):
    """A file that is not as docs/format.md says, or that this program does not cover."""


def require(condition: bool, message: str) -> None:
    """Raises FormatError with the message unless the condition holds."""
    if not condition:
        raise FormatError(message)


# The container


@dataclass(frozen=True)
class Record:
    """A record of a container."""

    descriptor: bytes
    data: bytes


@dataclass(frozen=True)
class Container:
    """An object whose records are not interpreted yet."""

    kind: int
    version: int
    params_id: bytes
    #: The id of the secret key that it belongs to.
    owner: bytes | None
    metadata: dict[str, str]
    records: list[Record]


class Reader:
    """Takes bytes from the front of a buffer."""

    def __init__(self, data: bytes, what: str) -> None:
        self.data = data
        self.what = what
        self.offset = 0

    def take(self, length: int) -> bytes:
        """The next bytes."""
        left = len(self.data) - self.offset
        require(length <= left, f"{self.what}: {length} more bytes expected, {left} found")
        self.offset += length
        return self.data[self.offset - length : self.offset]

    def integer(self, length: int) -> int:
        """The unsigned little-endian integer in the next bytes."""
        return int.from_bytes(self.take(length), "little")

    def text(self) -> str:
        """4 bytes of length, and as many bytes of UTF-8."""
        try:
            return self.take(self.integer(4)).decode("utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"{self.what}: not UTF-8") from None

    def finish(self) -> None:
        """Refuses bytes that are left."""
        left = len(self.data) - self.offset
        require(left == 0, f"{self.what}: {left} trailing bytes")


def digest(data: bytes) -> bytes | None:
    """The first 16 bytes of BLAKE3, or None if the package is not installed."""
    return None if blake3 is None else blake3(data).digest(length=16)


def parse(data: bytes, kinds: tuple[int, ...]) -> Container:
    """Checks header, index and records of an object that is of one of these kinds."""
    file = Reader(data, "file")
    require(data[:8] == MAGIC[: len(data)], "not an everlevel file: the magic bytes are missing")
    file.take(8)
    version, kind, reserved = file.integer(2), file.integer(2), file.integer(4)
    require(version in VERSIONS, f"format version {version}, expected one of {VERSIONS}")
    params_id, index_length, records_length = file.take(16), file.integer(8), file.integer(8)
    checksum = file.take(16)
    found, stated = len(data) - 64, index_length + records_length
    require(found == stated, f"{found} bytes after the header, which states {stated}")
    index_bytes = file.take(index_length)
    require(
        digest(data[:48] + index_bytes) in (None, checksum),
        "the checksum of header and index is wrong",
    )
    require(reserved == 0, "reserved bytes of the header are not 0")
    expected = " or ".join(KINDS[kind] for kind in kinds)
    require(kind in kinds, f"{expected} expected, found {KINDS.get(kind, f'kind {kind}')}")

    index = Reader(index_bytes, "index")
    owner, former = (read_owner(index), read_owner(index)) if version > 1 else (None, None)
    owned = kind in (SECRET_KEY, CIPHERTEXTS, RESULTS, PRODUCTS, PRODUCT_RESULTS)
    require((owner is None or owned) and former is None, "an owner that the kind does not have")
    metadata: dict[str, str] = {}
    last = b""
    for number in range(index.integer(4)):
        name, value = index.text(), index.text()
        require(number == 0 or last < name.encode(), "names of metadata do not ascend strictly")
        metadata[name], last = value, name.encode()
    records = []
    for number in range(index.integer(4)):
        length, checksum = index.integer(8), index.take(16)
        descriptor, record = index.take(index.integer(4)), file.take(length)
        require(digest(record) in (None, checksum), f"the checksum of record {number} is wrong")
        records.append(Record(descriptor, record))
    index.finish()
    file.finish()
    return Container(kind, version, params_id, owner, metadata, records)


def read_owner(index: Reader) -> bytes | None:
    """The id of a secret key, if there is one."""
    what, bits = index.integer(1), index.take(16)
    require(what <= 1 and (what == 1 or not any(bits)), "an owner of an unknown kind")
    return bits if what == 1 else None


def width_below(bound: int) -> int:
    """The width that integers below a bound are packed to."""
    return (bound - 1).bit_length()


def unpack(data: Reader, width: int, number: int) -> Words:
    """Packed integers: bit k of value i is bit i * width + k of the stream."""
    taken = np.frombuffer(data.take((number * width + 7) // 8), np.uint8)
    bits = np.unpackbits(taken, bitorder="little")
    require(not bits[number * width :].any(), f"{data.what}: padding bits are not 0")
    values = np.zeros(number, dtype=np.uint64)
    for k in range(width):
        values |= bits[k : number * width : width].astype(np.uint64) << np.uint64(k)
    return values


# Polynomials modulo X^n + 1 and a modulus below 2^50


def multiply(a: Words, b: Words | int, q: int) -> Words:
    """Products modulo q < 2^50 of words below q.

    In floating point the quotient is right up to 1; so the remainder is small, and right modulo
    2^64.
    """
    b = np.asarray(b, dtype=np.uint64)
    quotient = (a.astype(np.float64) * b.astype(np.float64) / q).astype(np.uint64)
    remainder = (a * b - quotient * np.uint64(q)).astype(np.int64)
    return np.mod(remainder, q).astype(np.uint64)


def powers(base: int, number: int, q: int) -> Words:
    """base^0, base^1, .. modulo q."""
    found = np.ones(1, dtype=np.uint64)
    while len(found) < number:
        found = np.concatenate([found, multiply(found, pow(base, len(found), q), q)])
    return found[:number]


def fourier(values: Words, root: int, q: int) -> Words:
    """For each k the sum over j of values[j] * root^(j * k); root has the order len(values) = 2^i.

    Row r holds the transform of values r, r + rows, r + 2 rows, ..; each step merges pairs of rows.
    """
    rows: Words = values.reshape(-1, 1)
    while len(rows) > 1:
        half, length = len(rows) // 2, rows.shape[1]
        even = rows[:half]
        odd = multiply(rows[half:], powers(pow(root, half, q), length, q), q)
        rows = np.concatenate([even + odd, even + (np.uint64(q) - odd)], axis=1) % np.uint64(q)
    return rows.ravel()


def least_root(order: int, p: int, q: int) -> int:
    """Of the primitive roots of unity of this order (2^i) modulo the prime p the least one.

    For a power q of p it is that root's lift, the only one of the same order modulo q.
    """
    some = (pow(g, (p - 1) // order, p) for g in range(2, p))
    root = next(root for root in some if pow(root, order // 2, p) == p - 1)
    return pow(int(powers(root, order, p)[1::2].min()), q // p, q)


class Evaluation:
    """Polynomials modulo X^n + 1 and q, a power of the prime p, and their values at roots."""

    def __init__(self, n: int, p: int, q: int) -> None:
        self.n, self.q = n, q
        self.root = least_root(2 * n, p, q)
        self.inverse = pow(self.root, -1, q)
        fives = [pow(5, i, 2 * n) for i in range(n // 2)]
        exponents = fives + [2 * n - e for e in fives]
        # The value at root^(2 j + 1) lies at the place i with exponents[i] = 2 j + 1.
        self.order = np.array(exponents) // 2

    def evaluate(self, coefficients: Words) -> Words:
        """Coefficients to values, in the order of the format."""
        twisted = multiply(coefficients, powers(self.root, self.n, self.q), self.q)
        values: Words = fourier(twisted, pow(self.root, 2, self.q), self.q)[self.order]
        return values

    def interpolate(self, values: Words) -> Words:
        """Values to coefficients."""
        sorted_values = np.empty_like(values)
        sorted_values[self.order] = values
        twisted = fourier(sorted_values, pow(self.inverse, 2, self.q), self.q)
        scale = multiply(powers(self.inverse, self.n, self.q), pow(self.n, -1, self.q), self.q)
        return multiply(twisted, scale, self.q)


@cache
def transform(n: int, p: int, q: int) -> Evaluation:
    """The evaluation of such polynomials, its root found once."""
    return Evaluation(n, p, q)


# Parameters

REQUIRED = object()
FIELDS: dict[str, Any] = {
    "name": REQUIRED,
    "index": REQUIRED,
    "plain_prime": REQUIRED,
    "plain_exponent": REQUIRED,
    "extended_exponent": 0,
    "base_bits": REQUIRED,
    "word_bits": REQUIRED,
    "words": REQUIRED,
    "fine_bits": REQUIRED,
    "special": REQUIRED,
    "digit_size": REQUIRED,
    "form": "bgv",
    "through_bgv": False,
    "family": "rlwe",
    "secret": REQUIRED,
    "bootstrap": None,
}
BOOTSTRAP_FIELDS: dict[str, Any] = {
    "sparse_weight": REQUIRED,
    "overflow_bound": None,
    "digits": None,
    "under_main_key": False,
    "mode": None,
    "coeff_to_slot": None,
    "slot_to_coeff": None,
    "digit_form": "bgv",
    "digit_removal": None,
    "used_slots": None,
}
# The smallest and the largest value of each integer.
RANGES = {
    "index": (32, 2**18),
    "plain_prime": (3, 2**50),
    "plain_exponent": (1, 61),
    "extended_exponent": (0, 61),
    "base_bits": (20, 96),
    "word_bits": (20, 50),
    "words": (0, 80),
    "special": (0, 16),
    "digit_size": (1, 16),
    "sparse_weight": (2, 2**17),
    "digits": (1, 16),
    "used_slots": (4, 2**17),
}
# How many words each gadget takes as special primes.
BORROWED = (0, 1, 2, 3, 4, 6, 9, 14)


@dataclass(frozen=True)
class Params:
    """A parameter set and what follows from it."""

    spec: dict[str, Any]
    id: bytes | None
    n: int
    p: int
    primes: list[int]
    levels: list[list[int]]

    def plain_modulus(self, e: int) -> int:
        """p^e, if ciphertexts of the set can have it."""
        bootstrap = self.spec.get("bootstrap")
        removed = bootstrap.get("digits", 1) if bootstrap else 0
        largest = max(self.spec["plain_exponent"] + removed, self.spec.get("extended_exponent", 0))
        require(1 <= e <= largest, f"exponent {e} of the plaintext modulus, at most {largest}")
        t: int = self.p**e
        require(t < 2**50, "this program covers plaintext moduli below 2^50")
        return t

    def used_slots(self, slots: int) -> int:
        """How many of the slots are used."""
        used: int = self.spec.get("bootstrap", {}).get("used_slots", slots)
        fits = used & (used - 1) == 0 and used <= slots and (used == slots or self.p % 4 == 1)
        require(fits, f"used_slots {used} of {slots} slots")
        return used


def canonical(given: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields in their order, without those that have their default."""
    require(isinstance(given, dict), "parameters: an object with fields expected")
    for name in chain(given, fields):
        known = name in fields and (name in given or fields[name] is not REQUIRED)
        require(known, f"parameters: field {name!r} is missing or unknown")
    found: dict[str, Any] = {
        name: given[name]
        for name, default in fields.items()
        if name in given and given[name] != default
    }
    for name in found.keys() & RANGES.keys():
        low, high = RANGES[name]
        integer = type(found[name]) is int and low <= found[name] <= high
        require(integer, f"parameters: {name} is not an integer from {low} to {high}")
    return found


def read_params(data: bytes) -> Params:
    """The parameter set of a JSON file, or of an object of kind 1."""
    container = None
    if data[:1] == MAGIC[:1]:
        container = parse(data, (PARAMETERS,))
        require(
            len(container.records) == 1 and not container.records[0].descriptor,
            "parameters are one record without a descriptor",
        )
        data = container.records[0].data
    try:
        spec = canonical(json.loads(data), FIELDS)
    except (ValueError, RecursionError):
        raise FormatError("parameters: not JSON") from None
    if "bootstrap" in spec:
        spec["bootstrap"] = canonical(spec["bootstrap"], BOOTSTRAP_FIELDS)
    json_text = json.dumps(spec, separators=(",", ":"), ensure_ascii=False)
    text = json_text.encode("utf-8", "surrogatepass")
    params_id = digest(text)
    if container is not None:
        require(text == data, "parameters: the JSON is not canonical")
        require(params_id in (None, container.params_id), "the id is not that of the parameters")

    index, p, fine = spec["index"], spec["plain_prime"], spec["fine_bits"]
    require(index & (index - 1) == 0, f"index {index}: this program covers powers of two")
    require(p % 2 == 1 and is_prime(p), f"plain_prime {p} is not an odd prime")
    require("family" not in spec, "this program covers ring-LWE")
    named = spec["secret"] in ("uniform_ternary", "truncated_gaussian")
    sparse = isinstance(spec["secret"], dict) and spec["secret"].keys() == {"sparse"}
    require(named or sparse, "parameters: the kind of the secret is not known")
    fits = isinstance(fine, list) and all(type(b) is int and 20 <= b <= 50 for b in fine)
    require(fits and len(fine) <= 8, "fine_bits: at most 8 integers from 20 to 50 expected")

    used = {p}
    base = find_base(spec["base_bits"], index, p, used)
    special = [find_prime(spec["word_bits"], index, p, used) for _ in range(spec["special"])]
    words = [find_prime(spec["word_bits"], index, p, used) for _ in range(spec["words"])]
    fine_primes = [find_prime(bits, index, p, used) for bits in fine]
    primes = base + words + fine_primes + special
    levels = find_levels(primes, len(base), len(words), len(fine), spec)
    return Params(spec, params_id, index // 2, p, primes, levels)


@cache
def is_prime(q: int) -> bool:
    """Miller and Rabin's test with bases that decide all integers below 2^64."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if q < 2 or any(q % b == 0 for b in bases):
        return q in bases
    twos = ((q - 1) & -(q - 1)).bit_length() - 1
    for b in bases:
        x = pow(b, (q - 1) >> twos, q)
        if x != 1 and all(pow(x, 1 << k, q) != q - 1 for k in range(twos)):
            return False
    return True


def primes_below(bound: int, step: int) -> Iterator[int]:
    """The primes below a bound that are 1 modulo the step, the largest first."""
    candidates = range((bound - 2) // step * step + 1, 1, -step)
    return (q for q in candidates if is_prime(q))


def find_prime(bits: int, step: int, p: int, used: set[int]) -> int:
    """The largest unused prime of that many bits that is 1 modulo p times the step, or the step."""
    for modulus in (step * p, step):
        for q in primes_below(2**bits, modulus):
            if q < 2 ** (bits - 1):
                break
            if q not in used:
                used.add(q)
                return q
    raise FormatError(f"parameters: too few primes of {bits} bits")


def find_base(bits: int, step: int, p: int, used: set[int]) -> list[int]:
    """The primes of q0: one of up to 50 bits, or two whose product is 1 modulo p."""
    if bits <= 50:
        return [find_prime(bits, step, p, used)]
    limit, least = 2**bits, 2 ** (bits // 2 - 3)
    best: tuple[int, list[int]] = (limit // 4 - 1, [])
    for first in islice(primes_below(2 ** (bits // 2 + 1), step), 2**15):
        if first < least:
            break
        if first == p:
            continue
        # second = 1 modulo step and 1/first modulo p
        residue = 1 + step * ((pow(first, -1, p) - 1) * pow(step, -1, p) % p)
        largest = min((limit - 1) // first, 2**50 - 1)
        for second in range(largest - (largest - residue) % (step * p), 0, -step * p):
            if second < least or first * second <= best[0]:
                break
            if second != first and is_prime(second):
                best = (first * second, [first, second])
        if limit - best[0] < limit >> 16:
            break
    require(bool(best[1]), f"parameters: no two primes for a q0 of {bits} bits")
    used.update(best[1])
    return best[1]


def find_levels(
    primes: list[int], base: int, words: int, fine: int, spec: dict[str, Any]
) -> list[list[int]]:
    """For each level, the lowest first, the positions of its primes.

    The arguments count the primes of q0, the words and the fine primes.
    """
    top = base + words + fine
    gadgets = []
    for borrowed in [b for b in BORROWED if b <= words]:
        taken = set(range(base + words - borrowed, base + words))
        row = [i for i in range(top) if i not in taken]
        special = spec["special"] + borrowed
        size = special if borrowed else spec["digit_size"]
        digits = [set(row[i : i + size]) for i in range(0, len(row), size)]
        gadgets.append((taken, special, digits))

    def preference(level: list[int]) -> tuple[int, int, list[int]]:
        """Fewer primes, then cheaper key switches, then the smaller set as a bit mask."""
        cost = min(
            (2 + sum(not digit.isdisjoint(level) for digit in digits)) * (len(level) + special)
            for taken, special, digits in gadgets
            if taken.isdisjoint(level)
        )
        return len(level), cost, level[::-1]

    candidates = []
    for used in range(words + 1):
        for mask in range(2**fine):
            chosen = [base + words + i for i in range(fine) if mask >> i & 1]
            level = [*range(base + used), *chosen]
            candidates.append((math.prod(primes[i] for i in level), level))
    levels: list[tuple[int, list[int]]] = []
    for modulus, level in sorted(candidates):
        if not levels or modulus >= 2 * levels[-1][0] or len(levels[-1][1]) == base:
            levels.append((modulus, level))
        elif len(level) == top or preference(level) < preference(levels[-1][1]):
            levels[-1] = (modulus, level)
    return [level for _, level in levels]


# Keys


def read_secret(data: bytes, params: Params) -> tuple[Signed, bytes | None]:
    """The coefficients of the main secret s, and its id (None without the package `blake3`)."""
    container = parse(data, (SECRET_KEY,))
    check_id(container, params)
    parts = [record.descriptor for record in container.records]
    expected = [b"\0", b"\2"] if "bootstrap" in params.spec else [b"\0"]
    require(parts == expected, "the records of a secret key are not those of the parameter set")
    secrets = []
    for record in container.records:
        reader = Reader(record.data, "secret key")
        secrets.append(unpack(reader, 3, params.n).astype(np.int64) - 2)
        reader.finish()
    kind = params.spec["secret"]
    check_small(secrets[0], 2 if kind == "truncated_gaussian" else 1)
    if isinstance(kind, dict):
        check_small(secrets[0], 1, kind["sparse"])
    for sparse in secrets[1:]:
        check_small(sparse, 1, params.spec["bootstrap"]["sparse_weight"])
    name = params.spec["name"].encode()
    hashed = bytes([len(name)]) + name + secrets[0].astype(np.int8).tobytes()
    owner = None
    if blake3 is not None:
        owner = blake3(hashed, derive_key_context=ID_CONTEXT).digest(length=16)
    require(owner in (None, container.owner) or container.version == 1, "the id is not the key's")
    return secrets[0], owner


def check_owner(container: Container, owner: bytes | None) -> None:
    """Refuses objects of another secret key."""
    if owner is not None and container.owner is not None:
        message = (
            f"the file belongs to the secret key {container.owner.hex()}, not to {owner.hex()}"
        )
        require(owner == container.owner, message)


def check_small(secret: Signed, bound: int, weight: int | None = None) -> None:
    """Refuses coefficients above a bound in absolute value, and other weights than that given."""
    good = int(abs(secret).max()) <= bound and weight in (None, np.count_nonzero(secret))
    require(good, "secret key: coefficients are out of range, or their weight is another")


def check_id(container: Container, params: Params) -> None:
    """Refuses objects of another parameter set."""
    require(params.id in (None, container.params_id), "the file belongs to another parameter set")


# Ciphertexts


def chacha20(seed: bytes, nonce: int, first: int, blocks: int) -> Words:
    """Blocks of the key stream of ChaCha20 from number `first` on, as 64-bit words."""
    counter = np.arange(first, first + blocks, dtype=np.uint64)
    constants = struct.unpack("<16I", b"expand 32-byte k" + seed + struct.pack("<QQ", 0, nonce))
    state = [np.full(blocks, word, np.uint32) for word in constants]
    state[12], state[13] = counter.astype(np.uint32), (counter >> np.uint64(32)).astype(np.uint32)
    x = list(state)

    def step(a: int, b: int, d: int, left: int) -> None:
        x[a] = x[a] + x[b]
        mixed = x[d] ^ x[a]
        x[d] = mixed << np.uint32(left) | mixed >> np.uint32(32 - left)

    columns = [(i, 4 + i, 8 + i, 12 + i) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for a, b, c, d in (columns + diagonals) * 10:
        step(a, b, d, 16)
        step(c, d, b, 12)
        step(a, b, d, 8)
        step(c, d, b, 7)
    stream = np.stack([word + start for word, start in zip(x, state, strict=True)], axis=1)
    return stream.astype("<u4").view("<u8").astype(np.uint64).ravel()


def expand(seed: bytes, component: int, position: int, params: Params) -> Words:
    """The limb that a seed stands for: uniform residues modulo the prime at a position."""
    q = params.primes[position]
    mask = np.uint64(2 ** width_below(q) - 1)
    limb, blocks = np.empty(0, dtype=np.uint64), 0
    while len(limb) < params.n:
        words = chacha20(seed, component * 2**32 + position, blocks, params.n // 8) & mask
        limb, blocks = np.concatenate([limb, words[words < q]]), blocks + params.n // 8
    return limb[: params.n]


def read_limbs(data: Reader, positions: list[int], params: Params) -> list[Words]:
    """A polynomial over the primes at these positions."""
    limbs = []
    for q in (params.primes[i] for i in positions):
        limbs.append(unpack(data, width_below(q), params.n))
        require(bool((limbs[-1] < q).all()), f"{data.what}: a residue is not below its prime")
    return limbs


def centered(residues: list[Words], primes: list[int]) -> npt.NDArray[np.object_]:
    """The integers of least absolute value that have these residues."""
    modulus = math.prod(primes)
    total = np.zeros(len(residues[0]), dtype=object)
    for limb, q in zip(residues, primes, strict=True):
        total += limb.astype(object) * (modulus // q * pow(modulus // q, -1, q))
    return (total + modulus // 2) % modulus - modulus // 2


def phase(
    components: list[list[Words]], scale: int, secret: Signed, primes: list[int]
) -> npt.NDArray[np.object_]:
    """The coefficients of scale (c0 + c1 s + ..), centered; components are evaluations."""
    residues = []
    for place, q in enumerate(primes):
        ring = transform(len(secret), q, q)
        s = ring.evaluate((secret % q).astype(np.uint64))
        limb = np.zeros(len(secret), dtype=np.uint64)
        for component in reversed(components):
            limb = (component[place] + multiply(limb, s, q)) % np.uint64(q)
        residues.append(ring.interpolate(multiply(limb, scale % q, q)))
    return centered(residues, primes)


def read_ciphertext(record: Record, secret: Signed, params: Params) -> tuple[Words, int]:
    """The plaintext polynomial of a ciphertext, and its modulus."""
    return read_components(record, secret, params, 2)


def read_product(record: Record, secret: Signed, params: Params) -> tuple[Words, int]:
    """The plaintext polynomial of a product, and its modulus."""
    return read_components(record, secret, params, 3)


def read_components(
    record: Record, secret: Signed, params: Params, count: int
) -> tuple[Words, int]:
    """The plaintext polynomial of a ciphertext of ``count`` components, and its modulus."""
    require(len(record.descriptor) == 32, "the descriptor of a ciphertext does not have 32 bytes")
    level, e, form, encoding, reserved, depth, more, factor, noise = struct.unpack(
        "<HBBB3sI4sQd", record.descriptor
    )
    require(level < len(params.levels), f"level {level} of {len(params.levels)}")
    t = params.plain_modulus(e)
    require(form <= 1 and encoding <= 1, f"form {form}, encoding {encoding}: expected 0 or 1")
    require(not any(reserved + more), "reserved bytes of a ciphertext are not 0")
    require(depth < 2**30 and math.isfinite(noise), "depth or noise bound are out of range")
    require(factor < t and factor % params.p != 0, "the correction factor is not a unit")

    data = Reader(record.data, "ciphertext")
    positions = params.levels[level]
    if encoding == 1:
        require(count == 2, "a seed in a product")
        seed = data.take(32)
        c0 = read_limbs(data, positions, params)
        components = [c0, [expand(seed, 0, i, params) for i in positions]]
    else:
        components = [read_limbs(data, positions, params) for _ in range(count)]
    data.finish()
    primes = [params.primes[i] for i in positions]
    w = phase(components, t if form == 1 else 1, secret, primes)
    good = noise > 1000 or int(abs(w).max()) <= 2.0 ** (noise + 1e-6)
    require(good, "the ciphertext is not of this key: its phase is above its noise bound")
    return (w * pow(factor, -1, t) % t).astype(np.uint64), t


def read_result(record: Record, secret: Signed, params: Params) -> tuple[Words, int]:
    """The plaintext polynomial of a result, and its modulus."""
    return read_compact(record, secret, params, 2)


def read_product_result(record: Record, secret: Signed, params: Params) -> tuple[Words, int]:
    """The plaintext polynomial of a result of a product, and its modulus."""
    return read_compact(record, secret, params, 3)


def read_compact(record: Record, secret: Signed, params: Params, count: int) -> tuple[Words, int]:
    """The contents of a result with this number of components."""
    size = len(record.descriptor)
    require(size in (16, 20), f"the descriptor of a result has {size} bytes")
    e, *fields, unit = struct.unpack_from("<I4BQ", record.descriptor)
    widths, reserved = fields[:count], fields[count:]
    # Version 1 does not state how far from integers the phase may lie: 0.499.
    distance = struct.unpack_from("<I", record.descriptor, 16)[0] if size == 20 else 2143188681
    require(0 < distance <= 2**31, "the bound of a result is out of range")
    t = params.plain_modulus(e)
    ascending = widths == sorted(widths) and 1 <= widths[0] and widths[-1] <= 56
    require(ascending and not any(reserved), "widths of a result are out of range")
    require(unit < t and unit % params.p != 0, "the factor of a result is not a unit")
    data = Reader(record.data, "result")
    last = widths[-1]
    cut = [unpack(data, width, params.n) << np.uint64(last - width) for width in widths]
    data.finish()
    # As many primes as hold the phase over the integers.
    primes: list[int] = []
    while math.prod(primes) <= params.n ** (count - 1) * 2 ** (last + 3):
        require(len(primes) < len(params.primes), "widths of a result are out of range")
        primes.append(params.primes[len(primes)])
    parts = [[transform(params.n, q, q).evaluate(c % q) for q in primes] for c in cut]
    v = phase(parts, 1, secret, primes) % 2**last
    far = abs((t * v + 2 ** (last - 1)) % 2**last - 2 ** (last - 1))
    require(int(far.max()) <= distance * 2**last >> 32, "the result is not of this key")
    return ((2 * t * v + 2**last) // 2 ** (last + 1) * unit % t).astype(np.uint64), t


def read_plaintext(record: Record, secret: Signed, params: Params) -> tuple[Words, int]:
    """The polynomial of a plaintext, and its modulus."""
    require(len(record.descriptor) == 4, "the descriptor of a plaintext does not have 4 bytes")
    t = params.plain_modulus(int.from_bytes(record.descriptor, "little"))
    data = Reader(record.data, "plaintext")
    message = unpack(data, width_below(t), params.n)
    data.finish()
    require(bool((message < t).all()), "plaintext: a coefficient is not below the modulus")
    return message, t


# Slots


def decode(message: Words, t: int, params: Params) -> Words:
    """The integers in the slots of a plaintext polynomial."""
    n, p = params.n, params.p
    degree = next(d for d in range(1, 2 * n) if pow(p, d, 2 * n) == 1)
    # A polynomial of W = X^stride.
    stride = degree if p % 4 == 1 else degree // 2
    inner = message.reshape(-1, stride)
    whole = "slots hold elements of a Galois ring, not integers: see --coefficients"
    require(not inner[:, 1:].any(), whole)
    if p % 4 == 1:
        values = transform(n // degree, p, t).evaluate(inner[:, 0])
        used = params.used_slots(len(values))
        # Where fewer slots are used, values repeat along the two rows.
        require(not message.reshape(-1, n // used)[:, 1:].any(), whole)
        return values.reshape(2, -1)[:, : used // 2].reshape(-1)
    slots = n // degree
    values = np.empty(slots, dtype=np.uint64)
    gaussian = gaussian_powers(slots, p, t)
    for j in range(slots):
        places = np.arange(2 * slots) * pow(5, j, 4 * slots) % (4 * slots)
        parts = [multiply(part[places], inner[:, 0], t).sum(dtype=object) % t for part in gaussian]
        values[j] = parts[0]
        require(parts[1] == 0, whole)
    return values


def gaussian_powers(slots: int, p: int, t: int) -> tuple[Words, Words]:
    """Real and imaginary parts of the powers of the root of order 4 slots in (Z/t)[i]."""

    def times(x: tuple[int, int], y: tuple[int, int], q: int) -> tuple[int, int]:
        return (x[0] * y[0] - x[1] * y[1]) % q, (x[0] * y[1] + x[1] * y[0]) % q

    def power(x: tuple[int, int], k: int, q: int) -> tuple[int, int]:
        found = (1, 0)
        for bit in bin(k)[2:]:
            found = times(found, found, q)
            found = times(found, x, q) if bit == "1" else found
        return found

    exponent = (p * p - 1) // (4 * slots)
    some = (power((a, 1), exponent, p) for a in range(p))
    root = next(x for x in some if power(x, slots, p) in ((0, 1), (0, p - 1)))
    # Lifted to t, and conjugated if its power is -i.
    root = power(root, t // p, t)
    if power(root, slots, t) != (0, 1):
        root = (root[0], t - root[1])
    found = [(1, 0)]
    for _ in range(4 * slots - 1):
        found.append(times(found[-1], root, t))
    real, imaginary = np.array(found, dtype=np.uint64).T
    return real, imaginary


# The program


def run(arguments: argparse.Namespace) -> list[str]:
    """The lines of the CSV file."""
    path = arguments.params
    try:
        params = read_params(path.read_bytes())
        path = arguments.secret_key
        secret, owner = read_secret(path.read_bytes(), params)
        path = arguments.ciphertexts
        kinds = (CIPHERTEXTS, RESULTS, PLAINTEXTS, PRODUCTS, PRODUCT_RESULTS)
        container = parse(path.read_bytes(), kinds)
        check_id(container, params)
        check_owner(container, owner)
        readers = {
            CIPHERTEXTS: read_ciphertext,
            RESULTS: read_result,
            PLAINTEXTS: read_plaintext,
            PRODUCTS: read_product,
            PRODUCT_RESULTS: read_product_result,
        }
        lines = []
        for number, record in enumerate(container.records):
            message, t = readers[container.kind](record, secret, params)
            values = message if arguments.coefficients else decode(message, t, params)
            lines += [f"{number},{place},{value}" for place, value in enumerate(values)]
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    what = "coefficient" if arguments.coefficients else "slot"
    return [f"ciphertext,{what},value", *lines]


def main() -> int:
    """Reads the command line and prints the CSV file."""
    parser = argparse.ArgumentParser(description="Decrypt a file of everlevel without everlevel.")
    parser.add_argument("params", type=Path, help="parameters: a JSON file or an object of kind 1")
    parser.add_argument("secret_key", type=Path, help="an object of kind 2")
    parser.add_argument("ciphertexts", type=Path, help="an object of kind 5, 6, 7, 16 or 17")
    parser.add_argument(
        "--coefficients", action="store_true", help="print coefficients instead of slots"
    )
    arguments = parser.parse_args()
    if blake3 is None:
        print("not checked: checksums and ids, as blake3 is not installed", file=sys.stderr)
    try:
        lines = run(arguments)
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
