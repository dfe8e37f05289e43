//! `everlevel aes keygen` and `encrypt-key`, and AES keys in hexadecimal digits.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use everlevel::files::{AES_KEY, CONTENT};
use everlevel::{EncryptedAesKey, aes_keys};
use everlevel_aes::{AesKeyId, Direction};
use zeroize::Zeroizing;

use super::args::{AesEncryptKeyArgs, AesKeygenArgs};
use crate::commands::roles::files::{Column, EncryptionKey};
use crate::commands::roles::keygen::make;
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{check_apart, check_file};
use crate::console::output::{emit, emit_json};
use crate::console::params::find_params;

/// What a file of an encrypted AES key says that it holds.
pub(super) const ROUND_KEYS: &str = "aes-round-keys";

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
pub(super) fn hex(what: &str, digits: &str) -> Result<Zeroizing<Vec<u8>>, CliError> {
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
pub(super) fn aes_key(path: &Path) -> Result<Zeroizing<Vec<u8>>, CliError> {
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
    check_file(&args.out.out, args.out.force)?;
    check_apart(&args.out.out, [&args.aes_key_file, &args.key])?;
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
    let id = AesKeyId::of(&key).map_err(CliError::usage)?;
    metadata.insert(AES_KEY.into(), format!("{id:#}"));
    let bytes = Column::write(&args.out, params, encrypted.round_keys(), &metadata)?;
    let bits = 8 * key.len();
    if common.json {
        return emit_json(&serde_json::json!({
            "params": params.name(),
            "aes": bits,
            "aes_key_id": format!("{id:#}"),
            "round_keys": encrypted.round_keys().len(),
            "bytes": bytes
        }));
    }
    emit(&format!(
        "{}: {} round keys of AES-{bits}, key {id:#}, {bytes} bytes: {}",
        params.name(),
        encrypted.round_keys().len(),
        args.out.out.display()
    ))
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
