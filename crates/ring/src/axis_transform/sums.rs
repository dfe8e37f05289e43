//! Sums of multiples of vectors of residues, in vector code where the modulus allows it.

use everlevel_arith::Modulus;
use everlevel_arith::kernels::{Kernels, MAX_TERMS};
use zeroize::Zeroizing;

use crate::galois_ring::dot;
use crate::prime_power::PrimePower;

/// The largest odd modulus of the vector code: sums below it come out as they are.
const WIDE: u64 = (1 << Modulus::MAX_BITS) - 1;

/// Sums modulo one p^e.
#[derive(Debug)]
pub(super) struct Sums {
    modulus: PrimePower,
    kernels: &'static Kernels,
}

impl Sums {
    pub(super) fn new(modulus: PrimePower, kernels: &'static Kernels) -> Self {
        Sums { modulus, kernels }
    }

    /// p^e.
    pub(super) fn modulus(&self) -> PrimePower {
        self.modulus
    }

    /// out = Σ_j weights_j terms_j modulo p^e; no term gives 0. One word product for each word of
    /// each term, in vector code where p^e is odd and below 2^50, or the sums are below that.
    pub(super) fn weighted(&self, out: &mut [u64], terms: &[&[u64]], weights: &[u64]) {
        let (t, last) = (self.modulus, u128::from(self.modulus.last()));
        let largest = last.pow(2).saturating_mul(weights.len() as u128);
        let exact = || Modulus::new(WIDE).ok().filter(|_| largest < u128::from(WIDE));
        match t.word().or_else(exact) {
            Some(q) => {
                self.in_vectors(q, out, terms, weights);
                if u128::from(q.value()) != t.wide() {
                    out.iter_mut().for_each(|x| *x = t.reduce_u64(*x));
                }
            }
            None if t.prime() == 2 => {
                out.fill(0);
                for (term, &weight) in terms.iter().zip(weights) {
                    out.iter_mut()
                        .zip(*term)
                        .for_each(|(sum, &x)| *sum = sum.wrapping_add(weight.wrapping_mul(x)));
                }
                out.iter_mut().for_each(|x| *x = t.reduce_u64(*x));
            }
            None => {
                let mut column = Zeroizing::new(vec![0; terms.len()]);
                for (i, sum) in out.iter_mut().enumerate() {
                    column.iter_mut().zip(terms).for_each(|(x, term)| *x = term[i]);
                    *sum = dot(t, weights, &column);
                }
            }
        }
    }

    fn in_vectors(&self, q: Modulus, out: &mut [u64], terms: &[&[u64]], weights: &[u64]) {
        let mut chunks = terms.chunks(MAX_TERMS).zip(weights.chunks(MAX_TERMS));
        let Some((terms, weights)) = chunks.next() else { return out.fill(0) };
        self.kernels.weighted_sum(q, out, terms, weights);
        for (terms, weights) in chunks {
            let mut sum = Zeroizing::new(vec![0; out.len()]);
            self.kernels.weighted_sum(q, &mut sum, terms, weights);
            self.kernels.add_assign(q, out, &sum);
        }
    }

    /// Σ_j weights_j sequence_(i + j) modulo p^e for i < `count`.
    pub(super) fn correlation(
        &self,
        weights: &[u64],
        sequence: &[u64],
        count: usize,
    ) -> Zeroizing<Vec<u64>> {
        let windows: Vec<&[u64]> = (0..weights.len()).map(|j| &sequence[j..j + count]).collect();
        let mut out = Zeroizing::new(vec![0; count]);
        self.weighted(&mut out, &windows, weights);
        out
    }
}

#[cfg(test)]
mod tests {
    use everlevel_arith::{Backend, kernels};

    use super::*;

    #[test]
    fn sums_are_those_of_the_definition_with_and_without_vectors() {
        let kernels = kernels::on(Backend::detect()).unwrap();
        // A word, an even modulus with short sums, one with long sums, and one above a word.
        for (p, e) in
            [(127, 3), (2, 10), (2, 20), (2, 24), (3, 31), (3, 39), (3, 40), (2, 61), (2, 64)]
        {
            let t = PrimePower::new(p, e).unwrap();
            let sums = Sums::new(t, kernels);
            let entry = |i: u64| t.reduce_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3);
            for (length, count) in [(0, 3), (1, 40), (45, 300), (2 * MAX_TERMS + 5, 3)] {
                // The second time with the largest sums there are.
                for top in [0, t.last()] {
                    let weights: Vec<u64> = (0..length as u64).map(|i| entry(i).max(top)).collect();
                    let sequence: Vec<u64> =
                        (0..(length + count) as u64).map(|i| entry(i + 7).max(top)).collect();
                    let sum = |i: usize| {
                        (0..length).fold(0, |s, j| t.add(s, t.mul(weights[j], sequence[i + j])))
                    };
                    assert_eq!(
                        *sums.correlation(&weights, &sequence, count),
                        (0..count).map(sum).collect::<Vec<_>>(),
                        "{p}^{e}"
                    );
                }
            }
        }
    }
}
