//! Levels, products and key switches.

use everlevel_arith::kernels::MAX_TERMS;
use everlevel_ring::{Eval, GaloisElement, PlaintextRing, Poly};
use everlevel_scheme::noise::log_add;
use everlevel_scheme::{Arithmetic, Cost, Counters, Level, Meta, NextUse, Plaintext, SchemeError};
use everlevel_wire::ParamsId;

use crate::adic::AdicPoly;
use crate::ciphertext::{LtvCiphertext, LtvDiagonal, LtvProduct};
use crate::spec::{LtvParams, rows};
use crate::switching::{LtvEvalKeys, SwitchingKey};

/// The evaluator over the chain of prime powers: parameters and keys. It holds no secret.
///
/// Ciphertexts at different levels are brought to the lower one, by reduction, which is free of
/// noise, and by division as far as that lowers the noise. A relinearization for another product
/// drops one row, as the paper does after every product, or more if that leaves more to compute
/// with.
pub struct LtvEvaluator {
    params: LtvParams,
    keys: LtvEvalKeys,
    counters: Counters,
    transforms_before: u64,
}

impl LtvEvaluator {
    /// An evaluator with these keys.
    ///
    /// # Errors
    /// A set whose ring has no slots.
    pub fn new(keys: LtvEvalKeys) -> Result<Self, SchemeError> {
        let params = keys.params().clone();
        params.plain()?;
        let transforms_before = params.ring().cpu().transform_count();
        Ok(LtvEvaluator { params, keys, counters: Counters::default(), transforms_before })
    }

    /// The parameter set.
    pub fn params(&self) -> &LtvParams {
        &self.params
    }

    pub(crate) fn plain_ring(&self) -> &PlaintextRing {
        self.params.plain().expect("checked when the evaluator was made")
    }

    /// The keys.
    pub fn keys(&self) -> &LtvEvalKeys {
        &self.keys
    }

    /// What was computed so far: transforms, those of the whole ring since this evaluator was made,
    /// key switches and products.
    pub fn cost(&self) -> Cost {
        let transforms = self.params.ring().cpu().transform_count() - self.transforms_before;
        Cost { transforms, ..self.counters.snapshot() }
    }

    /// log2(q / 2) less the bound.
    pub(crate) fn capacity(&self, meta: &Meta) -> f64 {
        self.params.modulus_bits(meta.level) - 1.0 - self.params.noise().bound(meta.noise)
    }

    /// `meta`, if its bound is below half the modulus.
    pub(crate) fn checked(&self, meta: Meta, operation: &'static str) -> Result<Meta, SchemeError> {
        if self.capacity(&meta) >= 0.0 {
            return Ok(meta);
        }
        Err(SchemeError::NoiseOverflow {
            operation,
            noise_bits: self.params.noise().bound(meta.noise),
            modulus_bits: self.params.modulus_bits(meta.level),
            level: meta.level,
        })
    }

    /// # Errors
    /// A ciphertext of another set.
    pub(crate) fn check(&self, a: &LtvCiphertext) -> Result<(), SchemeError> {
        self.params.check_level(a.level())?;
        a.fits(&self.params).then_some(()).ok_or_else(|| self.params.wrong("the ciphertext"))
    }

    /// # Errors
    /// A level above those that the keys were reduced to.
    fn check_keys(
        &self,
        level: Level,
        operation: &'static str,
        key: impl FnOnce() -> String,
    ) -> Result<(), SchemeError> {
        if level <= self.keys.level() {
            Ok(())
        } else {
            Err(SchemeError::KeyTooShort { operation, key: key(), level })
        }
    }

    /// # Errors
    /// Evaluations of another set.
    fn check_evaluations(
        &self,
        set: ParamsId,
        blocks: &[Poly<Eval>],
        object: &'static str,
    ) -> Result<(), SchemeError> {
        let ring = self.params.ring();
        let same = |x: &Poly<Eval>| {
            x.basis() == ring.transform_primes() && x.degree() == self.params.degree()
        };
        let ours = set == self.params.id() && blocks.iter().all(same);
        ours.then_some(()).ok_or_else(|| self.params.wrong(object))
    }

    /// # Errors
    /// A product of another set.
    fn check_product(&self, a: &LtvProduct) -> Result<(), SchemeError> {
        self.params.check_level(a.meta.level)?;
        let blocks = self.params.ring().blocks(rows(a.meta.level));
        let wrong = || self.params.wrong("the product");
        (a.blocks.len() == blocks).then_some(()).ok_or_else(wrong)?;
        self.check_evaluations(a.set, &a.blocks, "the product")
    }

    /// To a level that another operand has: divides as long as noise is left to divide, and reduces
    /// by the rest.
    pub(crate) fn lowered(
        &self,
        a: &LtvCiphertext,
        level: Level,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        if level >= a.level() {
            return Ok(a.clone());
        }
        let noise = self.params.noise();
        let excess = (a.meta.noise - noise.floor() - 1.0) / noise.prime_bits();
        let divided = self.mod_switch_to(
            a,
            level.max(Level(a.level().0.saturating_sub(excess.ceil().max(0.0) as usize))),
        )?;
        let meta = self.checked(Meta { level, ..divided.meta }, "alignment of levels")?;
        Ok(LtvCiphertext::new(&self.params, meta, divided.poly.truncated(rows(level))))
    }

    /// How many rows to drop for the next use of something with this noise.
    fn drop(&self, noise: f64, level: Level, next: NextUse) -> usize {
        let model = self.params.noise();
        match next {
            NextUse::Product => model.best_drop(noise, level.0, None),
            NextUse::LinearMap => model.best_drop(
                noise,
                level.0,
                Some(model.key_switch(self.params.digit_count(level))),
            ),
            // To keep the level is right for every use.
            _ => 0,
        }
    }

    pub(crate) fn prepared(
        &self,
        a: &LtvCiphertext,
        next: NextUse,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.mod_switch_to(a, Level(a.level().0 - self.drop(a.meta.noise, a.level(), next)))
    }

    /// Sum of ciphertexts; at least one.
    pub(crate) fn sum(
        &self,
        terms: &[&LtvCiphertext],
        operation: &'static str,
    ) -> Result<LtvCiphertext, SchemeError> {
        let level = terms.iter().fold(terms[0].level(), |level, x| level.min(x.level()));
        let lowered =
            terms.iter().map(|x| self.lowered(x, level)).collect::<Result<Vec<_>, _>>()?;
        let noise = lowered.iter().map(|x| x.meta.noise).reduce(log_add).unwrap_or(0.0);
        let depth = lowered.iter().map(|x| x.meta.depth).max().unwrap_or(0);
        let meta = self.checked(Meta { noise, depth, ..lowered[0].meta }, operation)?;
        let polys: Vec<_> = lowered.iter().map(|x| &x.poly).collect();
        Ok(LtvCiphertext::new(&self.params, meta, self.params.ring().sum(&polys)))
    }

    /// The transparent encryption of 0.
    pub(crate) fn zero(&self, like: &Meta) -> LtvCiphertext {
        let zero = self.params.ring().zero(rows(like.level));
        LtvCiphertext::new(&self.params, Meta { noise: 0.0, ..*like }, zero)
    }

    /// Adds the constant 1.
    pub(crate) fn plus_one(&self, a: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        let noise = log_add(a.meta.noise, self.params.noise().secret());
        let meta = self.checked(Meta { noise, ..a.meta }, "addition of a constant")?;
        let one = self.params.constant(1, a.level());
        Ok(LtvCiphertext::new(&self.params, meta, self.params.ring().sum(&[&a.poly, &one])))
    }

    pub(crate) fn product(
        &self,
        a: &LtvCiphertext,
        b: &LtvCiphertext,
    ) -> Result<LtvProduct, SchemeError> {
        let (a, b) = (self.prepared(a, NextUse::Product)?, self.prepared(b, NextUse::Product)?);
        let level = a.level().min(b.level());
        let (a, b) = (self.lowered(&a, level)?, self.lowered(&b, level)?);
        let noise = self.params.noise().product(a.meta.noise, b.meta.noise);
        let meta = self.checked(
            Meta { noise, depth: a.meta.depth.max(b.meta.depth) + 1, ..a.meta },
            "multiplication",
        )?;
        self.counters.product();
        let ring = self.params.ring();
        let count = ring.blocks(rows(level));
        let blocks = ring.multiply(a.evaluations(ring), b.evaluations(ring), count);
        Ok(LtvProduct { set: self.params.id(), meta, blocks, terms: count })
    }

    pub(crate) fn sum_of_products(
        &self,
        a: &LtvProduct,
        b: &LtvProduct,
    ) -> Result<LtvProduct, SchemeError> {
        self.check_product(a)?;
        self.check_product(b)?;
        let ring = self.params.ring();
        let level = a.meta.level.min(b.meta.level);
        let noise = log_add(a.meta.noise, b.meta.noise);
        let depth = a.meta.depth.max(b.meta.depth);
        let meta = self.checked(Meta { level, noise, depth, ..a.meta }, "addition of products")?;
        let (mut sum, mut other) = (a.clone(), b.clone());
        if sum.terms + other.terms > ring.max_terms() {
            // Brought to digits and back, a sum counts as one product.
            for product in [&mut sum, &mut other] {
                let blocks = std::mem::take(&mut product.blocks);
                *product = LtvProduct {
                    blocks: ring.evaluate(&ring.digits(blocks, rows(level))),
                    terms: 1,
                    ..*product
                };
            }
        }
        sum.blocks.truncate(ring.blocks(rows(level)));
        sum.blocks.iter_mut().zip(&other.blocks).for_each(|(x, y)| x.add_assign(ring.cpu(), y));
        Ok(LtvProduct { meta, terms: sum.terms + other.terms, ..sum })
    }

    pub(crate) fn relinearized(
        &self,
        a: &LtvProduct,
        next: NextUse,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.check_product(a)?;
        let (model, level) = (self.params.noise(), a.meta.level);
        self.check_keys(level, "relinearization", || "relinearization key".into())?;
        self.counters.relinearization();
        let noise = log_add(a.meta.noise, model.key_switch(self.params.digit_count(level)));
        // One row at least after every product, as in the paper: rounding renews the noise, whose
        // tails products make heavier.
        let least = usize::from(next == NextUse::Product).min(level.0);
        let drop = self.drop(noise, level, next).max(least);
        let c = self.params.ring().digits(a.blocks.clone(), rows(level));
        let meta = Meta { noise, ..a.meta };
        self.switched(
            self.keys.relinearization(),
            &LtvCiphertext::new(&self.params, meta, c),
            false,
            drop,
            "relinearization",
        )
    }

    pub(crate) fn automorphism(
        &self,
        a: &LtvCiphertext,
        g: GaloisElement,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        if g.is_identity() {
            return Ok(a.clone());
        }
        let name = || format!("key for X -> X^{}", g.exponent());
        let missing = || SchemeError::MissingKey { operation: "automorphism", key: name() };
        let key = self.keys.automorphism(g).ok_or_else(missing)?;
        self.check_keys(a.level(), "automorphism", name)?;
        self.switched(key, &self.with_key_switch(a), true, 0, "automorphism")
    }

    /// `a` with the noise that a key switch adds.
    fn with_key_switch(&self, a: &LtvCiphertext) -> LtvCiphertext {
        let noise = log_add(
            a.meta.noise,
            self.params.noise().key_switch(self.params.digit_count(a.level())),
        );
        a.with_noise(noise)
    }

    /// Inner product with the key, then one division by the special modulus and by p^`drop`;
    /// `shared` says that the evaluations of `a` are worth keeping.
    fn switched(
        &self,
        key: &SwitchingKey,
        a: &LtvCiphertext,
        shared: bool,
        drop: usize,
        operation: &'static str,
    ) -> Result<LtvCiphertext, SchemeError> {
        let (params, ring, level) = (&self.params, self.params.ring(), a.level());
        let special = params.special_rows();
        let mut noise = params.noise().switched(a.meta.noise, drop);
        if drop == 0 && special > 0 {
            noise = log_add(noise, params.noise().floor());
        }
        let meta =
            self.checked(Meta { level: Level(level.0 - drop), noise, ..a.meta }, operation)?;
        let primes = ring.narrow_primes().len();
        self.counters.key_switch(
            1,
            1,
            ring.narrow_blocks(rows(level)) * primes,
            params.digit_count(level),
            ring.narrow_blocks(special) * primes,
            params.degree(),
        );
        let evaluations = (shared && special > 0).then(|| a.evaluations(ring));
        let sum = key.apply(params, &a.poly, evaluations);
        Ok(LtvCiphertext::new(params, meta, ring.divide_even(&sum, special + drop)))
    }

    pub(crate) fn prepared_diagonal(
        &self,
        plaintext: &Plaintext,
    ) -> Result<LtvDiagonal, SchemeError> {
        let message = self.params.message(plaintext)?;
        let real: Vec<f64> = message.iter().map(|&x| x as f64).collect();
        let norm = self.params.ring().ring().norm().max(&real).max(1.0).log2();
        let poly = self.params.ring().evaluate_signed(&message);
        Ok(LtvDiagonal { set: self.params.id(), poly, norm })
    }

    /// Σ x_j d_j, of ciphertexts brought to one level; at least one term.
    pub(crate) fn weighted_sum(
        &self,
        terms: &[(&LtvCiphertext, &LtvDiagonal)],
    ) -> Result<LtvCiphertext, SchemeError> {
        terms.iter().try_for_each(|(_, d)| {
            self.check_evaluations(d.set, std::slice::from_ref(&d.poly), "the diagonal")
        })?;
        let ring = self.params.ring();
        let level = terms.iter().fold(terms[0].0.level(), |level, (x, _)| level.min(x.level()));
        let lowered =
            terms.iter().map(|(x, _)| self.lowered(x, level)).collect::<Result<Vec<_>, _>>()?;
        let noise = lowered
            .iter()
            .zip(terms)
            .map(|(x, (_, d))| x.meta.noise + d.norm)
            .reduce(log_add)
            .unwrap_or(0.0);
        let depth = lowered.iter().map(|x| x.meta.depth).max().unwrap_or(0);
        let meta = self.checked(Meta { level, noise, depth, ..lowered[0].meta }, "linear map")?;
        // As many at a time as a kernel takes, and as sums of products may have.
        let together = ring.max_terms().min(MAX_TERMS);
        let part = |(xs, terms): (&[LtvCiphertext], &[(&LtvCiphertext, &LtvDiagonal)])| {
            let pairs = |o: usize| {
                xs.iter().zip(terms).map(|(x, (_, d))| (&x.evaluations(ring)[o], &d.poly)).collect()
            };
            ring.digits(ring.inner_products(ring.blocks(rows(level)), pairs), rows(level))
        };
        let parts = lowered.chunks(together).zip(terms.chunks(together));
        let mut parts: Vec<AdicPoly> = parts.map(part).collect();
        let poly = match parts.len() {
            1 => parts.swap_remove(0),
            _ => ring.sum(&parts.iter().collect::<Vec<_>>()),
        };
        Ok(LtvCiphertext::new(&self.params, meta, poly))
    }
}
