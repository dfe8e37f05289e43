//! The operations of a scheme. The plaintext modulus is 2, so subtraction is addition, negation the
//! identity, and constants count modulo 2.

use std::borrow::Borrow;

use everlevel_ring::{Eval, GaloisElement, Poly, SlotShape};
use everlevel_scheme::noise::log_add;
use everlevel_scheme::{
    Arithmetic, Automorphisms, DiagonalValues, Form, Level, LinearMaps, Meta, NextUse,
    PlainModulus, Plaintext, Scheme, SchemeError,
};

use crate::ciphertext::{LtvCiphertext, LtvDiagonal, LtvExtended, LtvProduct};
use crate::evaluator::LtvEvaluator;
use crate::spec::rows;

fn unsupported(what: &'static str, expected: &str, found: impl Into<String>) -> SchemeError {
    SchemeError::BadArgument { what, expected: expected.into(), found: found.into() }
}

fn no_parts() -> SchemeError {
    unsupported("linear map", "at least one part", "none")
}

impl Scheme for LtvEvaluator {
    type Ciphertext = LtvCiphertext;

    fn slot_shape(&self) -> &SlotShape {
        self.plain_ring().shape()
    }

    fn plain_prime(&self) -> u64 {
        2
    }

    fn plain_exponent(&self, x: &LtvCiphertext) -> u32 {
        x.meta.exponent
    }

    fn level(&self, x: &LtvCiphertext) -> Level {
        x.level()
    }

    /// log2 of α deviations of a coefficient of the phase, the bound that is kept below half the
    /// modulus: see [`crate::noise`].
    fn noise_bound_bits(&self, x: &LtvCiphertext) -> f64 {
        self.params().noise().bound(x.meta.noise)
    }

    fn capacity_bits(&self, x: &LtvCiphertext) -> f64 {
        self.capacity(&x.meta)
    }

    fn check_params(&self, x: &LtvCiphertext) -> Result<(), SchemeError> {
        self.check(x)
    }

    fn form(&self, x: &LtvCiphertext) -> Form {
        x.meta.form
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        self.params().encode_elements(values)
    }
}

impl Arithmetic for LtvEvaluator {
    type Product = LtvProduct;

    fn add(&self, a: &LtvCiphertext, b: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        self.sum(&[a, b], "addition")
    }

    fn sub(&self, a: &LtvCiphertext, b: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        self.sum(&[a, b], "subtraction")
    }

    fn neg(&self, a: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        Ok(a.clone())
    }

    fn add_plain(&self, a: &LtvCiphertext, b: &Plaintext) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        let (ring, rows) = (self.params().ring(), rows(a.level()));
        let noise =
            log_add(a.meta.noise, self.params().noise().secret() + self.prepared_diagonal(b)?.norm);
        let meta = self.checked(Meta { noise, ..a.meta }, "addition of a plaintext")?;
        let sum = ring.sum(&[&a.poly, &ring.from_signed(&self.params().message(b)?, rows)]);
        Ok(LtvCiphertext::new(self.params(), meta, sum))
    }

    fn mul_plain(&self, a: &LtvCiphertext, b: &Plaintext) -> Result<LtvCiphertext, SchemeError> {
        self.weighted_sum(&[(a, &self.prepared_diagonal(b)?)])
    }

    fn add_scalar(&self, a: &LtvCiphertext, k: i64) -> Result<LtvCiphertext, SchemeError> {
        if k % 2 == 0 { self.neg(a) } else { self.plus_one(a) }
    }

    fn mul_scalar(&self, a: &LtvCiphertext, k: i64) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        Ok(if k % 2 == 0 { self.zero(&a.meta) } else { a.clone() })
    }

    fn linear_combination(
        &self,
        terms: &[(&LtvCiphertext, i64)],
        constant: i64,
    ) -> Result<LtvCiphertext, SchemeError> {
        let first = terms
            .first()
            .ok_or_else(|| unsupported("linear combination", "at least one term", "none"))?
            .0;
        let odd: Vec<&LtvCiphertext> =
            terms.iter().filter(|(_, k)| k % 2 != 0).map(|(x, _)| *x).collect();
        let sum = if odd.is_empty() {
            self.mul_scalar(first, 0)?
        } else {
            self.sum(&odd, "linear combination")?
        };
        self.add_scalar(&sum, constant)
    }

    fn mul_lazy(&self, a: &LtvCiphertext, b: &LtvCiphertext) -> Result<LtvProduct, SchemeError> {
        self.product(a, b)
    }

    fn add_products(&self, a: &LtvProduct, b: &LtvProduct) -> Result<LtvProduct, SchemeError> {
        self.sum_of_products(a, b)
    }

    fn relinearize(&self, a: &LtvProduct, next: NextUse) -> Result<LtvCiphertext, SchemeError> {
        self.relinearized(a, next)
    }

    fn prepare(&self, a: &LtvCiphertext, next: NextUse) -> Result<LtvCiphertext, SchemeError> {
        self.prepared(a, next)
    }

    fn mod_switch_to(&self, a: &LtvCiphertext, level: Level) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        if level > a.level() {
            return Err(SchemeError::BadLevel { found: level, highest: a.level() });
        }
        let dropped = a.level().0 - level.0;
        if dropped == 0 {
            return Ok(a.clone());
        }
        let noise = self.params().noise().switched(a.meta.noise, dropped);
        let meta = self.checked(Meta { level, noise, ..a.meta }, "modulus switching")?;
        let poly = self.params().ring().divide_even(&a.poly, dropped);
        Ok(LtvCiphertext::new(self.params(), meta, poly))
    }

    fn mul_monomial(&self, a: &LtvCiphertext, k: i64) -> Result<LtvCiphertext, SchemeError> {
        self.check(a)?;
        let ring = self.params().ring();
        let monomial = Poly::<Eval>::monomial(ring.cpu(), ring.transform_primes(), k);
        let blocks = a.evaluations(ring);
        let moved = ring.inner_products(blocks.len(), |o| vec![(&blocks[o], &monomial)]);
        Ok(LtvCiphertext::new(self.params(), a.meta, ring.digits(moved, rows(a.level()))))
    }
}

impl PlainModulus for LtvEvaluator {
    /// There is the BGV form only: the ciphertext itself.
    fn convert(&self, a: &LtvCiphertext, _form: Form) -> LtvCiphertext {
        a.clone()
    }

    fn reduce_plain_modulus(
        &self,
        a: &LtvCiphertext,
        k: u32,
    ) -> Result<LtvCiphertext, SchemeError> {
        if k == 1 {
            self.neg(a)
        } else {
            Err(unsupported("plaintext exponent", "1", k.to_string()))
        }
    }

    fn extend_plain_modulus(
        &self,
        a: &LtvCiphertext,
        e: u32,
    ) -> Result<LtvCiphertext, SchemeError> {
        if e == 1 {
            self.neg(a)
        } else {
            Err(unsupported("extended plaintext exponent", "1", e.to_string()))
        }
    }

    fn divide_by_p(&self, _a: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        Err(unsupported("division by p", "a plaintext modulus with digits to spare", "2"))
    }

    fn multiply_by_p(&self, _a: &LtvCiphertext) -> Result<LtvCiphertext, SchemeError> {
        Err(unsupported("multiplication by p", "a set with a larger plaintext modulus", "2"))
    }
}

impl Automorphisms for LtvEvaluator {
    fn apply_galois(
        &self,
        a: &LtvCiphertext,
        g: GaloisElement,
    ) -> Result<LtvCiphertext, SchemeError> {
        self.automorphism(a, g)
    }

    fn apply_galois_many(
        &self,
        a: &LtvCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<LtvCiphertext>, SchemeError> {
        gs.iter().map(|&g| self.automorphism(a, g)).collect()
    }
}

impl LinearMaps for LtvEvaluator {
    type Extended = LtvExtended;
    type Diagonal = LtvDiagonal;

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<LtvDiagonal, SchemeError> {
        let plain = self.plain_ring();
        self.params().check_level(level)?;
        match values {
            DiagonalValues::LastDimensions(elements) if e == 1 => {
                let coefficients = plain.embed_last(&plain.encode_last(elements, e)?, e)?;
                let plaintext = self.params().plaintext(coefficients)?;
                self.prepared_diagonal(&plaintext)
            }
            _ => Err(unsupported(
                "diagonal",
                "elements modulo 2 along the last dimensions",
                "something else",
            )),
        }
    }

    fn hoist(
        &self,
        x: &LtvCiphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<LtvExtended>, SchemeError> {
        Ok(self.apply_galois_many(x, gs)?.into_iter().map(LtvExtended).collect())
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<LtvExtended> + Sync],
        rows: &[Vec<Option<&LtvDiagonal>>],
    ) -> Result<Vec<LtvExtended>, SchemeError> {
        let inputs: Vec<&LtvExtended> = inputs.iter().map(Borrow::borrow).collect();
        let row = |row: &Vec<Option<&LtvDiagonal>>| {
            let terms: Vec<_> =
                inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (&x.0, d))).collect();
            if row.len() != inputs.len() || terms.is_empty() {
                return Err(unsupported(
                    "linear map",
                    "non-empty rows of one diagonal an input",
                    "something else",
                ));
            }
            Ok(LtvExtended(self.weighted_sum(&terms)?))
        };
        rows.iter().map(row).collect()
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, LtvExtended)>,
        next: NextUse,
    ) -> Result<LtvCiphertext, SchemeError> {
        let moved = parts
            .iter()
            .map(|(g, x)| self.automorphism(&x.0, *g))
            .collect::<Result<Vec<_>, _>>()?;
        if moved.is_empty() {
            return Err(no_parts());
        }
        self.prepared(&self.sum(&moved.iter().collect::<Vec<_>>(), "linear map")?, next)
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, LtvExtended), SchemeError>>,
        next: NextUse,
    ) -> Result<LtvCiphertext, SchemeError> {
        let mut sum: Option<LtvCiphertext> = None;
        for part in parts {
            let (g, x) = part?;
            let inner = match &sum {
                None => x.0,
                Some(sum) => self.sum(&[sum, &x.0], "linear map")?,
            };
            sum = Some(self.automorphism(&inner, g)?);
        }
        self.prepared(&sum.ok_or_else(no_parts)?, next)
    }
}
