//! Mistakes with data under AES.

use crate::mistakes::case::Step::{Change, Cut, Run, Write};
use crate::mistakes::case::{Case, case};

/// The AES keys and the data of mistakes with uploads.
const AES_KEY: &[u8] = b"2b7e151628aed2a6abf7158809cf4f3c";
const OTHER_AES_KEY: &[u8] = b"00112233445566778899aabbccddeeff";

/// Owners c and d of a set with bytes; data under an AES key of c, and its encryptions.
pub const CASES: &[Case] = &[
    case(
        "data under another AES key than the encrypted one",
        &[
            Run("keygen --params insecure_aes-m4947 --program y=x+x --out c"),
            Run("keygen --params insecure_aes-m4947 --program y=x+x --out d"),
            Write("aes.hex", AES_KEY),
            Write("other.hex", OTHER_AES_KEY),
            Write("data.aes", b"48 bytes under AES, which any other bytes could "),
            Run("aes encrypt-key --key c/public.key --aes-key-file aes.hex --out aes.ct"),
            Run("aes encrypt-key --key c/public.key --aes-key-file other.hex --out other.aes.ct"),
            Run("aes encrypt-key --key d/public.key --aes-key-file aes.hex --out d.aes.ct"),
            Run("aes upload --key c/public.key --aes-key-file aes.hex --data data.aes \
                 --iv 000102030405060708090a0b0c0d0e0f --out up"),
        ],
        "aes transcipher --server-keys c/server.keys --aes-key other.aes.ct --in up --out no.ct",
        "aes.wrong-key",
    ),
    case(
        "data under AES for another owner",
        &[],
        "aes transcipher --server-keys d/server.keys --aes-key d.aes.ct --in up --out no.ct",
        "scheme.wrong-key",
    ),
    case(
        "an encrypted AES key, other server keys",
        &[],
        "aes transcipher --server-keys d/server.keys --aes-key aes.ct --in up --out no.ct",
        "scheme.wrong-key",
    ),
    case(
        "data under AES with another initialization vector",
        &[],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in up \
         --iv 00000000000000000000000000000000 --out no.ct",
        "aes.contradiction",
    ),
    case(
        "data under AES in another mode",
        &[],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in up --mode cbc \
         --out no.ct",
        "aes.contradiction",
    ),
    case(
        "truncated data under AES",
        &[Cut("up", "cut.up")],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in cut.up --out no.ct",
        "wire.truncated",
    ),
    case(
        "damaged data under AES",
        &[Change("up", "damaged.up")],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in damaged.up --out no.ct",
        "wire.checksum",
    ),
    case(
        "bare data under AES, without --raw",
        &[],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in data.aes \
         --iv 000102030405060708090a0b0c0d0e0f --out no.ct",
        "wire.not-ours",
    ),
    case(
        "an upload as bare data under AES, with --raw",
        &[],
        "aes transcipher --server-keys c/server.keys --aes-key aes.ct --in up --raw \
         --iv 000102030405060708090a0b0c0d0e0f --out no.ct",
        "cli.usage",
    ),
];
