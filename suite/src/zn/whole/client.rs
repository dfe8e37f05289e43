//! The stages of the client that differ from those of digits, and what it holds.

use std::path::Path;

use everlevel_bgv::{Ciphertext, SecretKey};
use everlevel_ring::sample::{Seed, system_rng};
use everlevel_scheme::{KeyPlan, Params, Plaintext};
use everlevel_wire::file::Existing;
use everlevel_wire::{Metadata, PlacedWriter, Places};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::protocol::{Files, INPUT_BITS, MODULI, metadata, params, part};
use super::residues::Residues;
use super::vector::{WholeNumbers, WholeReader};
use crate::error::SuiteError;
use crate::instance::Instance;
use crate::keyless::{batches, blocks, limited};
use crate::keys::{generate, read_secret};
use crate::numbers::{Words, to_bytes};
use crate::output::{Output, make_place_for};
use crate::stage::usage;
use crate::zn::INSTANCES;
use crate::zn::protocol::PART;

/// The owner of numbers: a secret key for each modulus.
pub struct Client {
    params: Vec<Params>,
    secrets: Vec<SecretKey>,
    residues: Residues,
}

impl Client {
    /// A client with the keys in files, one for each modulus, that begin with this path.
    ///
    /// # Errors
    /// Files that are not of these keys; what the system refuses.
    pub fn open(path: &Path) -> Result<Self, SuiteError> {
        let params = params()?;
        let read = |params: &Params| read_secret(params, &part(path, params.plain_modulus()));
        let secrets = params.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Client { params, secrets, residues: Residues::new()? })
    }

    /// Numbers of a block.
    pub fn slots(&self) -> usize {
        self.params[0].slots()
    }

    /// The residues for the i-th modulus of a block of numbers, or fewer, with the seed of their
    /// place.
    fn encrypt(
        &self,
        i: usize,
        numbers: impl Iterator<Item = u64>,
        seed: Seed,
    ) -> Result<Ciphertext, SuiteError> {
        let secret = &self.secrets[i];
        let params = secret.params();
        let t = params.plaintext_ring().modulus(1);
        let residues = Zeroizing::new(numbers.map(|x| t.reduce_u64(x)).collect::<Vec<u64>>());
        let message = Plaintext::encode(params, &residues)?;
        let top = params.chain().top();
        Ok(secret.encrypt_with_seed(&message, top, seed, &mut system_rng()?)?)
    }

    /// The first `count` numbers of a block modulo 2^64; errors name them by their places from
    /// `first` on.
    ///
    /// # Errors
    /// Numbers under another key; residues that are not those of numbers of the stated bits, which
    /// no honest result has (`suite.result`).
    pub fn decrypt(
        &self,
        numbers: &WholeNumbers,
        first: u64,
        count: usize,
    ) -> Result<Zeroizing<Vec<u64>>, SuiteError> {
        let decrypt = |(secret, residue): (&SecretKey, &Ciphertext)| {
            let values = secret.decrypt(residue)?.decode_decrypted(secret.params())?;
            Ok::<_, SuiteError>(Zeroizing::new(values))
        };
        let pairs = self.secrets.par_iter().zip(&numbers.residues);
        let values = pairs.map(decrypt).collect::<Result<Vec<_>, _>>()?;
        let largest = self.residues.largest(numbers.bits);
        let count = count.min(self.slots());
        let mut out = Zeroizing::new(Vec::with_capacity(count));
        let digits = |slot| self.residues.digits(&std::array::from_fn(|i| values[i][slot]));
        for (slot, digits) in (0..count).map(digits).enumerate() {
            if !Residues::is_at_most(&digits, &largest) {
                return Err(SuiteError::Result {
                    place: format!("pair {}", first + slot as u64),
                    expected: format!("a number of at most {} bits", numbers.bits),
                    found: Residues::bits(&digits),
                });
            }
            out.push(self.residues.word(&digits));
        }
        Ok(out)
    }
}

/// `client_key_generation INSTANCE`: for each modulus a secret key, and a key by which the server
/// relinearizes products.
///
/// # Errors
/// What the system refuses.
pub fn generate_keys(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name] = arguments else { return Err(usage("INSTANCE", arguments)) };
    let files = Files::of(&Instance::named(&INSTANCES, name)?);
    params()?.par_iter().try_for_each(|params| {
        let plan = KeyPlan::relinearization(params);
        let place = |path: &Path| part(path, params.plain_modulus());
        let (secret, server) = (place(&files.secret_keys), place(&files.server_keys));
        generate(params, &plan, &Metadata::new(), &secret, &server)
    })
}

/// `client_encode_encrypt_input INSTANCE`: the left and the right factors of each block of pairs.
///
/// # Errors
/// A file of another number of pairs, what the system refuses.
pub fn encrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name] = arguments else { return Err(usage("INSTANCE", arguments)) };
    let instance = Instance::named(&INSTANCES, name)?;
    let files = Files::of(&instance);
    MODULI.iter().try_for_each(|&modulus| make_place_for(&part(&files.upload, modulus)))?;
    let client = Client::open(&files.secret_keys)?;
    let slots = client.slots();
    let blocks = blocks(&instance, slots);
    let mut operands = Words::open(&files.operands, 2 * instance.count)?;
    let (known, places) = (metadata(&instance, INPUT_BITS), Places::new(&mut system_rng()?));
    let create = |params: &Params| {
        let (path, replace) = (part(&files.upload, params.plain_modulus()), Existing::Replace);
        PlacedWriter::create(params, &path, replace, 2 * blocks, &known, &places, PART)
    };
    let mut uploads = client.params.iter().map(create).collect::<Result<Vec<_>, _>>()?;
    let mut left = instance.count as usize;
    for batch in batches(blocks, 1) {
        let pairs = left.min(batch.len() * slots);
        left -= pairs;
        let words = Zeroizing::new(operands.read(2 * pairs)?);
        let pairs: Vec<&[u64]> = words.chunks(2 * slots).collect();
        for (modulus, upload) in uploads.iter_mut().enumerate() {
            upload.push_with(2 * batch.len(), |i, seed| {
                let side = pairs[i / 2].iter().skip(i % 2).step_by(2).copied();
                client.encrypt(modulus, side, seed)
            })?;
        }
    }
    for upload in uploads {
        upload.finish_without_sync()?;
    }
    Ok(())
}

/// `client_decrypt_decode INSTANCE COUNT`: the products modulo 2^64.
///
/// # Errors
/// What is not a result for this instance and key, or cannot be one.
pub fn decrypt(arguments: &[&str]) -> Result<(), SuiteError> {
    let [name, count] = arguments else { return Err(usage("INSTANCE COUNT", arguments)) };
    let instance = Instance::with_count(&INSTANCES, name, count)?;
    let files = Files::of(&instance);
    make_place_for(&files.products)?;
    let client = Client::open(&files.secret_keys)?;
    let slots = client.slots();
    let blocks = blocks(&instance, slots);
    let (path, bits, options) = (&files.download, 2 * INPUT_BITS, limited());
    let mut results = WholeReader::open(&client.params, path, &instance, bits, blocks, &options)?;
    let mut out = Output::create(files.products)?;
    for batch in batches(blocks, 1) {
        let first = batch.start;
        let results = results.read_range(batch)?;
        let words = results.par_iter().enumerate().map(|(i, numbers)| {
            let start = ((first + i) * slots) as u64;
            let pairs = (instance.count - start).min(slots as u64) as usize;
            client.decrypt(numbers, start, pairs)
        });
        for block in words.collect::<Result<Vec<_>, _>>()? {
            out.write(&to_bytes(&block))?;
        }
    }
    out.finish()
}
