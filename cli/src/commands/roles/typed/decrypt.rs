//! `decrypt` of files of typed columns.

use std::path::Path;

use everlevel::files::Bounds;
use everlevel::lab::TypedArray;
use everlevel::{
    Ciphertext, Client, CompactCiphertext, Error, IntegerResult, IntegerValue, SecretKey, Type,
};
use everlevel_integers::Encrypted;
use everlevel_wire::{ObjectKind, Summary, WireError};
use zeroize::Zeroizing;

use super::super::args::DecryptArgs;
use super::arrays::{of, parse};
use crate::columns::Format;
use crate::columns::named::unknown;
use crate::columns::typed::{self, Named};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{is_standard, of_file, write_secret_output};
use crate::console::output::{counted, emit, emit_json, progress};

/// Runs `decrypt` on a file of columns.
pub fn decrypt(
    args: &DecryptArgs,
    (bytes, summary): &(impl AsRef<[u8]>, Summary),
    secret: SecretKey,
    out: Option<(&Path, Format)>,
    common: &Common,
) -> Result<(), CliError> {
    let input = &args.input;
    for (given, option) in [
        (args.for_sharing, "--for-sharing"),
        (args.signed, "--signed"),
        (args.wrapping, "--wrapping"),
        (args.all, "--all"),
    ] {
        if given {
            let why = "is for values modulo p^r, and these are columns of typed integers";
            return Err(CliError::usage(format!("{}: {option} {why}", input.display())));
        }
    }
    let bounds = args.manifests.believed(args.bounds)?.unwrap_or(Bounds::Stated);
    let client = Client::with_secret(secret);
    let read = (client.params(), &bounds, &args.set);
    let columns = if summary.kind == ObjectKind::COLUMN_RESULTS {
        if let Bounds::Manifest(_) = bounds {
            // Manifests list what has a noise bound.
            return Err(of_file(input)(WireError::WrongKind {
                expected: ObjectKind::COLUMNS,
                found: summary.kind,
            }));
        }
        let found = parse::<CompactCiphertext>(input, bytes.as_ref(), summary, read)?;
        let open = |x: &IntegerResult| client.decrypt_compact_column::<i128>(x);
        opened(chosen(found, args)?, &client, open, args, common)?
    } else {
        let found = parse::<Ciphertext>(input, bytes.as_ref(), summary, read)?;
        let open = |x: &IntegerValue| client.decrypt_column::<i128>(x);
        opened(chosen(found, args)?, &client, open, args, common)?
    };
    let values: usize = columns.iter().map(|column| column.values.len()).sum();
    match out {
        Some((out, format)) => {
            write_secret_output(out, &typed::bytes(format, &columns)?, args.force)?;
            let params = client.params().name();
            if common.json {
                return emit_json(&serde_json::json!({
                    "params": params, "columns": columns.len(), "values": values,
                    "out": out.display().to_string(),
                }));
            }
            if is_standard(out) {
                return Ok(());
            }
            let columns = counted(columns.len() as u64, "column");
            let values = counted(values as u64, "value");
            emit(&format!("{columns}, {values}: {}", out.display()))
        }
        None if common.json => emit(&typed::json(&columns)?),
        None => {
            let text = typed::bytes(Format::Csv, &columns)?;
            emit(String::from_utf8_lossy(&text).trim_end())
        }
    }
}

/// The entries of columns, which `open` decrypts.
fn opened<C>(
    found: Vec<TypedArray<C>>,
    client: &Client,
    open: impl Fn(&Encrypted<C>) -> Result<Vec<i128>, Error>,
    args: &DecryptArgs,
    common: &Common,
) -> Result<Vec<Named>, CliError> {
    let (input, slots) = (&args.input, client.params().slots());
    let bar = progress(common, "decrypting", found.iter().map(|x| x.blocks.len() as u64).sum());
    // All of it, before some of it is refused: time does not tell what was wrong.
    let mut opened: Vec<Vec<_>> = Vec::with_capacity(found.len());
    for x in &found {
        let open = |x| {
            let values = open(x).map(Zeroizing::new);
            bar.inc(1);
            values
        };
        opened.push(x.blocks.iter().map(open).collect());
    }
    bar.finish_and_clear();
    let mut columns = Vec::with_capacity(found.len());
    for (x, parts) in found.into_iter().zip(opened) {
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(of(input))?;
        let values = entries(&x, parts, slots).map_err(|e| of(input)(e.into()))?;
        let interval = x.interval().map_err(of(input))?;
        let total = x.is_total();
        // Places and counts are no truth values, even those that can only be 0 and 1.
        let kind = match x.array.integers || total {
            true if Type::smallest(interval) == Some(Type::Bool) => Type::U8,
            _ => Type::ranged(interval.low(), interval.high())?,
        };
        columns.push(Named { name: x.array.name, kind, values, total });
    }
    Ok(columns)
}

/// The columns that are asked for by name, or all.
fn chosen<C>(
    found: Vec<TypedArray<C>>,
    args: &DecryptArgs,
) -> Result<Vec<TypedArray<C>>, CliError> {
    let names = || found.iter().map(|x| x.array.name.as_str());
    if let Some(name) = args.columns.iter().find(|name| !names().any(|known| known == **name)) {
        let told = unknown(name, names());
        return Err(CliError::usage(format!("{}: {told}", args.input.display())));
    }
    let asked = |x: &TypedArray<C>| args.columns.is_empty() || args.columns.contains(&x.array.name);
    Ok(found.into_iter().filter(asked).collect())
}

/// The entries of all parts, or the one of a total, whose parts are added up.
fn entries<C>(
    x: &TypedArray<C>,
    parts: Vec<Zeroizing<Vec<i128>>>,
    slots: usize,
) -> Result<Zeroizing<Vec<i128>>, WireError> {
    if x.is_total() {
        let total = parts.iter().flat_map(|part| part.iter().copied());
        let sum = total.map(Some).reduce(|x, y| x?.checked_add(y?)).flatten();
        let wide = || WireError::Columns {
            name: x.array.name.clone(),
            problem: "its total needs more than 127 bits".into(),
        };
        return Ok(Zeroizing::new(vec![sum.ok_or_else(wide)?]));
    }
    let lengths = x.array.lengths(slots);
    let mut all = Zeroizing::new(Vec::new());
    for (i, (part, block)) in parts.iter().zip(&x.blocks).enumerate() {
        match (TypedArray::length(block), &lengths) {
            // One value that stands in all slots.
            (None, Some(lengths)) => {
                all.extend(part.iter().copied().cycle().take(lengths[i]));
            }
            _ => all.extend(part.iter().copied()),
        }
    }
    Ok(all)
}
