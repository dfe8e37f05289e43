//! `everlevel encrypt`.

use everlevel::wire::{self, ObjectKind, ReadOptions, WireError};
use everlevel::{Ciphertext, Params, Plaintext};
use serde::Serialize;

use super::args::EncryptArgs;
use super::files::{Column, check_free, fresh_metadata, of_file, read_object, set_of};
use crate::args::Common;
use crate::columns;
use crate::common::{emit, emit_json};
use crate::csv::Range;
use crate::error::CliError;

#[derive(Serialize)]
struct Report {
    params: String,
    values: usize,
    slots: usize,
    bytes: u64,
}

/// Runs the command.
pub fn run(args: &EncryptArgs, common: &Common) -> Result<(), CliError> {
    check_free(&args.out.out, args.out.force)?;
    let (bytes, summary) = read_object(&args.key)?;
    let params = set_of(&args.key, summary.params, &args.set, common)?;
    let range = match (args.signed, args.reduce) {
        (true, _) => Range::Signed,
        (_, true) => Range::Reduce,
        _ => Range::Exact,
    };
    let values = columns::read(&args.input, params.plain_modulus(), params.slots(), range)?;
    let plain = Plaintext::encode(&params, &values)?;
    let x = encrypted(args, &params, &bytes, summary.kind, &plain)?;
    let bytes = Column::write(&args.out, &params, &[x], &fresh_metadata(values.len(), summary.kind))?;
    let report = Report { params: params.name().into(), values: values.len(), slots: params.slots(), bytes };
    if common.json {
        return emit_json(&report);
    }
    emit(&format!(
        "{}: {} values in {} slots, {} bytes: {}",
        report.params,
        report.values,
        report.slots,
        report.bytes,
        args.out.out.display()
    ))
}

fn encrypted(
    args: &EncryptArgs,
    params: &Params,
    key: &[u8],
    kind: ObjectKind,
    plain: &Plaintext,
) -> Result<Ciphertext, CliError> {
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let options = ReadOptions::default();
    match kind {
        ObjectKind::PublicKey => {
            let (key, _) = wire::public_key::from_bytes(params, key, &options).map_err(of_file(&args.key))?;
            Ok(key.encrypt(plain, &mut rng)?)
        }
        ObjectKind::SecretKey => {
            let (key, _) = wire::secret_key::from_bytes(params, key, &options).map_err(of_file(&args.key))?;
            Ok(key.encrypt(plain, &mut rng)?)
        }
        found => Err(of_file(&args.key)(WireError::WrongKind { expected: ObjectKind::PublicKey, found })),
    }
}
