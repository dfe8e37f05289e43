//! The table of mistakes.

mod aes;
mod files;
mod values;

use super::case::Case;
use super::case::Step::{self, Run, Write};

/// The set of nearly all files.
pub(super) const SET: &str = "insecure_bgv-257-n8";

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
    Run("keys change --old-key a/secret.key --new-key b/secret.key --out ab.keys"),
    Run("keys manifest-key --out shared.key"),
    Run("keys manifest-key --out unshared.key"),
    Run("encrypt --key a/public.key --in v.csv --out listed.ct --write-manifest listed.manifest \
         --manifest-key shared.key"),
];

/// All mistakes, in the order in which they are made.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    files::CASES.iter().chain(values::CASES).chain(aes::CASES)
}
