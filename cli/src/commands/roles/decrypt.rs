//! `everlevel decrypt`.

use std::path::Path;

use everlevel::files::Bounds;
use everlevel::lab::SchemeError;
use everlevel::{FloodingPolicy, Plaintext, SecretKey};
use everlevel_wire::file::write_file;
use everlevel_wire::{Metadata, ObjectKind, WireError, results};

use super::args::DecryptArgs;
use super::files::{Column, read_object, secret_key, values_of};
use crate::columns::{self, Format};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_free, existing, of_file};
use crate::console::output::{emit, emit_json};

/// Runs the command.
pub fn run(args: &DecryptArgs, common: &Common) -> Result<(), CliError> {
    let format = args.out.as_deref().map(Format::of).transpose()?;
    if let Some(out) = &args.out {
        check_free(out, args.force)?;
    }
    let secret = secret_key(&args.key, &args.set, common)?;
    let (plain, metadata) = decrypted(&secret, args)?;
    let mut values = integers(&secret, &plain, args.signed)?;
    if !args.all {
        values.truncate(values_of(&metadata).unwrap_or(values.len()));
    }
    let name = args
        .input
        .file_stem()
        .map_or_else(|| "value".into(), |stem| stem.to_string_lossy().into_owned());
    match (&args.out, format) {
        (Some(out), Some(format)) => {
            let bytes = columns::bytes(format, &name, &values)?;
            write_file(out, &bytes, existing(args.force)).map_err(of_file(out))?;
            let told = serde_json::json!({
                "params": secret.params().name(),
                "values": values.len(),
                "out": out,
            });
            if common.json {
                emit_json(&told)
            } else {
                emit(&format!("{} values: {}", values.len(), out.display()))
            }
        }
        _ if common.json => {
            emit_json(&serde_json::json!({ "params": secret.params().name(), "values": values }))
        }
        _ => {
            let text = columns::bytes(Format::Csv, &name, &values)?;
            emit(String::from_utf8_lossy(&text).trim_end())
        }
    }
}

/// The only ciphertext of the file, whole or cut.
fn decrypted(secret: &SecretKey, args: &DecryptArgs) -> Result<(Plaintext, Metadata), CliError> {
    let (input, params) = (&args.input, secret.params());
    // A bound that is too small is found out by the check of the phase, and one that is too large
    // is no worse than none.
    let bounds = args.manifests.believed(args.bounds)?.unwrap_or(Bounds::Stated);
    let (bytes, summary) = read_object(input)?;
    if summary.kind == ObjectKind::RESULTS {
        if let Bounds::Manifest(_) = bounds {
            // Manifests list what has a noise bound.
            return Err(of_file(input)(WireError::WrongKind {
                expected: ObjectKind::CIPHERTEXTS,
                found: summary.kind,
            }));
        }
        let (found, metadata) =
            results::from_bytes(params, &bytes, &args.set.options()).map_err(of_file(input))?;
        if args.for_sharing {
            let why = "a compact result has no room for a flood of noise: take the ciphertext \
                       that it was cut from";
            return Err(CliError::usage(format!("{}: --for-sharing: {why}", input.display())));
        }
        let [x] = &found[..] else {
            return Err(CliError::usage(format!(
                "{}: expected one result, found {}",
                input.display(),
                found.len()
            )));
        };
        return Ok((secret.decrypt_compact(x).map_err(of_input(input))?, metadata));
    }
    let (x, metadata) = Column::read(input, params, &bounds, &args.set)?.single(input)?;
    if args.for_sharing {
        let policy =
            FloodingPolicy { statistical_bits: args.statistical_bits, ..FloodingPolicy::default() };
        let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
        let plain = secret.decrypt_for_sharing(&x, &policy, &mut rng).map_err(CliError::usage)?;
        return Ok((plain, metadata));
    }
    Ok((secret.decrypt(&x).map_err(of_input(input))?, metadata))
}

/// What does not belong together is told with the name of the file.
fn of_input(input: &Path) -> impl Fn(SchemeError) -> CliError + '_ {
    move |e| match &e {
        SchemeError::WrongKey { .. } | SchemeError::NotDecryptable => {
            CliError::usage(format!("{}: {e}", input.display())).with_code(e.code())
        }
        _ => e.into(),
    }
}

/// The slots as integers.
fn integers(secret: &SecretKey, plain: &Plaintext, signed: bool) -> Result<Vec<i64>, CliError> {
    if signed {
        return Ok(plain.decode_signed(secret.params())?);
    }
    // Plaintext moduli are below 2^62.
    Ok(plain.decode(secret.params())?.into_iter().map(|v| v as i64).collect())
}
