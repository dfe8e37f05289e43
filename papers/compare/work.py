"""What is measured: the parameters on our side, and what a peer is asked for."""

from dataclasses import dataclass, field

# What a row is called, and how `everlevel bench primitives` calls the same operation.
OPERATIONS = {
    "multiply and relinearize": "multiply_relinearize",
    "rotate": "rotate",
    "hoisted rotate": "hoisted_rotate",
    "multiply by a plaintext": "multiply_plain",
    "multiply by a transformed plaintext": "multiply_factor",
    "add": "add",
    "modulus switch": "modulus_switch",
    "encode and encrypt, public key": "encode_encrypt_public",
    "encrypt, secret key": "encrypt_secret",
    "decrypt and decode": "decrypt_decode",
}

# What is not quite the same on both sides, whoever the peer is.
NOTES = {"modulus switch": "one word less: 50 bits in everlevel, the peer's own word in the peer"}


def ring(name, form, log_n, t, base, word, words, special, digit_size, **more):
    """A parameter file for `--params`: one prime of `base` bits, `words` of `word` bits, `special`
    special ones of a word.
    """
    return {
        "name": name,
        "index": 2 << log_n,
        "plain_prime": t,
        "plain_exponent": 1,
        "base_bits": base,
        "word_bits": word,
        "words": words,
        "fine_bits": [],
        "special": special,
        "digit_size": digit_size,
        "form": form,
        "secret": "uniform_ternary",
        **more,
    }


@dataclass
class Work:
    """One thing that both sides do."""

    kind: str  # primitives, bootstrap, integers, programs or queries
    params: object  # a dictionary (a parameter file) or the name of a set, on our side
    asked: dict = field(default_factory=dict)  # what the peer's program is told
    rounds: int = 3
    runs: int = 11
    note: str = ""
    ours: str = ""  # what the operation is called on our side, if differently

    @property
    def label(self):
        """What is measured, for the eye."""
        if self.kind == "integers":
            return f"{self.asked['op']} {self.asked['type']}"
        if self.kind == "programs":
            return self.asked["program"]
        if self.kind == "queries":
            return self.asked["query"]
        return f"{self.kind} {self.name}"

    @property
    def name(self):
        return self.params if isinstance(self.params, str) else self.params["name"]


def primitives(form, quick, **asked):
    """n = 2^15 and log QP = 850 in three digits; with `quick`, n = 2^14 and 400."""
    if quick:
        params = ring(f"compare-65537-n14-{form}", form, 14, 65537, 50, 50, 5, 2, 2)
        asked = {"log_n": 14, "words": 5, "special": 2, "log_qp": 400, **asked}
    else:
        params = ring(f"compare-65537-n15-{form}", form, 15, 65537, 50, 50, 11, 5, 4)
        asked = {"log_n": 15, "words": 10, "special": 4, "log_qp": 850, **asked}
    asked = {"kind": "primitives", "form": form, "t": 65537, "word_bits": 60, "digits": 3, **asked}
    rounds, runs = (2, 5) if quick else (3, 15)
    return Work("primitives", params, asked, rounds, runs)


def thin_bootstrap(form, quick):
    """Integers modulo 127 in the 64 slots of X^n + 1, once with the peer's modulus and once with
    our own set at 128 bits.
    """
    log_n, bits = (10 if quick else 14), 800
    asked = {
        "kind": "bootstrap",
        "form": form,
        "t": 127,
        "log_n": log_n,
        "log_qp": bits,
        "sparse_weight": 40,
        "overflow": 20,
    }
    name = f"insecure_compare-127-n{log_n}-{form}"
    more = {"fine_bits": [28, 25, 22], "bootstrap": {"sparse_weight": 40}}
    same = ring(name, form, log_n, 127, 34, 45, 12, 3, 3, **more)
    rounds, runs = (2, 1) if quick else (2, 2)
    works = [
        Work(
            "bootstrap",
            same,
            asked,
            rounds,
            runs,
            "the same modulus on both sides, far below 128 bits on both",
        )
    ]
    if not quick:
        secure = (
            f"{form}-127-n14, everlevel's own set, at 128 bits and half the modulus; the peer "
            "stays far below 128 bits"
        )
        works.append(Work("bootstrap", f"{form}-127-n14", asked, rounds, runs, secure))
    return works


# Operations on integers by types. The peer's sums and products are modulo 2^bits: ours of sums are
# wider.
INTEGERS = {
    "u8": ["add", "lt", "min", "mul", "div", "table"],
    "u16": ["add", "lt", "eq", "min", "mul", "div"],
    "u32": ["add", "lt", "eq", "min", "select", "mul"],
    "u64": ["add", "lt", "min", "select", "mul"],
}


def integers(quick):
    """Whole vectors here, one value there: fresh operands, and operands that have nothing left."""
    set_name = "insecure_bgv-65537-n11" if quick else "bgv-65537-n15"
    kinds = {"u8": ["add", "lt", "table"]} if quick else INTEGERS
    wrapped = {"mul": "mul-wrapped"}
    return [
        Work(
            "integers",
            set_name,
            {"kind": "integers", "op": op, "type": kind},
            1 if quick else 2,
            1 if quick else 2,
            ours=wrapped.get(op, ""),
        )
        for kind, ops in kinds.items()
        for op in ops
    ]


# What the programs of `concrete/` do.
PROGRAMS = ["table", "filter", "maximum", "hamming", "life", "network", "edit_distance"]


def programs(quick):
    """The same programs in Python on both sides: whole vectors here, some values there."""
    set_name = "insecure_bgv-65537-n11" if quick else "bgv-65537-n15"
    names = ["table", "life"] if quick else PROGRAMS
    return [
        Work("programs", set_name, {"kind": "programs", "program": name}, 1 if quick else 2, 1)
        for name in names
    ]


# The queries that both sides have, in the names of TPC-H.
QUERIES = ["Q6", "Q1"]


def queries(quick):
    """A query on one full ciphertext of rows a column: 32,768 rows."""
    set_name = "insecure_bgv-65537-n11" if quick else "bgv-65537-n15"
    # One round: the peer takes minutes.
    return [
        Work("queries", set_name, {"kind": "queries", "query": query}, 1, 1)
        for query in (QUERIES[:1] if quick else QUERIES)
    ]
