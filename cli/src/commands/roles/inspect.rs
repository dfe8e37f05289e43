//! `everlevel inspect` and `everlevel keys`: what files say, without any secret.

use std::collections::BTreeSet;

use everlevel::files::Bytes;
use everlevel::{AesUpload, Interval, Params, Type};
use everlevel_wire as wire;
use everlevel_wire::columns::ColumnArray;
use everlevel_wire::{BoundPolicy, FileKeys, Manifest, ObjectKind, ReadOptions};
use serde::Serialize;

use super::args::InspectArgs;
use super::files::set_of;
use super::keygen::{for_server, plan};
use super::keys_args::{KeysCommand, SizeReportArgs};
use super::{change, manifest};
use crate::console::args::{Common, DEFAULT_SET};
use crate::console::errors::CliError;
use crate::console::files::of_file;
use crate::console::output::{counted, emit, emit_json, table};
use crate::console::params::find_params;

#[derive(Serialize)]
struct Inspected {
    kind: String,
    format_version: u16,
    /// Of a manifest that of all objects which it lists, if they have one.
    key_id: Option<String>,
    /// Of a manifest those of all objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_ids: Option<Vec<String>>,
    changes_from: Option<String>,
    params_id: String,
    params: Option<String>,
    records: usize,
    bytes: u64,
    metadata: wire::Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<ColumnReport>>,
    ciphertexts: Option<Vec<Ciphertext>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<Upload>,
}

/// What an upload says of its data.
#[derive(Serialize)]
struct Upload {
    mode: &'static str,
    iv: String,
    aes_key_id: String,
    data_bytes: usize,
}

/// What a file says of a column: a claim of its writer.
#[derive(Serialize)]
struct ColumnReport {
    name: String,
    /// `column`, or `total`: a sum or a quotient of one, which can be decrypted only.
    what: &'static str,
    /// The smallest named type that holds all values, that of truth values only of such; none
    /// beyond 64 bits.
    r#type: Option<String>,
    low: String,
    high: String,
    length: Option<u64>,
}

/// Of a schema that is understood. Which columns are places or counts, and no truth values, is
/// read where the number of slots is known.
fn columns_of(summary: &wire::Summary, slots: Option<usize>) -> Option<Vec<ColumnReport>> {
    let (described, mut metadata) = (wire::columns::described(summary)?, summary.metadata.clone());
    // The truth values of indexes belong to the columns that the metadata name.
    let described = wire::columns::without_indexes(described, &mut metadata).ok()?;
    let names: Vec<&str> = described.iter().map(|column| column.name.as_str()).collect();
    let arrays = slots.and_then(|slots| ColumnArray::all(&metadata, slots, &names).ok().flatten());
    let arrays = arrays.unwrap_or_default();
    let of_integers = arrays.iter().filter(|array| array.integers);
    let integers: BTreeSet<String> =
        of_integers.flat_map(|array| (0..array.blocks).map(move |i| array.column(i))).collect();
    let report = |column: wire::columns::StoredColumn| {
        let smallest: fn(Interval) -> Option<Type> =
            match column.divisor.is_some() || integers.contains(&column.name) {
                true => Type::smallest_of_integers,
                false => Type::smallest,
            };
        let interval = Interval::new(column.low, column.high).ok();
        ColumnReport {
            name: column.name,
            what: if column.divisor.is_some() { "total" } else { "column" },
            r#type: interval.and_then(smallest).map(|t| t.to_string()),
            low: column.low.to_string(),
            high: column.high.to_string(),
            length: column.length,
        }
    };
    Some(described.into_iter().map(report).collect())
}

/// What a ciphertext states.
#[derive(Serialize)]
struct Ciphertext {
    level: usize,
    modulus_bits: f64,
    form: &'static str,
    plain_modulus: u128,
    depth: u32,
    stated_noise_bound_bits: f64,
    seeded: bool,
}

/// Runs `inspect`. Keys and ciphertexts are looked at, not used: sets below 128 bits need no
/// opt-in.
pub fn inspect(args: &InspectArgs, common: &Common) -> Result<(), CliError> {
    let path = &args.file;
    let summary = wire::inspect_file(path).map_err(of_file(path))?;
    let looking = Common { insecure_research: true, allow_failures: true, ..common.clone() };
    let params = set_of(path, summary.params, &args.set, &looking).ok();
    let ciphertexts = match (&params, summary.kind) {
        (Some(params), ObjectKind::CIPHERTEXTS | ObjectKind::COLUMNS) => {
            Some(ciphertexts(path, params, summary.kind)?)
        }
        _ => None,
    };
    let upload = match (&params, summary.kind) {
        (Some(params), ObjectKind::UPLOAD) => Some(upload(path, params)?),
        _ => None,
    };
    let key_ids =
        (summary.kind == ObjectKind::MANIFEST).then(|| owners_listed(path)).transpose()?;
    let only = key_ids.as_deref().and_then(|ids| <&[String; 1]>::try_from(ids).ok());
    let key_id = summary.owner.map(|id| format!("{id:#}")).or_else(|| Some(only?[0].clone()));
    let typed = [ObjectKind::COLUMNS, ObjectKind::COLUMN_RESULTS].contains(&summary.kind);
    let slots = params.as_ref().map(Params::slots);
    let columns = typed.then(|| columns_of(&summary, slots)).flatten();
    let report = Inspected {
        kind: summary.kind.to_string(),
        format_version: summary.version,
        key_id,
        key_ids,
        changes_from: summary.change_from.map(|id| format!("{id:#}")),
        params_id: summary.params.to_string(),
        params: params.as_ref().map(|params| params.name().to_string()),
        records: summary.records,
        bytes: summary.bytes,
        metadata: summary.metadata,
        columns,
        ciphertexts,
        upload,
    };
    if common.json {
        return emit_json(&report);
    }
    let mut lines = vec![
        format!("{}, format version {}", report.kind, report.format_version),
        format!(
            "parameter set {} (id {})",
            report.params.as_deref().unwrap_or("unknown here"),
            report.params_id
        ),
        format!("{}, {} bytes", counted(report.records as u64, "record"), report.bytes),
    ];
    let ids = report.key_ids.as_deref().unwrap_or(report.key_id.as_slice());
    lines.extend(ids.iter().map(|id| format!("of secret key {id}")));
    lines
        .extend(report.changes_from.iter().map(|id| format!("for ciphertexts of secret key {id}")));
    // The columns say what the schema says.
    let shown = |name: &str| report.columns.is_none() || name != "schema";
    let metadata = report.metadata.iter().filter(|(name, _)| shown(name));
    lines.extend(metadata.map(|(name, value)| format!("{name}: {}", clean(value))));
    for x in report.columns.iter().flatten() {
        let length = x.length.map_or(String::new(), |n| format!(", {n} values"));
        let kind = x.r#type.as_ref().map_or(String::new(), |t| format!(" in {t}"));
        let (what, name) = (x.what, clean(&x.name));
        lines.push(format!("{what} {name}: {}..{}{kind}{length}", x.low, x.high));
    }
    if let Some(x) = &report.upload {
        let iv = if x.iv.is_empty() { "none" } else { &x.iv };
        lines
            .push(format!("{} bytes in mode {}, initialization vector {iv}", x.data_bytes, x.mode));
        lines.push(format!("under AES key {}", x.aes_key_id));
    }
    for x in report.ciphertexts.iter().flatten() {
        lines.push(format!(
            "level {} ({:.1} bits), {} form modulo {}, depth {}, states a noise bound of 2^{:.1}{}",
            x.level,
            x.modulus_bits,
            x.form,
            x.plain_modulus,
            x.depth,
            x.stated_noise_bound_bits,
            if x.seeded { ", one half a seed" } else { "" }
        ));
    }
    emit(&lines.join("\n"))
}

/// The secret keys of what a manifest lists: a claim, as its tag is not checked.
fn owners_listed(path: &std::path::Path) -> Result<Vec<String>, CliError> {
    let (bytes, _) = super::files::read_object(path)?;
    let ids = Manifest::stated_owners(&bytes, &ReadOptions::default()).map_err(of_file(path))?;
    Ok(ids.into_iter().map(|id| format!("{id:#}")).collect())
}

/// Metadata is anybody's.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn upload(path: &std::path::Path, params: &Params) -> Result<Upload, CliError> {
    let (bytes, _) = super::files::read_object(path)?;
    let options = ReadOptions::default().allowing_unknown_owner(true);
    let (found, _) = AesUpload::from_bytes_with(params, &bytes, &options)
        .map_err(|e| CliError::usage(format!("{}: {e}", path.display())).with_code(e.code()))?;
    Ok(Upload {
        mode: found.mode().name(),
        iv: found.iv().iter().map(|byte| format!("{byte:02x}")).collect(),
        aes_key_id: format!("{:#}", found.aes_key_id()),
        data_bytes: found.data().len(),
    })
}

fn ciphertexts(
    path: &std::path::Path,
    params: &Params,
    kind: ObjectKind,
) -> Result<Vec<Ciphertext>, CliError> {
    let (bytes, _) = super::files::read_object(path)?;
    let options = ReadOptions::with_bounds(BoundPolicy::Stated).allowing_unknown_owner(true);
    let found = if kind == ObjectKind::COLUMNS {
        let (found, _) =
            wire::columns::from_bytes(params, &bytes, &options).map_err(of_file(path))?;
        let digits = found.into_iter().flat_map(|column| column.digits);
        digits.filter_map(|digit| digit.ciphertext).collect()
    } else {
        wire::ciphertexts::from_bytes(params, &bytes, &options).map_err(of_file(path))?.0
    };
    let shown = |x: &everlevel::Ciphertext| Ciphertext {
        level: x.level().0,
        modulus_bits: params.modulus_bits(x.level()),
        form: x.meta().form.name(),
        plain_modulus: params.slot_shape().wide_modulus(x.meta().exponent),
        depth: x.meta().depth,
        stated_noise_bound_bits: x.noise_bound_bits(),
        seeded: x.seed().is_some(),
    };
    Ok(found.iter().map(shown).collect())
}

#[derive(Serialize)]
struct Sizes {
    params: String,
    keys: usize,
    bytes: u64,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    kind: &'static str,
    keys: usize,
    bytes: u64,
}

/// Runs a command below `keys`.
pub fn keys(command: &KeysCommand, common: &Common) -> Result<(), CliError> {
    match command {
        KeysCommand::SizeReport(args) => size_report(args, common),
        KeysCommand::Server(args) => for_server(args, common),
        KeysCommand::Change(args) => change::make(args, common),
        KeysCommand::ManifestKey(out) => manifest::make_key(out, common),
    }
}

fn size_report(args: &SizeReportArgs, common: &Common) -> Result<(), CliError> {
    let (params, sizes) = match &args.server_keys {
        Some(path) => {
            // Sizes are the same, whoever has the keys.
            let set =
                super::args::SetOfFile { params: args.params.clone(), allow_unknown_owner: true };
            let looking =
                Common { insecure_research: true, allow_failures: true, ..common.clone() };
            let params =
                set_of(path, FileKeys::params_id(path).map_err(of_file(path))?, &set, &looking)?;
            let keys = FileKeys::open_with(&params, path, 0, &set.options());
            let sizes = keys.map_err(of_file(path))?.size_report();
            (params, sizes)
        }
        None => {
            let params = find_params(args.params.as_deref().unwrap_or(DEFAULT_SET), common)?;
            let sizes =
                wire::server_keys::SizeReport::of_plan(&params, &plan(&params, &args.purpose)?);
            (params, sizes)
        }
    };
    let part = |kind, (keys, bytes): (usize, u64)| Part { kind, keys, bytes };
    let parts = vec![
        part("relinearization", sizes.relin),
        part("automorphisms", sizes.galois),
        part("bootstrapping", sizes.bootstrap),
    ];
    let report = Sizes {
        params: params.name().into(),
        keys: parts.iter().map(|part| part.keys).sum(),
        bytes: sizes.total_bytes(),
        parts,
    };
    if common.json {
        return emit_json(&report);
    }
    let mut rows = vec![["", "keys", "MiB"].map(String::from).to_vec()];
    let row = |kind: &str, keys: usize, bytes: u64| {
        vec![kind.into(), keys.to_string(), format!("{:.1}", bytes as f64 / 1048576.0)]
    };
    rows.extend(report.parts.iter().map(|part| row(part.kind, part.keys, part.bytes)));
    rows.push(row("all", report.keys, report.bytes));
    emit(&format!("{}\n{}", report.params, table(&rows)))
}
