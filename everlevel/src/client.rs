//! The key owner's side.

use everlevel_circuit::bootstrap::BootstrapPlan;
use everlevel_scheme::{Ciphertext, KeyPlan, Params, Plaintext, PublicKey, SecretKey, ServerKeys};
use rand_core::CryptoRng;

use crate::error::Error;
use crate::planner::KeyPlanner;
use crate::server::Server;

/// Who holds the secret key: encrypts, decrypts and makes keys for others.
pub struct Client {
    secret: SecretKey,
}

impl Client {
    /// Draws a secret key for `params`.
    pub fn new(params: &Params, rng: &mut impl CryptoRng) -> Self {
        Client { secret: SecretKey::generate(params, rng) }
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
    /// A server with the keys of `plan` that bootstraps by `bootstrap`. `progress(done, total)` is called after each key.
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
    /// Encrypts slot values, row by row; missing ones are 0.
    ///
    /// # Errors
    /// More values than slots, or a value outside of 0..p^r.
    pub fn encrypt(&self, values: &[u64], rng: &mut impl CryptoRng) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode(self.params(), values)?, rng)?)
    }
    /// Encrypts signed slot values.
    ///
    /// # Errors
    /// More values than slots, or one outside of ±(p^r - 1)/2.
    pub fn encrypt_signed(&self, values: &[i64], rng: &mut impl CryptoRng) -> Result<Ciphertext, Error> {
        Ok(self.secret.encrypt(&Plaintext::encode_signed(self.params(), values)?, rng)?)
    }
    /// The slot values, row by row. Exact, or refused.
    ///
    /// # Errors
    /// Too much noise, a ciphertext of other parameters, or slots that hold more than integers.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode(self.params())?)
    }
    /// The slot values as integers of ±(p^r - 1)/2.
    ///
    /// # Errors
    /// As [`Client::decrypt`].
    pub fn decrypt_signed(&self, ciphertext: &Ciphertext) -> Result<Vec<i64>, Error> {
        Ok(self.secret.decrypt(ciphertext)?.decode_signed(self.params())?)
    }
}
