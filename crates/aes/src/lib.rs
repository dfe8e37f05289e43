//! Homomorphic evaluation of AES over any scheme with plaintext modulus 2, on many blocks at once;
//! transciphering; conversion of bytes to integers.
//!
//! Two methods of evaluation implement [`Aes`]:
//! * [`ByteSliced`]: 16 ciphertexts, one for each byte of a block, with one block in each slot, for
//!   slots that contain GF(2^8); the S-box is x^254 and an affine map. It has the highest
//!   throughput;
//! * [`Packed`]: one ciphertext, with a block in each 16 such slots along a dimension. It has the
//!   lowest latency, and the shortest encrypted keys.
//!
//! A third method, [`bit_sliced`], is included for research. Other crates can implement [`Aes`]
//! with [`Layout`] and [`field`].
//!
//! Both [directions](Direction) and all key sizes are supported. A [`Transcipher`] converts data
//! under AES in CTR, GCM, CBC or ECB [mode](Mode) into ciphertexts of the scheme, one state at a
//! time. The AES-encrypted data and the counters are public; only the AES key is encrypted under
//! the scheme. Nothing is authenticated: see [`Transcipher`].
//!
//! The client expands its key ([`KeySchedule`]) and sends encrypted [round keys](RoundKeys), each
//! at the level of its round, which a rehearsal determines ([`Transcipher::key_levels`],
//! [`Aes::round_key_levels`]). Alternatively it sends the encrypted key, and the server expands it
//! ([`RoundKeys::expand`], [`RoundKeys::expand_packed`]). A [`KeySource`] provides round keys one
//! by one. All methods use the round keys of FIPS-197.
//!
//! After AES, [`ByteRefresh`] bootstraps bytes, as many at a time as fit into a slot, and
//! [`integers`] converts them to integers modulo 2^e.
//!
//! ```
//! use everlevel_aes::{Aes, ByteSliced, KeySchedule, Layout, Mode, RoundKeys, Transcipher};
//! use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
//!
//! // Insecure: a toy ring. SP 800-38A, appendix F.5.1: AES-128 in CTR mode.
//! let params = Params::named("insecure_ltv-2-m255", OptIn::InsecureResearch)?;
//! let scheme = NoOp::new(&params, 1);
//! let key = 0x2b7e151628aed2a6abf7158809cf4f3cu128.to_be_bytes();
//! let counter = 0xf0f1f2f3f4f5f6f7f8f9fafbfcfdfeffu128.to_be_bytes();
//! let data = 0x874d6191b620e3261bef6864990db6ceu128.to_be_bytes();
//!
//! // The client, once: its round keys, each in every block.
//! let (schedule, top) = (KeySchedule::new(&key)?, params.chain().top());
//! let layout = Layout::byte_sliced(params.slot_shape())?;
//! let encrypt = |key: &[u8; 16]| {
//!     let slots = layout.encode(&vec![*key; layout.blocks()]);
//!     let one = |x: &Vec<u64>| scheme.encrypt_at(&Plaintext::encode_elements(&params, x)?, top);
//!     slots.iter().map(one).collect::<Result<Vec<_>, _>>()
//! };
//! let keys = schedule.round_keys().iter().map(encrypt).collect::<Result<_, _>>()?;
//! let keys = RoundKeys::new(schedule.size(), keys)?;
//!
//! // The server.
//! let aes = ByteSliced::new(&scheme, top)?;
//! let (mode, mut source) = (Mode::ctr(&counter)?, keys.source(&scheme));
//! let mut transcipher = Transcipher::new(&scheme, &aes, keys.size(), mode, top, &mut source)?;
//! let batch = transcipher.next_batch(&data[..10], &mut |_| ())?;
//!
//! // The client, who has the secret key.
//! let decrypt = |x| scheme.decrypt(x)?.decode_elements(&params);
//! let slots = batch.state.iter().map(decrypt).collect::<Result<Vec<_>, _>>()?;
//! let plain = layout.bytes(&slots, batch.length)?;
//! assert_eq!(plain, 0x6bc1bee22e409f96e93d7e117393172au128.to_be_bytes()[..10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod bit_sliced;
mod byte_refresh;
mod byte_sliced;
mod embedding;
mod error;
mod expansion;
pub mod field;
pub mod integers;
mod inversion;
mod key;
mod key_hash;
mod key_id;
mod layout;
mod line;
mod method;
mod modes;
mod packed;
mod refresh;
mod round;
mod round_keys;
mod shared;
mod start;
mod transcipher;
mod unpack;

pub use byte_refresh::{BytePacking, ByteRefresh};
pub use byte_sliced::ByteSliced;
pub use embedding::ByteEmbedding;
pub use error::AesError;
pub use key::{KeySchedule, KeySize};
pub use key_id::AesKeyId;
pub use layout::{Layout, Place};
pub use method::{Aes, Between, KeySource, Observer, Start};
pub use modes::{Blocks, Mode};
pub use packed::Packed;
pub use refresh::{Refresh, RefreshFn};
pub use round::{Cipher, Direction, Round};
pub use round_keys::RoundKeys;
pub use shared::{SharedColumns, SharedRounds};
pub use start::lowest_start;
pub use transcipher::{Batch, Progress, Transcipher};
pub use unpack::UnpackBytes;
