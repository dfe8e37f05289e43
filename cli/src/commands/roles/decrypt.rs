//! `everlevel decrypt`.

use std::path::Path;

use everlevel::files::{Bounds, ranges_of, wide_integers_within};
use everlevel::lab::SchemeError;
use everlevel::{FloodingPolicy, Plaintext, SecretKey, ValueRange};
use everlevel_scheme::same_owner;
use everlevel_wire::arrays::Array;
use everlevel_wire::{
    Metadata, ObjectKind, ParamsId, Summary, WireError, ciphertexts, inspect_file, results,
};
use serde_json::json;

use super::args::DecryptArgs;
use super::files::{KIND, NAME, of_decrypted, read_object, secret_key};
use super::typed;
use crate::columns::named::unknown;
use crate::columns::{self, Format, Kind};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, check_standard, is_standard, of_file, write_secret_output,
};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::tell_failures;

/// Runs the command.
pub fn run(args: &DecryptArgs, common: &Common) -> Result<(), CliError> {
    // A format without a file is one of standard output.
    let standard = args.format.map(|_| Path::new("-"));
    let out = args.out.as_deref().or(standard);
    if let Some(out) = out {
        check_standard(out, common)?;
        check_free(out, args.force)?;
        let manifests = args.manifests.manifests.iter().chain(&args.manifests.key.manifest_key);
        check_apart(out, [&args.input, &args.key].into_iter().chain(manifests))?;
    }
    let out = match out {
        Some(out) => Some((out, Format::of(out, args.format)?)),
        None => None,
    };
    let secret = secret_key(&args.key, &args.set, common)?;
    tell_failures(secret.params());
    check_owner(&args.input, &secret)?;
    let object = read_object(&args.input)?;
    if [ObjectKind::COLUMNS, ObjectKind::COLUMN_RESULTS].contains(&object.1.kind) {
        return typed::decrypt(args, &object, secret, out, common);
    }
    let Decrypted { plains, metadata, array } = decrypted(&secret, &object, args, common)?;
    let ranges = ranges_of(&metadata, plains.len()).map_err(of_file(&args.input))?;
    let unsigned = unsigned(&secret, &plains, &ranges, args);
    let negative = ranges.iter().flatten().any(|range| range.low() < 0);
    let by_range = !args.wrapping && !args.signed;
    if by_range && unsigned && negative && matches!(out, Some((_, Format::Npy))) {
        return Err(CliError::usage(format!(
            "{}: no type of NumPy has both its negative values and those above 2^63 - 1: write \
             .csv or .json, or add --wrapping",
            args.input.display()
        ))
        .with_code("circuit.range"));
    }
    // All of it, before some of it is refused: time does not tell what was wrong.
    let parts =
        plains.iter().zip(ranges).map(|(plain, range)| integers(&secret, plain, range, args));
    let parts: Vec<_> = parts.collect();
    let mut values = parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    if let Some(array) = array.filter(|_| !args.all) {
        values.truncate(array.values());
    }
    let name = metadata.get(NAME).cloned().unwrap_or_else(|| {
        let stem = args.input.file_stem().filter(|_| !is_standard(&args.input));
        stem.map_or_else(|| "value".into(), |stem| stem.to_string_lossy().into_owned())
    });
    if let Some(other) = args.columns.iter().find(|other| **other != name) {
        let told = unknown(other, std::iter::once(name.as_str()));
        return Err(CliError::usage(format!("{}: {told}", args.input.display())));
    }
    // Residues are of another type.
    let kind = metadata.get(KIND).filter(|_| !args.wrapping && !args.signed);
    let kind = kind.and_then(|kind| Kind::parse(kind)).or(unsigned.then_some(Kind::U64));
    let (params, count) = (secret.params().name(), values.len());
    match out {
        Some((out, format)) => {
            let bytes = columns::bytes(format, &name, kind, &values)?;
            write_secret_output(out, &bytes, args.force)?;
            if common.json {
                let out = out.display().to_string();
                let told = json!({ "params": params, "name": name, "values": count, "out": out });
                return emit_json(&told);
            }
            if is_standard(out) {
                return Ok(());
            }
            emit(&format!("{}: {}", counted(count as u64, "value"), out.display()))
        }
        None if common.json => {
            emit_json(&json!({ "params": params, "name": name, "values": values }))
        }
        None => {
            let text = columns::bytes(Format::Csv, &name, kind, &values)?;
            emit(String::from_utf8_lossy(&text).trim_end())
        }
    }
}

/// Refuses by its header what another key of the same set decrypts: the rest may be large. What
/// else is wrong with a file is told when it is read.
fn check_owner(path: &Path, secret: &SecretKey) -> Result<(), CliError> {
    let kinds = [
        ObjectKind::CIPHERTEXTS,
        ObjectKind::RESULTS,
        ObjectKind::COLUMNS,
        ObjectKind::COLUMN_RESULTS,
    ];
    if is_standard(path) || !path.is_file() {
        return Ok(());
    }
    let set = ParamsId::of(secret.params());
    match inspect_file(path) {
        Ok(found) if found.params == set && kinds.contains(&found.kind) => {
            same_owner(found.owner, Some(secret.id()), "decryption").map_err(of_decrypted(path))
        }
        _ => Ok(()),
    }
}

/// What the ciphertexts of a file hold.
struct Decrypted {
    plains: Vec<Plaintext>,
    metadata: Metadata,
    array: Option<Array>,
}

impl Decrypted {
    /// The plaintexts, of which there has to be one at least.
    fn of(
        plains: Vec<Plaintext>,
        metadata: Metadata,
        secret: &SecretKey,
    ) -> Result<Self, WireError> {
        let count = plains.len();
        if count == 0 {
            return Err(WireError::malformed("ciphertexts", "at least one", count));
        }
        let array = Array::of(&metadata, secret.params().slots(), count)?;
        Ok(Decrypted { plains, metadata, array })
    }
}

/// The ciphertexts of the file, whole or cut. All of them are decrypted before one is refused.
fn decrypted(
    secret: &SecretKey,
    (bytes, summary): &(impl AsRef<[u8]>, Summary),
    args: &DecryptArgs,
    common: &Common,
) -> Result<Decrypted, CliError> {
    let (input, params) = (&args.input, secret.params());
    // A bound that is too small is found out by the check of the phase, and one that is too large
    // is no worse than none.
    let bounds = args.manifests.believed(args.bounds)?.unwrap_or(Bounds::Stated);
    let options = args.set.options();
    let bar = progress(common, "decrypting", summary.records as u64);
    let step = |plain| {
        bar.inc(1);
        plain
    };
    let (opened, metadata): (Vec<Result<Plaintext, SchemeError>>, _) =
        if summary.kind == ObjectKind::RESULTS {
            if let Bounds::Manifest(_) = bounds {
                // Manifests list what has a noise bound.
                return Err(of_file(input)(WireError::WrongKind {
                    expected: ObjectKind::CIPHERTEXTS,
                    found: summary.kind,
                }));
            }
            if args.for_sharing {
                let why = "a compact result has no room for flooding noise: decrypt the ciphertext \
                           that it was made from";
                return Err(CliError::usage(format!("{}: --for-sharing: {why}", input.display())));
            }
            let (found, metadata) =
                results::from_bytes(params, bytes.as_ref(), &options).map_err(of_file(input))?;
            (found.iter().map(|x| step(secret.decrypt_compact(x))).collect(), metadata)
        } else {
            let options = options.believing(bounds.policy(&summary.metadata));
            let (found, metadata) = ciphertexts::from_bytes(params, bytes.as_ref(), &options)
                .map_err(of_file(input))?;
            let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
            let bits = args.statistical_bits;
            let policy = FloodingPolicy::new(bits, FloodingPolicy::default().decryptions_log2);
            let open = |x| match args.for_sharing {
                true => step(secret.decrypt_for_sharing(x, &policy, &mut rng)),
                false => step(secret.decrypt(x)),
            };
            (found.iter().map(open).collect(), metadata)
        };
    bar.finish_and_clear();
    let told = |e| match e {
        // Less noise is what it takes, or another policy.
        SchemeError::NoiseOverflow { .. } | SchemeError::BadArgument { .. } if args.for_sharing => {
            CliError::usage(e)
        }
        e => of_decrypted(input)(e),
    };
    let plains = opened.into_iter().collect::<Result<Vec<_>, _>>().map_err(told)?;
    Decrypted::of(plains, metadata, secret).map_err(of_file(input))
}

/// Whether there may be integers beyond signed words, whatever the values are.
fn unsigned(
    secret: &SecretKey,
    plains: &[Plaintext],
    ranges: &[Option<ValueRange>],
    args: &DecryptArgs,
) -> bool {
    let beyond = |high: i128| i64::try_from(high).is_err();
    let shape = secret.params().slot_shape();
    match (args.wrapping, args.signed) {
        (_, true) => false,
        (true, _) => plains.iter().any(|x| beyond(shape.wide_modulus(x.exponent()) as i128 - 1)),
        _ => ranges.iter().flatten().any(|range| beyond(range.high())),
    }
}

/// The slots as integers: those of the range that the file states, or residues if they are asked
/// for.
fn integers(
    secret: &SecretKey,
    plain: &Plaintext,
    range: Option<ValueRange>,
    args: &DecryptArgs,
) -> Result<Vec<i128>, CliError> {
    let (params, path, input) = (secret.params(), &args.input, args.input.display());
    let signed = columns::centered(params.slot_shape().wide_modulus(plain.exponent()));
    match (args.wrapping, args.signed) {
        (true, true) => {
            let residues = plain.decode_decrypted_signed(params).map_err(of_decrypted(path))?;
            Ok(residues.into_iter().map(i128::from).collect())
        }
        (true, false) => {
            let residues = plain.decode_decrypted(params).map_err(of_decrypted(path))?;
            Ok(residues.into_iter().map(i128::from).collect())
        }
        (false, true) if range.zip(signed).is_some_and(|(found, signed)| !signed.holds(found)) => {
            Err(CliError::usage(format!(
                "{input}: --signed: its values are in {}, beyond signed residues: leave out \
                 --signed, or add --wrapping for signed residues",
                range.map_or_else(String::new, |range| range.to_string())
            ))
            .with_code("circuit.range"))
        }
        (false, as_signed) => {
            let range = range.or(signed.filter(|_| as_signed));
            wide_integers_within(params, plain, range).map_err(|e| match e.code() {
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
