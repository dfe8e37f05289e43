"""The levels at which the arguments of planned programs are encrypted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

#: The most runs of a program that look for lower levels of single arguments.
TRIED = 64

#: A level for each argument, from 0, by name.
Levels = dict[str, int]


def common(names: Iterable[str], top: int, fits: Callable[[Levels], bool]) -> Levels:
    """One level for all arguments: the lowest at which a program fits that fits at the top."""
    names = list(names)
    least, most = 0, top
    while least < most:
        level = (least + most) // 2
        if fits(dict.fromkeys(names, level)):
            most = level
        else:
            least = level + 1
    return dict.fromkeys(names, most)


def single(levels: Levels, order: Iterable[str], lower: Callable[[Levels], bool]) -> Levels:
    """Lower levels for some of the arguments, which are tried in this order, as far as ``TRIED``
    runs go. ``lower`` says whether the program may have these levels in place of those that it was
    last said to have.
    """
    found, left = dict(levels), TRIED
    for name in order:
        least, most = 0, found[name]
        while least < most and left > 0:
            left -= 1
            level = (least + most) // 2
            tried = {**found, name: level}
            if lower(tried):
                most, found = level, tried
            else:
                least = level + 1
    return found
