"""Random tables and random queries on them, made by the expressions of everlevel.tables."""

import datetime
import decimal
import random

from everlevel import tables as et

D = decimal.Decimal
DAYS = [
    datetime.date.fromisoformat(day)
    for day in ("1899-12-31", "1970-01-01", "1999-12-31", "2000-02-29", "2024-03-01")
]
WARDS = ["tea", "cake", "it's", 'a"b', "Tea", "día", "x;--", "100%", "a,b", "back\\slash"]
KINDS = [f"k{i * 7 % 40}" for i in range(40)]
#: Columns of numbers, of texts, of dates and of truth values; two of them each have equal types.
NUMBERS = ("small", "wide", 'pr"ice', "rate", "select")
TEXTS = ("ward", "it's other", "kind")
DATES = ("day", "order by")
TRUTHS = ("paid", "über")
PATTERNS = ("%e%", "t__", "%", "_ea%", "it'%", "%\\%", "k1_", "%;%", "100%")


class Table:
    """A table, its schema, and what DuckDB makes of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        kinds = {
            "small": pick([("integer", 0, 1), ("integer", -3, 7), ("integer", 5, 5)]),
            "wide": pick([("integer", -300, 500), ("integer", 0, 65535), ("integer", -70000, 1)]),
            'pr"ice': pick([(2, 5, 99999), (1, -40, 40), (3, -5, 0)]),
            "rate": pick([(2, 0, 10), (0, -1, 30)]),
            "select": ("integer", 0, 9),
        }
        columns = []
        for name in NUMBERS:
            kind, low, high = kinds[name]
            scale = 0 if kind == "integer" else kind
            told = {"type": "integer", "low": low, "high": high}
            if kind != "integer":
                told = {
                    "type": "decimal",
                    "scale": scale,
                    "low": str(D(low).scaleb(-scale)),
                    "high": str(D(high).scaleb(-scale)),
                }
            columns.append({"name": name, **told})
        for name in TEXTS:
            values = KINDS if name == "kind" else WARDS
            columns.append({"name": name, "type": "category", "values": values})
        for name, days in zip(DATES, (DAYS, DAYS[1:4])):
            low, high = str(days[0]), str(days[-1])
            columns.append({"name": name, "type": "date", "low": low, "high": high})
        columns += [{"name": name, "type": "boolean"} for name in TRUTHS]
        for column in columns:
            if self.random.random() < 0.5:
                column["nullable"] = True
            _, low, high = kinds.get(column["name"], (0, 0, 2))
            if column["type"] != "boolean" and high - low > 1 and self.random.random() < 0.3:
                column["index"] = True
        self.schema = et.Schema({"columns": columns})
        self.columns = self.schema.columns
        rows = pick([1, 2, 7, 20, 33, 33, 300])
        self.data = {name: [self.cell(name) for _ in range(rows)] for name in self.columns}

    def value(self, name):
        """A value that a column may hold, one of its bounds often."""
        column, pick = self.columns[name], self.random.choice
        if column["type"] == "boolean":
            return self.random.random() < 0.5
        if column["type"] == "category":
            return pick(column["values"])
        if column["type"] == "date":
            return pick(DAYS if name == "day" else DAYS[1:4])
        low, high, scale = self.units(name)
        units = pick([low, high, self.random.randint(low, high), self.random.randint(low, high)])
        return D(units).scaleb(-scale) if column["type"] == "decimal" else units

    def units(self, name):
        column = self.columns[name]
        scale = column.get("scale", 0)
        return int(D(column["low"]).scaleb(scale)), int(D(column["high"]).scaleb(scale)), scale

    def cell(self, name):
        nullable = self.columns[name].get("nullable", False)
        return None if nullable and self.random.random() < 0.25 else self.value(name)

    def sql_type(self, name):
        """The type of a column in DuckDB, in which no sum or product is rounded."""
        column = self.columns[name]
        kinds = {"category": "VARCHAR", "date": "DATE", "boolean": "BOOLEAN"}
        return kinds.get(column["type"]) or f"DECIMAL(9, {column.get('scale', 0)})"

    # Expressions.

    def literal(self, name):
        """A number near the values of a column, with a decimal place more at times."""
        low, high, scale = self.units(name)
        units = self.random.choice([low, high, self.random.randint(low - 2, high + 2)])
        if self.random.random() < 0.25:
            units, scale = units * 10 + self.random.choice([1, 5, -5]), scale + 1
        return D(units).scaleb(-scale) if scale else units

    def number(self, t, depth):
        kind = self.random.random()
        if depth and kind < 0.4:
            a, b = self.number(t, depth - 1), self.number(t, depth - 1)
            sign = self.random.choice("+-*")
            return a + b if sign == "+" else a - b if sign == "-" else a * b
        if depth and kind < 0.5:
            return self.literal(self.random.choice(NUMBERS)) - t[self.random.choice(NUMBERS)]
        column = t[self.random.choice(NUMBERS)]
        return -column if kind > 0.95 else column

    def compared(self, a, b):
        sign = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
        return {
            "==": lambda: a == b,
            "!=": lambda: a != b,
            "<": lambda: a < b,
            "<=": lambda: a <= b,
            ">": lambda: a > b,
            ">=": lambda: a >= b,
        }[sign]()

    def condition(self, t, depth, constants=None):
        """A condition; encrypted constants go to a mapping, if there is one."""
        pick, chance = self.random.choice, self.random.random
        if depth and chance() < 0.45:
            a = self.condition(t, depth - 1, constants)
            kind = chance()
            if kind < 0.25:
                return ~a
            b = self.condition(t, depth - 1, constants)
            return a & b if kind < 0.65 else a | b
        name = pick([*NUMBERS, *TEXTS, *DATES, *TRUTHS])
        column = t[name]
        if constants is not None and chance() < 0.3:
            hidden = et.parameter(f"c{len(constants)}")
            constants[hidden.name] = self.value(name)
            ordered = name in NUMBERS or name in DATES
            if not ordered:
                return column == hidden if chance() < 0.5 else column != hidden
            return self.compared(column, hidden)
        if chance() < 0.1:
            return column.isnull() if chance() < 0.5 else column.notnull()
        if name in TRUTHS:
            kind = chance()
            other = t[TRUTHS[1]] if kind < 0.2 else kind < 0.6
            return column if kind < 0.4 else column == other
        if name in TEXTS:
            kind = chance()
            if kind < 0.25:
                return column.like(pick(PATTERNS))
            if kind < 0.5:
                return column.isin([self.value(name) for _ in range(pick([0, 1, 2, 4]))])
            if kind < 0.6:
                return t["ward"] == t["it's other"]
            return self.compared(column, pick([self.value(name), "no such text"]))
        if name in DATES:
            kind = chance()
            if kind < 0.2:
                return self.compared(t[DATES[0]], t[DATES[1]])
            if kind < 0.4:
                return column.between(self.value(name), self.value(name))
            if kind < 0.5:
                return column.isin([self.value(name), self.value(name)])
            return self.compared(column, self.value(name))
        kind = chance()
        if kind < 0.2:
            return column.between(self.literal(name), self.literal(name))
        if kind < 0.3:
            return column.isin([self.literal(name) for _ in range(3)])
        if kind < 0.5:
            return self.compared(self.number(t, 1), self.number(t, 1))
        if kind < 0.6:
            return self.compared(self.literal(name), column)
        return self.compared(column, self.literal(name))

    def summand(self, t):
        if self.random.random() < 0.65:
            return self.number(t, 2)
        cases = [
            (self.condition(t, 0), self.number(t, 1)) for _ in range(self.random.choice([1, 1, 2]))
        ]
        default = None if self.random.random() < 0.3 else self.number(t, 1)
        return et.case(*cases, default=default)

    def aggregate(self, t, listed):
        """A sum, a count, an average; where rows are listed, what the reader makes of them, too."""
        where = self.condition(t, 1) if self.random.random() < 0.25 else None
        kind = self.random.randrange(8 if listed else 4)
        if kind == 0:
            return et.count(where)
        if kind == 1:
            return t[self.random.choice([*NUMBERS, *TEXTS, *DATES, *TRUTHS])].count(where)
        if kind == 2:
            return self.summand(t).mean(where)
        if kind == 3:
            return self.summand(t).sum(where)
        if kind == 4:
            return self.number(t, 1).median(where)
        any_column = t[self.random.choice([*NUMBERS, *TEXTS, *DATES, *TRUTHS])]
        x = self.random.choice([self.number(t, 1), any_column])
        return [x.min, x.max, x.nunique][kind - 5](where)

    def formula(self, t, listed):
        kind = self.random.random()
        if kind < 0.75:
            return self.aggregate(t, listed)
        a, b = self.summand(t).sum(), self.summand(t).sum()
        if kind < 0.85:
            return a / self.random.choice([b, et.count(), 3])
        return self.random.choice([100 * a / b, a + b, a - 2 * et.count(), -a, a * et.count()])

    def query(self):
        """A query, and the values of its encrypted constants."""
        t, chance = et.table(self.schema), self.random.random
        constants = {}
        if chance() < 0.75:
            hides = chance() < 0.2
            t = t.filter(self.condition(t, 2, constants if hides else None))
        if chance() < 0.15:
            return self.rows(t), constants
        few = self.random.sample(["ward", "select", "paid", "rate", "small", "it's other"], 2)
        many = ["kind", "wide", "day"]
        groups = few[: self.random.choice([0, 0, 1, 1, 2])]
        if chance() < 0.1:
            groups = [self.random.choice(many), *groups[:1]]
        listed = chance() < 0.35
        names = [f"o{i}" for i in range(self.random.choice([1, 1, 2, 3]))]
        outputs = {name: self.formula(t, listed) for name in names}
        q = t.group_by(*groups).agg(outputs)
        if chance() < 0.25:
            q = q.having(self.having(t))
        if groups and chance() < 0.5:
            order = self.random.sample(groups, len(groups))
            q = q.order_by(*map(self.key, order))
            if chance() < 0.5:
                q = q.limit(self.random.choice([0, 1, 3, 1000]))
        return q, constants

    def having(self, t):
        x = self.random.choice(
            [et.count(), t.small.sum(), t.rate.mean(), t.wide.sum(), t["day"].count()]
        )
        found = self.compared(x, self.random.choice([0, 1, 2, D("0.5"), -3]))
        if self.random.random() < 0.3:
            found = ~(found & (et.count() > 1)) | x.between(1, 5)
        return found

    def key(self, name):
        key = self.random.choice([et.asc, et.desc])
        return key(name, nulls=self.random.choice([None, "first", "last"]))

    def rows(self, t):
        names = self.random.sample(list(self.columns), self.random.choice([1, 2, 4]))
        q = t.select(*names)
        if self.random.random() < 0.3:
            q = q.distinct()
        if self.random.random() < 0.5:
            q = q.order_by(*map(self.key, names))
            if self.random.random() < 0.5:
                q = q.limit(self.random.choice([0, 2, 1000]))
        return q
