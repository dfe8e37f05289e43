//! The stage `server_encrypted_aes_decryption` of `transciphering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlevel_suite::run(everlevel_suite::transciphering::decrypt_aes)
}
