"""Ratios of time and size, in words."""


def compared(ratio, of_time):
    """A ratio of ours to theirs in words, such as 33× faster."""
    if 0.995 <= ratio < 1.005:
        return "equal"
    less, more = ("faster", "slower") if of_time else ("less", "more")
    factor = 1 / ratio if ratio < 1 else ratio
    digits = 0 if factor >= 100 else 1 if factor >= 10 else 2
    return f"{factor:,.{digits}f}× {less if ratio < 1 else more}"


def is_of_time(column):
    """Whether a ratio of this column is one of times."""
    return "seconds" in column["group"]


def beside(text):
    """What a ratio is of; its cells say which side is ahead."""
    return text.replace(" ÷ ", " beside ")
