//! `everlevel keys change` and `everlevel change-key`: key rotation.

use everlevel::ServerKeys;
use everlevel::lab::{EvalKeys, Evaluator};
use everlevel_wire::file::write_file;
use everlevel_wire::{Metadata, server_keys};

use super::args::{ChangeKeyArgs, KeyMemoryArg};
use super::files::{Column, kept_metadata, secret_key};
use super::keys_args::ChangeArgs;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{
    check_apart, check_file, check_free, check_standard, existing, is_standard, of_file, of_output,
};
use crate::console::output::{counted, emit, emit_json, progress};
use crate::console::params::tell_failures;

/// Runs `keys change`.
pub fn make(args: &ChangeArgs, common: &Common) -> Result<(), CliError> {
    let out = &args.out.out;
    check_file(out, args.out.force)?;
    let [from, to] = [&args.from, &args.to].map(|path| secret_key(path, &args.set, common));
    let (from, to) = (from?, to?);
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let params = from.params();
    tell_failures(params);
    let keys = ServerKeys::key_change(&from, &to, params.chain().top(), &mut rng)
        .map_err(CliError::usage)?;
    let bytes = server_keys::to_bytes(&keys, &Metadata::new()).map_err(of_file(out))?;
    write_file(out, &bytes, existing(args.out.force)).map_err(of_output(out))?;
    let told = serde_json::json!({
        "params": params.name(),
        "keys": keys.len(),
        "bytes": bytes.len(),
        "out": out.display().to_string(),
    });
    if common.json {
        return emit_json(&told);
    }
    emit(&format!(
        "{}: {} keys, {} bytes: {}",
        params.name(),
        keys.len(),
        bytes.len(),
        out.display()
    ))
}

/// Runs `change-key`.
pub fn change_key(args: &ChangeKeyArgs, common: &Common) -> Result<(), CliError> {
    check_standard(&args.out.out, common)?;
    check_free(&args.out.out, args.out.force)?;
    let believed = &args.bounds.manifests;
    let read = [&args.input, &args.keys].into_iter().chain(&believed.manifests);
    check_apart(&args.out.out, read.chain(&believed.key.manifest_key))?;
    // Every key once: nothing has to stay in memory.
    let memory = KeyMemoryArg { cache: 0, seeded_keys: false };
    let keys = super::files::server_keys(&args.keys, memory, &args.set, common)?;
    let params = keys.params().clone();
    let evaluator = Evaluator::new(keys);
    let column = Column::read(&args.input, &params, &args.bounds.believed()?, &args.set)?;
    let array = column.array(&args.input, &params)?;
    let bar = progress(common, "changing keys", column.ciphertexts.len() as u64);
    let moved = column.ciphertexts.iter().map(|x| {
        let moved = evaluator.change_key(x);
        bar.inc(1);
        moved
    });
    let moved = moved.collect::<Result<Vec<_>, _>>().map_err(CliError::usage)?;
    bar.finish_and_clear();
    let bytes =
        Column::write(&args.out, &params, &moved, &kept_metadata(column.metadata, array.as_ref()))?;
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "ciphertexts": moved.len(),
            "bytes": bytes,
        }));
    }
    if is_standard(&args.out.out) {
        return Ok(());
    }
    emit(&format!(
        "{}: {}, {bytes} bytes: {}",
        params.name(),
        counted(moved.len() as u64, "ciphertext"),
        args.out.out.display()
    ))
}
