//! Data under AES for a server, with the information that the server needs to process them.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use everlevel_aes::{AesError, AesKeyId, KeySize, Mode};
use everlevel_scheme::{KeyId, Params, same_owner};
use everlevel_wire::uploads::{self, ModeKind, StoredUpload};
use everlevel_wire::{Metadata, ReadOptions, WireError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::aes_key::EncryptedAesKey;
use crate::bytes::Bytes;
use crate::error::Error;

/// Data under AES, together with what the data do not show: the mode, the initialization vector,
/// the [id](AesKeyId) of the AES key, and the id of the secret key of the scheme under which the
/// ciphertexts of their bytes will be. [`AesServer::transcipher`](crate::AesServer::transcipher)
/// uses this information, and refuses data and keys that do not belong together.
///
/// This label is stated by the party that made the upload and is not authenticated: see
/// [`everlevel_aes::Transcipher`]. [`Bytes`] converts uploads to bytes and back.
///
/// ```
/// use everlevel::files::Bytes;
/// use everlevel::{AesUpload, Client, OptIn, Params, system_rng};
///
/// // Insecure: a toy ring.
/// let params = Params::named("insecure_aes-m4947", OptIn::InsecureResearch)?;
/// let client = Client::new(&params, &mut system_rng()?);
/// let (key, owner) = (*b"an AES-128 key!!", client.secret().id());
/// let upload = AesUpload::encrypt(&key, b"17 degrees", owner, &mut system_rng()?)?;
/// let sent = upload.to_bytes(&params)?;
///
/// // The server.
/// let received = AesUpload::from_bytes(&params, &sent)?;
/// assert_eq!(received, upload);
/// # Ok::<(), everlevel::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AesUpload(pub(crate) StoredUpload);

/// A mode of operation at its first block. `iv` is the first counter block or the initialization
/// vector; ECB has none.
///
/// # Errors
/// A length other than that of the mode ([`ModeKind::iv_bytes`]); a mode that this version does not
/// know.
pub fn mode_of(kind: ModeKind, iv: &[u8]) -> Result<Mode, Error> {
    Ok(match kind {
        ModeKind::Ctr => Mode::ctr(iv)?,
        ModeKind::Gcm => Mode::gcm(iv)?,
        ModeKind::Cbc => Mode::cbc(iv)?,
        ModeKind::Ecb if iv.is_empty() => Mode::ecb(),
        ModeKind::Ecb => {
            let (what, expected) = ("an initialization vector of ECB", "none");
            return Err(AesError::NonceLength { what, found: iv.len(), expected }.into());
        }
        kind => {
            return Err(WireError::Malformed {
                what: "mode of operation of AES",
                expected: "one that this version can compute: ctr, gcm, cbc or ecb".into(),
                found: kind.name().into(),
            }
            .into());
        }
    })
}

impl AesUpload {
    /// Encrypts data with AES in counter mode, beginning with a random counter block: 96 random
    /// bits and a counter from 0. `owner` is [`PublicKey::owner`](crate::PublicKey::owner) or
    /// [`SecretKey::id`](crate::SecretKey::id) of the key that the AES key is encrypted with.
    ///
    /// The data are not authenticated. If fewer than 2^32 uploads are made under one AES key, the
    /// probability that any two use the same counters is below 2^-32.
    ///
    /// # Errors
    /// A key whose length is not 16, 24 or 32 bytes, no data, more than 2^32 blocks of data.
    pub fn encrypt(
        key: &[u8],
        plain: &[u8],
        owner: impl Into<Option<KeyId>>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        let cipher = Cipher::new(key)?;
        let mut iv = [0; 16];
        rng.fill_bytes(&mut iv[..12]);
        // Above that the counter would run into what was drawn.
        Mode::ctr_with_nonce(&iv[..12], 0)?.check_length(plain.len() as u64)?;
        let mut data = plain.to_vec();
        for (block, counter) in data.chunks_mut(16).zip(u128::from_be_bytes(iv)..) {
            let keystream = cipher.block(counter);
            block.iter_mut().zip(*keystream).for_each(|(x, k)| *x ^= k);
        }
        Self::of_data(ModeKind::Ctr, &iv, AesKeyId::of(key)?, owner, data)
    }

    /// Data that were encrypted elsewhere. The caller states their mode, initialization vector and
    /// key, which cannot be verified.
    ///
    /// # Errors
    /// A vector whose length is not that of the mode, no data, an incomplete block in CBC or ECB,
    /// more blocks than the counter allows.
    pub fn of_data(
        mode: ModeKind,
        iv: &[u8],
        aes_key: AesKeyId,
        owner: impl Into<Option<KeyId>>,
        data: Vec<u8>,
    ) -> Result<Self, Error> {
        let (iv, aes_key, owner) = (iv.to_vec(), *aes_key.bits(), owner.into());
        Self::checked(StoredUpload { mode, iv, aes_key, owner, data })
    }

    /// Checks the upload against the requirements of its mode.
    fn checked(stored: StoredUpload) -> Result<Self, Error> {
        let upload = AesUpload(stored);
        let length = upload.0.data.len() as u64;
        if length == 0 {
            let what = "the data of an upload";
            return Err(everlevel_circuit::CircuitError::Empty { what }.into());
        }
        mode_of(upload.0.mode, &upload.0.iv)?.check_length(length)?;
        Ok(upload)
    }

    /// The mode.
    #[cfg(feature = "unstable")]
    pub fn mode(&self) -> ModeKind {
        self.0.mode
    }

    /// The first counter block or the initialization vector; empty for ECB.
    #[cfg(feature = "unstable")]
    pub fn iv(&self) -> &[u8] {
        &self.0.iv
    }

    /// The id of the AES key.
    #[cfg(feature = "unstable")]
    pub fn aes_key_id(&self) -> AesKeyId {
        AesKeyId::from_bits(self.0.aes_key)
    }

    /// The id of the secret key of the scheme that the upload is meant for, if it is known.
    #[cfg(feature = "unstable")]
    pub fn owner(&self) -> Option<KeyId> {
        self.0.owner
    }

    /// The data, encrypted.
    #[cfg(feature = "unstable")]
    pub fn data(&self) -> &[u8] {
        &self.0.data
    }

    /// The mode at the first block of the data.
    ///
    /// # Errors
    /// None for an upload that was made or read by this type.
    #[cfg(feature = "unstable")]
    pub fn start(&self) -> Result<Mode, Error> {
        mode_of(self.0.mode, &self.0.iv)
    }

    /// Checks that this encrypted key is the key of the data, and for the same owner.
    ///
    /// # Errors
    /// `aes.wrong-key` for another AES key, `aes.unknown-key` for an encrypted key without an id,
    /// `scheme.wrong-key` for another owner.
    #[cfg(feature = "unstable")]
    pub fn check(&self, key: &EncryptedAesKey) -> Result<(), Error> {
        self.belongs_to(key)
    }

    /// Refuses an encrypted key that is not the key of the data, or is for another owner.
    pub(crate) fn belongs_to(&self, key: &EncryptedAesKey) -> Result<(), Error> {
        let data = AesKeyId::from_bits(self.0.aes_key);
        match key.id {
            Some(key) if key == data => {}
            Some(key) => return Err(AesError::WrongKey { data, key }.into()),
            None => return Err(AesError::UnknownKey { data }.into()),
        }
        Ok(same_owner(self.0.owner, key.stated_owner(), "transciphering")?)
    }

    /// Checks that the upload states this mode and this vector, as far as they are given.
    ///
    /// # Errors
    /// `aes.contradiction`, with both values.
    #[cfg(feature = "unstable")]
    pub fn expect(&self, mode: Option<ModeKind>, iv: Option<&[u8]>) -> Result<(), Error> {
        let differs = |what, asked: String, stated: String| {
            Err(AesError::Contradiction { what, asked, stated }.into())
        };
        if let Some(asked) = mode.filter(|asked| *asked != self.mode()) {
            return differs("mode", asked.name().into(), self.mode().name().into());
        }
        let hex = |iv: &[u8]| match iv {
            [] => "none".to_string(),
            // Longer ones are wrong, whatever they say.
            iv => iv.iter().take(16).map(|byte| format!("{byte:02x}")).collect(),
        };
        match iv.filter(|asked| *asked != self.iv()) {
            Some(asked) => differs("initialization vector", hex(asked), hex(self.iv())),
            None => Ok(()),
        }
    }
}

impl Bytes for AesUpload {
    fn to_bytes_with(&self, params: &Params, metadata: &Metadata) -> Result<Vec<u8>, Error> {
        Ok(uploads::to_bytes(params, &self.0, metadata)?)
    }

    fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Metadata), Error> {
        let (stored, metadata) = uploads::from_bytes(params, bytes, options)?;
        Ok((Self::checked(stored)?, metadata))
    }
}

/// AES with a key, which is wiped when this is dropped.
enum Cipher {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Result<Self, AesError> {
        // The length was looked at before.
        let wrong = |_| AesError::KeyLength { found: key.len() };
        Ok(match KeySize::of(key.len())? {
            KeySize::Aes128 => Cipher::Aes128(Aes128::new_from_slice(key).map_err(wrong)?),
            KeySize::Aes192 => Cipher::Aes192(Aes192::new_from_slice(key).map_err(wrong)?),
            KeySize::Aes256 => Cipher::Aes256(Aes256::new_from_slice(key).map_err(wrong)?),
        })
    }

    /// A counter block, encrypted.
    fn block(&self, counter: u128) -> Zeroizing<[u8; 16]> {
        let mut block = counter.to_be_bytes().into();
        match self {
            Cipher::Aes128(aes) => aes.encrypt_block(&mut block),
            Cipher::Aes192(aes) => aes.encrypt_block(&mut block),
            Cipher::Aes256(aes) => aes.encrypt_block(&mut block),
        }
        Zeroizing::new(block.into())
    }
}
