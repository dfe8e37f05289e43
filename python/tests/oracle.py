"""Queries answered by DuckDB, which shares no code with everlevel: exactly."""

import decimal
from fractions import Fraction

import duckdb
import sqlglot
from sqlglot import exp


def load(types, data):
    """A connection with a table ``t`` of columns of these types."""
    connection = duckdb.connect()
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
    connection.execute(f"create table t ({columns})")
    rows = list(zip(*(data[name] for name in types)))
    if rows:
        marks = ", ".join("?" * len(types))
        connection.executemany(f"insert into t values ({marks})", rows)
    return connection


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def answer(connection, sql, constants):
    """Rows of the answer to a query in the words of PostgreSQL; numbers are fractions.

    DuckDB computes averages, medians and quotients in floating point: it is asked for the sums,
    counts and values that they are made of. ``constants``: texts of SQL for ``:name``.
    """
    tree = sqlglot.parse_one(sql, read="postgres")
    for node in list(tree.find_all(exp.Placeholder)):
        node.replace(sqlglot.parse_one(constants[node.this], read="postgres"))
    outputs = [item.unalias() for item in tree.expressions]
    order = tree.args.get("order")
    for key in order.expressions if order else ():
        # By places in the answer, which has other columns here.
        key.set("this", outputs[int(key.this.name) - 1].copy())
    if tree.args.get("having"):
        without_averages(tree.args["having"])
    pieces = []
    formulas = [taken(e, pieces) for e in outputs]
    tree.set("expressions", [sqlglot.parse_one(piece, read="duckdb") for piece in pieces])
    rows = connection.execute(tree.sql("duckdb")).fetchall()
    return [tuple(f([number(cell) for cell in row]) for f in formulas) for row in rows]


def without_averages(having):
    """Comparisons of averages as comparisons of sums."""
    for average in list(having.find_all(exp.Avg)):
        count = exp.Count(this=average.this.copy())
        comparison = average.parent
        for side in ("expression", "low", "high"):
            other = comparison.args.get(side)
            if other is not None:
                comparison.set(side, exp.Mul(this=exp.paren(other.copy()), expression=count.copy()))
        average.replace(exp.Sum(this=average.this.copy()))


def taken(e, pieces):
    """What computes an expression of a row of pieces, which are texts of SQL, added to a list."""
    if isinstance(e, exp.Paren):
        return taken(e.this, pieces)
    if isinstance(e, exp.Literal):
        value = Fraction(e.this)
        return lambda row: value
    if isinstance(e, exp.Neg):
        inner = taken(e.this, pieces)
        return lambda row: None if inner(row) is None else -inner(row)
    if isinstance(e, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        return computed(e.key, taken(e.this, pieces), taken(e.expression, pieces))
    call = e.this if isinstance(e, exp.Filter) else e
    where = f" FILTER({e.expression.sql('duckdb')})" if isinstance(e, exp.Filter) else ""
    place = len(pieces)
    if isinstance(call, exp.Avg):
        pieces += [f"{name}({call.this.sql('duckdb')}){where}" for name in ("sum", "count")]
        return lambda row: row[place] / row[place + 1] if row[place + 1] else None
    if isinstance(call, exp.Median):
        pieces.append(f"list({call.this.sql('duckdb')}){where}")
        return lambda row: median([number(x) for x in row[place] or () if x is not None])
    pieces.append(call.sql("duckdb") + where)
    return lambda row: row[place]


def computed(sign, a, b):
    def of(row):
        x, y = a(row), b(row)
        if x is None or y is None or (sign == "div" and y == 0):
            return None
        return {"add": x + y, "sub": x - y, "mul": x * y, "div": y and x / y}[sign]

    return of


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2 if values else None


def number(cell):
    exact = isinstance(cell, (int, decimal.Decimal)) and not isinstance(cell, bool)
    return Fraction(cell) if exact else cell


def same(found, wanted):
    """Whether a cell of an answer is what it should be: equal, or, with as many places as it has,
    the nearest, halves away from zero.
    """
    exact = isinstance(found, (int, decimal.Decimal)) and not isinstance(found, bool)
    if not exact or not isinstance(wanted, Fraction):
        return found == wanted and type(found) is type(wanted)
    unit = Fraction(10) ** (found.as_tuple().exponent if isinstance(found, decimal.Decimal) else 0)
    scaled = abs(wanted) / unit
    nearest = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    # Only quotients are rounded, and they have six places at least.
    rounded = wanted / unit != (wanted / unit).__trunc__()
    return Fraction(found) == nearest * unit * (1 if wanted >= 0 else -1) and (
        not rounded or unit <= Fraction(1, 10**6)
    )
