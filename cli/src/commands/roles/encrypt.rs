//! `everlevel encrypt`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use everlevel::{Ciphertext, Plaintext, ValueRange};
use everlevel_wire::arrays::{Array, Rest};
use indicatif::ProgressBar;
use rand_core::CryptoRng;
use serde::Serialize;

use super::args::EncryptArgs;
use super::files::{Column, EncryptionKey, fresh_metadata, state_range};
use super::manifest::ManifestWriter;
use super::sent::{Send, Sent, lines};
use super::typed;
use super::writer::ResultWriter;
use crate::columns::{self, Header};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, check_standard, create_directory, is_standard, path_text,
};
use crate::console::output::{counted, emit, emit_json, progress};

#[derive(Serialize)]
struct Report {
    params: String,
    values: usize,
    slots: usize,
    ciphertexts: usize,
    bytes: u64,
    files: Vec<Encrypted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<Sent>,
}

#[derive(Serialize)]
struct Encrypted {
    name: Option<String>,
    #[serde(serialize_with = "path_text")]
    path: PathBuf,
    ciphertexts: usize,
    bytes: u64,
}

/// Runs the command.
pub fn run(args: &EncryptArgs, common: &Common, send: Send<'_>) -> Result<(), CliError> {
    check_standard(&args.out.out, common)?;
    if let Some(types) = &args.types {
        return typed::encrypt(args, types, common, send);
    }
    let outs = outs(args)?;
    for out in &outs {
        check_free(out, args.out.force)?;
        check_apart(out, args.files())?;
    }
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let params = key.params();
    let (manifest, shared) = (&args.manifest, &args.manifest_key);
    let files: Vec<&Path> = [&args.input].into_iter().chain(&outs).map(PathBuf::as_path).collect();
    let manifest = ManifestWriter::begin(manifest, shared, params, args.out.force, &files)?;
    let mut writer = ResultWriter::new(manifest);
    let t = params.wide_modulus();
    let stated = args.range.or_else(|| columns::stated(args.signed, args.reduce, t));
    let columns = columns::read(&args.input, args.format, args.header, &args.columns)?;
    let residues = columns.iter().map(|column| column.residues(t, usize::MAX, stated));
    let residues = residues.collect::<Result<Vec<_>, _>>()?;
    let ranges = residues.iter().map(|values| ranges(values.len(), params.slots(), stated, t));
    let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let count: usize = ranges.iter().map(Vec::len).sum();
    let bar = progress(common, "encrypting", count as u64);
    let encrypted = residues.iter().map(|values| encrypted(&key, values, &mut rng, &bar));
    let encrypted = encrypted.collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    if outs.len() > 1 {
        create_directory(&args.out.out)?;
    }
    let mut files = Vec::new();
    for (i, (out, xs)) in outs.iter().zip(&encrypted).enumerate() {
        let mut metadata = fresh_metadata(&columns[i], &key);
        Array { shape: vec![residues[i].len()], rest: Rest::Zero }.state(&mut metadata);
        state_range(&mut metadata, &ranges[i], params);
        let bytes = Column::add_to(&mut writer, out, args.out.force, params, xs, &metadata)?;
        let (name, path) = (columns[i].name.clone(), out.clone());
        files.push(Encrypted { name, path, ciphertexts: xs.len(), bytes });
    }
    writer.finish()?;
    let sent = send(&outs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let report = Report {
        params: params.name().into(),
        values: residues.iter().map(Vec::len).max().unwrap_or(0),
        slots: params.slots(),
        ciphertexts: count,
        bytes: files.iter().map(|file| file.bytes).sum(),
        files,
        sent,
    };
    if common.json {
        return emit_json(&report);
    }
    if is_standard(&args.out.out) {
        return Ok(());
    }
    let line = |file: &Encrypted| {
        let held = match file.ciphertexts {
            1 => format!("{} slots", report.slots),
            count => format!("{count} ciphertexts of {} slots", report.slots),
        };
        format!(
            "{}: {} in {held}, {} bytes: {}",
            report.params,
            counted(report.values as u64, "value"),
            file.bytes,
            file.path.display()
        )
    };
    let written: Vec<String> = report.files.iter().map(line).collect();
    emit(&written.into_iter().chain(lines(report.sent)).collect::<Vec<_>>().join("\n"))
}

/// The file of each column: of several NAME.ct in a directory.
fn outs(args: &EncryptArgs) -> Result<Vec<PathBuf>, CliError> {
    let wrong = |told: String| Err(CliError::usage(format!("--column: {told}")));
    if !args.columns.is_empty() && args.header == Header::No {
        return wrong("columns are found by their names in the header, and --header is no".into());
    }
    if args.columns.len() < 2 {
        return Ok(vec![args.out.out.clone()]);
    }
    if is_standard(&args.out.out) {
        return wrong("each of several columns gets a file: give a directory to --out".into());
    }
    let mut known = BTreeSet::new();
    for name in &args.columns {
        let unfit = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        if name.is_empty() || name.len() > 200 || name.starts_with('.') || name.contains(unfit) {
            return wrong(format!(
                "{name:?} cannot be the name of a file: encrypt it by itself, with a file to --out"
            ));
        }
        // Some file systems take names that differ in case only for one.
        if !known.insert(name.to_lowercase()) {
            return wrong(format!("{name} is given twice, or differs from another only in case"));
        }
    }
    Ok(args.columns.iter().map(|name| args.out.out.join(format!("{name}.ct"))).collect())
}

/// The range of what each ciphertext of a column holds, its slots without a value included: they
/// hold 0.
fn ranges(
    values: usize,
    slots: usize,
    stated: Option<ValueRange>,
    t: u128,
) -> Result<Vec<Option<ValueRange>>, CliError> {
    let mut ranges = vec![stated; values.div_ceil(slots)];
    if let (Some(last), false) = (ranges.last_mut(), values.is_multiple_of(slots)) {
        *last = stated.map(|range| range.with(0));
    }
    match ranges.iter().flatten().find(|range| !range.fits(t)) {
        None => Ok(ranges),
        Some(range) => Err(CliError::usage(format!(
            "--range: expected at most {t} integers, those of slots without a value included, \
             found {range}: larger ranges are for typed columns (--types), on a set such as \
             bgv-65537-n15"
        ))),
    }
}

/// The values in as many ciphertexts as they take.
fn encrypted(
    key: &EncryptionKey,
    values: &[u64],
    rng: &mut impl CryptoRng,
    bar: &ProgressBar,
) -> Result<Vec<Ciphertext>, CliError> {
    let encrypt = |slots: &[u64]| {
        let x = key.encrypt(&Plaintext::encode(key.params(), slots)?, &mut *rng)?;
        bar.inc(1);
        Ok(x)
    };
    values.chunks(key.params().slots()).map(encrypt).collect()
}
