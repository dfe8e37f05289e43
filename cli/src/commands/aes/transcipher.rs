//! `everlevel aes transcipher` and `decrypt`: AES data in, ciphertexts of its bytes out.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use everlevel::files::{AES_KEY, Bounds, CONTENT, UNCHECKED, aes_key_of};
use everlevel::lab::{EvalKeys, ServerEvaluator};
use everlevel::{AesMethod, AesServer, EncryptedAesKey, Params};
use everlevel_aes::Batch;
use everlevel_scheme::same_owner;
use everlevel_wire::file::write_secret_file;
use everlevel_wire::{BoundPolicy, CiphertextReader, CiphertextWriter, Metadata, WireError};
use serde::Serialize;
use zeroize::Zeroizing;

use super::args::{AesDecryptArgs, AesTranscipherArgs, MethodArg};
use super::data::{Data, of_data};
use super::key::ROUND_KEYS;
use crate::commands::roles::args::SetOfFile;
use crate::commands::roles::files::{Column, of_decrypted, secret_key, server_keys};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file, existing, of_file, of_output};
use crate::console::output::{emit, emit_json, progress, remark};
use crate::console::params::tell_failures;

/// What a file of ciphertexts holds.
const BYTES: &str = "aes-bytes";
/// How its bytes lie in slots.
const METHOD: &str = "method";
/// How many bytes there are.
const LENGTH: &str = "length";
const MODE: &str = "mode";

#[derive(Serialize)]
struct Report {
    params: String,
    method: AesMethod,
    mode: &'static str,
    /// None if nobody compared it.
    aes_key_id: Option<String>,
    data_bytes: u64,
    states: u64,
    ciphertexts: usize,
    bytes: u64,
    least_capacity_bits: f64,
    seconds: f64,
}

/// Runs `aes transcipher`.
pub fn transcipher(args: &AesTranscipherArgs, common: &Common) -> Result<(), CliError> {
    let started = Instant::now();
    check_file(&args.out.out, args.out.force)?;
    let manifests = args.server.bounds.manifests.files();
    check_apart(&args.out.out, [&args.input, &args.aes_key].into_iter().chain(manifests))?;
    let cannot =
        |e: std::io::Error| CliError::usage(format!("cannot read {}: {e}", args.input.display()));
    let set = &args.server.set;
    let keys = server_keys(&args.server.server_keys, args.server.memory, set, common)?;
    let params = keys.params().clone();
    let data = Data::open(args, &params)?;
    let length = data.length();
    let key = uploaded(&args.aes_key, &params, &args.server.bounds.believed()?, set)?;
    same_owner(key.owner(), keys.owner(), "transciphering").map_err(|e| {
        CliError::usage(format!("{}: {e}", args.aes_key.display())).with_code(e.code())
    })?;
    data.check(&key, keys.owner()).map_err(|e| of_data(&args.input, e))?;
    let method = match args.method {
        Some(MethodArg::Packed) => AesMethod::Packed,
        Some(MethodArg::ByteSliced) => AesMethod::ByteSliced,
        None => AesMethod::for_bytes(params.slot_shape(), length).map_err(CliError::usage)?,
    };
    let server = AesServer::new(keys, method).map_err(CliError::usage)?;
    let layout = server.layout();
    let states = length.div_ceil(layout.capacity() as u64);
    let count = usize::try_from(states).ok().and_then(|states| states.checked_mul(layout.width()));
    let count =
        count.ok_or_else(|| CliError::usage(format!("{} is too long", args.input.display())))?;
    let checked = data.key().map(|id| format!("{id:#}"));
    let metadata = Metadata::from(
        [
            (CONTENT, BYTES),
            (METHOD, method.name()),
            (LENGTH, &length.to_string()),
            (MODE, data.kind().name()),
            (AES_KEY, checked.as_deref().unwrap_or(UNCHECKED)),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string())),
    );
    let out = &args.out.out;
    let mut writer =
        CiphertextWriter::create(&params, out, existing(args.out.force), count, &metadata)
            .map_err(of_output(out))?;
    let bar = progress(common, "rounds", states * (key.size().rounds() as u64 + 1));
    let (mut least, mut converted, failed) = (f64::INFINITY, 0, RefCell::new(None));
    let each = |batch: Batch<ServerEvaluator>| {
        converted += batch.length as u64;
        let state = if args.refresh { server.refresh(batch.state)? } else { batch.state };
        for x in &state {
            least = least.min(params.noise().capacity(x.meta()));
            if failed.borrow().is_none() {
                *failed.borrow_mut() = writer.push(x).err();
            }
        }
        Ok(())
    };
    let (mut unread, mut input) = (None, data.reader());
    let pieces = std::iter::from_fn(|| {
        // Nothing more is computed for a file that cannot be read or written.
        if failed.borrow().is_some() {
            return None;
        }
        let mut piece = vec![0; layout.capacity()];
        match input.read(&mut piece) {
            Ok(0) => None,
            Ok(read) => {
                piece.truncate(read);
                Some(piece)
            }
            Err(e) => {
                unread = Some(e);
                None
            }
        }
    });
    // What an upload states was checked above.
    let done = server.transcipher_unchecked(&key, data.mode()?, pieces, &mut |_| bar.inc(1), each);
    bar.finish_and_clear();
    if let Some(e) = unread {
        return Err(cannot(e));
    }
    if let Some(e) = failed.take() {
        return Err(of_output(out)(e));
    }
    done?;
    // The last block stands in place of bytes that bare data have lost meanwhile.
    if converted != length {
        let problem = format!(
            "it had {length} bytes at first, and {converted} when it was read: take a copy that \
             nothing writes to"
        );
        let path = args.input.display().to_string();
        return Err(of_file(&args.input)(WireError::Io { path, problem }));
    }
    let bytes = writer.finish().map_err(of_output(out))?;
    let report = Report {
        params: params.name().into(),
        method,
        mode: data.kind().name(),
        aes_key_id: checked,
        data_bytes: length,
        states,
        ciphertexts: count,
        bytes,
        least_capacity_bits: least,
        seconds: started.elapsed().as_secs_f64(),
    };
    if report.aes_key_id.is_none() {
        tell_unchecked(&args.input);
    }
    if common.json {
        return emit_json(&report);
    }
    emit(&format!(
        "{}: {} bytes of AES-{} data, {}: {} ciphertexts with {:.0} bits of capacity, {:.1} s: {}",
        report.params,
        length,
        report.mode.to_uppercase(),
        method.name(),
        count,
        least,
        report.seconds,
        out.display()
    ))
}

/// The encrypted AES key of a file.
fn uploaded(
    path: &Path,
    params: &Params,
    bounds: &Bounds,
    set: &SetOfFile,
) -> Result<EncryptedAesKey, CliError> {
    let column = Column::read(path, params, bounds, set)?;
    if column.metadata.get(CONTENT).is_none_or(|content| content != ROUND_KEYS) {
        return Err(CliError::usage(format!(
            "{}: expected an AES key that `aes encrypt-key` wrote",
            path.display()
        )));
    }
    let id = aes_key_of(&column.metadata).map_err(of_file(path))?;
    EncryptedAesKey::from_round_keys(column.ciphertexts)
        .map(|key| key.identified(id))
        .map_err(|e| CliError::usage(format!("{}: {e}", path.display())).with_code(e.code()))
}

/// Tells that nobody compared the AES key of data with the encrypted one.
fn tell_unchecked(path: &Path) {
    remark(format_args!(
        "note: {}: the AES key, the mode and the initialization vector of the data were not \
         checked: if one of them is wrong, the bytes are meaningless",
        path.display()
    ));
}

/// Runs `aes decrypt`.
pub fn decrypt(args: &AesDecryptArgs, common: &Common) -> Result<(), CliError> {
    check_file(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.input])?;
    let secret = secret_key(&args.key, &args.set, common)?;
    let params = secret.params();
    tell_failures(params);
    let input = &args.input;
    let options = args.set.options().believing(BoundPolicy::Stated);
    let mut reader = CiphertextReader::open(params, input, options).map_err(of_file(input))?;
    let wrong = |problem: &str| CliError::usage(format!("{}: {problem}", input.display()));
    let told = |name: &str| reader.metadata().get(name).map_or("", String::as_str);
    if told(CONTENT) != BYTES {
        return Err(wrong("expected what `aes transcipher` wrote"));
    }
    let method = match told(METHOD) {
        "packed" => AesMethod::Packed,
        "byte-sliced" => AesMethod::ByteSliced,
        _ => return Err(wrong("it does not say how its bytes lie in slots: get it again")),
    };
    let length: usize = told(LENGTH)
        .parse()
        .map_err(|_| wrong("it does not say how many bytes it has: get it again"))?;
    let aes_key = aes_key_of(reader.metadata()).map_err(of_file(input))?;
    let layout = method.layout(params.slot_shape()).map_err(CliError::usage)?;
    let width = layout.width();
    if length.div_ceil(layout.capacity()).checked_mul(width) != Some(reader.len()) {
        return Err(wrong("its length does not fit the number of its ciphertexts: get it again"));
    }
    // Ciphertexts are larger than what they hold. An index of empty ones, which nobody has read so
    // far, would have memory reserved for data that are not there.
    let bytes = input.metadata().map_err(|e| wrong(&e.to_string()))?.len();
    if length as u64 > bytes {
        return Err(wrong("it states more bytes of data than it has itself: get it again"));
    }
    let mut data = Zeroizing::new(Vec::with_capacity(length));
    let bar = progress(common, "decrypting", reader.len() as u64);
    for state in 0..reader.len() / width {
        let mut elements = Zeroizing::new(Vec::with_capacity(width));
        for i in 0..width {
            let x = reader.read(state * width + i).map_err(of_file(input))?;
            let plain = secret.decrypt(&x).map_err(of_decrypted(input))?;
            elements.push(plain.decode_elements(params)?);
            bar.inc(1);
        }
        let left = (length - data.len()).min(layout.capacity());
        let bytes =
            layout.bytes(&elements, left).map_err(|e| wrong(&e.to_string()).with_code(e.code()));
        let bytes = Zeroizing::new(bytes?);
        data.extend_from_slice(&bytes);
    }
    bar.finish_and_clear();
    write_secret_file(&args.out.out, &data, existing(args.out.force))
        .map_err(of_output(&args.out.out))?;
    if aes_key.is_none() {
        tell_unchecked(input);
    }
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "aes_key_id": aes_key.map(|id| format!("{id:#}")),
            "bytes": length,
            "out": args.out.out.display().to_string()
        }));
    }
    emit(&format!("{length} bytes: {}", args.out.out.display()))
}
