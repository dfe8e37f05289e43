//! Key switching: relinearization and automorphisms.

use std::collections::BTreeMap;

use everlevel_ring::{Eval, GaloisElement, Poly};
use everlevel_scheme::Level;
use rand_core::CryptoRng;
use rayon::prelude::*;

use crate::adic::{AdicPoly, AdicRing, Windows};
use crate::gadget::{Gadget, KeyForm};
use crate::keys::{LtvSecretKey, key_polynomial};
use crate::spec::{LtvParams, rows};

/// How many digits are transformed before their products with the key are added up: bounds the
/// memory that many small digits take.
const GROUP: usize = 32;

/// One digit of a key: ζ_j.
pub(crate) enum KeyDigit {
    Evaluations(Vec<Poly<Eval>>),
    Polynomial(AdicPoly),
}

impl KeyDigit {
    fn new(ring: &AdicRing, digit: AdicPoly, automorphism: GaloisElement, form: KeyForm) -> Self {
        match form {
            KeyForm::Evaluations => KeyDigit::Evaluations(evaluated(ring, &digit, automorphism)),
            KeyForm::Polynomial => KeyDigit::Polynomial(digit),
        }
    }

    /// The digit as a polynomial of `rows` rows, or as many as there are.
    pub(crate) fn polynomial(
        &self,
        ring: &AdicRing,
        automorphism: GaloisElement,
        rows: usize,
    ) -> AdicPoly {
        match self {
            KeyDigit::Evaluations(blocks) => {
                let rows = rows.min(blocks.len() * ring.narrow_block());
                ring.digits(
                    blocks.iter().map(|block| block.galois(ring.cpu(), automorphism)).collect(),
                    rows,
                )
            }
            KeyDigit::Polynomial(digit) => digit.clone(),
        }
    }
}

/// A switching key for σ: ζ_j = h s_j + 2 e_j + w_j σ(f)/f modulo p to the power of all rows of
/// keys, under σ^-1, w_j being the gadget's weights times the special modulus. The inner product
/// with the digits of c has, after σ, the phase of σ(c) times σ(f). For relinearization σ = 1, and
/// f takes the place of σ(f)/f.
pub struct SwitchingKey {
    automorphism: GaloisElement,
    digits: Vec<KeyDigit>,
}

impl SwitchingKey {
    fn generate(
        secret: &LtvSecretKey,
        mut source: AdicPoly,
        automorphism: GaloisElement,
        form: KeyForm,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let (params, ring, rows) =
            (secret.params(), secret.params().ring(), secret.params().key_rows());
        let mut digits = Vec::new();
        for j in 0..params.digit_count(params.top()) {
            let (s, e) = (key_polynomial(params, rng), key_polynomial(params, rng));
            let mut mask = secret.public().mask(&s, &e, rows);
            let digit = match params.spec().gadget {
                Gadget::Hybrid { rows: a } => {
                    let mut weighted = ring.shifted(&source, a * (j + 1), rows);
                    let digit = ring.sum(&[&mask, &weighted]);
                    weighted.wipe();
                    digit
                }
                Gadget::Windows { bits } => {
                    let digit = ring.sum(&[&mask, &source]);
                    let next = ring.scale(&source, 1 << bits);
                    std::mem::replace(&mut source, next).wipe();
                    digit
                }
            };
            mask.wipe();
            digits.push(KeyDigit::new(ring, digit, automorphism, form));
        }
        source.wipe();
        SwitchingKey { automorphism, digits }
    }

    /// The key with these digits.
    pub(crate) fn of(
        ring: &AdicRing,
        automorphism: GaloisElement,
        form: KeyForm,
        digits: Vec<AdicPoly>,
    ) -> Self {
        let digits = digits
            .into_iter()
            .map(|digit| KeyDigit::new(ring, digit, automorphism, form))
            .collect();
        SwitchingKey { automorphism, digits }
    }

    /// The automorphism; the identity for relinearization.
    pub fn automorphism(&self) -> GaloisElement {
        self.automorphism
    }

    pub(crate) fn key_digits(&self) -> impl Iterator<Item = &KeyDigit> {
        self.digits.iter()
    }

    /// The key for ciphertexts at `level` and below: its digits modulo lower powers of p. In
    /// evaluations this is the key itself, less blocks.
    fn reduced(&self, params: &LtvParams, level: Level) -> Self {
        let (ring, left) = (params.ring(), rows(level) + params.special_rows());
        let reduce = |digit: &KeyDigit| match digit {
            KeyDigit::Evaluations(blocks) => {
                KeyDigit::Evaluations(blocks[..ring.narrow_blocks(left)].to_vec())
            }
            KeyDigit::Polynomial(poly) => KeyDigit::Polynomial(poly.truncated(left)),
        };
        let digits = self.digits.iter().take(params.digit_count(level)).map(reduce).collect();
        SwitchingKey { automorphism: self.automorphism, digits }
    }

    /// Σ d_j ζ_j, under the automorphism, modulo p^(rows + special rows), for the digits d_j of c
    /// of `rows` rows; `evaluations` are c's blocks if they are there. To be divided by the special
    /// modulus.
    pub(crate) fn apply(
        &self,
        params: &LtvParams,
        c: &AdicPoly,
        evaluations: Option<&[Poly<Eval>]>,
    ) -> AdicPoly {
        let (ring, rows) = (params.ring(), c.rows() + params.special_rows());
        let blocks = ring.narrow_blocks(rows);
        let digits = match (params.spec().gadget, evaluations) {
            (Gadget::Hybrid { .. }, Some(blocks)) => Digits::Evaluated(blocks.to_vec()),
            (Gadget::Hybrid { .. }, None) => Digits::Evaluated(ring.evaluate(c)),
            (Gadget::Windows { bits }, _) => Digits::Windows(ring.windows(c, bits)),
        };
        let mut sum: Option<Vec<Poly<Eval>>> = None;
        for start in (0..digits.len()).step_by(GROUP) {
            let own: Vec<Poly<Eval>> = (start..digits.len().min(start + GROUP))
                .into_par_iter()
                .map(|j| digits.get(ring, j))
                .collect();
            let made: Vec<Option<Vec<Poly<Eval>>>> = self.digits[start..start + own.len()]
                .iter()
                .map(|digit| match digit {
                    KeyDigit::Evaluations(_) => None,
                    KeyDigit::Polynomial(poly) => {
                        Some(evaluated(ring, &poly.truncated(rows), self.automorphism))
                    }
                })
                .collect();
            let key = |j: usize| match &self.digits[start + j] {
                KeyDigit::Evaluations(blocks) => &blocks[..],
                KeyDigit::Polynomial(_) => made[j].as_deref().unwrap_or_default(),
            };
            let part = ring.inner_products(blocks, |o| {
                own.iter().enumerate().map(|(j, d)| (d, &key(j)[o])).collect()
            });
            sum = Some(match sum {
                None => part,
                Some(mut sum) => {
                    sum.iter_mut().zip(&part).for_each(|(s, p)| s.add_assign(ring.cpu(), p));
                    sum
                }
            });
        }
        let mut sum = sum.unwrap_or_default();
        if !self.automorphism.is_identity() {
            sum = sum.iter().map(|block| block.galois(ring.cpu(), self.automorphism)).collect();
        }
        ring.digits(sum, rows)
    }

    fn bytes(&self, params: &LtvParams) -> u64 {
        let n = params.degree() as u64;
        let digit = |digit: &KeyDigit| match digit {
            KeyDigit::Evaluations(blocks) => blocks.iter().map(Poly::memory_bytes).sum::<u64>(),
            KeyDigit::Polynomial(poly) => poly.rows() as u64 * n * 4,
        };
        self.digits.iter().map(digit).sum()
    }
}

/// The digits of a ciphertext.
enum Digits {
    Evaluated(Vec<Poly<Eval>>),
    Windows(Windows),
}

impl Digits {
    fn len(&self) -> usize {
        match self {
            Digits::Evaluated(digits) => digits.len(),
            Digits::Windows(digits) => digits.count(),
        }
    }

    fn get(&self, ring: &AdicRing, j: usize) -> Poly<Eval> {
        match self {
            Digits::Evaluated(digits) => digits[j].clone(),
            Digits::Windows(digits) => ring.evaluate_words(&digits.digit(j)),
        }
    }
}

/// The evaluations of a key digit under the inverse of the automorphism.
fn evaluated(ring: &AdicRing, digit: &AdicPoly, automorphism: GaloisElement) -> Vec<Poly<Eval>> {
    let blocks = ring.evaluate_narrow(digit);
    if automorphism.is_identity() {
        return blocks;
    }
    let inverse = automorphism.inverse(ring.ring());
    blocks.iter().map(|block| block.galois(ring.cpu(), inverse)).collect()
}

/// What a server needs: the evaluation key, and keys for automorphisms. It holds no secret.
pub struct LtvEvalKeys {
    params: LtvParams,
    level: Level,
    relinearization: SwitchingKey,
    automorphisms: BTreeMap<GaloisElement, SwitchingKey>,
}

impl LtvEvalKeys {
    /// The evaluation key and those of the given automorphisms.
    pub fn generate(
        secret: &LtvSecretKey,
        automorphisms: &[GaloisElement],
        form: KeyForm,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let rows = secret.params().key_rows();
        let relinearization =
            SwitchingKey::generate(secret, secret.secret(rows), GaloisElement::IDENTITY, form, rng);
        let automorphisms = automorphisms
            .iter()
            .filter(|g| !g.is_identity())
            .map(|&g| (g, SwitchingKey::generate(secret, secret.image(g, rows), g, form, rng)))
            .collect();
        Self::new(secret.params(), relinearization, automorphisms)
    }

    pub(crate) fn new(
        params: &LtvParams,
        relinearization: SwitchingKey,
        automorphisms: BTreeMap<GaloisElement, SwitchingKey>,
    ) -> Self {
        LtvEvalKeys { params: params.clone(), level: params.top(), relinearization, automorphisms }
    }

    /// The parameter set.
    pub fn params(&self) -> &LtvParams {
        &self.params
    }

    /// The highest level of the ciphertexts that they are for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The evaluation key.
    pub fn relinearization(&self) -> &SwitchingKey {
        &self.relinearization
    }

    /// From a polynomial c modulo p^k, k at most t, with the phase c f² to one with c f, up to
    /// key-switching noise and rounding: relinearization by itself, at c's modulus.
    ///
    /// # Panics
    /// If c has more rows than the modulus of the [highest level](LtvEvalKeys::level) of the keys,
    /// or is of another ring.
    pub fn relinearized(&self, c: &AdicPoly) -> AdicPoly {
        let sum = self.relinearization.apply(&self.params, c, None);
        self.params.ring().divide_even(&sum, self.params.special_rows())
    }

    /// The keys for ciphertexts at `level` and below, or as far as these go: residues of these.
    /// (Evaluations lose whole blocks only.)
    pub fn reduced(&self, level: Level) -> Self {
        let (params, level) = (&self.params, level.min(self.level));
        LtvEvalKeys {
            params: params.clone(),
            level,
            relinearization: self.relinearization.reduced(params, level),
            automorphisms: self
                .automorphisms
                .iter()
                .map(|(&g, key)| (g, key.reduced(params, level)))
                .collect(),
        }
    }

    /// The key of an automorphism.
    pub fn automorphism(&self, g: GaloisElement) -> Option<&SwitchingKey> {
        self.automorphisms.get(&g)
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.all().map(|key| key.bytes(&self.params)).sum()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &SwitchingKey> {
        std::iter::once(&self.relinearization).chain(self.automorphisms.values())
    }
}
