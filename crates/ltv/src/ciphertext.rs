//! Ciphertexts, products and plaintext operands of the evaluator.

use std::sync::{Arc, OnceLock};

use everlevel_ring::{Eval, Poly};
use everlevel_scheme::{Level, Meta};
use everlevel_wire::ParamsId;

use crate::adic::{AdicPoly, AdicRing};
use crate::spec::{LtvParams, rows};

/// A ciphertext: one polynomial c of phase c f ≡ m modulo 2, with its public data. `meta().noise`
/// is log2 of the root mean square of the phase's embeddings, see [`crate::noise`].
///
/// Its evaluations are computed when a product first needs them, and shared by copies: about 2.7
/// times the polynomial's memory, which is freed with the last copy.
#[derive(Clone)]
pub struct LtvCiphertext {
    /// The id of the set: others may have the same degree and modulus.
    set: ParamsId,
    pub(crate) meta: Meta,
    pub(crate) poly: AdicPoly,
    evaluations: Arc<OnceLock<Vec<Poly<Eval>>>>,
}

impl LtvCiphertext {
    pub(crate) fn new(params: &LtvParams, meta: Meta, poly: AdicPoly) -> Self {
        LtvCiphertext { set: params.id(), meta, poly, evaluations: Arc::default() }
    }

    /// The same polynomial, with this noise.
    pub(crate) fn with_noise(&self, noise: f64) -> Self {
        LtvCiphertext { meta: Meta { noise, ..self.meta }, ..self.clone() }
    }

    /// Level and noise.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.meta.level
    }

    /// The polynomial.
    pub fn poly(&self) -> &AdicPoly {
        &self.poly
    }

    /// The id of its parameter set.
    pub fn params_id(&self) -> ParamsId {
        self.set
    }

    /// Whether it is of this set, and the digits, and the evaluations if they are there, are of its
    /// ring.
    pub(crate) fn fits(&self, params: &LtvParams) -> bool {
        let (ring, degree, count) = (params.ring(), params.degree(), rows(self.level()));
        let same = |x: &Poly<Eval>| x.basis() == ring.transform_primes() && x.degree() == degree;
        let evaluated = |blocks: &Vec<Poly<Eval>>| {
            blocks.len() == ring.blocks(count) && blocks.iter().all(same)
        };
        self.set == params.id()
            && self.poly.rows() == count
            && self.poly.digits().all(|row| row.len() == degree)
            && self.evaluations.get().is_none_or(evaluated)
    }

    pub(crate) fn evaluations(&self, ring: &AdicRing) -> &[Poly<Eval>] {
        // Not within the cell's lock: while it waits for parts of the transforms, a thread may take
        // up another task that wants the same ones.
        if self.evaluations.get().is_none() {
            let _ = self.evaluations.set(ring.evaluate(&self.poly));
        }
        self.evaluations.get_or_init(Vec::new)
    }

    /// FNV-1a over all digits: equal ciphertexts have equal fingerprints on every machine, backend
    /// and thread count. It is not collision-resistant against an adversary.
    pub fn fingerprint(&self) -> u64 {
        let digits = self.poly.digits().flatten();
        digits.fold(0xcbf2_9ce4_8422_2325, |h, &d| (h ^ u64::from(d)).wrapping_mul(0x100_0000_01b3))
    }
}

impl std::fmt::Debug for LtvCiphertext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LtvCiphertext(level {}, noise 2^{:.1})", self.meta.level, self.meta.noise)
    }
}

/// A sum of products before relinearization, in evaluations: its phase is that of multiplication by
/// f².
#[derive(Clone)]
pub struct LtvProduct {
    /// The id of the set.
    pub(crate) set: ParamsId,
    pub(crate) meta: Meta,
    pub(crate) blocks: Vec<Poly<Eval>>,
    /// How many products of blocks are summed.
    pub(crate) terms: usize,
}

impl LtvProduct {
    /// Level and noise.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The id of its parameter set.
    pub fn params_id(&self) -> ParamsId {
        self.set
    }
}

/// A rotated ciphertext of a linear map. Key switching is finished: the transforms that hoisting
/// shares are cached in the ciphertext.
pub struct LtvExtended(pub(crate) LtvCiphertext);

/// A plaintext polynomial that multiplies ciphertexts.
pub struct LtvDiagonal {
    /// The id of the set.
    pub(crate) set: ParamsId,
    pub(crate) poly: Poly<Eval>,
    /// log2 of its canonical norm.
    pub(crate) norm: f64,
}
