"""Constants of Python's as the text of SQL."""

from __future__ import annotations

import datetime
import decimal
import operator
import re
from typing import Any

import numpy as np

from ._cells import text_of
from ._fragments import ADD, ATOM, fault, quoted
from .errors import DtypeError

#: Digits of a constant: more than any column holds.
DIGITS = 100


def constant(value: Any) -> tuple[str, int]:
    """A truth value, text, date or number as SQL, and how tightly that binds."""
    if isinstance(value, (bool, np.bool_)):
        return ("true" if value else "false"), ATOM
    if isinstance(value, str):
        # Members of an enumeration are shown by their names.
        return quoted(str.__str__(value), "'"), ATOM
    if isinstance(value, (float, np.floating)):
        raise DtypeError(
            f"{value!r} is a floating-point number, and answers are exact: write "
            f'decimal.Decimal("{value}"), or an integer',
            code="python.question",
        )
    if isinstance(value, (datetime.date, np.datetime64)):
        text = text_of(value) or ""
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            raise fault(f"{value!r}: expected a date without a time of day")
        return f"date '{text}'", ATOM
    if isinstance(value, decimal.Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        # Written out, exponents are digits.
        if len(digits) + abs(int(exponent)) > DIGITS:
            raise fault(f"{value!r}: expected a number of up to {DIGITS} digits")
        text = format(value, "f")
    else:
        text = integer(value)
    return text, ADD if text.startswith("-") else ATOM


def integer(value: Any) -> str:
    """The digits of an integer, or a refusal of what is none."""
    try:
        whole = operator.index(value)
    except TypeError:
        if text_of(value) is None:
            raise fault("nothing is equal to a missing value: write x.isnull()") from None
        raise DtypeError(
            f"a constant of type {type(value).__name__}: expected an integer, a "
            "decimal.Decimal, a date, a truth value, a text or et.parameter(name)",
            code="python.question",
        ) from None
    if whole.bit_length() > 3 * DIGITS:
        raise fault(f"an integer of {whole.bit_length()} bits: expected 63 at most")
    return str(whole)
