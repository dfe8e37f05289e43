//! `encrypt --types`.

use everlevel::lab::TypedArray;
use everlevel::{IntegerColumn, Level, Plaintext};
use everlevel_integers::{Encoded, IntegersError, index_level};
use everlevel_wire::columns::ColumnArray;
use serde::Serialize;

use super::super::args::EncryptArgs;
use super::super::files::EncryptionKey;
use super::super::manifest::ManifestWriter;
use super::super::sent::{Send, lines as sent_lines};
use super::super::writer::ResultWriter;
use super::arrays::write;
use crate::columns::typed::{self, Named};
use crate::columns::{Header, levels};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_free, is_standard};
use crate::console::output::{counted, emit, emit_json, progress};

#[derive(Serialize)]
struct ColumnReport {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    /// Of its digits; none for public integers.
    level: Option<usize>,
    ciphertexts: usize,
}

/// Runs `encrypt --types`.
pub fn encrypt(
    args: &EncryptArgs,
    types: &str,
    common: &Common,
    send: Send<'_>,
) -> Result<(), CliError> {
    check_free(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, args.files())?;
    let types = typed::types(types)?;
    if args.header == Header::No {
        return Err(CliError::usage(
            "--header no: columns of --types are found by their names in the header",
        ));
    }
    typed::check_indexes(&args.indexes, &types)?;
    let levels = levels::parsed(args.levels.as_deref().unwrap_or_default(), &types)?;
    let key = EncryptionKey::read(&args.key, &args.set, common)?;
    let params = key.params();
    levels::check(&levels, params)?;
    let (manifest, shared) = (&args.manifest, &args.manifest_key);
    let files = [args.input.as_path(), &args.out.out];
    let manifest = ManifestWriter::begin(manifest, shared, params, args.out.force, &files)?;
    let mut writer = ResultWriter::new(manifest);
    let read = typed::read(&args.input, args.format, &types)?;
    let values = read.first().map_or(0, |column| column.values.len());
    let (slots, blocks) = (params.slots(), values.div_ceil(params.slots()));
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let top = params.chain().top();
    let mut encrypt = |slots: &[u64], level: Level| -> Result<_, IntegersError> {
        let plain = Plaintext::encode(params, slots)?;
        Ok(key.encrypt_at(&plain, level, &mut rng)?)
    };
    let bar = progress(common, "encrypting", (blocks * read.len()) as u64);
    let (mut arrays, mut reports) = (Vec::new(), Vec::new());
    for Named { name, kind, values, .. } in read {
        let mut parts = Vec::with_capacity(blocks);
        let own = levels.get(&name).copied().unwrap_or(top);
        let index = args.indexes.contains(&name).then(|| index_level(params, kind)).transpose()?;
        for part in values.chunks(slots) {
            let encoded = Encoded::new(part, kind, slots)?;
            let column: IntegerColumn = match index {
                Some(level) => encoded
                    .encrypt_indexed(level, |slots, truth| encrypt(slots, truth.unwrap_or(own)))?,
                None => encoded.encrypt(|slots| encrypt(slots, own))?,
            };
            parts.push(column.into());
            bar.inc(1);
        }
        let array = ColumnArray::vector(&name, blocks, Some(values.len()));
        let array = TypedArray { array, blocks: parts };
        let ciphertexts = array.ciphertexts();
        let (kind, level) = (kind.to_string(), (ciphertexts > 0).then_some(own.0));
        reports.push(ColumnReport { name, kind, level, ciphertexts });
        arrays.push(array);
    }
    bar.finish_and_clear();
    let (out, force) = (&args.out.out, args.out.force);
    let bytes = write(out, force, params, arrays, key.metadata(), &mut writer)?;
    writer.finish()?;
    let sent = send(&[out])?;
    if common.json {
        let mut told = serde_json::json!({
            "params": params.name(),
            "values": values,
            "slots": slots,
            "ciphertexts": reports.iter().map(|c| c.ciphertexts).sum::<usize>(),
            "columns": reports,
            "bytes": bytes,
        });
        if let Some(sent) = sent {
            told["sent"] = serde_json::json!(sent);
        }
        return emit_json(&told);
    }
    if is_standard(out) {
        return Ok(());
    }
    let mut lines: Vec<String> = reports
        .iter()
        .map(|c| {
            let ciphertexts = counted(c.ciphertexts as u64, "ciphertext");
            let level = match c.level {
                Some(level) if level != top.0 => format!(" at level {level} of 0 to {top}"),
                _ => String::new(),
            };
            format!("{}: {}, {ciphertexts}{level}", c.name, c.kind)
        })
        .collect();
    lines.push(format!(
        "{}: {} in {slots} slots, {bytes} bytes: {}",
        params.name(),
        counted(values as u64, "value"),
        out.display()
    ));
    lines.extend(sent_lines(sent));
    emit(&lines.join("\n"))
}
