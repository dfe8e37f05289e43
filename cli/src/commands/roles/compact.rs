//! `everlevel compact`.

use everlevel::Params;
use everlevel::files::Bounds;
use everlevel_scheme::SchemeError;
use everlevel_wire::{ObjectKind, Summary, columns, results};
use serde::Serialize;

use super::args::CompactArgs;
use super::files::{Column, read_object, set_of};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, check_standard, is_standard, of_file, write_output,
};
use crate::console::output::{emit, emit_json, progress};

#[derive(Serialize)]
struct Report {
    params: String,
    bytes_before: u64,
    bytes: u64,
    /// Those of a ciphertext straight from the secret key, with a seed for one half.
    bytes_fresh: u64,
}

/// Runs the command.
pub fn run(args: &CompactArgs, common: &Common) -> Result<(), CliError> {
    check_standard(&args.out.out, common)?;
    check_free(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input])?;
    let object = read_object(&args.input)?;
    let summary = &object.1;
    let params = set_of(&args.input, summary.params, &args.set, common)?;
    let (bytes, ciphertexts) = match summary.kind {
        ObjectKind::COLUMNS => cut_columns(args, &object, &params, common)?,
        _ => cut_ciphertexts(args, &object, &params, common)?,
    };
    write_output(&args.out.out, &bytes, args.out.force)?;
    let chain = params.chain();
    let limbs = chain.basis(chain.top()).iter();
    let width = |i: usize| u64::from(64 - params.ring().modulus(i).value().leading_zeros());
    let fresh = limbs.map(width).sum::<u64>() * params.degree() as u64 / 8 * ciphertexts as u64;
    let report = Report {
        params: params.name().into(),
        bytes_before: summary.bytes,
        bytes: bytes.len() as u64,
        bytes_fresh: fresh,
    };
    if common.json {
        return emit_json(&report);
    }
    if is_standard(&args.out.out) {
        return Ok(());
    }
    emit(&format!(
        "{}: {} bytes instead of {}, or {} when freshly encrypted: {}",
        report.params,
        report.bytes,
        report.bytes_before,
        report.bytes_fresh,
        args.out.out.display()
    ))
}

/// The bytes of a file, and what its header says.
type Object = (zeroize::Zeroizing<Vec<u8>>, Summary);

/// What is left of ciphertexts, as bytes, and how many they are. How much can be cut follows from
/// the bounds that the file states.
fn cut_ciphertexts(
    args: &CompactArgs,
    object: &Object,
    params: &Params,
    common: &Common,
) -> Result<(Vec<u8>, usize), CliError> {
    let column = Column::parse(&args.input, object, params, &Bounds::Stated, &args.set)?;
    let compact = each(&column.ciphertexts, common, |x| x.compact_for_decryption(params))?;
    let bytes =
        results::to_bytes(params, &compact, &column.metadata).map_err(of_file(&args.out.out))?;
    Ok((bytes, compact.len()))
}

/// The same of columns of typed integers and totals.
fn cut_columns(
    args: &CompactArgs,
    (bytes, summary): &Object,
    params: &Params,
    common: &Common,
) -> Result<(Vec<u8>, usize), CliError> {
    let options = args.set.options().believing(Bounds::Stated.policy(&summary.metadata));
    let (found, mut metadata) =
        columns::from_bytes(params, bytes, &options).map_err(of_file(&args.input))?;
    let found = columns::without_indexes(found, &mut metadata).map_err(of_file(&args.input))?;
    let compact = each(&found, common, |x| x.compact_for_decryption(params))?;
    let bytes =
        columns::results_to_bytes(params, &compact, &metadata).map_err(of_file(&args.out.out))?;
    let digits = compact.iter().flat_map(|column| &column.digits);
    Ok((bytes, digits.filter(|digit| digit.ciphertext.is_some()).count()))
}

/// What `cut` makes of each, with a progress bar.
fn each<T, U>(
    all: &[T],
    common: &Common,
    cut: impl Fn(&T) -> Result<U, SchemeError>,
) -> Result<Vec<U>, CliError> {
    let bar = progress(common, "compacting", all.len() as u64);
    let one = |x| {
        let made = cut(x);
        bar.inc(1);
        made
    };
    let made = all.iter().map(one).collect::<Result<Vec<U>, SchemeError>>()?;
    bar.finish_and_clear();
    Ok(made)
}
