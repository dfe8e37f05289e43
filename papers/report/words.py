"""Ratios, and where records come from, in words."""


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


def origins(found):
    """On what days, machines and commits the records of a table were made: none is of now."""
    runs = {}
    for o in found:
        commits = runs.setdefault((o["date"].split("T")[0], o["threads"], o["cpu"]), [])
        commit = o["commit"] or "unknown"
        if commit not in commits:
            commits.append(commit)
    told = [
        f"{day}, {threads} {'thread' if threads == 1 else 'threads'} of {cpu}, "
        f"commit {', '.join(commits)}"
        for (day, threads, cpu), commits in sorted(runs.items())
    ]
    return f"Recorded: {'; '.join(told)}." if told else ""
