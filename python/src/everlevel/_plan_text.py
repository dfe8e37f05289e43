"""Plans of programs as text and in notebooks."""

from __future__ import annotations

from dataclasses import dataclass

from ._functions import Function
from ._html import facts, grid
from ._params import Params
from ._tracer import Stage

#: Operations above which a plan is shown by their kinds.
LONG = 60
#: Arguments above which levels are not shown one by one.
LISTED = 8


@dataclass(frozen=True)
class Argument:
    """An argument of a plan, as it is encrypted."""

    #: The level of its digits, from 0 to ``params.levels - 1``, the top, as ``Client.encrypt``
    #: takes it.
    level: int
    #: Its ciphertexts, with those of an index.
    ciphertexts: int
    #: Their bytes, about; half of that if they are encrypted with the secret key.
    bytes: int


# Where pickles name it.
Argument.__module__ = "everlevel._planned"


class Told:
    """What is told of a plan, which the class of plans says more of."""

    _program: Function
    params: Params
    rows: int
    side_by_side: bool
    in_blocks: bool
    stages: tuple[Stage, ...]
    seconds: float
    products: int
    bootstraps: int
    key_bytes: int
    inputs: dict[str, Argument]
    input_ciphertexts: int
    input_bytes: int
    result_ciphertexts: int
    result_bytes: int
    memory_bytes: int
    working_bytes: int
    seeded_keys: bool


def text(plan: Told) -> str:
    """A plan as ``print`` shows it."""
    lines = [
        f"{plan._program.name} on {plan.params.name}, {plan.rows} rows",
        (
            f"{plan.products} products, {plan.bootstraps} bootstrappings; about "
            f"{told_seconds(plan.seconds)} on one core"
            + (", digits side by side" if plan.side_by_side else "")
            + (", products in blocks" if plan.in_blocks else "")
        ),
        (
            f"server keys of {told_bytes(plan.key_bytes)}; {plan.input_ciphertexts} ciphertexts of "
            f"arguments, {told_bytes(plan.input_bytes)}, and {plan.result_ciphertexts} of results, "
            f"{told_bytes(plan.result_bytes)}"
        ),
        (
            f"{told_bytes(plan.memory_bytes)} of memory, of which "
            f"{told_bytes(plan.working_bytes)} for ciphertexts while it computes"
        ),
        f"levels of the arguments, of 0 to {plan.params.levels - 1}: {told_levels(plan)}",
    ]
    if plan.seeded_keys:
        lines.append(
            "halves of the keys stay seeds in memory: the times are those of expanded keys, and it "
            "takes longer"
        )
    if len(plan.stages) > LONG:
        return "\n".join(lines + _by_operation(plan))
    lines.append(
        f"{'operation':14}{'values':>28}{'products':>10}{'switches':>10}{'refreshes':>11}"
        f"{'seconds':>10}{'bits left':>11}"
    )
    for s in plan.stages:
        values, left = (
            f"{s.interval[0]} to {s.interval[1]}",
            "" if s.capacity_bits is None else f"{s.capacity_bits:.0f}",
        )
        lines.append(
            f"{s.name:14}{values:>28}{s.products:>10}{s.key_switches:>10}{s.bootstraps:>11}"
            f"{s.seconds:>10.3g}{left:>11}"
        )
    return "\n".join(lines)


def _by_operation(plan: Told) -> list[str]:
    """A line for each kind of operation, the longest first."""
    groups: dict[str, list[Stage]] = {}
    for stage in plan.stages:
        groups.setdefault(stage.name, []).append(stage)
    lines = [
        f"{'operation':14}{'times':>10}{'products':>10}{'switches':>10}{'refreshes':>11}"
        f"{'seconds':>10}"
    ]
    for name, group in sorted(groups.items(), key=lambda item: -sum(s.seconds for s in item[1])):
        products = sum(s.products for s in group)
        switches = sum(s.key_switches for s in group)
        refreshes = sum(s.bootstraps for s in group)
        seconds = sum(s.seconds for s in group)
        lines.append(
            f"{name:14}{len(group):>10}{products:>10}{switches:>10}{refreshes:>11}{seconds:>10.3g}"
        )
    return lines


def html(plan: Told) -> str:
    """A plan as notebooks show it."""
    summary = [
        ("parameter set", plan.params.name),
        ("rows", f"{plan.rows:,}"),
        ("products", plan.products),
        ("bootstrappings", plan.bootstraps),
        ("modeled time, one thread", told_seconds(plan.seconds)),
        ("server keys", told_bytes(plan.key_bytes)),
        ("arguments", f"{plan.input_ciphertexts} ciphertexts, {told_bytes(plan.input_bytes)}"),
        ("results", f"{plan.result_ciphertexts} ciphertexts, {told_bytes(plan.result_bytes)}"),
        ("memory", told_bytes(plan.memory_bytes) + (", seeded keys" if plan.seeded_keys else "")),
        (f"levels of the arguments, of 0 to {plan.params.levels - 1}", told_levels(plan)),
    ]
    header = (
        "operation",
        "values",
        "products",
        "key switches",
        "bootstrappings",
        "seconds",
        "capacity, bits",
    )
    stages = [
        (
            s.name,
            f"{s.interval[0]} to {s.interval[1]}",
            s.products,
            s.key_switches,
            s.bootstraps,
            f"{s.seconds:.3g}",
            "" if s.capacity_bits is None else f"{s.capacity_bits:.0f}",
        )
        for s in plan.stages
    ]
    return facts(f"Plan of {plan._program.name}", summary) + grid("Operations", header, stages)


def told_levels(plan: Told) -> str:
    """The levels of the arguments: of few of them one by one, with their sizes."""
    if len(plan.inputs) <= LISTED:
        return ", ".join(
            f"{name} {x.level} ({told_bytes(x.bytes)})" for name, x in plan.inputs.items()
        )
    levels = [x.level for x in plan.inputs.values()]
    least, most = min(levels), max(levels)
    return f"all {least}" if least == most else f"{least} to {most}"


def told_seconds(seconds: float) -> str:
    """A time for readers."""
    return f"{seconds:.2g} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def told_bytes(count: float) -> str:
    """A size for readers."""
    return f"{count / 2**20:.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"
