//! Along the carrier, the last axes, whose root is the class of x.

use zeroize::Zeroizing;

use crate::error::RingError;
use crate::exponents::exponents;
use crate::galois_ring::{GaloisRing, dot};
use crate::odd_slots::OddSlots;

use super::sums::Sums;

/// Between the φ(N) coefficients of a polynomial in the X_a of the carrier over Z/p^e and its
/// values at x^u, u the representatives, by traces. The exponent k of a monomial is that of x.
///
/// * From the dual basis y_0, .., y_(d-1) of 1, x, .., x^(d-1), v = Σ Tr(v x^s) y_s, and Tr(a(x^u)
///   x^s) = Σ a_k Tr(x^(u k + s)).
/// * On one axis the coefficient of X^k is 1/N times the sum of a(η) (η^-k - η^-f) over all roots
///   η, f being k reduced modulo N / l: the trace of the same sum over the representatives. On
///   several it is 1/N times the sum of the products of these differences: of ± η^-f, f being k
///   reduced so on every set of axes.
///
/// All that is needed of x are the traces of its powers.
#[derive(Debug)]
pub(super) struct Carrier {
    index: usize,
    /// The exponents of the coefficients, and the same reduced on every set of axes but the empty
    /// one: number i, from 1 on, on those whose bits i has.
    pub(super) exponents: Vec<usize>,
    reduced: Vec<Vec<usize>>,
    representatives: Vec<usize>,
    /// Tr(x^s) for s < N + d, and the same from the end.
    traces: Vec<u64>,
    reversed: Vec<u64>,
    /// Row j: the coefficient of x^j in y_0, .., y_(d-1).
    dual: Vec<u64>,
    /// 1/N.
    scale: u64,
}

impl Carrier {
    pub(super) fn new(
        odd: &OddSlots,
        ring: &GaloisRing,
        representatives: Vec<usize>,
    ) -> Result<Self, RingError> {
        let (t, d) = (ring.modulus(), ring.degree());
        let index = odd.carrier_index() as usize;
        let powers = std::iter::successors(Some(ring.one()), |power| Some(ring.times_x(power)));
        let traces: Vec<u64> = powers.take(index + d).map(|power| ring.trace(&power)).collect();
        // F(X) / (X - x) = Σ b_s X^s, and y_s = b_s / F'(x).
        let polynomial = ring.polynomial();
        let derivative = (1..=d).rev().fold(ring.scalar(0), |sum, i| {
            ring.add(&ring.times_x(&sum), &ring.scalar(t.mul(i as u64, polynomial[i])))
        });
        let inverse = ring.inv(&derivative)?;
        let mut b = ring.one();
        let mut dual = vec![0; d * d];
        for s in (0..d).rev() {
            ring.mul(&b, &inverse).iter().enumerate().for_each(|(j, &c)| dual[j * d + s] = c);
            b = ring.add(&ring.times_x(&b), &ring.scalar(polynomial[s]));
        }
        let mut reduced = reductions(odd, index);
        Ok(Carrier {
            index,
            exponents: reduced.remove(0),
            reduced,
            representatives,
            reversed: traces.iter().rev().copied().collect(),
            traces,
            dual,
            scale: t.inv(odd.carrier_index())?,
        })
    }

    pub(super) fn decode(&self, sums: &Sums, coefficients: &[u64], out: &mut [u64]) {
        let (t, d) = (sums.modulus(), out.len() / self.representatives.len());
        let mut powers = Zeroizing::new(vec![0; self.index]);
        for (&u, element) in self.representatives.iter().zip(out.chunks_exact_mut(d)) {
            let multiples = self.multiples(u);
            powers.fill(0);
            coefficients.iter().zip(&self.exponents).for_each(|(&c, &k)| powers[multiples[k]] = c);
            let traces = sums.correlation(&powers, &self.traces, d);
            element
                .iter_mut()
                .zip(self.dual.chunks_exact(d))
                .for_each(|(x, row)| *x = dot(t, row, &traces));
        }
    }

    pub(super) fn encode(&self, sums: &Sums, elements: &[u64], out: &mut [u64]) {
        let (t, d) = (sums.modulus(), elements.len() / self.representatives.len());
        let mut totals = Zeroizing::new(vec![0i128; self.exponents.len()]);
        for (element, &u) in elements.chunks_exact(d).zip(&self.representatives) {
            let multiples = self.multiples(u);
            let backwards = Zeroizing::new(element.iter().rev().copied().collect::<Vec<u64>>());
            // Tr(element x^-k).
            let traces = sums.correlation(&backwards, &self.reversed, self.index);
            let at = |k: &usize| i128::from(traces[multiples[*k]]);
            totals.iter_mut().zip(&self.exponents).for_each(|(sum, k)| *sum += at(k));
            for (set, reduced) in (1usize..).zip(&self.reduced) {
                let terms = totals.iter_mut().zip(reduced);
                match set.count_ones() % 2 {
                    0 => terms.for_each(|(sum, f)| *sum += at(f)),
                    _ => terms.for_each(|(sum, f)| *sum -= at(f)),
                }
            }
        }
        out.iter_mut()
            .zip(totals.iter())
            .for_each(|(x, &sum)| *x = t.mul(self.scale, t.reduce_i128(sum)));
    }

    /// u k modulo N for all k.
    fn multiples(&self, u: usize) -> Vec<usize> {
        let next = |k: &usize| Some(if k + u >= self.index { k + u - self.index } else { k + u });
        std::iter::successors(Some(0), next).take(self.index).collect()
    }
}

/// The exponents of the coefficients of the carrier modulo N, reduced on a set of its axes, for the
/// sets in the order of their bits: none, the first axis, the second one, both, ..
fn reductions(odd: &OddSlots, index: usize) -> Vec<Vec<usize>> {
    let carrier = odd.carrier();
    let along = |set: usize| {
        carrier.iter().enumerate().fold(vec![0], |all, (i, axis)| {
            let (low, whole) = ((axis.index / axis.prime) as usize, axis.exponent as usize % index);
            let own = exponents(&odd.axes, odd.first + i).into_iter().map(|k| {
                let k = if set >> i & 1 == 1 { k % low } else { k };
                k * whole % index
            });
            let own: Vec<usize> = own.collect();
            all.iter().flat_map(|x| own.iter().map(move |y| (x + y) % index)).collect()
        })
    };
    (0..1usize << carrier.len()).map(along).collect()
}
