//! What the owner of an encrypted table does with it: changes, and the table in the clear again.

use everlevel_tables::{Answer, Change, Data, EncryptedTable, Query, TablesError};
use serde_json::json;

use super::args::{ChangeArgs, DecryptArgs};
use super::ask::{refused, tell};
use super::errors::{of, of_written};
use super::files::{open_table, read_data};
use super::records::{check_parquet, is_parquet, parquet_answer};
use crate::commands::roles::files::secret_key;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_free, check_standard, is_standard, write_secret_output,
};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::tell_failures;

/// Runs `table change`.
pub fn change(args: &ChangeArgs, common: &Common) -> Result<(), CliError> {
    let path = &args.table;
    let key = secret_key(&args.key, &args.set, common)?;
    let table = open_table(path, Some(key.params().clone()), &args.set, common)?;
    let schema = table.schema();
    let change = match (&args.edit.insert, &args.edit.sql) {
        (Some(rows), _) => Change::insert(schema, read_data(rows, schema, &args.with)?),
        (None, Some(text)) => {
            args.with.check_none("--insert")?;
            Change::parse(text, schema).map_err(refused)?
        }
        (None, None) => return Err(CliError::usage("give --insert FILE, or an update or delete")),
    };
    tell(change.notes());
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let bar = progress(common, "changing", table.blocks() as u64);
    let step = |done, blocks| {
        bar.set_length(blocks as u64);
        bar.set_position(done as u64);
        Ok::<_, TablesError>(())
    };
    let changed = table.changed(&key, &change, &mut rng, step);
    let (after, changes): (EncryptedTable, _) = changed.map_err(|e| match e {
        e @ TablesError::Roles(everlevel::Error::Wire(_)) => of_written(path)(e),
        e => of(path)(e),
    })?;
    bar.finish_and_clear();
    let (rows, blocks) = (after.rows(), after.blocks());
    if common.json {
        return emit_json(&json!({
            "table": after.id().to_string(),
            "rows_changed": changes.rows,
            "rows": rows,
            "blocks": blocks,
            "written": changes.written,
            "removed": changes.removed,
            "notes": change.notes(),
        }));
    }
    emit(&format!(
        "table {}: {} changed; {} in {}, {} written, {} removed: {}",
        after.id(),
        counted(changes.rows as u64, "row"),
        counted(rows as u64, "row"),
        counted(blocks as u64, "block"),
        counted(changes.written.len() as u64, "file"),
        changes.removed.len(),
        path.display()
    ))
}

/// Runs `table decrypt`.
pub fn decrypt(args: &DecryptArgs, common: &Common) -> Result<(), CliError> {
    check_standard(&args.out.out, common)?;
    check_free(&args.out.out, args.out.force)?;
    let path = &args.table;
    check_apart(&args.out.out, [path])?;
    if is_parquet(&args.out.out) {
        check_parquet().map_err(refused)?;
    }
    let key = secret_key(&args.key, &args.set, common)?;
    tell_failures(key.params());
    let table = open_table(path, Some(key.params().clone()), &args.set, common)?;
    let bar = progress(common, "decrypting", table.blocks() as u64);
    let step = |done, _| {
        bar.set_position(done as u64);
        Ok::<_, TablesError>(())
    };
    let data: Data = table.decrypt(&key, step).map_err(of(path))?;
    bar.finish_and_clear();
    let (out, schema) = (&args.out.out, table.schema());
    let bytes = zeroize::Zeroizing::new(match is_parquet(out) {
        true => {
            let all = Query::of_all(schema);
            let rows = Answer::plain(&all, schema, &data).map_err(refused)?;
            parquet_answer(&rows, &all.output_types(schema)).map_err(refused)?
        }
        false => data.to_csv(schema).map_err(refused)?.into_bytes(),
    });
    write_secret_output(out, &bytes, args.out.force)?;
    let (rows, columns) = (data.rows(), schema.columns().count());
    if common.json {
        return emit_json(&json!({
            "table": table.id().to_string(), "rows": rows, "columns": columns,
            "out": out.display().to_string(),
        }));
    }
    if is_standard(out) {
        return Ok(());
    }
    let (rows, columns) = (counted(rows as u64, "row"), counted(columns as u64, "column"));
    emit(&format!("{rows} of {columns}: {}", out.display()))
}
