//! `everlevel encrypt`.

use everlevel::Plaintext;
use serde::Serialize;

use super::args::EncryptArgs;
use super::files::{Column, EncryptionKey, fresh_metadata};
use super::manifest::ManifestWriter;
use super::typed;
use crate::columns;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free};
use crate::console::output::{emit, emit_json};

#[derive(Serialize)]
struct Report {
    params: String,
    values: usize,
    slots: usize,
    bytes: u64,
}

/// Runs the command.
pub fn run(args: &EncryptArgs, common: &Common) -> Result<(), CliError> {
    if let Some(types) = &args.types {
        return typed::encrypt(args, types, common);
    }
    check_free(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input])?;
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let params = key.params();
    let (manifest, shared) = (&args.manifest, &args.manifest_key);
    let files = [args.input.as_path(), &args.out.out];
    let mut manifest = ManifestWriter::begin(manifest, shared, params, args.out.force, &files)?;
    let t = params.plain_modulus();
    let stated = args.range.or_else(|| columns::stated(args.signed, args.reduce, t));
    let column = columns::read(&args.input, args.header)?;
    let values = column.residues(t, params.slots(), stated)?;
    // Slots without a value hold 0.
    let range =
        stated.map(|range| if values.len() < params.slots() { range.with(0) } else { range });
    if let Some(range) = range.filter(|range| !range.fits(t)) {
        return Err(CliError::usage(format!(
            "--range: expected at most {t} integers, those of slots without a value included, \
             found {range}"
        )));
    }
    let plain = Plaintext::encode(params, &values)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let x = match &key {
        EncryptionKey::Public(key) => key.encrypt(&plain, &mut rng)?,
        EncryptionKey::Secret(key) => key.encrypt(&plain, &mut rng)?,
    };
    let bytes = Column::write_listed(
        &args.out,
        params,
        &[x],
        &fresh_metadata(&column, range, &key),
        &mut manifest,
    )?;
    manifest.map_or(Ok(()), ManifestWriter::finish)?;
    let report =
        Report { params: params.name().into(), values: values.len(), slots: params.slots(), bytes };
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
