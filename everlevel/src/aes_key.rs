//! AES keys encrypted under the scheme.

use everlevel_aes::{AesError, AesKeyId, KeySchedule, KeySize, Layout};
use everlevel_bgv::{Ciphertext, PublicKey, SecretKey};
use everlevel_scheme::{KeyId, Params, Plaintext, same_owner};
use everlevel_wire::{Encryption, Metadata, ReadOptions, WireError, ciphertexts};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::bytes::Bytes;
use crate::error::Error;
use crate::stored::{AES_KEY, CONTENT, ENCRYPTION, aes_key_of};

/// The value of the metadata that marks these ciphertexts.
const ROUND_KEYS: &str = "aes-round-keys";

/// An AES key encrypted under the scheme: its round keys, one ciphertext each, repeated in every
/// block of a packed state. It serves encryption and decryption by both methods.
///
/// It carries the [id](AesKeyId) of the AES key, so that data under another AES key are refused
/// ([`AesServer::transcipher`](crate::AesServer::transcipher)).
pub struct EncryptedAesKey {
    pub(crate) size: KeySize,
    pub(crate) rounds: Vec<Ciphertext>,
    pub(crate) id: Option<AesKeyId>,
}

impl EncryptedAesKey {
    /// Expands a key of 16, 24 or 32 bytes and encrypts its round keys with a public key.
    ///
    /// # Errors
    /// A key of another length; slots without a dimension for the 16 bytes of a block.
    pub fn encrypt(
        key: &[u8],
        public: &PublicKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        Self::encrypted(public.params(), key, |plain| Ok(public.encrypt(plain, rng)?))
    }

    /// The same under the secret key, with half the size.
    ///
    /// # Errors
    /// As [`EncryptedAesKey::encrypt`].
    pub fn encrypt_secretly(
        key: &[u8],
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        Self::encrypted(secret.params(), key, |plain| Ok(secret.encrypt(plain, rng)?))
    }

    fn encrypted(
        params: &Params,
        key: &[u8],
        mut encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, Error>,
    ) -> Result<Self, Error> {
        let schedule = KeySchedule::new(key)?;
        let layout = Layout::packed(params.slot_shape())?;
        let round = |key: &[u8; 16]| {
            let blocks = Zeroizing::new(vec![*key; layout.blocks()]);
            let elements = Zeroizing::new(layout.encode(&blocks));
            encrypt(&Plaintext::encode_elements(params, &elements[0])?)
        };
        let rounds = schedule.round_keys().iter().map(round).collect::<Result<_, _>>()?;
        Ok(EncryptedAesKey { size: schedule.size(), rounds, id: Some(AesKeyId::of(key)?) })
    }

    /// From 11, 13 or 15 round keys that were encrypted before. The id of their AES key is unknown
    /// until [`EncryptedAesKey::identified`] states it.
    ///
    /// # Errors
    /// Another number of round keys, or round keys of several owners.
    #[cfg(feature = "unstable")]
    pub fn from_round_keys(rounds: Vec<Ciphertext>) -> Result<Self, Error> {
        Self::of_rounds(rounds, None)
    }

    /// From 11, 13 or 15 round keys, with the id of their AES key if it is known.
    fn of_rounds(rounds: Vec<Ciphertext>, id: Option<AesKeyId>) -> Result<Self, Error> {
        let size = [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256]
            .into_iter()
            .find(|size| size.rounds() + 1 == rounds.len());
        let size = size.ok_or(AesError::RoundKeys {
            found: rounds.len(),
            expected: KeySize::Aes128.rounds() + 1,
        })?;
        let key = EncryptedAesKey { size, rounds, id };
        for round in &key.rounds {
            same_owner(key.stated_owner(), round.owner(), "upload of an AES key")?;
        }
        Ok(key)
    }

    /// The same with the id of the AES key, as [`EncryptedAesKey::id`] returned it; none if it is
    /// unknown.
    #[must_use]
    #[cfg(feature = "unstable")]
    pub fn identified(self, id: Option<AesKeyId>) -> Self {
        EncryptedAesKey { id, ..self }
    }

    /// The id of the AES key; none if the bytes that it was read from do not state it.
    #[cfg(feature = "unstable")]
    pub fn id(&self) -> Option<AesKeyId> {
        self.id
    }

    /// The id of the secret key of the scheme that it is encrypted for, if it is known.
    #[cfg(feature = "unstable")]
    pub fn owner(&self) -> Option<KeyId> {
        self.stated_owner()
    }

    /// The id of the secret key of the scheme that its ciphertexts state.
    pub(crate) fn stated_owner(&self) -> Option<KeyId> {
        self.rounds.iter().find_map(Ciphertext::owner)
    }

    /// The size of the key.
    #[cfg(feature = "unstable")]
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// The round keys, from round 0 on.
    #[cfg(feature = "unstable")]
    pub fn round_keys(&self) -> &[Ciphertext] {
        &self.rounds
    }
}

/// As `everlevel aes encrypt-key` writes them.
impl Bytes for EncryptedAesKey {
    fn to_bytes_with(&self, params: &Params, metadata: &Metadata) -> Result<Vec<u8>, Error> {
        let mut metadata = metadata.clone();
        // Those of another key's file would say of this one what is true of that one.
        for name in [AES_KEY, ENCRYPTION] {
            metadata.remove(name);
        }
        metadata.insert(CONTENT.into(), ROUND_KEYS.into());
        if let Some(id) = self.id {
            metadata.insert(AES_KEY.into(), format!("{id:#}"));
        }
        let made = |by: Encryption| self.rounds.iter().all(|x| by.made(params, x.meta()));
        // A bound that is within that of the secret key is within that of the public one as well.
        let by = [(Encryption::Secret, "secret"), (Encryption::Public, "public")];
        if let Some((_, name)) = by.into_iter().find(|(by, _)| made(*by)) {
            metadata.insert(ENCRYPTION.into(), name.into());
        }
        Ok(ciphertexts::to_bytes(params, &self.rounds, &metadata)?)
    }

    fn from_bytes_with(
        params: &Params,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<(Self, Metadata), Error> {
        let (rounds, metadata) = ciphertexts::from_bytes(params, bytes, options)?;
        let content = metadata.get(CONTENT).map_or("", String::as_str);
        if content != ROUND_KEYS {
            let what = "content of the ciphertexts";
            return Err(WireError::malformed(what, ROUND_KEYS, format!("{content:.40?}")).into());
        }
        let id = aes_key_of(&metadata)?;
        Ok((Self::of_rounds(rounds, id)?, metadata))
    }
}
