//! The server's keys.

use std::collections::BTreeMap;

use everlevel_ring::{GaloisElement, sample};
use rand_core::CryptoRng;

use super::plan::KeyPlan;
use super::secret::{MainSecret, SecretKey, key_error};
use super::switch::SwitchKey;
use crate::error::SchemeError;
use crate::noise::raise_digit;
use crate::params::{GadgetId, Level, Params};
use crate::rlwe::{Ciphertext, divide, noisy_message};

/// What bootstrapping needs beside rotations and relinearization (Bossuat et al. 2022).
pub struct BootstrapKey {
    /// From s to the sparse s0, at q0 with the first special prime; none if s is s0.
    pub(crate) encapsulation: Option<SwitchKey>,
    /// s0, w s0, w² s0, .. modulo p^(r+v) under s at the top level, see [`raise_digit`].
    pub(crate) sparse: Vec<Ciphertext>,
}

/// Where an evaluator finds its keys: in memory, in a mapped file, anywhere.
pub trait EvalKeys: Send + Sync {
    /// The parameter set.
    fn params(&self) -> &Params;
    /// The relinearization key for a gadget.
    fn relin(&self, gadget: GadgetId) -> Option<&SwitchKey>;
    /// The key of an automorphism for a gadget.
    fn galois(&self, g: GaloisElement, gadget: GadgetId) -> Option<&SwitchKey>;
    /// The bootstrapping key.
    fn bootstrap(&self) -> Option<&BootstrapKey>;
}

/// Server keys in memory.
pub struct ServerKeys {
    params: Params,
    relin: BTreeMap<GadgetId, SwitchKey>,
    galois: BTreeMap<(GaloisElement, GadgetId), SwitchKey>,
    bootstrap: Option<BootstrapKey>,
}

impl ServerKeys {
    /// Generates the keys of a plan. `progress(done, total)` is called after each key.
    ///
    /// # Errors
    /// A plan with bootstrapping for a set without it.
    pub fn generate(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, SchemeError> {
        let params = secret.params();
        let ring = params.ring();
        let gadget = |id: GadgetId| &params.chain().gadgets()[id.0];
        let main = secret.main();
        let total = plan.len() + plan.bootstrap as usize;
        let mut done = 0;
        let mut step = || {
            done += 1;
            progress(done, total);
        };
        let mut relin = BTreeMap::new();
        if !plan.relin.is_empty() {
            let mut square = main.poly().mul(ring, main.poly());
            square.wipe_on_drop();
            for (&id, &basis) in &plan.relin {
                relin.insert(id, SwitchKey::generate(params, gadget(id), basis, &square, main, rng));
                step();
            }
        }
        let mut galois = BTreeMap::new();
        for (&(g, id), &basis) in &plan.galois {
            // Stored so that the inner product comes first and the automorphism last: from s to g^-1(s).
            let rotated = main.galois(ring, g.inverse(ring));
            galois.insert((g, id), SwitchKey::generate(params, gadget(id), basis, main.poly(), &rotated, rng));
            step();
        }
        let bootstrap = if plan.bootstrap {
            let key = Self::bootstrap_key(secret, rng)?;
            step();
            Some(key)
        } else {
            None
        };
        Ok(ServerKeys { params: params.clone(), relin, galois, bootstrap })
    }

    fn bootstrap_key(secret: &SecretKey, rng: &mut impl CryptoRng) -> Result<BootstrapKey, SchemeError> {
        let params = secret.params();
        let ring = params.ring();
        let coefficients = secret.sparse()?;
        let (low, cut) = (params.chain().basis(Level(0)), params.chain().encapsulation());
        let encapsulation = (!params.raises_under_main_key()).then(|| {
            let mut sparse = sample::secret_poly(ring, low.union(cut.special()), coefficients);
            sparse.wipe_on_drop();
            SwitchKey::generate(params, cut, low, secret.main().poly(), &MainSecret::Rlwe(sparse), rng)
        });

        let top = params.chain().top();
        let basis = params.chain().basis(top);
        let exponent = params.raised_exponent();
        let t = params.plain().modulus(exponent);
        let noise = (t.value() as f64 * params.noise().error_norm_limit()).log2() + 0.1;
        let meta = params.fresh(top, exponent, noise);
        let w = raise_digit(params.spec().plain_prime);
        let mut multiplier = meta.factor;
        let mut sparse = Vec::new();
        for _ in 0..params.raise_digits() {
            // (t e + κ w^i s0) / scale - a s
            let c1 = sample::expand(ring, &sample::seed(rng), 0, basis);
            let mut c0 = noisy_message(ring, basis, None, &key_error(params, rng), t.value());
            let mut message = sample::secret_poly(ring, basis, coefficients);
            message.wipe_on_drop();
            message.scale_assign(ring, t.centered(multiplier) as i128);
            c0.add_assign(ring, &message);
            divide(ring, &mut c0, meta.form.scale(t.value()));
            c0.sub_assign(ring, &c1.mul(ring, &secret.main().poly().restricted(basis)));
            sparse.push(Ciphertext::new(params.checked(meta, "key generation")?, vec![c0, c1]));
            multiplier = t.mul(multiplier, t.reduce_u64(w));
        }
        Ok(BootstrapKey { encapsulation, sparse })
    }

    /// How many switching keys there are.
    pub fn len(&self) -> usize {
        self.galois.len() + self.relin.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.galois.values().chain(self.relin.values()).map(SwitchKey::memory_bytes).sum()
    }
}

impl EvalKeys for ServerKeys {
    fn params(&self) -> &Params {
        &self.params
    }
    fn relin(&self, gadget: GadgetId) -> Option<&SwitchKey> {
        self.relin.get(&gadget)
    }
    fn galois(&self, g: GaloisElement, gadget: GadgetId) -> Option<&SwitchKey> {
        self.galois.get(&(g, gadget))
    }
    fn bootstrap(&self) -> Option<&BootstrapKey> {
        self.bootstrap.as_ref()
    }
}
