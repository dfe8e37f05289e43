"""Queries derived from TPC-H on encrypted line items, compared with DuckDB row by row: not
comparable with published TPC-H results.

    pip install 'everlevel[tables]' duckdb tpchgen-cli
    python python/benchmarks/tpch.py --scale 0.0055 --scale 0.1667 --out tpch.json

Scale 0.0055 has 33,206 line items, 0.1667 a million. The columns of orders and parts that the
queries need are added to each line item before it is encrypted, and a key of 64 bits, by which a
row is looked up. With ``--encrypted-constants`` each query is also asked with its constants
encrypted. Seconds are those of the server, which reads the columns from files; keys, encryption and
decryption are not in them.
"""

import argparse
import datetime
import decimal
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

import everlevel
from everlevel import tables as et

D = decimal.Decimal
REMARK = "derived from TPC-H, not comparable with published TPC-H results"
TABLES = ("lineitem", "orders", "part")
DATES = {"type": "date", "low": "1992-01-01", "high": "1998-12-31"}
SIZES = ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
COATINGS = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")


def money(low, high):
    return {"type": "decimal", "scale": 2, "low": low, "high": high}


def category(*values):
    return {"type": "category", "values": list(values)}


#: A line item has the key (8 l_orderkey + l_linenumber) STEP modulo KEYS, which no other one has,
#: since the two numbers have no common divisor.
STEP, KEYS = 11_400_714_819_323_198_549, 2**63 - 1
KEY = f"((l_orderkey * 8 + l_linenumber)::hugeint * {STEP}::hugeint % {KEYS}::hugeint)::bigint"

#: The ranges that the specification states, whatever the data; keys may have any.
COLUMNS = {
    "l_key": {"type": "integer", "low": -KEYS, "high": KEYS},
    "l_quantity": {"type": "integer", "low": 1, "high": 50},
    "l_extendedprice": money("900.00", "104950.00"),
    "l_discount": money("0.00", "0.10"),
    "l_tax": money("0.00", "0.08"),
    "l_returnflag": category("A", "N", "R"),
    "l_linestatus": category("F", "O"),
    "l_shipdate": DATES,
    "l_commitdate": DATES,
    "l_receiptdate": DATES,
    "l_shipmode": category("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"),
    "o_orderpriority": category("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"),
    # In order, as an encrypted prefix requires.
    "p_type": category(*sorted(f"{a} {b} {c}" for a in SIZES for b in COATINGS for c in METALS)),
}

#: The columns of conditions but the key, and those of groups that have more than two values.
INDEXED = {
    "l_quantity",
    "l_discount",
    "l_returnflag",
    "l_shipdate",
    "l_commitdate",
    "l_receiptdate",
    "l_shipmode",
    "o_orderpriority",
    "p_type",
}


def schema(indexes=True):
    def column(name, told):
        return {"name": name, **told, "index": indexes and name in INDEXED}

    return et.Schema({"columns": [column(name, told) for name, told in COLUMNS.items()]})


def queries(indexes=True, hidden=None):
    """The queries as they are run here. If there is a mapping ``hidden``, their constants are
    encrypted, and are added to it by their names.
    """

    def constant(name, value):
        if hidden is None:
            return value
        hidden[name] = value
        return et.parameter(name)

    t = et.table(schema(indexes), "lineitem")
    price = t.l_extendedprice * (1 - t.l_discount)
    urgent = t.o_orderpriority.isin([constant("first", "1-URGENT"), constant("second", "2-HIGH")])
    begin, end = (
        constant(name, datetime.date(year, 1, 1)) for name, year in (("begin", 1994), ("end", 1995))
    )
    return {
        "Q1": t.filter(t.l_shipdate <= constant("last", datetime.date(1998, 9, 2)))
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=t.l_quantity.sum(),
            sum_base_price=t.l_extendedprice.sum(),
            sum_disc_price=price.sum(),
            sum_charge=(price * (1 + t.l_tax)).sum(),
            avg_qty=t.l_quantity.mean(),
            avg_price=t.l_extendedprice.mean(),
            avg_disc=t.l_discount.mean(),
            count_order=et.count(),
        )
        .order_by("l_returnflag", "l_linestatus"),
        "Q6": t.filter(
            t.l_shipdate >= begin,
            t.l_shipdate < end,
            t.l_discount.between(constant("low", D("0.05")), constant("high", D("0.07"))),
            t.l_quantity < constant("quantity", 24),
        ).agg(revenue=(t.l_extendedprice * t.l_discount).sum()),
        "Q12": t.filter(
            t.l_shipmode.isin([constant("mail", "MAIL"), constant("ship", "SHIP")]),
            t.l_commitdate < t.l_receiptdate,
            t.l_shipdate < t.l_commitdate,
            t.l_receiptdate >= begin,
            t.l_receiptdate < end,
        )
        .group_by("l_shipmode")
        .agg(
            high_line_count=et.case((urgent, 1), default=0).sum(),
            low_line_count=et.case((~urgent, 1), default=0).sum(),
        )
        .order_by("l_shipmode"),
        "Q14": t.filter(
            t.l_shipdate >= constant("since", datetime.date(1995, 9, 1)),
            t.l_shipdate < constant("until", datetime.date(1995, 10, 1)),
        ).agg(
            promo_revenue=100
            * et.case((t.p_type.like(constant("promo", "PROMO%")), price), default=0).sum()
            / price.sum()
        ),
        # The first line item of the first order.
        "lookup": t.filter(t.l_key == constant("key", 9 * STEP % KEYS)).select(
            "l_extendedprice", "l_shipdate", "p_type"
        ),
    }


# The same of DuckDB, over the tables as they are: sums and counts in the place of averages and
# quotients, which it computes in floating point.
REFERENCE = {
    "Q1": """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
        sum(l_extendedprice * (1 - l_discount)),
        sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), sum(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-12-01' - interval 90 day
        group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus""",
    "Q6": """select sum(l_extendedprice * l_discount) from lineitem
        where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
        and l_discount between 0.05 and 0.07 and l_quantity < 24""",
    "Q12": """select l_shipmode,
        sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end),
        sum(case when o_orderpriority not in ('1-URGENT', '2-HIGH') then 1 else 0 end)
        from orders join lineitem on o_orderkey = l_orderkey
        where l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate
        and l_shipdate < l_commitdate and l_receiptdate >= date '1994-01-01'
        and l_receiptdate < date '1995-01-01' group by l_shipmode order by l_shipmode""",
    "Q14": """select sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount)
        else 0 end), sum(l_extendedprice * (1 - l_discount))
        from lineitem join part on l_partkey = p_partkey
        where l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-10-01'""",
    "lookup": """select l_extendedprice, l_shipdate, p_type
        from lineitem join part on l_partkey = p_partkey
        where l_orderkey = 1 and l_linenumber = 1""",
}


def quotient(a, b, places):
    """a / b to a number of decimal places, halves away from zero; None if b is 0."""
    if not b:
        return None
    scaled = Fraction(a) / Fraction(b) * 10**places
    nearest = (2 * abs(scaled.numerator) + scaled.denominator) // (2 * scaled.denominator)
    return D(nearest if scaled >= 0 else -nearest).scaleb(-places)


def expected(connection, name):
    """The rows of an answer by DuckDB."""
    rows = connection.execute(REFERENCE[name]).fetchall()
    if name == "Q1":
        made = []
        for *flags, quantity, price, discounted, charge, discount, count in rows:
            averages = (quotient(quantity, count, 6), quotient(price, count, 8))
            averages += (quotient(discount, count, 8),)
            made.append((*flags, quantity, price, discounted, charge, *averages, count))
        return made
    if name == "Q14":
        return [(quotient(100 * promotion, whole, 10),) for promotion, whole in rows]
    return rows


def generate(scale, directory):
    """Parquet files of the tables."""
    beside = pathlib.Path(sys.executable).with_name("tpchgen-cli")
    program = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if program is None:
        sys.exit("tpchgen-cli is not installed: pip install tpchgen-cli")
    command = [program, "parquet", "-s", str(scale), f"--tables={','.join(TABLES)}"]
    subprocess.run([*command, f"--output-dir={directory}"], check=True, capture_output=True)


def load(directory, rows=None):
    """A connection of DuckDB with the tables, the first ``rows`` line items, and these with keys
    and the columns of orders and parts.
    """
    import duckdb

    connection = duckdb.connect()
    for table in TABLES:
        path = str(pathlib.Path(directory) / f"{table}.parquet").replace("'", "''")
        first = " order by l_orderkey, l_linenumber"
        first = first + (f" limit {rows}" if rows else "") if table == "lineitem" else ""
        connection.execute(f"create table {table} as select * from '{path}'{first}")
    columns = ", ".join(f"{KEY} as l_key" if name == "l_key" else name for name in COLUMNS)
    items = connection.sql(
        f"select {columns} from lineitem join orders on o_orderkey = l_orderkey "
        "join part on p_partkey = l_partkey"
    )
    return connection, items.to_arrow_table()


def ask(params, client, table, connection, repeat, indexes, constants):
    """Runs all queries, and compares."""
    hidden = {} if constants == "encrypted" else None
    asked = []
    for name, query in queries(indexes, hidden).items():
        plan = et.Plan(query)
        server = plan.server(client, table.rows)
        bound = None
        if plan.parameters:
            bound = plan.bind(client, **{key: hidden[key] for key in plan.parameters})
        seconds, exact = [], True
        for _ in range(repeat):
            started = time.perf_counter()
            result = table.run(server, plan, constants=bound)
            seconds.append(time.perf_counter() - started)
            answer = result.read(client, plan=plan, constants=bound, table_id=table.id, arrow=False)
            exact &= list(zip(*answer.values())) == expected(connection, name)
        told = plan.explain(params, table.rows)
        asked.append(
            {
                "name": name,
                "rows": table.rows,
                "seconds": sorted(seconds)[len(seconds) // 2],
                "runs": seconds,
                "seconds_by_model": told.seconds,
                "exact": exact,
                "constants": constants,
                "refreshes": told.refreshes,
                "result_bytes": len(result.to_bytes()),
            }
        )
        shown = f"{name}, {constants} constants: {asked[-1]['seconds']:.2f} s, exact: {exact}"
        print(shown, file=sys.stderr)
    return asked


def measure(params, scale, given, work):
    """Encrypts line items, runs all queries, and compares."""
    generate(scale, work)
    connection, items = load(work, given.rows)
    client, indexes = everlevel.Client(params), not given.without_indexes
    started = time.perf_counter()
    et.encrypt(client, items, schema(indexes), directory=work / "lineitem.evt")
    encrypting = time.perf_counter() - started
    table = et.EncryptedTable.open(work / "lineitem.evt", params=params)
    ways = ["public", "encrypted"] if given.encrypted_constants else ["public"]
    asked = [
        row
        for constants in ways
        for row in ask(params, client, table, connection, given.repeat, indexes, constants)
    ]
    return {
        "scale": scale,
        "rows": table.rows,
        "blocks": table.blocks,
        "indexes": indexes,
        "table_bytes": table.nbytes,
        "seconds_of_encryption": encrypting,
        "queries": asked,
    }


def main():
    parser = argparse.ArgumentParser(description=f"Encrypted line items: {REMARK}")
    parser.add_argument("--scale", type=float, action="append", help="scale factor, default 0.0055")
    parser.add_argument("--rows", type=int, help="take the first line items only")
    parser.add_argument("--params", default="bgv-65537-n15", help="parameter set")
    parser.add_argument("--insecure-research", action="store_true")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each query")
    parser.add_argument(
        "--encrypted-constants", action="store_true", help="also with all constants encrypted"
    )
    parser.add_argument("--without-indexes", action="store_true")
    parser.add_argument("--threads", type=int, default=0, help="default: one a core")
    parser.add_argument("--out", help="where the record is written; default: standard output")
    given = parser.parse_args()
    everlevel.set_num_threads(given.threads)
    params = everlevel.Params(given.params, insecure_research=given.insecure_research)
    record = {
        "what": REMARK,
        "params": params.name,
        "security_bits": params.security_bits,
        "failure_log2": params.failure_log2,
        "threads": everlevel.get_num_threads(),
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "everlevel": everlevel.__version__,
        "date": datetime.date.today().isoformat(),
        "tables": [],
    }
    for scale in given.scale or [0.0055]:
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            record["tables"].append(measure(params, scale, given, work))
    text = json.dumps(record, indent=2)
    if given.out:
        pathlib.Path(given.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    if not all(asked["exact"] for table in record["tables"] for asked in table["queries"]):
        sys.exit("a wrong answer: please report this")


if __name__ == "__main__":
    main()
