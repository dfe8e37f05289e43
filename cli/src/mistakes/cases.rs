//! The table of mistakes.

use super::case::Case;
use super::case::Step::{self, Change, Copy, Cut, Lengthen, Run, Write};

/// Keys of two owners a and b, columns, ciphertexts x and y of a and z of b, results.
pub(super) const SETUP: &[Step] = &[
    Run("keygen --params insecure_bgv-257-n8 --program y=x*x --out a"),
    Run("keygen --params insecure_bgv-257-n8 --program y=x*x --out b"),
    Run("keygen --params insecure_bgv-127-n8 --program y=x*x --out other"),
    Write("v.csv", b"v\n3\n5\n200\n"),
    Run("encrypt --key a/secret.key --in v.csv --out x.ct"),
    Run("encrypt --key a/public.key --in v.csv --out y.ct"),
    Run("encrypt --key b/public.key --in v.csv --out z.ct"),
    Run("compact --in x.ct --out x.small"),
    Run("eval --server-keys a/server.keys y=x*x x=x.ct --out square"),
    Run("keys change --from a/secret.key --to b/secret.key --out ab.keys"),
    Run("keys manifest-key --out shared.key"),
    Run("keys manifest-key --out unshared.key"),
    Run("encrypt --key a/public.key --in v.csv --out listed.ct --write-manifest listed.manifest \
         --manifest-key shared.key"),
];

const fn case(
    name: &'static str,
    before: &'static [Step],
    command: &'static str,
    code: &'static str,
) -> Case {
    Case { name, before, command, code }
}

/// All mistakes.
pub const CASES: &[Case] = &[
    case(
        "a ciphertext, another secret key",
        &[],
        "decrypt --key b/secret.key --in x.ct",
        "scheme.wrong-key",
    ),
    case(
        "a result, another secret key",
        &[],
        "decrypt --key b/secret.key --in x.small",
        "scheme.wrong-key",
    ),
    case(
        "a ciphertext, another secret key, for sharing",
        &[],
        "decrypt --key b/secret.key --in x.ct --for-sharing",
        "scheme.wrong-key",
    ),
    case(
        "a ciphertext, other server keys",
        &[],
        "eval --server-keys b/server.keys y=x*x x=x.ct --out no",
        "scheme.wrong-key",
    ),
    case(
        "ciphertexts of two owners in one program",
        &[],
        "eval --server-keys a/server.keys y=x*z x=x.ct z=z.ct --out no",
        "scheme.wrong-key",
    ),
    case(
        "a change of keys for another owner's ciphertexts",
        &[],
        "change-key --keys ab.keys --in z.ct --out no.ct",
        "scheme.wrong-key",
    ),
    case(
        "server keys copied over another owner's",
        &[Copy("a/params.json", "mixed/params.json"), Copy("b/server.keys", "mixed/server.keys")],
        "eval --server-keys mixed/server.keys y=x+1 x=x.ct --out no",
        "scheme.wrong-key",
    ),
    case(
        "a secret key of another set",
        &[],
        "decrypt --key other/secret.key --in x.ct",
        "wire.other-params",
    ),
    case(
        "server keys of another set",
        &[],
        "eval --server-keys other/server.keys y=x*x x=x.ct --out no",
        "wire.other-params",
    ),
    case(
        "the wrong set stated",
        &[],
        "decrypt --key a/secret.key --in x.ct --params insecure_bgv-127-n8",
        "wire.other-params",
    ),
    case(
        "server keys in the place of a secret key",
        &[],
        "decrypt --key a/server.keys --in x.ct",
        "wire.wrong-kind",
    ),
    case(
        "a key in the place of a ciphertext",
        &[],
        "eval --server-keys a/server.keys y=x*x x=a/public.key --out no",
        "wire.wrong-kind",
    ),
    case(
        "computing on a result that was cut",
        &[],
        "eval --server-keys a/server.keys y=x*x x=x.small --out no",
        "wire.wrong-kind",
    ),
    case(
        "a damaged ciphertext",
        &[Change("x.ct", "damaged.ct")],
        "decrypt --key a/secret.key --in damaged.ct",
        "wire.checksum",
    ),
    case(
        "a truncated ciphertext",
        &[Cut("x.ct", "cut.ct")],
        "decrypt --key a/secret.key --in cut.ct",
        "wire.truncated",
    ),
    case(
        "a ciphertext with a byte more",
        &[Lengthen("x.ct", "long.ct")],
        "decrypt --key a/secret.key --in long.ct",
        "wire.trailing",
    ),
    case(
        "a damaged secret key",
        &[Change("a/secret.key", "damaged.key")],
        "decrypt --key damaged.key --in x.ct",
        "wire.checksum",
    ),
    case(
        "truncated server keys",
        &[Cut("a/server.keys", "cut.keys")],
        "eval --server-keys cut.keys y=x*x x=x.ct --out no",
        "wire.truncated",
    ),
    case(
        "damaged server keys",
        &[Change("a/server.keys", "damaged.keys")],
        "eval --server-keys damaged.keys y=refresh(x) x=x.ct --out no",
        "scheme.unreadable-key",
    ),
    case(
        "a manifest that does not list the file",
        &[],
        "decrypt --key a/secret.key --in y.ct --bounds manifest --manifest listed.manifest \
         --manifest-key shared.key",
        "wire.not-in-manifest",
    ),
    case(
        "a manifest under another key",
        &[],
        "decrypt --key a/secret.key --in listed.ct --bounds manifest --manifest listed.manifest \
         --manifest-key unshared.key",
        "wire.not-authentic",
    ),
    case(
        "computing on a bound that is not trusted",
        &[],
        "eval --server-keys a/server.keys y=x*x x=x.ct --out no --bounds untrusted",
        "scheme.noise-overflow",
    ),
    case(
        "a result taken for a fresh encryption",
        &[],
        "eval --server-keys a/server.keys y=x*x x=square/y.ct --out no --bounds fresh",
        "wire.malformed",
    ),
    case(
        "key generation in a place that cannot take all files",
        &[Write("taken/params.json/x", b"")],
        "keygen --params insecure_bgv-257-n8 --program y=x*x --out taken --force",
        "wire.io",
    ),
    case(
        "key generation over keys",
        &[],
        "keygen --params insecure_bgv-257-n8 --program y=x*x --out a",
        "wire.exists",
    ),
    case(
        "a result over a file",
        &[],
        "decrypt --key a/secret.key --in x.ct --out v.csv",
        "wire.exists",
    ),
    case(
        "a ciphertext over a secret key, with --force",
        &[Copy("a/secret.key", "own.key")],
        "encrypt --key a/public.key --in v.csv --out own.key --force",
        "wire.exists",
    ),
    case(
        "a ciphertext over server keys, with --force",
        &[Copy("a/server.keys", "own.server")],
        "encrypt --key a/public.key --in v.csv --out own.server --force",
        "wire.exists",
    ),
    case(
        "a ciphertext over the values that it encrypts, with --force",
        &[],
        "encrypt --key a/public.key --in v.csv --out v.csv --force",
        "wire.exists",
    ),
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
        "damaged typed columns",
        &[Change("people", "damaged")],
        "decrypt --key a/secret.key --in damaged",
        "wire.checksum",
    ),
];

/// The specification of a set whose bootstrapping overflows nearly every time.
const OFTEN: &[u8] = br#"{"name":"insecure_often","index":512,"plain_prime":257,"plain_exponent":1,
"base_bits":40,"word_bits":50,"words":7,"fine_bits":[44,38,32],"special":2,"digit_size":2,
"secret":"uniform_ternary","bootstrap":{"sparse_weight":8,"overflow_bound":2}}"#;
