//! Mistakes with columns, ranges, programs, typed integers and tables.

use crate::mistakes::case::Step::{self, Change, Copy, Run, Write};
use crate::mistakes::case::{Case, case};

/// All of them.
pub const CASES: &[Case] = &[
    case(
        "a blank line inside of a column",
        &[Write("blank.csv", b"v\n3\n\n5\n")],
        "encrypt --key a/public.key --in blank.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "N/A as the first value",
        &[Write("na.csv", b"N/A\n3\n5\n")],
        "encrypt --key a/public.key --in na.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "n.a. as the first value",
        &[Write("points.csv", b"n.a.\n3\n5\n")],
        "encrypt --key a/public.key --in points.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "not available as the first value",
        &[Write("words.csv", b"not available\n3\n5\n")],
        "encrypt --key a/public.key --in words.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "inf as the first value",
        &[Write("inf.csv", b"inf\n3\n5\n")],
        "encrypt --key a/public.key --in inf.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "nan in a column",
        &[Write("nan.csv", b"v\n3\nnan\n")],
        "encrypt --key a/public.key --in nan.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "a number in quotes that may be a header",
        &[Write("quoted.csv", b"\"2026\"\n3\n")],
        "encrypt --key a/public.key --in quoted.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "null in JSON",
        &[Write("null.json", b"[1, null, 3]")],
        "encrypt --key a/public.key --in null.json --out no.ct",
        "cli.usage",
    ),
    case(
        "two columns",
        &[Write("two.csv", b"a,b\n1,2\n")],
        "encrypt --key a/public.key --in two.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "a value outside of the set's",
        &[Write("large.csv", b"257\n")],
        "encrypt --key a/public.key --in large.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "a value outside of the stated range",
        &[],
        "encrypt --key a/public.key --in v.csv --range 0..100 --out no.ct",
        "cli.usage",
    ),
    case(
        "a range that residues do not tell apart",
        &[],
        "encrypt --key a/public.key --in v.csv --range -200..200 --out no.ct",
        "cli.usage",
    ),
    case(
        "columns of different lengths",
        &[
            Write("short.csv", b"v\n3\n5\n"),
            Run("encrypt --key a/public.key --in short.csv --out short.ct"),
        ],
        "eval --server-keys a/server.keys y=x+w x=x.ct w=short.ct --out no",
        "cli.usage",
    ),
    case(
        "a number with a letter in it as the first value",
        &[Write("letter.csv", b"l00\n3\n")],
        "encrypt --key a/public.key --in letter.csv --out no.ct",
        "cli.usage",
    ),
    case(
        "a sum over slots without a value",
        &[],
        "eval --server-keys a/server.keys y=sum(x+1) x=x.ct --out no",
        "cli.usage",
    ),
    case(
        "decryption of what may have wrapped",
        &[],
        "decrypt --key a/secret.key --in square/y.ct",
        "circuit.range",
    ),
    case(
        "decryption of unsigned values as signed ones",
        &[],
        "decrypt --key a/secret.key --in x.ct --signed",
        "circuit.range",
    ),
    case(
        "decryption of reduced values as integers",
        &[Run("encrypt --key a/public.key --in v.csv --reduce --out reduced.ct")],
        "decrypt --key a/secret.key --in reduced.ct",
        "circuit.range",
    ),
    case(
        "a program that reads what it is not given",
        &[],
        "eval --server-keys a/server.keys y=x*w x=x.ct --out no",
        "circuit.missing-input",
    ),
    case(
        "an input that the program does not read",
        &[],
        "eval --server-keys a/server.keys y=x*x x=x.ct w=y.ct --out no",
        "cli.usage",
    ),
    case(
        "a mistyped program",
        &[],
        "eval --server-keys a/server.keys y=x*turn(x) x=x.ct --out no",
        "expression.syntax",
    ),
    case(
        "a comparison of residues, which have no order",
        &[],
        "eval --server-keys a/server.keys y=x<150 x=x.ct --out no",
        "circuit.typed-only",
    ),
    case(
        "a set whose bootstrapping fails often, accepted for its low security only",
        &[Write("often.json", OFTEN)],
        "keygen --params often.json --out often",
        "scheme.frequent-failures",
    ),
    case(
        "keys of a set whose bootstrapping fails often, used without saying so",
        &[Run("keygen --params often.json --program y=x*x --out often --allow-failures")],
        "encrypt --key often/public.key --in v.csv --out no.ct",
        "scheme.frequent-failures",
    ),
    case(
        "typed columns, another secret key",
        &[
            Write("people.csv", b"age,income\n30,200\n5,7\n"),
            Run(
                "encrypt --types age=u8,income=u16 --key a/public.key --in people.csv --out people",
            ),
        ],
        "decrypt --key b/secret.key --in people",
        "scheme.wrong-key",
    ),
    case(
        "typed columns, other server keys",
        &[],
        "eval --server-keys b/server.keys y=age<income people --out no",
        "scheme.wrong-key",
    ),
    case(
        "typed columns of two owners in one program",
        &[Run("encrypt --types v=u8 --key b/public.key --in short.csv --out theirs")],
        "eval --server-keys a/server.keys y=age<v people theirs --out no",
        "scheme.wrong-key",
    ),
    case(
        "a value that its type does not hold",
        &[Write("old.csv", b"age\n300\n")],
        "encrypt --types age=u8 --key a/public.key --in old.csv --out no",
        "cli.usage",
    ),
    case(
        "a negative value in an unsigned type",
        &[Write("young.csv", b"age\n-3\n")],
        "encrypt --types age=u8 --key a/public.key --in young.csv --out no",
        "cli.usage",
    ),
    case(
        "a blank line inside of a typed column",
        &[Write("gap.csv", b"age\n3\n\n5\n")],
        "encrypt --types age=u8 --key a/public.key --in gap.csv --out no",
        "cli.usage",
    ),
    case(
        "typed columns as residues, which they are not",
        &[],
        "decrypt --key a/secret.key --in people --wrapping",
        "cli.usage",
    ),
    case(
        "typed columns of different lengths, padded",
        &[],
        "eval --server-keys a/server.keys y=age<income people --out no --pad",
        "cli.usage",
    ),
    case(
        "damaged typed columns",
        &[Change("people", "damaged")],
        "decrypt --key a/secret.key --in damaged",
        "wire.checksum",
    ),
    case(
        "an encrypted table, another secret key",
        TABLES,
        "table decrypt --table stays --key u/secret.key --out no.csv",
        "scheme.wrong-key",
    ),
    case(
        "an encrypted table, other server keys",
        &[],
        "table run --table stays --server-keys u/server.keys --plan days.plan --out no.result",
        "scheme.wrong-key",
    ),
    case(
        "a plan for tables of another schema",
        &[],
        "table run --table stays --server-keys t/server.keys --plan costs.plan --out no.result",
        "table.other-schema",
    ),
    case(
        "a result of another plan than the reader asked",
        &[Run(
            "table run --table stays --server-keys t/server.keys --plan days.plan --out days.out",
        )],
        "table read --key t/secret.key --in days.out --plan count.plan",
        "table.other-result",
    ),
    case(
        "a result of a table, another secret key",
        &[],
        "table read --key u/secret.key --in days.out",
        "scheme.wrong-key",
    ),
    case(
        "a plan over the schema that it is made for, with --force",
        &[Copy("days.json", "same.json")],
        "table ask --schema same.json select\tsum(days)\tfrom\tt --out same.json --force",
        "wire.exists",
    ),
];

/// Two owners of tables, a table of the first, and plans for it and for another one.
const TABLES: &[Step] = &[
    Write("days.csv", b"ward,days\nnorth,3\nsouth,14\n"),
    Write("costs.csv", b"ward,cost\nnorth,300\nsouth,140\n"),
    Run("table schema infer --in days.csv --out days.json"),
    Run("table schema infer --in costs.csv --out costs.json"),
    Run("table ask --schema days.json select\tsum(days)\tfrom\tt --out days.plan"),
    Run("table ask --schema days.json select\tcount(*)\tfrom\tt --out count.plan"),
    Run("table ask --schema costs.json select\tsum(cost)\tfrom\tt --out costs.plan"),
    Run("keygen --params insecure_bgv-65537-n11 --plan days.plan --rows 2 --out t"),
    Run("keygen --params insecure_bgv-65537-n11 --plan days.plan --rows 2 --out u"),
    Run("table encrypt --schema days.json --in days.csv --key t/public.key --out stays"),
];

/// The specification of a set whose bootstrapping overflows nearly every time.
const OFTEN: &[u8] = br#"{"name":"insecure_often","index":512,"plain_prime":257,"plain_exponent":1,
"base_bits":40,"word_bits":50,"words":7,"fine_bits":[44,38,32],"special":2,"digit_size":2,
"secret":"uniform_ternary","bootstrap":{"sparse_weight":8,"overflow_bound":2}}"#;
