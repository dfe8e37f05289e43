//! The key owner's side.

use std::borrow::Borrow;
use std::path::Path;

use everlevel_bgv::{Ciphertext, FloodingPolicy, PublicKey, SecretKey, ServerKeys};
use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_circuit::{CircuitError, ValueRange};
use everlevel_scheme::{KeyPlan, Params, Plaintext};
use everlevel_wire::file::Existing;
use everlevel_wire::{Encryption, Metadata, ReadOptions, ciphertexts, results};
use rand_core::CryptoRng;

use crate::error::Error;
use crate::key_files::{KeyFiles, KeysWritten, SECRET_KEY};
use crate::open::{self, OpenOptions};
use crate::planner::KeyPlanner;
use crate::server::{Server, Value};
use crate::stored::{ENCRYPTION, ranges_of, state_ranges};

/// Who holds the secret key: encrypts, decrypts and makes keys for others.
pub struct Client {
    secret: SecretKey,
}

impl Client {
    /// Draws a secret key for `params`.
    pub fn new(params: &Params, rng: &mut impl CryptoRng) -> Self {
        Client { secret: SecretKey::generate(params, rng) }
    }

    /// The owner of a key that was drawn before, such as one read by
    /// [`Client::open`].
    pub fn with_secret(secret: SecretKey) -> Self {
        Client { secret }
    }

    /// The owner of the secret key in a file, or of `secret.key` in a directory, that
    /// [`Client::save`] or `everlevel keygen` wrote.
    /// What an interrupted run left beside it is taken care of first ([`KeyFiles::recover`]).
    ///
    /// # Errors
    /// A file that cannot be read, is damaged or holds something else; a set below 128 bits without
    /// [`OpenOptions::opt_in`].
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, Error> {
        let path = open::in_directory(path, SECRET_KEY);
        Ok(Client { secret: open::secret_key(&path, options)? })
    }

    /// Makes the keys of a plan and writes all four files into a directory: `secret.key`, for
    /// nobody else, `public.key`, `server.keys` and `params.json`: all or none, whenever the
    /// process ends ([`KeyFiles::write`]). A server on them bootstraps as the set says; for another
    /// plan take [`KeyFiles::bootstrapping_by`].
    ///
    /// # Errors
    /// Files that are there already, unless they are to be replaced; a plan that does not suit the
    /// set; what the system refuses.
    pub fn save(
        &self,
        directory: &Path,
        plan: &KeyPlan,
        existing: Existing,
        rng: &mut impl CryptoRng,
    ) -> Result<KeysWritten, Error> {
        KeyFiles::in_directory(directory).write(&self.secret, plan, existing, rng, |_, _| Ok(()))
    }

    /// The parameter set.
    pub fn params(&self) -> &Params {
        self.secret.params()
    }

    /// The secret key.
    pub fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// A public key, with which others encrypt for this client.
    pub fn public_key(&self, rng: &mut impl CryptoRng) -> PublicKey {
        PublicKey::generate(&self.secret, rng)
    }

    /// A server that multiplies and bootstraps, by the plan that suits the parameter set.
    ///
    /// # Errors
    /// A set that cannot bootstrap.
    pub fn server(&self, rng: &mut impl CryptoRng) -> Result<Server, Error> {
        let planner = KeyPlanner::new(self.params())?;
        self.server_for(&planner.keys(), planner.bootstrap_plan(), rng, |_, _| ())
    }

    /// A server with the keys of `plan` that bootstraps by `bootstrap`. `progress(done, total)` is
    /// called after each key.
    ///
    /// For keys of one's own (rotations), and for another mode of bootstrapping. Slots that hold
    /// whole elements of GR(p^r, d) need the full mode, which takes d digit removals where the
    /// others take one:
    ///
    /// ```
    /// use everlevel::{BootstrapMode, Client, KeyPlanner, OptIn, Params, bootstrap_plan};
    ///
    /// // 64 slots in GR(127^2, 4), at toy size.
    /// let params = Params::named("insecure_bfv-127e2-n8", OptIn::InsecureResearch)?;
    /// let mut rng = everlevel::system_rng()?;
    /// let client = Client::new(&params, &mut rng);
    /// let plan = bootstrap_plan(&params)?.in_mode(BootstrapMode::Full);
    /// let planner = KeyPlanner::with_plan(&params, plan)?;
    /// let (keys, plan) = (planner.keys(), planner.bootstrap_plan());
    /// let server = client.server_for(&keys, plan, &mut rng, |_, _| ())?;
    ///
    /// let elements: Vec<u64> = (0..params.degree() as u64).collect();
    /// let fresh = server.bootstrap(&client.encrypt_elements(&elements, &mut rng)?)?;
    /// assert_eq!(client.decrypt_elements(&fresh)?, elements);
    /// # Ok::<(), everlevel::Error>(())
    /// ```
    ///
    /// # Errors
    /// A set that cannot bootstrap, or a bootstrapping plan that does not suit it.
    pub fn server_for(
        &self,
        plan: &KeyPlan,
        bootstrap: &BootstrapPlan,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize),
    ) -> Result<Server, Error> {
        Server::new(ServerKeys::generate(&self.secret, plan, rng, progress)?, bootstrap.clone())
    }

    /// The keys of a plan, for a server.
    ///
    /// # Errors
    /// A plan that does not suit the set.
    pub fn server_keys(
        &self,
        plan: &KeyPlan,
        rng: &mut impl CryptoRng,
    ) -> Result<ServerKeys, Error> {
        Ok(ServerKeys::generate(&self.secret, plan, rng, |_, _| ())?)
    }

    /// Ciphertexts as bytes for [`Server::receive`]. They are marked as encrypted by the secret key
    /// only if all of their bounds are within that; a server that takes others for fresh ones
    /// counts with the larger noise of a public key.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn upload(&self, columns: &[Ciphertext]) -> Result<Vec<u8>, Error> {
        self.upload_with(columns, &[])
    }

    /// [`Client::upload`] of columns whose integers are in these ranges, all slots included, so
    /// that the server knows what wraps. Stated, not checked: encrypt with [`ValueRange`] in hand.
    ///
    /// # Errors
    /// As [`Client::upload`].
    pub fn upload_within(&self, columns: &[(Ciphertext, ValueRange)]) -> Result<Vec<u8>, Error> {
        let (columns, ranges): (Vec<_>, Vec<_>) =
            columns.iter().map(|(x, range)| (x, Some(*range))).unzip();
        self.upload_with(&columns, &ranges)
    }

    fn upload_with(
        &self,
        columns: &[impl Borrow<Ciphertext> + Sync],
        ranges: &[Option<ValueRange>],
    ) -> Result<Vec<u8>, Error> {
        let mut metadata = Metadata::new();
        state_ranges(&mut metadata, ranges);
        if columns.iter().all(|x| self.encrypted_secretly(x.borrow())) {
            metadata.insert(ENCRYPTION.into(), "secret".into());
        }
        Ok(ciphertexts::to_bytes(self.params(), columns, &metadata)?)
    }

    /// Whether it is read as a fresh encryption by the secret key.
    pub(crate) fn encrypted_secretly(&self, x: &Ciphertext) -> bool {
        Encryption::Secret.made(self.params(), x.meta())
    }

    /// The plaintexts of a server's answer ([`Server::answer`]), in its order.
    ///
    /// # Errors
    /// Bytes that are damaged, hold something else, or belong to another parameter set.
    pub fn read_answer(&self, bytes: &[u8]) -> Result<Vec<Plaintext>, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        let (found, _) = results::from_bytes(self.params(), bytes, &options)?;
        all(found.iter().map(|x| Ok(self.secret.decrypt_compact(x)?)))
    }

    /// The slot values of a server's answer, in its order: residues modulo p^r, as
    /// [`Client::decrypt_modular`] has them.
    ///
    /// # Errors
    /// As [`Client::read_answer`].
    pub fn read_modular(&self, bytes: &[u8]) -> Result<Vec<Vec<u64>>, Error> {
        let plaintexts = self.read_answer(bytes)?;
        all(plaintexts.iter().map(|x| Ok(x.decode_decrypted(self.params())?)))
    }

    /// Columns of slot values, encrypted ([`Client::encrypt_modular`]) and as bytes
    /// ([`Client::upload`]).
    ///
    /// # Errors
    /// As [`Client::encrypt_modular`].
    pub fn upload_modular(
        &self,
        columns: &[&[u64]],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, Error> {
        let columns = columns.iter().map(|values| self.encrypt_modular(values, rng));
        self.upload(&columns.collect::<Result<Vec<_>, Error>>()?)
    }

    /// The integers of a server's answer, in its order: those of its ranges, which have to tell
    /// them from what wrapped.
    ///
    /// # Errors
    /// As [`Client::read_answer`]; `circuit.range` for a result whose range is unknown or has more
    /// integers than there are residues.
    pub fn read_integers(&self, bytes: &[u8]) -> Result<Vec<Vec<i64>>, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        let (found, metadata) = results::from_bytes(self.params(), bytes, &options)?;
        let ranges = ranges_of(&metadata, found.len())?;
        let read =
            |(x, range)| integers_within(self.params(), &self.secret.decrypt_compact(x)?, range);
        all(found.iter().zip(ranges).map(read))
    }

    /// The integers of a value that a range is known of, which has to tell them from what wrapped.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`]; `circuit.range` for a range that is unknown or has more
    /// integers than there are residues.
    pub fn decrypt_value(&self, value: &Value) -> Result<Vec<i64>, Error> {
        integers_within(self.params(), &self.secret.decrypt(&value.get())?, value.range())
    }

    /// Encrypts slot values, row by row; missing ones are 0.
    ///
    /// # Errors
    /// More values than slots, or a value outside of 0..p^r.
    pub fn encrypt_modular(
        &self,
        values: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode(self.params(), values)?, rng)?)
    }

    /// Encrypts signed slot values.
    ///
    /// # Errors
    /// More values than slots, or one outside of ±(p^r - 1)/2.
    pub fn encrypt_modular_signed(
        &self,
        values: &[i64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode_signed(self.params(), values)?, rng)?)
    }

    /// The slot values, row by row: residues modulo p^r, exact or refused. Arithmetic wraps, and
    /// residues do not tell; [`Client::decrypt_value`] goes by the range of a value.
    ///
    /// # Errors
    /// Too much noise, a ciphertext of other parameters. Whatever else is wrong with what was
    /// decrypted, a phase above its bound or slots that hold more than integers, is one error,
    /// `scheme.not-decryptable`.
    pub fn decrypt_modular(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_decrypted(self.params())?)
    }

    /// The slot values, for others to see: noise is flooded before it is rounded away, so that even
    /// a wrong noise bound leaks almost nothing about the key. See
    /// [`SecretKey::decrypt_for_sharing`] for what that protects and what not.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`]; a ciphertext without room for the flood, see
    /// [`FloodingPolicy::capacity_needed`].
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        policy: &FloodingPolicy,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u64>, Error> {
        let plain = self.secret.decrypt_for_sharing(ciphertext, policy, rng)?;
        Ok(plain.decode_decrypted(self.params())?)
    }

    /// The slot values as integers of ±(p^r - 1)/2: the residues of least absolute value. Whether
    /// that is what was computed, or it has wrapped, [`Client::decrypt_value`] knows.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`].
    pub fn decrypt_modular_signed(&self, ciphertext: &Ciphertext) -> Result<Vec<i64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_decrypted_signed(self.params())?)
    }

    /// Encrypts slots that hold whole elements of GR(p^r, d): d coefficients for each slot, slot by
    /// slot (see [`Plaintext::encode_elements`]).
    ///
    /// # Errors
    /// Another number of values than slots times d, or one outside of 0..p^r.
    pub fn encrypt_elements(
        &self,
        values: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode_elements(self.params(), values)?, rng)?)
    }

    /// The slots as elements of GR(p^r, d): d coefficients for each slot. Exact, or refused.
    ///
    /// # Errors
    /// Too much noise, a ciphertext of other parameters.
    pub fn decrypt_elements(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_elements(self.params())?)
    }
}

/// All that was decrypted, or the first error once all was: time does not tell where it was.
fn all<T>(found: impl Iterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
    let found: Vec<_> = found.collect();
    found.into_iter().collect()
}

/// The integers of a plaintext whose slots hold some of this range, which has to tell them apart.
///
/// # Errors
/// `circuit.range` for a range that is unknown or has more integers than there are residues;
/// `scheme.not-decryptable` for slots that hold more than integers, or a residue of none of them.
pub fn integers_within(
    params: &Params,
    plain: &Plaintext,
    range: Option<ValueRange>,
) -> Result<Vec<i64>, Error> {
    let modulus = params.slot_shape().plain_modulus(plain.exponent());
    let range = range.ok_or_else(|| CircuitError::Range {
        operation: "decryption",
        found: "that is not known".into(),
        allowed: format!("at most {modulus} integers"),
    })?;
    range.check_decryption(modulus)?;
    let residues = zeroize::Zeroizing::new(plain.decode_decrypted(params)?);
    Ok(range.integers(&residues, modulus)?)
}
