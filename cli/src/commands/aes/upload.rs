//! `everlevel aes upload`: data under AES, with what a server has to know of them.

use everlevel::files::Bytes;
use everlevel::{AesKeyId, AesUpload};
use everlevel_wire::file::{read_file, write_file};

use super::args::{AesUploadArgs, ModeArg};
use super::data::{of_data, stated_mode};
use super::key::{aes_key, hex};
use crate::commands::roles::files::EncryptionKey;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file, existing, of_file, of_output};
use crate::console::output::{emit, emit_json};

/// The most data of an upload, in bytes.
const MAX_BYTES: u64 = 1 << 32;

/// Runs `aes upload`.
pub fn upload(args: &AesUploadArgs, common: &Common) -> Result<(), CliError> {
    let out = &args.out.out;
    check_file(out, args.out.force)?;
    for read in [&args.input, &args.data, &args.aes_key_file].into_iter().flatten() {
        check_apart(out, [read])?;
    }
    let by = EncryptionKey::read(&args.key, &args.set, common)?;
    let owner = match &by {
        EncryptionKey::Public(key) => key.owner(),
        EncryptionKey::Secret(key) => Some(key.id()),
    };
    let key = args.aes_key_file.as_deref().map(aes_key).transpose()?;
    let upload = match (&args.input, &args.data, &key) {
        (Some(input), None, Some(key)) => {
            let plain = read_file(input, MAX_BYTES).map_err(of_file(input))?;
            let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
            AesUpload::encrypt(key, &plain, owner, &mut rng).map_err(|e| of_data(input, e))?
        }
        (None, Some(data), key) => {
            let id = match (key, args.aes_key_id) {
                (Some(key), _) => AesKeyId::of(key).map_err(CliError::usage)?,
                (None, Some(id)) => id,
                (None, None) => return Err(CliError::usage("expected --aes-key-file")),
            };
            let kind = args.mode.unwrap_or(ModeArg::Ctr).kind();
            let iv = args.iv.as_deref().map(|digits| hex("--iv", digits)).transpose()?;
            let iv = iv.as_deref().map(Vec::as_slice);
            stated_mode(kind, iv)?;
            let bytes = read_file(data, MAX_BYTES).map_err(of_file(data))?.to_vec();
            AesUpload::of_data(kind, iv.unwrap_or_default(), id, owner, bytes)
                .map_err(|e| of_data(data, e))?
        }
        _ => return Err(CliError::usage("expected --in with --aes-key-file, or --data")),
    };
    let params = by.params();
    let bytes = upload.to_bytes(params).map_err(CliError::usage)?;
    write_file(out, &bytes, existing(args.out.force)).map_err(of_output(out))?;
    let (id, length) = (upload.aes_key_id(), upload.data().len());
    let iv: String = upload.iv().iter().map(|byte| format!("{byte:02x}")).collect();
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "mode": upload.mode().name(),
            "iv": iv,
            "aes_key_id": format!("{id:#}"),
            "key_id": owner.map(|id| format!("{id:#}")),
            "data_bytes": length,
            "bytes": bytes.len()
        }));
    }
    emit(&format!(
        "{}: {length} bytes of AES-{} data under AES key {id:#}, {} bytes: {}",
        params.name(),
        upload.mode().name().to_uppercase(),
        bytes.len(),
        out.display()
    ))
}
