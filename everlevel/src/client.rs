//! The side of the owner of the key.

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

/// The owner of the secret key: encrypts, decrypts, and makes public and server keys for others.
pub struct Client {
    secret: SecretKey,
}

impl Client {
    /// Draws a secret key for `params`, with a cryptographic generator such as
    /// [`crate::system_rng`].
    pub fn new(params: &Params, rng: &mut impl CryptoRng) -> Self {
        Client { secret: SecretKey::generate(params, rng) }
    }

    /// A client with an existing secret key, such as one read by [`Client::open`].
    #[cfg(feature = "unstable")]
    pub fn with_secret(secret: SecretKey) -> Self {
        Client { secret }
    }

    /// A client with the secret key of a file, or of `secret.key` in a directory, that
    /// [`Client::save`] or `everlevel keygen` wrote. Remains of an interrupted run in its directory
    /// are completed or removed first.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged or holds something else; a set below 128 bits without
    /// [`OpenOptions::opt_in`].
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, Error> {
        let path = open::in_directory(path, SECRET_KEY);
        Ok(Client { secret: open::secret_key(&path, options)? })
    }

    /// Generates the keys of a plan and writes four files into a directory: `secret.key`, which
    /// must not be shared, `public.key`, `server.keys` and `params.json`. Either all or none are
    /// written, even if the process is interrupted; remains of an earlier run are completed or
    /// removed first. A server with these keys bootstraps as the set specifies; for another plan
    /// use [`Client::server_for`] and [`Server::save`].
    ///
    /// # Errors
    /// Existing files, unless they are to be replaced; a plan that does not fit the set; errors of
    /// the file system.
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

    /// A new public key, with which others encrypt for this client: two polynomials modulo the
    /// largest Q (one over NTRU).
    pub fn public_key(&self, rng: &mut impl CryptoRng) -> PublicKey {
        PublicKey::generate(&self.secret, rng)
    }

    /// A server with new keys for products at every level and for bootstrapping by the plan of the
    /// parameter set ([`crate::bootstrap_plan`]).
    ///
    /// # Errors
    /// A set that cannot bootstrap.
    pub fn server(&self, rng: &mut impl CryptoRng) -> Result<Server, Error> {
        let planner = KeyPlanner::new(self.params())?;
        self.server_for(&planner.keys(), planner.bootstrap_plan(), rng, |_, _| ())
    }

    /// A server with new keys according to `plan`, which bootstraps by the plan `bootstrap`.
    /// `progress(done, total)` is called after each key.
    ///
    /// Use this for custom sets of keys (rotations) and for another mode of bootstrapping. Slots
    /// that hold whole elements of GR(p^r, d) need the full mode, which takes d digit removals
    /// instead of one:
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
    /// A set that cannot bootstrap, or a bootstrapping plan that does not fit it.
    pub fn server_for(
        &self,
        plan: &KeyPlan,
        bootstrap: &BootstrapPlan,
        rng: &mut impl CryptoRng,
        progress: impl FnMut(usize, usize),
    ) -> Result<Server, Error> {
        Server::new(ServerKeys::generate(&self.secret, plan, rng, progress)?, bootstrap.clone())
    }

    /// Generates the server keys of a plan.
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

    /// Ciphertexts as bytes for [`Server::receive`]. They are marked as encryptions under the
    /// secret key only if all of their noise bounds are at most that of such an encryption; for
    /// fresh ciphertexts without this mark, a server assumes the larger noise bound of encryption
    /// under a public key.
    ///
    /// # Errors
    /// A ciphertext of other parameters.
    pub fn upload(&self, columns: &[Ciphertext]) -> Result<Vec<u8>, Error> {
        self.upload_with(columns, &[])
    }

    /// [`Client::upload`] of columns whose integers are in these ranges, unused slots included, so
    /// that the server can determine whether a result may wrap modulo p^r. The ranges are stated,
    /// not checked: the caller has to ensure that the encrypted values are within them.
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

    /// Whether a ciphertext is read as a fresh encryption under the secret key.
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

    /// The slot values of a server's answer, one vector for each ciphertext in order: residues
    /// modulo p^r, as from [`Client::decrypt_modular`].
    ///
    /// # Errors
    /// As [`Client::read_answer`].
    pub fn read_modular(&self, bytes: &[u8]) -> Result<Vec<Vec<u64>>, Error> {
        let plaintexts = self.read_answer(bytes)?;
        all(plaintexts.iter().map(|x| Ok(x.decode_decrypted(self.params())?)))
    }

    /// Encrypts columns of slot values ([`Client::encrypt_modular`]) and returns them as bytes
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

    /// The integers of a server's answer, one vector for each ciphertext in order. Each residue
    /// modulo p^r stands for the only integer of the stated range that it is congruent to.
    ///
    /// # Errors
    /// As [`Client::read_answer`]; `circuit.range` for a result whose range is unknown or has more
    /// than p^r integers, which may have wrapped.
    pub fn read_integers(&self, bytes: &[u8]) -> Result<Vec<Vec<i64>>, Error> {
        let options = ReadOptions::default().limited_to(bytes.len() as u64);
        let (found, metadata) = results::from_bytes(self.params(), bytes, &options)?;
        let ranges = ranges_of(&metadata, found.len())?;
        let read =
            |(x, range)| integers_within(self.params(), &self.secret.decrypt_compact(x)?, range);
        all(found.iter().zip(ranges).map(read))
    }

    /// The integers of a value with a known range: each residue modulo p^r stands for the only
    /// integer of the range that it is congruent to.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`]; `circuit.range` for a range that is unknown or has more than
    /// p^r integers.
    pub fn decrypt_value(&self, value: &Value) -> Result<Vec<i64>, Error> {
        integers_within(self.params(), &self.secret.decrypt(&value.get())?, value.range())
    }

    /// Encrypts slot values, row by row, under the secret key; missing ones are 0. The result has
    /// the form of the set ([`Form`](crate::Form)) and the highest level.
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

    /// Encrypts signed slot values, as [`Client::encrypt_modular`].
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

    /// The slot values, row by row: residues modulo p^r from 0 on. They are exact; a ciphertext
    /// that could decrypt wrongly is refused. Arithmetic modulo p^r wraps, which residues do not
    /// show; [`Client::decrypt_value`] checks the range of a value.
    ///
    /// # Errors
    /// Too much noise; a ciphertext of other parameters or of another secret key. Everything that
    /// only decryption reveals, a phase above its bound or slots that do not hold integers, is one
    /// error, `scheme.not-decryptable`.
    pub fn decrypt_modular(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_decrypted(self.params())?)
    }

    /// The slot values, for disclosure to others: noise flooding precedes the rounding, so that
    /// even a wrong noise bound leaks almost nothing about the key (IND-CPA-D). See
    /// [`SecretKey::decrypt_for_sharing`] for what this protects and what it does not.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`]; a ciphertext without enough capacity for the flooding noise,
    /// see [`FloodingPolicy::capacity_needed`].
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        policy: &FloodingPolicy,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u64>, Error> {
        let plain = self.secret.decrypt_for_sharing(ciphertext, policy, rng)?;
        Ok(plain.decode_decrypted(self.params())?)
    }

    /// The slot values as integers from -(p^r - 1)/2 to (p^r - 1)/2: the residues of least absolute
    /// value. Use [`Client::decrypt_value`] to exclude that a result has wrapped.
    ///
    /// # Errors
    /// As [`Client::decrypt_modular`].
    pub fn decrypt_modular_signed(&self, ciphertext: &Ciphertext) -> Result<Vec<i64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_decrypted_signed(self.params())?)
    }

    /// Encrypts slots that hold whole elements of GR(p^r, d), where d is the slot degree: d
    /// coefficients for each slot, slot by slot (see [`Plaintext::encode_elements`]).
    ///
    /// # Errors
    /// A number of values other than slots times d, or a value outside of 0..p^r.
    pub fn encrypt_elements(
        &self,
        values: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode_elements(self.params(), values)?, rng)?)
    }

    /// The slots as elements of GR(p^r, d): d coefficients for each slot, slot by slot. They are
    /// exact; a ciphertext that could decrypt wrongly is refused.
    ///
    /// # Errors
    /// Too much noise, a ciphertext of other parameters.
    pub fn decrypt_elements(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_elements(self.params())?)
    }
}

/// All decrypted values, or the first error after all have been decrypted, so that the time does
/// not reveal which one failed.
fn all<T>(found: impl Iterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
    let found: Vec<_> = found.collect();
    found.into_iter().collect()
}

/// The integers in the slots of a plaintext, which are known to be in this range: each residue
/// stands for the only integer of the range that it is congruent to modulo p^r.
///
/// # Errors
/// `circuit.range` for a range that is unknown or has more than p^r integers;
/// `scheme.not-decryptable` for slots that do not hold integers, or a residue that no integer of
/// the range has.
pub fn integers_within(
    params: &Params,
    plain: &Plaintext,
    range: Option<ValueRange>,
) -> Result<Vec<i64>, Error> {
    let (range, modulus) = known(params, plain, range)?;
    range.check_decryption(modulus)?;
    let residues = zeroize::Zeroizing::new(plain.decode_decrypted(params)?);
    Ok(range.integers(&residues, modulus)?)
}

/// [`integers_within`] of 64 bits with or without a sign.
///
/// # Errors
/// As [`integers_within`].
#[cfg(feature = "unstable")]
pub fn wide_integers_within(
    params: &Params,
    plain: &Plaintext,
    range: Option<ValueRange>,
) -> Result<Vec<i128>, Error> {
    let (range, modulus) = known(params, plain, range)?;
    let residues = zeroize::Zeroizing::new(plain.decode_decrypted(params)?);
    Ok(range.wide_integers(&residues, modulus)?)
}

/// The range, which has to be known, and the modulus of a plaintext.
fn known(
    params: &Params,
    plain: &Plaintext,
    range: Option<ValueRange>,
) -> Result<(ValueRange, u128), Error> {
    let modulus = params.slot_shape().wide_modulus(plain.exponent());
    let unknown = || CircuitError::Range {
        operation: "decryption",
        found: "unknown".into(),
        allowed: format!("at most {modulus} integers"),
    };
    Ok((range.ok_or_else(unknown)?, modulus))
}
