//! What every operation leaves, bit by bit: for changes that are to change nothing.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{DiagonalValues, ExactScheme, NextUse, SchemeError};

/// FNV-1a over bytes: equal on every machine; not collision-resistant against anybody who tries.
pub fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Notes what an operation returned, under its name, and hands a ciphertext on.
type Add<'a, C> = dyn FnMut(&str, Result<C, SchemeError>) -> Option<C> + 'a;

/// A scheme with two ciphertexts to compute on.
pub struct Operations<'a, S: ExactScheme> {
    /// The scheme.
    pub scheme: &'a S,
    /// Two fresh ciphertexts at the highest level.
    pub inputs: [&'a S::Ciphertext; 2],
    /// Automorphisms with keys at every level.
    pub automorphisms: &'a [GaloisElement],
    /// The values of a plaintext diagonal.
    pub diagonal: DiagonalValues,
    /// A digest of the polynomials and of the public data of a ciphertext.
    pub digest: &'a dyn Fn(&S::Ciphertext) -> u64,
}

impl<S: ExactScheme> Operations<'_, S> {
    /// One line for each operation: its name, and what it returned. A refusal counts as a result.
    pub fn fingerprints(&self) -> Vec<(String, String)> {
        let s = self.scheme;
        let [a, b] = self.inputs;
        let mut lines = Vec::new();
        let mut add = |name: &str, found: Result<S::Ciphertext, SchemeError>| {
            let line = match &found {
                Ok(x) => self.line(x),
                Err(e) => format!("refused: {}", e.code()),
            };
            lines.push((name.to_string(), line));
            found.ok()
        };
        add("input a", Ok(a.clone()));
        add("input b", Ok(b.clone()));
        add("add", s.add(a, b));
        add("sub", s.sub(a, b));
        add("neg", s.neg(a));
        add("add_scalar", s.add_scalar(a, -5));
        add("mul_scalar", s.mul_scalar(a, 7));
        add("mul_monomial", s.mul_monomial(a, 3));
        add("linear_combination", s.linear_combination(&[(a, 3), (b, -2)], 1));
        let values: Vec<u64> = vec![1; s.slot_shape().slots() * s.slot_shape().degree_of_slot()];
        add("add_plain", s.encode_elements(&values).and_then(|v| s.add_plain(a, &v)));
        for next in [NextUse::Product, NextUse::LinearMap, NextUse::Keep] {
            add(&format!("prepare {next:?}"), s.prepare(a, next));
            add(&format!("mul {next:?}"), s.mul(a, b, next));
            let lazy = s.mul_lazy(a, b).and_then(|x| s.add_products(&x, &x));
            add(&format!("lazy mul {next:?}"), lazy.and_then(|x| s.relinearize(&x, next)));
        }
        let together = s.prepare_together(&[a, b], NextUse::Product);
        let product = together.and_then(|xs| s.mul_lazy_aligned(&xs[0], &xs[1]));
        add("mul_lazy_aligned", product.and_then(|x| s.relinearize(&x, NextUse::Product)));
        // Deeper and deeper, at lower levels and with other factors.
        let mut deep = Some(a.clone());
        for depth in 1..=4 {
            let square =
                deep.and_then(|x| add(&format!("square {depth}"), s.mul(&x, &x, NextUse::Product)));
            if let Some(x) = &square {
                add(&format!("square {depth} plus input"), s.add(x, a));
                add(&format!("square {depth} times input"), s.mul(x, b, NextUse::LinearMap));
                add(&format!("square {depth} less 3"), s.add_scalar(x, -3));
            }
            deep = square;
        }
        let e = s.plain_exponent(a);
        add("extend_plain_modulus", s.extend_plain_modulus(a, e + 1));
        add("reduce_plain_modulus", s.reduce_plain_modulus(a, 1));
        add("multiply_by_p", s.reduce_plain_modulus(a, 1).and_then(|x| s.multiply_by_p(&x)));
        let multiple = s.mul_scalar(a, s.plain_prime() as i64);
        add("divide_by_p", multiple.and_then(|x| s.divide_by_p(&x)));
        self.automorphisms(&mut add);
        lines
    }

    fn automorphisms(&self, add: &mut Add<'_, S::Ciphertext>) {
        let (s, [a, _]) = (self.scheme, self.inputs);
        let gs = self.automorphisms;
        for &g in gs {
            add(&format!("apply_galois {}", g.exponent()), s.apply_galois(a, g));
        }
        match s.apply_galois_many(a, gs) {
            Ok(all) => all.into_iter().enumerate().for_each(|(i, x)| {
                add(&format!("apply_galois_many {i}"), Ok(x));
            }),
            Err(e) => drop(add("apply_galois_many", Err(e))),
        }
        let low = s.prepare(a, NextUse::LinearMap);
        let diagonal = low
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|x| s.diagonal(&self.diagonal, s.plain_exponent(x), s.level(x)));
        let combined = || {
            let (x, d) = (low.clone()?, diagonal.as_ref().map_err(Clone::clone)?);
            let hoisted = s.hoist(&x, gs)?;
            let row: Vec<_> = gs.iter().map(|_| Some(d)).collect();
            s.combine(&hoisted, &[row.clone(), row])
        };
        let steps = [GaloisElement::IDENTITY, gs[0]];
        let parts = combined().map(|parts| steps.into_iter().zip(parts).collect::<Vec<_>>());
        add("galois_sum", parts.and_then(|parts| s.galois_sum(parts, NextUse::Product)));
        let chain = combined().map(|parts| [gs[0], gs[0]].into_iter().zip(parts));
        add("galois_chain", chain.and_then(|c| s.galois_chain(c.map(Ok), NextUse::LinearMap)));
    }

    /// Digest, level, plaintext exponent, form, and the bits of the noise bound and its estimate.
    pub fn line(&self, x: &S::Ciphertext) -> String {
        let s = self.scheme;
        format!(
            "{:016x} level {} p^{} {:?} bound {:016x} estimate {:016x} capacity {:016x}",
            (self.digest)(x),
            s.level(x),
            s.plain_exponent(x),
            s.form(x),
            s.noise_bound_bits(x).to_bits(),
            s.noise_estimate_bits(x).unwrap_or_default().to_bits(),
            s.capacity_bits(x).to_bits()
        )
    }
}
