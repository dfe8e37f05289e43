//! Mistakes with keys, ciphertexts, manifests, and the files that results go to.

use crate::mistakes::case::Step::{Change, Copy, Cut, Disown, Lengthen, Write};
use crate::mistakes::case::{Case, case};

/// All of them.
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
        "a ciphertext of an unknown owner, as files of version 1 have",
        &[Disown("x.ct", "old.ct")],
        "decrypt --key a/secret.key --in old.ct",
        "wire.unknown-owner",
    ),
    case(
        "a ciphertext of an unknown owner, accepted, and another secret key",
        &[],
        "decrypt --key b/secret.key --in old.ct --allow-unknown-owner",
        "scheme.not-decryptable",
    ),
    case(
        "the same with no noise bound trusted, so that nothing would detect it",
        &[],
        "decrypt --key b/secret.key --in old.ct --allow-unknown-owner --bounds untrusted",
        "scheme.unknown-owner",
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
        "computing on a compact result",
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
        "a ciphertext with an additional byte",
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
        "values over the parameters beside keys, with --force",
        &[Copy("a/params.json", "own.json")],
        "decrypt --key a/secret.key --in x.ct --out own.json --force",
        "wire.exists",
    ),
    case(
        "a compact result over the ciphertext that it is made from, with --force",
        &[],
        "compact --in x.ct --out x.ct --force",
        "wire.exists",
    ),
    case(
        "a change of keys over the ciphertext that it changes, with --force",
        &[],
        "change-key --keys ab.keys --in x.ct --out x.ct --force",
        "wire.exists",
    ),
    case(
        "a result over an input of its program, with --force",
        &[Copy("x.ct", "here/y.ct")],
        "eval --server-keys a/server.keys y=x+1 x=here/y.ct --out here --force",
        "wire.exists",
    ),
    case(
        "a ciphertext over the values that it encrypts, with --force",
        &[],
        "encrypt --key a/public.key --in v.csv --out v.csv --force",
        "wire.exists",
    ),
];
