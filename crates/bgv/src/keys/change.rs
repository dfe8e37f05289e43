//! Key rotation: switching of ciphertexts to a new secret key.

use everlevel_ring::{Engine, GaloisElement};
use rand_core::CryptoRng;

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::{EvalKeys, SecretKey, ServerKey, ServerKeys, SwitchingKey};
use everlevel_scheme::KeyPlan;
use everlevel_scheme::SchemeError;
use everlevel_scheme::same_owner;
use everlevel_scheme::spec::Level;

impl ServerKeys {
    /// The keys that switch ciphertexts at `highest` and below from the secret key `from` to `to`,
    /// for [`Evaluator::change_key`]: one for each gadget. Whoever has these keys and `to` can
    /// decrypt everything that was encrypted under `from`.
    ///
    /// # Errors
    /// Keys of different parameters, a set without special primes, a level above the top.
    pub fn key_change(
        from: &SecretKey,
        to: &SecretKey,
        highest: Level,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let params = from.params();
        let chain = params.chain();
        if !params.same(to.params()) {
            return Err(SchemeError::WrongParams {
                object: "the new secret key",
                name: params.name().into(),
            });
        }
        params.check_switching()?;
        if highest > chain.top() {
            return Err(SchemeError::BadLevel { found: highest, highest: chain.top() });
        }
        let mut keys = ServerKeys::empty(params).owned_by(Some(to.id()), Some(from.id()));
        // The gadgets of these levels, with their primes.
        for (id, basis) in KeyPlan::relinearization_up_to(params, highest).relin {
            let key = SwitchingKey::generate(
                params,
                &chain.gadgets()[id.0],
                basis,
                from.main().poly(),
                to.main(),
                rng,
            );
            // Stored as the key of the identity automorphism, which no operation on ciphertexts
            // under `to` needs.
            keys.insert(ServerKey::Galois(GaloisElement::IDENTITY, id, key));
        }
        Ok(keys)
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// The same message under the new secret key, for an evaluator with the keys of
    /// [`ServerKeys::key_change`]: one key switch.
    ///
    /// # Errors
    /// A ciphertext of another key than the old one; keys for another purpose, or not for the level
    /// of the ciphertext; too much noise.
    pub fn change_key(&self, x: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&x.meta)?;
        let (operation, name) =
            ("a change of keys", || "key from the old secret to the new one".to_string());
        let key =
            self.galois_key(GaloisElement::IDENTITY, x.basis(), x.meta.level, operation, name)?;
        same_owner(x.meta.owner, self.keys().change_from(), operation)?;
        let mut out = self.switched(x, &[GaloisElement::IDENTITY], &[Some(key)])?.swap_remove(0);
        // A ciphertext of an unknown owner has an unknown owner afterwards, too.
        out.meta.owner = x.meta.owner.and(self.keys().owner());
        Ok(out)
    }
}
