//! `everlevel compact`.

use everlevel::files::Bounds;
use everlevel_wire as wire;
use everlevel_wire::file::write_file;
use everlevel_wire::results;
use serde::Serialize;

use super::args::CompactArgs;
use super::files::{Column, set_of};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free, existing, of_file, of_output};
use crate::console::output::{emit, emit_json};

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
    check_free(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input])?;
    let summary = wire::inspect_file(&args.input).map_err(of_file(&args.input))?;
    let params = set_of(&args.input, summary.params, &args.set, common)?;
    // How much can be cut follows from the bound.
    let column = Column::read(&args.input, &params, &Bounds::Stated, &args.set)?;
    let compact = column
        .ciphertexts
        .iter()
        .map(|x| x.compact_for_decryption(&params))
        .collect::<Result<Vec<_>, _>>()?;
    let bytes =
        results::to_bytes(&params, &compact, &column.metadata).map_err(of_file(&args.out.out))?;
    write_file(&args.out.out, &bytes, existing(args.out.force))
        .map_err(of_output(&args.out.out))?;
    let chain = params.chain();
    let limbs = chain.basis(chain.top()).iter();
    let width = |i: usize| u64::from(64 - params.ring().modulus(i).value().leading_zeros());
    let fresh = limbs.map(width).sum::<u64>() * params.degree() as u64 / 8 * compact.len() as u64;
    let report = Report {
        params: params.name().into(),
        bytes_before: summary.bytes,
        bytes: bytes.len() as u64,
        bytes_fresh: fresh,
    };
    if common.json {
        return emit_json(&report);
    }
    emit(&format!(
        "{}: {} bytes of {}, fresh ones having {}: {}",
        report.params,
        report.bytes,
        report.bytes_before,
        report.bytes_fresh,
        args.out.out.display()
    ))
}
