//! `everlevel decrypt`.

use everlevel::files::{Bounds, integers_within};
use everlevel::lab::SchemeError;
use everlevel::{FloodingPolicy, Plaintext, SecretKey, ValueRange};
use everlevel_wire::file::write_secret_file;
use everlevel_wire::{Metadata, ObjectKind, WireError, results};

use super::args::DecryptArgs;
use super::files::{
    Column, KIND, NAME, of_decrypted, range_of, read_object, secret_key, values_of,
};
use super::typed;
use crate::columns::{self, Format, Kind};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free, existing, of_file, of_output};
use crate::console::output::{emit, emit_json};
use crate::console::params::tell_failures;

/// Runs the command.
pub fn run(args: &DecryptArgs, common: &Common) -> Result<(), CliError> {
    let format = args.out.as_deref().map(Format::of).transpose()?;
    if let Some(out) = &args.out {
        check_free(out, args.force)?;
        let manifests = args.manifests.manifests.iter().chain(&args.manifests.key.manifest_key);
        check_apart(out, [&args.input, &args.key].into_iter().chain(manifests))?;
    }
    let secret = secret_key(&args.key, &args.set, common)?;
    tell_failures(secret.params());
    if read_object(&args.input)?.1.kind == ObjectKind::COLUMNS {
        return typed::decrypt(args, secret, format, common);
    }
    let (plain, metadata) = decrypted(&secret, args)?;
    let range = range_of(&args.input, &metadata)?;
    let mut values = integers(&secret, &plain, range, args)?;
    if !args.all {
        values.truncate(values_of(&metadata).unwrap_or(values.len()));
    }
    let name = metadata.get(NAME).cloned().unwrap_or_else(|| {
        let stem = args.input.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| "value".into())
    });
    // Residues are of another type.
    let kind = metadata.get(KIND).filter(|_| !args.wrapping && !args.signed);
    let kind = kind.and_then(|kind| Kind::parse(kind));
    match (&args.out, format) {
        (Some(out), Some(format)) => {
            let bytes = columns::bytes(format, &name, kind, &values)?;
            // Nobody else needs to read what was secret.
            write_secret_file(out, &bytes, existing(args.force)).map_err(of_output(out))?;
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
        _ if common.json => emit_json(&serde_json::json!({
            "params": secret.params().name(),
            "name": name,
            "values": values,
        })),
        _ => {
            let text = columns::bytes(Format::Csv, &name, kind, &values)?;
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
        return Ok((secret.decrypt_compact(x).map_err(of_decrypted(input))?, metadata));
    }
    let (x, metadata) = Column::read(input, params, &bounds, &args.set)?.single(input)?;
    if args.for_sharing {
        let policy =
            FloodingPolicy { statistical_bits: args.statistical_bits, ..FloodingPolicy::default() };
        let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
        let plain = secret.decrypt_for_sharing(&x, &policy, &mut rng).map_err(|e| match e {
            // Less noise is what it takes, or another policy.
            SchemeError::NoiseOverflow { .. } | SchemeError::BadArgument { .. } => {
                CliError::usage(e)
            }
            e => of_decrypted(input)(e),
        })?;
        return Ok((plain, metadata));
    }
    Ok((secret.decrypt(&x).map_err(of_decrypted(input))?, metadata))
}

/// The slots as integers: those of the range that the file states, or residues if they are asked
/// for.
fn integers(
    secret: &SecretKey,
    plain: &Plaintext,
    range: Option<ValueRange>,
    args: &DecryptArgs,
) -> Result<Vec<i64>, CliError> {
    let (params, path, input) = (secret.params(), &args.input, args.input.display());
    let signed = columns::stated(true, false, params.slot_shape().plain_modulus(plain.exponent()));
    match (args.wrapping, args.signed) {
        (true, true) => plain.decode_decrypted_signed(params).map_err(of_decrypted(path)),
        // Plaintext moduli are below 2^62.
        (true, false) => {
            let residues = plain.decode_decrypted(params).map_err(of_decrypted(path))?;
            Ok(residues.into_iter().map(|v| v as i64).collect())
        }
        (false, true) if range.zip(signed).is_some_and(|(found, signed)| !signed.holds(found)) => {
            Err(CliError::usage(format!(
                "{input}: --signed: its values are from {}, and others than signed ones would \
                 have wrapped: --signed --wrapping for residues",
                range.map_or_else(String::new, |range| range.to_string())
            ))
            .with_code("circuit.range"))
        }
        (false, as_signed) => {
            let range = range.or(signed.filter(|_| as_signed));
            integers_within(params, plain, range).map_err(|e| match e.code() {
                "circuit.range" => {
                    let way = "--wrapping for residues modulo p^r";
                    CliError::usage(format!("{input}: {e} (`encrypt --range LOW..HIGH`), or {way}"))
                        .with_code(e.code())
                }
                "scheme.not-decryptable" => of_decrypted(path)(SchemeError::NotDecryptable),
                _ => e.into(),
            })
        }
    }
}
