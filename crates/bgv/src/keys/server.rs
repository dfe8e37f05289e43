//! The server's keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel_ring::{Basis, Constant, GaloisElement, sample};
use rand_core::CryptoRng;

use super::bootstrap::{BootstrapKey, sparse_meta};
use super::secret::{MainSecret, SecretKey, key_error};
use super::source::EvalKeys;
use super::switching::SwitchingKey;
use crate::ciphertext::Ciphertext;
use crate::message::noisy_message;
use everlevel_scheme::noise::raise_digit;
use everlevel_scheme::spec::{GadgetId, Level};
use everlevel_scheme::{KeyId, KeyPlan, Params, SchemeError};

/// One of the keys of a plan.
pub enum ServerKey {
    /// From s² (f² over NTRU) to the main secret.
    Relin(GadgetId, SwitchingKey),
    /// From the image of the main secret under an automorphism to itself, in the order that
    /// [`EvalKeys::galois`] needs.
    Galois(GaloisElement, GadgetId, SwitchingKey),
    /// That of bootstrapping.
    Bootstrap(BootstrapKey),
}

impl ServerKey {
    /// The same key with its uniform halves as seeds ([`SwitchingKey::seeded`]); that of
    /// bootstrapping, which is small, as it is.
    #[must_use]
    pub fn seeded(self, params: &Params) -> Self {
        match self {
            ServerKey::Relin(id, key) => ServerKey::Relin(id, key.seeded(params)),
            ServerKey::Galois(g, id, key) => ServerKey::Galois(g, id, key.seeded(params)),
            ServerKey::Bootstrap(key) => ServerKey::Bootstrap(key),
        }
    }
}

/// Server keys in memory.
pub struct ServerKeys {
    params: Params,
    relin: BTreeMap<GadgetId, Arc<SwitchingKey>>,
    galois: BTreeMap<(GaloisElement, GadgetId), Arc<SwitchingKey>>,
    bootstrap: Option<Arc<BootstrapKey>>,
    owner: Option<KeyId>,
    change_from: Option<KeyId>,
}

impl ServerKeys {
    /// No keys yet.
    pub fn empty(params: &Params) -> Self {
        ServerKeys {
            params: params.clone(),
            relin: BTreeMap::new(),
            galois: BTreeMap::new(),
            bootstrap: None,
            owner: None,
            change_from: None,
        }
    }

    /// The same keys with this secret key as their owner, or without a known owner, as in
    /// [`ServerKeys::empty`]. For keys that switch ciphertexts from another secret key to it,
    /// `from` is that one.
    #[must_use]
    pub fn owned_by(mut self, owner: Option<KeyId>, from: Option<KeyId>) -> Self {
        (self.owner, self.change_from) = (owner, from);
        self
    }

    /// Adds a key, or replaces one for the same purpose.
    pub fn insert(&mut self, key: ServerKey) {
        match key {
            ServerKey::Relin(id, key) => drop(self.relin.insert(id, Arc::new(key))),
            ServerKey::Galois(g, id, key) => drop(self.galois.insert((g, id), Arc::new(key))),
            ServerKey::Bootstrap(key) => self.bootstrap = Some(Arc::new(key)),
        }
    }

    /// Generates the keys of a plan. `progress(done, total)` is called after each key.
    ///
    /// # Errors
    /// A plan with bootstrapping for a set without it, or with any key for one without special
    /// primes; a plan for another set ([`KeyPlan::check`]).
    pub fn generate(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, SchemeError> {
        Self::gathered(secret, plan, rng, &mut progress, |_, key| key)
    }

    /// [`ServerKeys::generate`] with the uniform halves as seeds ([`SwitchingKey::seeded`]): the
    /// same keys in half of the memory, and operations take longer.
    ///
    /// # Errors
    /// As [`ServerKeys::generate`].
    pub fn generate_seeded(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut impl CryptoRng,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Self, SchemeError> {
        Self::gathered(secret, plan, rng, &mut progress, |params, key| key.seeded(params))
    }

    /// The keys of a plan in a form, compiled once for all generators.
    fn gathered(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut dyn CryptoRng,
        progress: &mut dyn FnMut(usize, usize),
        form: fn(&Params, ServerKey) -> ServerKey,
    ) -> Result<Self, SchemeError> {
        let params = secret.params();
        let mut keys = Self::empty(params).owned_by(Some(secret.id()), None);
        let (mut done, total) = (0, plan.len() + plan.bootstrap as usize);
        Self::each::<SchemeError>(secret, plan, rng, &mut |key| {
            keys.insert(form(params, key));
            done += 1;
            progress(done, total);
            Ok(())
        })?;
        Ok(keys)
    }

    /// Generates the keys of a plan one by one and passes each to `take`, with memory for one key
    /// at a time. The order is relinearization by gadget, then automorphisms by exponent and
    /// gadget, then bootstrapping; with equal randomness the keys are those of
    /// [`ServerKeys::generate`].
    ///
    /// # Errors
    /// As [`ServerKeys::generate`]; what `take` returns.
    pub fn generate_each<E: From<SchemeError>>(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut impl CryptoRng,
        mut take: impl FnMut(ServerKey) -> Result<(), E>,
    ) -> Result<(), E> {
        Self::each(secret, plan, rng, &mut take)
    }

    fn each<E: From<SchemeError>>(
        secret: &SecretKey,
        plan: &KeyPlan,
        rng: &mut dyn CryptoRng,
        take: &mut dyn FnMut(ServerKey) -> Result<(), E>,
    ) -> Result<(), E> {
        let params = secret.params();
        if !plan.is_empty() {
            params.check_switching()?;
        }
        plan.check(params)?;
        let (ring, cpu) = (params.ring(), params.cpu());
        let gadget = |id: GadgetId| &params.chain().gadgets()[id.0];
        let main = secret.main();
        if !plan.relin.is_empty() {
            let mut square = main.poly().mul(cpu, main.poly());
            square.wipe_on_drop();
            for (&id, &basis) in &plan.relin {
                take(ServerKey::Relin(
                    id,
                    SwitchingKey::generate(params, gadget(id), basis, &square, main, rng),
                ))?;
            }
        }
        for (&(g, id), &basis) in &plan.galois {
            // Stored so that the inner product comes first and the automorphism last: from s to
            // g^-1(s).
            let rotated = main.galois(cpu, g.inverse(ring));
            take(ServerKey::Galois(
                g,
                id,
                SwitchingKey::generate(params, gadget(id), basis, main.poly(), &rotated, rng),
            ))?;
        }
        if plan.bootstrap {
            take(ServerKey::Bootstrap(Self::bootstrap_key(secret, rng)?))?;
        }
        Ok(())
    }

    fn bootstrap_key(
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<BootstrapKey, SchemeError> {
        let params = secret.params();
        let cpu = params.cpu();
        let coefficients = secret.sparse()?;
        let (low, cut) = (params.chain().basis(Level(0)), params.chain().encapsulation());
        let encapsulation = (!params.raises_under_main_key()).then(|| {
            let mut sparse = sample::secret_poly(cpu, low.union(cut.special()), coefficients);
            sparse.wipe_on_drop();
            SwitchingKey::generate(
                params,
                cut,
                low,
                secret.main().poly(),
                &MainSecret::Rlwe(sparse),
                rng,
            )
        });

        let basis = params.chain().basis(params.chain().top());
        let meta = sparse_meta(params);
        let t = params.plaintext_ring().modulus(meta.exponent);
        let w = raise_digit(params.spec().plain_prime);
        let mut multiplier = meta.factor;
        let mut sparse = Vec::new();
        for _ in 0..params.raise_digits() {
            // (t e + κ w^i s0) / scale - a s
            let seed = sample::seed(rng);
            let c1 = sample::expand(cpu, &seed, 0, basis);
            let mut c0 = noisy_message(cpu, basis, None, &key_error(params, rng), t.wide());
            let mut message = sample::secret_poly(cpu, basis, coefficients);
            message.wipe_on_drop();
            message.scale_assign(cpu, t.centered(multiplier) as i128);
            c0.add_assign(cpu, &message);
            c0.scale_assign(cpu, Constant::inverse(meta.form.scale(t.wide())));
            // It determines s, because a is published.
            let mut product = c1.mul(cpu, &secret.main().poly().restricted(basis));
            product.wipe_on_drop();
            c0.sub_assign(cpu, &product);
            sparse.push(Ciphertext::seeded(
                params.noise().checked(meta, "key generation")?,
                vec![c0, c1],
                seed,
            ));
            multiplier = t.mul(multiplier, t.reduce_u64(w));
        }
        Ok(BootstrapKey { encapsulation, sparse })
    }

    /// The number of switching keys.
    pub fn len(&self) -> usize {
        self.galois.len() + self.relin.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.galois.values().chain(self.relin.values()).map(|key| key.memory_bytes()).sum()
    }

    /// What is there.
    pub fn plan(&self) -> KeyPlan {
        let mut plan = KeyPlan::default();
        plan.relin = self.relin.iter().map(|(&id, key)| (id, key.basis())).collect();
        plan.galois = self.galois.iter().map(|(&id, key)| (id, key.basis())).collect();
        plan.bootstrap = self.bootstrap.is_some();
        plan
    }
}

impl EvalKeys for ServerKeys {
    fn params(&self) -> &Params {
        &self.params
    }

    fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    fn change_from(&self) -> Option<KeyId> {
        self.change_from
    }

    fn relin(&self, gadget: GadgetId) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        Ok(self.relin.get(&gadget).cloned())
    }

    fn relin_basis(&self, gadget: GadgetId) -> Option<Basis> {
        self.relin.get(&gadget).map(|key| key.basis())
    }

    fn galois(
        &self,
        g: GaloisElement,
        gadget: GadgetId,
    ) -> Result<Option<Arc<SwitchingKey>>, SchemeError> {
        Ok(self.galois.get(&(g, gadget)).cloned())
    }

    fn galois_basis(&self, g: GaloisElement, gadget: GadgetId) -> Option<Basis> {
        self.galois.get(&(g, gadget)).map(|key| key.basis())
    }

    fn bootstrap(&self) -> Result<Option<Arc<BootstrapKey>>, SchemeError> {
        Ok(self.bootstrap.clone())
    }
}
