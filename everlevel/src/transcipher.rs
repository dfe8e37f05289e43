//! Conversion of AES data to ciphertexts (transciphering), with the keys of both sides.

use everlevel_aes::{
    Aes, AesError, Batch, ByteRefresh, ByteSliced, Cipher, Direction, KeySize, Layout, Mode,
    Packed, Progress, Refresh, RoundKeys, Transcipher, UnpackBytes,
};
use everlevel_bgv::{Ciphertext, Evaluator};
use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_ring::SlotShape;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{
    Arithmetic, Bootstrappable, ExactScheme, KeyPlan, Level, Meta, NoOp, Params, Plaintext,
    same_owner,
};

use crate::aes_key::EncryptedAesKey;
use crate::error::Error;
use crate::keys::{Keys, ServerEvaluator};
use crate::uploads::{AesUpload, mode_of};

/// The layout of AES states in ciphertexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AesMethod {
    /// Packed: one ciphertext holds all 16 bytes of a block side by side, one block for each 16
    /// slots. It has the lowest latency.
    Packed,
    /// Byte-sliced: 16 ciphertexts, one for each byte of a block, hold one block in each slot. It
    /// has the highest throughput.
    ByteSliced,
}

impl AesMethod {
    /// The name on the command line and in files.
    #[cfg(feature = "unstable")]
    pub fn name(self) -> &'static str {
        match self {
            AesMethod::Packed => "packed",
            AesMethod::ByteSliced => "byte-sliced",
        }
    }

    /// The slot of each byte.
    ///
    /// # Errors
    /// Slots that cannot hold bytes or, for the packed layout, no good dimension of 16 slots.
    #[cfg(feature = "unstable")]
    pub fn layout(self, shape: &SlotShape) -> Result<Layout, Error> {
        layout_of(self, shape)
    }

    /// The faster method for this number of bytes: a byte-sliced state takes about as long as eight
    /// packed ones.
    ///
    /// # Errors
    /// Slots without bytes.
    #[cfg(feature = "unstable")]
    pub fn for_bytes(shape: &SlotShape, bytes: u64) -> Result<Self, Error> {
        let whole = layout_of(AesMethod::ByteSliced, shape)?;
        let Ok(packed) = layout_of(AesMethod::Packed, shape) else {
            return Ok(AesMethod::ByteSliced);
        };
        let states = |layout: &Layout| bytes.div_ceil(layout.capacity() as u64);
        Ok(if states(&packed) <= 8 * states(&whole) {
            AesMethod::Packed
        } else {
            AesMethod::ByteSliced
        })
    }
}

/// The slot of each byte.
fn layout_of(method: AesMethod, shape: &SlotShape) -> Result<Layout, Error> {
    Ok(match method {
        AesMethod::Packed => Layout::packed(shape)?,
        AesMethod::ByteSliced => Layout::byte_sliced(shape)?,
    })
}

/// The server keys for transciphering: for both methods if the slots allow, for the modes of
/// `directions` (encryption for CTR and GCM, decryption for CBC and ECB), for bootstrapping of
/// states if the set supports it, and for products at every level for later computation.
///
/// # Errors
/// A set whose slots cannot hold bytes, or whose modulus is too small for AES-128.
pub fn aes_keys(params: &Params, directions: &[Direction]) -> Result<KeyPlan, Error> {
    let rehearsal = Rehearsal::new(params)?;
    let shape = params.slot_shape();
    let methods = [AesMethod::Packed, AesMethod::ByteSliced];
    for method in methods
        .into_iter()
        .filter(|&method| method == AesMethod::ByteSliced || layout_of(method, shape).is_ok())
    {
        let method = rehearsal.prepared(method)?;
        for &direction in directions {
            for size in [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256] {
                match rehearsal.key_levels(&method, Cipher::new(size, direction)) {
                    // There may be room for the shortest keys only.
                    Err(e) if size == KeySize::Aes128 => return Err(e),
                    _ => {}
                }
            }
        }
    }
    if let Some(refresh) = &rehearsal.refresh {
        let zero = rehearsal.uploaded()?;
        refresh.refresh(
            &rehearsal.scheme,
            &vec![zero; layout_of(AesMethod::ByteSliced, shape)?.width()],
        )?;
    }
    Ok(rehearsal.scheme.key_plan().merge(&KeyPlan::relinearization(params)))
}

/// AES on the no-op scheme, to determine levels and keys.
struct Rehearsal {
    scheme: NoOp,
    refresh: Option<ByteRefresh<NoOp>>,
    /// Anything that is encrypted.
    zero: Plaintext,
}

impl Rehearsal {
    fn new(params: &Params) -> Result<Self, Error> {
        let scheme = NoOp::blank(params);
        let (refresh, zero) = (byte_refresh(&scheme, params)?, Plaintext::encode(params, &[])?);
        Ok(Rehearsal { scheme, refresh, zero })
    }

    /// A method, for any number of rehearsals.
    fn prepared(&self, method: AesMethod) -> Result<Prepared<NoOp>, AesError> {
        Prepared::new(&self.scheme, method, self.scheme.params().chain().top())
    }

    /// A round key as a client encrypts it.
    fn uploaded(&self) -> Result<NoOpCiphertext, AesError> {
        Ok(self.scheme.encrypt_publicly(&self.zero)?)
    }

    /// The levels of the round keys, and the capacity that a round needs, refresh included.
    fn key_levels(
        &self,
        method: &Prepared<NoOp>,
        cipher: Cipher,
    ) -> Result<(Vec<Level>, f64), Error> {
        let uploaded = self.uploaded()?;
        match method {
            Prepared::Packed(aes) => self.levels(aes, cipher, &uploaded),
            Prepared::ByteSliced(aes, unpack) => {
                let bytes = unpack.apply(&self.scheme, &uploaded)?;
                self.levels(aes, cipher, &bytes[0])
            }
        }
    }

    /// Exactly what [`AesServer::transcipher`] does with a round key like `key`: levels, and so
    /// server keys, have to be the same ones.
    fn levels(
        &self,
        aes: &impl Aes<NoOp>,
        cipher: Cipher,
        key: &NoOpCiphertext,
    ) -> Result<(Vec<Level>, f64), Error> {
        let (scheme, start) = (&self.scheme, key.meta().level);
        let lowered = |level: Level| Ok(scheme.mod_switch_to(key, level.min(start))?);
        let needed = match &self.refresh {
            Some(refresh) => {
                // Elsewhere, as this meets levels that the server does not.
                let aside = NoOp::blank(scheme.params());
                let blank = |level: Level| Ok(aside.encrypt_at(&self.zero, level)?);
                aes.capacity_for_round(
                    &aside,
                    cipher.direction,
                    start,
                    refresh.minimum_capacity(scheme),
                    blank,
                )?
            }
            None => 0.0,
        };
        let fresh = self
            .refresh
            .as_ref()
            .map(|refresh| |state: Vec<NoOpCiphertext>| refresh.refresh(scheme, &state));
        let refresh = fresh.as_ref().map(|fresh| Refresh::new(needed, fresh));
        Ok((Transcipher::key_levels(scheme, aes, cipher, start, refresh, lowered)?, needed))
    }
}

/// Bootstrapping of states, for sets that bootstrap.
fn byte_refresh<S: Bootstrappable>(
    scheme: &S,
    params: &Params,
) -> Result<Option<ByteRefresh<S>>, AesError> {
    if params.spec().bootstrap.is_none() {
        return Ok(None);
    }
    Ok(Some(ByteRefresh::new(scheme, &BootstrapPlan::for_set(params)?, params.chain().top())?))
}

/// A server that converts AES data to ciphertexts of their bytes, see
/// [`everlevel_aes::Transcipher`]. It holds no secret.
pub struct AesServer {
    evaluator: ServerEvaluator,
    refresh: Option<ByteRefresh<ServerEvaluator>>,
    method: Prepared<ServerEvaluator>,
}

enum Prepared<S: ExactScheme> {
    Packed(Packed<S>),
    ByteSliced(ByteSliced<S>, UnpackBytes<S>),
}

impl<S: ExactScheme> Prepared<S> {
    /// For ciphertexts at `top` or below.
    fn new(scheme: &S, method: AesMethod, top: Level) -> Result<Self, AesError> {
        Ok(match method {
            AesMethod::Packed => Prepared::Packed(Packed::new(scheme, top)?),
            AesMethod::ByteSliced => {
                Prepared::ByteSliced(ByteSliced::new(scheme, top)?, UnpackBytes::new(scheme, top)?)
            }
        })
    }
}

impl AesServer {
    /// A server with keys of [`aes_keys`] that uses this method.
    ///
    /// # Errors
    /// Slots that cannot hold bytes, or no dimension for the bytes of a block.
    pub fn new(keys: impl Into<Keys>, method: AesMethod) -> Result<Self, Error> {
        let evaluator = Evaluator::new(keys.into());
        let method = Prepared::new(&evaluator, method, evaluator.params().chain().top())?;
        Ok(AesServer { refresh: byte_refresh(&evaluator, evaluator.params())?, evaluator, method })
    }

    /// The underlying evaluator, for further computation on the results.
    pub fn evaluator(&self) -> &ServerEvaluator {
        &self.evaluator
    }

    /// The slot of each byte.
    #[cfg(feature = "unstable")]
    pub fn layout(&self) -> &Layout {
        match &self.method {
            Prepared::Packed(aes) => aes.layout(),
            Prepared::ByteSliced(aes, _) => aes.layout(),
        }
    }

    /// Bootstraps the ciphertexts of a state; if the set has no bootstrapping, returns them
    /// unchanged.
    ///
    /// # Errors
    /// Too little capacity left, missing keys.
    #[cfg(feature = "unstable")]
    pub fn refresh(&self, state: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, AesError> {
        match &self.refresh {
            Some(refresh) => refresh.refresh(&self.evaluator, &state),
            None => Ok(state),
        }
    }

    /// Checks that server keys, encrypted AES key and upload belong together.
    ///
    /// # Errors
    /// Those of [`AesUpload::check`]; `scheme.wrong-key` for server keys of another owner.
    #[cfg(feature = "unstable")]
    pub fn check(&self, key: &EncryptedAesKey, upload: &AesUpload) -> Result<(), Error> {
        self.belong_together(key, upload)
    }

    fn belong_together(&self, key: &EncryptedAesKey, upload: &AesUpload) -> Result<(), Error> {
        upload.belongs_to(key)?;
        let server = self.evaluator.keys().stated_owner();
        same_owner(upload.0.owner, server, "transciphering")?;
        Ok(same_owner(key.stated_owner(), server, "transciphering")?)
    }

    /// Converts an upload to ciphertexts of its bytes, in batches that are passed to `each`.
    /// `progress` is called after each round.
    ///
    /// In addition to the keys, it needs memory for the round keys at their levels (byte-sliced: 16
    /// ciphertexts for each), a state, and the temporary data of a round.
    ///
    /// # Errors
    /// `aes.wrong-key` for data under another AES key, `aes.unknown-key` for an encrypted key
    /// without an id, `scheme.wrong-key` if upload, encrypted key and server keys have different
    /// owners; a key of other parameters or at too low a level, missing server keys.
    pub fn transcipher(
        &self,
        key: &EncryptedAesKey,
        upload: &AesUpload,
        progress: &mut dyn FnMut(Progress),
        each: impl FnMut(Batch<ServerEvaluator>) -> Result<(), AesError>,
    ) -> Result<(), Error> {
        self.belong_together(key, upload)?;
        let start = mode_of(upload.0.mode, &upload.0.iv)?;
        self.convert(key, start, [upload.0.data.as_slice()], progress, each)
    }

    /// The same for data without a label, in pieces of any length. **Nothing is checked**: data
    /// under another AES key, with another mode or initialization vector, or truncated data become
    /// ciphertexts of meaningless bytes, which decryption does not detect.
    ///
    /// # Errors
    /// A key of other parameters or at too low a level, data of a length that the mode does not
    /// allow, an overflow of the counter, missing server keys.
    #[cfg(feature = "unstable")]
    pub fn transcipher_unchecked<D: AsRef<[u8]>>(
        &self,
        key: &EncryptedAesKey,
        mode: Mode,
        data: impl IntoIterator<Item = D>,
        progress: &mut dyn FnMut(Progress),
        each: impl FnMut(Batch<ServerEvaluator>) -> Result<(), AesError>,
    ) -> Result<(), Error> {
        self.convert(key, mode, data, progress, each)
    }

    /// The data, beginning with the block at which the mode is, as ciphertexts of their bytes.
    fn convert<D: AsRef<[u8]>>(
        &self,
        key: &EncryptedAesKey,
        mode: Mode,
        data: impl IntoIterator<Item = D>,
        progress: &mut dyn FnMut(Progress),
        each: impl FnMut(Batch<ServerEvaluator>) -> Result<(), AesError>,
    ) -> Result<(), Error> {
        let cipher = Cipher::new(key.size, mode.direction());
        match &self.method {
            Prepared::Packed(aes) => {
                self.run(AesMethod::Packed, aes, key, cipher, mode, data, progress, each)
            }
            Prepared::ByteSliced(aes, _) => {
                self.run(AesMethod::ByteSliced, aes, key, cipher, mode, data, progress, each)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what `convert` was given, and what it chose")]
    fn run<D: AsRef<[u8]>>(
        &self,
        method: AesMethod,
        aes: &impl Aes<ServerEvaluator>,
        key: &EncryptedAesKey,
        cipher: Cipher,
        mode: Mode,
        data: impl IntoIterator<Item = D>,
        progress: &mut dyn FnMut(Progress),
        each: impl FnMut(Batch<ServerEvaluator>) -> Result<(), AesError>,
    ) -> Result<(), Error> {
        let scheme = &self.evaluator;
        let rehearsal = Rehearsal::new(scheme.params())?;
        let first = self.laid_out(&key.rounds[cipher.key(0)])?;
        let level = first.iter().map(Ciphertext::level).min().unwrap_or(Level(0));
        let (levels, needed) = rehearsal.key_levels(&rehearsal.prepared(method)?, cipher)?;
        let lowered = |(round, &level): (usize, &Level)| {
            let whole = if round == cipher.key(0) {
                first.clone()
            } else {
                self.laid_out(&key.rounds[round])?
            };
            whole
                .iter()
                .map(|x| Ok(scheme.mod_switch_to(x, level.min(x.level()))?))
                .collect::<Result<Vec<_>, Error>>()
        };
        let keys = RoundKeys::new(
            key.size,
            levels.iter().enumerate().map(lowered).collect::<Result<_, _>>()?,
        )?;
        let fresh = self
            .refresh
            .as_ref()
            .map(|refresh| |state: Vec<Ciphertext>| refresh.refresh(scheme, &state));
        let mut source = keys.source(scheme);
        let mut transcipher = Transcipher::new(scheme, aes, key.size, mode, level, &mut source)?;
        if let Some(fresh) = &fresh {
            transcipher = transcipher.refreshed(Refresh::new(needed, fresh));
        }
        Ok(transcipher.run(data, progress, each)?)
    }

    /// A round key in the layout of the method.
    fn laid_out(&self, key: &Ciphertext) -> Result<Vec<Ciphertext>, Error> {
        // Levels follow from noise bounds: one from the secret key is taken for one from the public
        // key, as in the rehearsal.
        let (params, meta) = (self.evaluator.params(), *key.meta());
        let noise = meta.noise.max(params.noise().bound().fresh_public(params.wide_modulus()));
        let key =
            Ciphertext::from_parts(params, Meta { noise, ..meta }, key.components().to_vec())?;
        match &self.method {
            Prepared::Packed(_) => Ok(vec![key]),
            Prepared::ByteSliced(_, unpack) => Ok(unpack.apply(&self.evaluator, &key)?),
        }
    }
}
