//! `everlevel aes keygen`, `encrypt-key`, `transcipher` and `decrypt`: AES data in, ciphertexts of
//! its bytes out.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use everlevel::files::Bounds;
use everlevel::lab::{EvalKeys, ServerEvaluator};
use everlevel::{AesMethod, AesServer, EncryptedAesKey, Params, aes_keys};
use everlevel_aes::{Batch, Direction, Mode};
use everlevel_scheme::same_owner;
use everlevel_wire::file::write_secret_file;
use everlevel_wire::{BoundPolicy, CiphertextReader, CiphertextWriter, Metadata};
use serde::Serialize;
use zeroize::Zeroizing;

use super::args::{
    AesDecryptArgs, AesEncryptKeyArgs, AesKeygenArgs, AesTranscipherArgs, MethodArg, ModeArg,
};
use crate::commands::roles::args::SetOfFile;
use crate::commands::roles::files::{Column, EncryptionKey, secret_key, server_keys};
use crate::commands::roles::keygen::make;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_free, existing, of_file, of_output};
use crate::console::output::{emit, emit_json, progress};
use crate::console::params::find_params;

/// What a file of ciphertexts holds.
const CONTENT: &str = "content";
const ROUND_KEYS: &str = "aes-round-keys";
const BYTES: &str = "aes-bytes";
/// How its bytes lie in slots.
const METHOD: &str = "method";
/// How many bytes there are.
const LENGTH: &str = "length";
const MODE: &str = "mode";

/// The most bytes of a hexadecimal key, with white space around it.
const MAX_HEX: usize = 1 << 10;

/// Runs `aes keygen`.
pub fn keygen(args: &AesKeygenArgs, common: &Common) -> Result<(), CliError> {
    let params = find_params(&args.params, common)?;
    let directions: &[Direction] = if args.decryption {
        &[Direction::Encrypt, Direction::Decrypt]
    } else {
        &[Direction::Encrypt]
    };
    let plan = aes_keys(&params, directions).map_err(|e| {
        CliError::usage(format!("parameter set {}: {e}", params.name())).with_code(e.code())
    })?;
    make(&params, &plan, &args.out, args.force, common)
}

/// Bytes from hexadecimal digits.
fn hex(what: &str, digits: &str) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let digits = digits.trim();
    let wrong = |problem: String| CliError::usage(format!("{what}: {problem}"));
    if !digits.is_ascii() || digits.len() % 2 == 1 {
        return Err(wrong(format!(
            "expected an even number of hexadecimal digits, found {} characters",
            digits.chars().count()
        )));
    }
    // Of exactly this size, so that nothing is left behind by growing; without branches on digits,
    // which may be secret.
    let mut bytes = Zeroizing::new(vec![0; digits.len() / 2]);
    let mut bad = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        for &digit in pair {
            let (value, wrong) = nibble(digit);
            *byte = *byte << 4 | value;
            bad |= wrong;
        }
    }
    if bad == 0 {
        Ok(bytes)
    } else {
        Err(wrong("expected hexadecimal digits, found other characters".into()))
    }
}

/// The value of a hexadecimal digit, and 255 in place of 0 if it is none. Branch-free.
fn nibble(digit: u8) -> (u8, u8) {
    let within = |x: u8, low: u8, high: u8| {
        (((u16::from(x) + 256 - u16::from(low)) & (u16::from(high) + 256 - u16::from(x))) >> 8)
            as u8
            & 1
    };
    let decimal = within(digit, b'0', b'9').wrapping_neg();
    let letter = within(digit | 0x20, b'a', b'f').wrapping_neg();
    let value =
        (digit.wrapping_sub(b'0') & decimal) | ((digit | 0x20).wrapping_sub(b'a' - 10) & letter);
    (value, !(decimal | letter))
}

/// The AES key of a file, or of standard input.
fn aes_key(path: &Path) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let what = "the AES key";
    let (mut input, shown): (Box<dyn Read>, _) = if path == Path::new("-") {
        (Box::new(std::io::stdin()), "standard input".into())
    } else {
        let cannot = |e: std::io::Error| {
            CliError::usage(format!("cannot open {what} {}: {e}", path.display()))
        };
        (Box::new(File::open(path).map_err(cannot)?), path.display().to_string())
    };
    // One buffer that does not grow: growing would leave a copy behind.
    let mut text = Zeroizing::new(vec![0; MAX_HEX + 1]);
    let mut filled = 0;
    while filled < text.len() {
        match input.read(&mut text[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(CliError::usage(format!("cannot read {what} from {shown}: {e}"))),
        }
    }
    if filled > MAX_HEX {
        return Err(CliError::usage(format!(
            "{what} in {shown} is larger than {MAX_HEX} bytes: expected 32, 48 or 64 digits"
        )));
    }
    let digits = std::str::from_utf8(&text[..filled])
        .map_err(|_| CliError::usage(format!("{what} in {shown} is not text")))?;
    hex(what, digits)
}

/// Runs `aes encrypt-key`.
pub fn encrypt_key(args: &AesEncryptKeyArgs, common: &Common) -> Result<(), CliError> {
    check_free(&args.out.out, args.out.force)?;
    let by = EncryptionKey::read(&args.key, &args.set, common)?;
    let params = by.params();
    let key = aes_key(&args.aes_key_file)?;
    let mut rng = everlevel::system_rng().map_err(CliError::failure)?;
    let encrypted = match &by {
        EncryptionKey::Public(public) => EncryptedAesKey::encrypt(&key, public, &mut rng),
        EncryptionKey::Secret(secret) => EncryptedAesKey::encrypt_secretly(&key, secret, &mut rng),
    };
    let encrypted = encrypted.map_err(CliError::usage)?;
    let mut metadata = by.metadata();
    metadata.insert(CONTENT.into(), ROUND_KEYS.into());
    let bytes = Column::write(&args.out, params, encrypted.round_keys(), &metadata)?;
    let bits = 8 * key.len();
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "aes": bits,
            "round_keys": encrypted.round_keys().len(),
            "bytes": bytes
        }));
    }
    emit(&format!(
        "{}: {} round keys of AES-{bits}, {bytes} bytes: {}",
        params.name(),
        encrypted.round_keys().len(),
        args.out.out.display()
    ))
}

/// The mode of the data, from its initialization vector.
fn mode(args: &AesTranscipherArgs) -> Result<Mode, CliError> {
    let iv = || {
        let digits = args.iv.as_deref().ok_or_else(|| {
            CliError::usage(format!("--mode {}: expected --iv", args.mode.name()))
        })?;
        hex("--iv", digits)
    };
    let mode = match args.mode {
        ModeArg::Ctr => Mode::ctr(&iv()?),
        ModeArg::Gcm => Mode::gcm(&iv()?),
        ModeArg::Cbc => Mode::cbc(&iv()?),
        ModeArg::Ecb if args.iv.is_some() => {
            return Err(CliError::usage("--mode ecb: expected no --iv"));
        }
        ModeArg::Ecb => Ok(Mode::ecb()),
    };
    mode.map_err(CliError::usage)
}

#[derive(Serialize)]
struct Report {
    params: String,
    method: AesMethod,
    mode: &'static str,
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
    check_free(&args.out.out, args.out.force)?;
    let mode = mode(args)?;
    let cannot =
        |e: std::io::Error| CliError::usage(format!("cannot read {}: {e}", args.input.display()));
    let mut input = File::open(&args.input).map_err(cannot)?;
    let length = input.metadata().map_err(cannot)?.len();
    if length == 0 {
        return Err(CliError::usage(format!(
            "{}: expected data, found none",
            args.input.display()
        )));
    }
    // The whole data have to suit the mode before hours are spent on the first of them.
    mode.check_length(length).map_err(|e| {
        CliError::usage(format!("{}: {e}", args.input.display())).with_code(e.code())
    })?;
    let set = &args.server.set;
    let keys = server_keys(&args.server.server_keys, args.server.cache, set, common)?;
    let params = keys.params().clone();
    let key = uploaded(&args.aes_key, &params, &args.server.bounds.believed()?, set)?;
    same_owner(key.owner(), keys.owner(), "transciphering").map_err(|e| {
        CliError::usage(format!("{}: {e}", args.aes_key.display())).with_code(e.code())
    })?;
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
    let metadata = Metadata::from(
        [
            (CONTENT, BYTES),
            (METHOD, method.name()),
            (LENGTH, &length.to_string()),
            (MODE, args.mode.name()),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string())),
    );
    let out = &args.out.out;
    let mut writer =
        CiphertextWriter::create(&params, out, existing(args.out.force), count, &metadata)
            .map_err(of_file(out))?;
    let bar = progress(common, "rounds", states * (key.size().rounds() as u64 + 1));
    let (mut least, failed) = (f64::INFINITY, RefCell::new(None));
    let each = |batch: Batch<ServerEvaluator>| {
        let state = if args.refresh { server.refresh(batch.state)? } else { batch.state };
        for x in &state {
            least = least.min(params.noise().capacity(x.meta()));
            if failed.borrow().is_none() {
                *failed.borrow_mut() = writer.push(x).err();
            }
        }
        Ok(())
    };
    let mut unread = None;
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
    let done = server.transcipher(&key, mode, pieces, &mut |_| bar.inc(1), each);
    bar.finish_and_clear();
    if let Some(e) = unread {
        return Err(cannot(e));
    }
    if let Some(e) = failed.take() {
        return Err(of_file(out)(e));
    }
    done?;
    let bytes = writer.finish().map_err(of_file(out))?;
    let report = Report {
        params: params.name().into(),
        method,
        mode: args.mode.name(),
        data_bytes: length,
        states,
        ciphertexts: count,
        bytes,
        least_capacity_bits: least,
        seconds: started.elapsed().as_secs_f64(),
    };
    if common.json {
        return emit_json(&report);
    }
    emit(&format!(
        "{}: {} bytes of AES-{} data, {}: {} ciphertexts with {:.0} bits of capacity, {:.1} s: {}",
        report.params,
        length,
        args.mode.name().to_uppercase(),
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
    EncryptedAesKey::from_round_keys(column.ciphertexts)
        .map_err(|e| CliError::usage(format!("{}: {e}", path.display())).with_code(e.code()))
}

/// Runs `aes decrypt`.
pub fn decrypt(args: &AesDecryptArgs, common: &Common) -> Result<(), CliError> {
    check_free(&args.out.out, args.out.force)?;
    let secret = secret_key(&args.key, &args.set, common)?;
    let params = secret.params();
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
        _ => return Err(wrong("it does not say how its bytes lie in slots")),
    };
    let length: usize =
        told(LENGTH).parse().map_err(|_| wrong("it does not say how many bytes it has"))?;
    let layout = method.layout(params.slot_shape()).map_err(CliError::usage)?;
    let width = layout.width();
    if length.div_ceil(layout.capacity()).checked_mul(width) != Some(reader.len()) {
        return Err(wrong("its length does not fit the number of its ciphertexts"));
    }
    let mut data = Zeroizing::new(Vec::with_capacity(length));
    for state in 0..reader.len() / width {
        let mut elements = Zeroizing::new(Vec::with_capacity(width));
        for i in 0..width {
            let x = reader.read(state * width + i).map_err(of_file(input))?;
            elements.push(secret.decrypt(&x)?.decode_elements(params)?);
        }
        let left = (length - data.len()).min(layout.capacity());
        let bytes =
            Zeroizing::new(layout.bytes(&elements, left).map_err(|e| wrong(&e.to_string()))?);
        data.extend_from_slice(&bytes);
    }
    write_secret_file(&args.out.out, &data, existing(args.out.force))
        .map_err(of_output(&args.out.out))?;
    if common.json {
        return emit_json(
            &serde_json::json!({ "params": params.name(), "bytes": length, "out": args.out.out }),
        );
    }
    emit(&format!("{length} bytes: {}", args.out.out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        assert_eq!(*hex("x", " 00fF10\n").unwrap(), [0, 255, 16]);
        for digit in 0..=255u8 {
            let value = char::from(digit).to_digit(16).filter(|_| digit.is_ascii());
            assert_eq!(nibble(digit), value.map_or((0, 255), |value| (value as u8, 0)), "{digit}");
        }
        for text in ["0", "0g", "+1", "é1", "0x00", " 1 2"] {
            let CliError::Usage(problem) = hex("the key", text).unwrap_err() else {
                panic!("expected a usage error")
            };
            let problem = problem.text;
            assert!(problem.contains("hexadecimal") && !problem.contains(text.trim()), "{problem}");
        }
    }
}
