//! The transform between coefficients and slots of rings with axes, axis by axis.

use everlevel_arith::Modulus;
use everlevel_arith::kernels::{Kernels, MAX_TERMS};
use zeroize::Zeroizing;

use crate::error::RingError;
use crate::exponents::exponents;
use crate::galois_ring::{GaloisRing, dot};
use crate::odd_slots::OddSlots;
use crate::prime_power::PrimePower;

/// All axes modulo one p^e. With C the number of coefficients along the carrier: n C word products,
/// and n d_a N_a for every other axis a, d_a the degree of its root.
#[derive(Debug)]
pub(crate) struct SlotTransform {
    last: Carrier,
    /// The other axes with the lengths of what lies between neighbors along them, in elements of
    /// slots.
    others: Vec<(OtherAxis, usize)>,
    ring: GaloisRing,
}

impl SlotTransform {
    /// The tables of `odd` in `ring`, GR(p^e, d); `representatives` are those of the slots of the
    /// carrier modulo N.
    pub(crate) fn new(
        odd: &OddSlots,
        ring: GaloisRing,
        representatives: Vec<usize>,
        kernels: &'static Kernels,
    ) -> Result<Self, RingError> {
        let axes = odd.axes.all();
        let mut inner = representatives.len();
        let mut others = Vec::new();
        for place in (0..odd.first).rev() {
            others.push((OtherAxis::new(odd, place, ring.modulus())?, inner));
            inner *= axes[place].degree;
        }
        let last = Carrier::new(odd, &ring, representatives, kernels)?;
        Ok(SlotTransform { last, others, ring })
    }

    /// n coefficients to elements, slot by slot; or as many as a polynomial in the X_a of the last
    /// axes alone has, to elements along the dimensions of these.
    pub(crate) fn decode(&self, coefficients: &[u64]) -> Vec<u64> {
        let mut elements = vec![0; coefficients.len()];
        let length = self.last.exponents.len();
        for (line, out) in coefficients.chunks_exact(length).zip(elements.chunks_exact_mut(length))
        {
            self.last.decode(&self.ring, line, out);
        }
        for (axis, inner) in self.others_within(coefficients.len()) {
            axis.apply(&self.ring, &mut elements, *inner, &axis.forward);
        }
        elements
    }

    /// The inverse of [`SlotTransform::decode`].
    pub(crate) fn encode(&self, elements: &[u64]) -> Vec<u64> {
        let mut elements = Zeroizing::new(elements.to_vec());
        for (axis, inner) in self.others_within(elements.len()) {
            axis.apply(&self.ring, &mut elements, *inner, &axis.inverse);
        }
        let mut out = vec![0; elements.len()];
        let length = self.last.exponents.len();
        for (line, out) in elements.chunks_exact(length).zip(out.chunks_exact_mut(length)) {
            self.last.encode(self.ring.modulus(), line, out);
        }
        out
    }

    /// The axes but the last one that a polynomial of `words` coefficients has, from the last one
    /// down.
    fn others_within(&self, words: usize) -> impl Iterator<Item = &(OtherAxis, usize)> {
        self.others.iter().take_while(move |(_, inner)| inner * self.ring.degree() < words)
    }
}

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
struct Carrier {
    index: usize,
    /// The exponents of the coefficients, and the same reduced on every set of axes but the empty
    /// one: number i, from 1 on, on those whose bits i has.
    exponents: Vec<usize>,
    reduced: Vec<Vec<usize>>,
    representatives: Vec<usize>,
    /// Tr(x^s) for s < N + d, and the same from the end.
    traces: Vec<u64>,
    reversed: Vec<u64>,
    /// Row j: the coefficient of x^j in y_0, .., y_(d-1).
    dual: Vec<u64>,
    /// 1/N.
    scale: u64,
    kernels: &'static Kernels,
}

impl Carrier {
    fn new(
        odd: &OddSlots,
        ring: &GaloisRing,
        representatives: Vec<usize>,
        kernels: &'static Kernels,
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
            kernels,
            reversed: traces.iter().rev().copied().collect(),
            traces,
            dual,
            scale: t.inv(odd.carrier_index())?,
        })
    }

    fn decode(&self, ring: &GaloisRing, coefficients: &[u64], out: &mut [u64]) {
        let (t, d) = (ring.modulus(), ring.degree());
        let mut powers = Zeroizing::new(vec![0; self.index]);
        for (&u, element) in self.representatives.iter().zip(out.chunks_exact_mut(d)) {
            let multiples = self.multiples(u);
            powers.fill(0);
            coefficients.iter().zip(&self.exponents).for_each(|(&c, &k)| powers[multiples[k]] = c);
            let traces = correlation(self.kernels, t, &powers, &self.traces, d);
            element
                .iter_mut()
                .zip(self.dual.chunks_exact(d))
                .for_each(|(x, row)| *x = dot(t, row, &traces));
        }
    }

    fn encode(&self, t: PrimePower, elements: &[u64], out: &mut [u64]) {
        let d = elements.len() / self.representatives.len();
        let mut sums = Zeroizing::new(vec![0i128; self.exponents.len()]);
        for (element, &u) in elements.chunks_exact(d).zip(&self.representatives) {
            let multiples = self.multiples(u);
            let backwards = Zeroizing::new(element.iter().rev().copied().collect::<Vec<u64>>());
            // Tr(element x^-k).
            let traces = correlation(self.kernels, t, &backwards, &self.reversed, self.index);
            let at = |k: &usize| i128::from(traces[multiples[*k]]);
            sums.iter_mut().zip(&self.exponents).for_each(|(sum, k)| *sum += at(k));
            for (set, reduced) in (1usize..).zip(&self.reduced) {
                let terms = sums.iter_mut().zip(reduced);
                match set.count_ones() % 2 {
                    0 => terms.for_each(|(sum, f)| *sum += at(f)),
                    _ => terms.for_each(|(sum, f)| *sum -= at(f)),
                }
            }
        }
        out.iter_mut()
            .zip(sums.iter())
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

/// Σ_j weights_j sequence_(i + j) modulo p^e for i < `count`: in vector code where an odd modulus
/// below 2^50 gives the same sums.
fn correlation(
    kernels: &Kernels,
    t: PrimePower,
    weights: &[u64],
    sequence: &[u64],
    count: usize,
) -> Zeroizing<Vec<u64>> {
    const WIDE: u64 = (1 << Modulus::MAX_BITS) - 1;
    let largest = u128::from(t.last()).pow(2).saturating_mul(weights.len() as u128);
    let modulus =
        t.word().or_else(|| Modulus::new(WIDE).ok().filter(|_| largest < u128::from(WIDE)));
    let Some(q) = modulus else {
        return Zeroizing::new((0..count).map(|i| dot(t, weights, &sequence[i..])).collect());
    };
    let (mut out, mut sum) = (Zeroizing::new(vec![0; count]), Zeroizing::new(vec![0; count]));
    for (chunk, weights) in weights.chunks(MAX_TERMS).enumerate() {
        let start = chunk * MAX_TERMS;
        let windows: Vec<&[u64]> =
            (start..start + weights.len()).map(|j| &sequence[j..j + count]).collect();
        kernels.weighted_sum(q, &mut sum, &windows, weights);
        kernels.add_assign(q, &mut out, &sum);
    }
    if u128::from(q.value()) != t.wide() {
        out.iter_mut().for_each(|x| *x = t.reduce_u64(*x));
    }
    out
}

/// Between coefficients and values, both in GR(p^e, d), along any other axis: matrices of powers of
/// its root ζ, which are combinations of the first d_a of them over Z/p^e.
#[derive(Debug)]
struct OtherAxis {
    degree: usize,
    root: Vec<u64>,
    forward: Vec<u64>,
    inverse: Vec<u64>,
}

impl OtherAxis {
    fn new(odd: &OddSlots, place: usize, t: PrimePower) -> Result<Self, RingError> {
        let axis = &odd.axes.all()[place];
        let reduced = |a: &[u64]| -> Vec<u64> { a.iter().map(|&x| t.reduce_u64(x)).collect() };
        let subring = GaloisRing::new(t, &reduced(&odd.factors[place]))?;
        let next = |power: &Vec<u64>| Some(subring.times_x(power));
        let powers: Vec<Vec<u64>> =
            std::iter::successors(Some(subring.one()), next).take(axis.index as usize).collect();
        let (index, low) = (axis.index as usize, (axis.index / axis.prime) as usize);
        let units: Vec<usize> = odd.axes.units_along(place).iter().map(|&u| u as usize).collect();
        let exponents = exponents(&odd.axes, place);
        let scale = t.inv(axis.index)?;
        let forward = matrix(&units, &exponents, &subring, |u, k| powers[u * k % index].clone());
        let inverse = matrix(&exponents, &units, &subring, |k, u| {
            let at = |k: usize| &powers[(index - u * k % index) % index];
            subring.scale(scale, &subring.sub(at(k), at(k % low)))
        });
        Ok(OtherAxis { degree: axis.degree, root: reduced(&odd.roots[place]), forward, inverse })
    }

    /// Applies a matrix along the axis, neighbors `inner` elements apart, in place.
    fn apply(&self, ring: &GaloisRing, elements: &mut [u64], inner: usize, matrix: &[u64]) {
        let (t, d) = (ring.modulus(), ring.degree());
        let (words, parts) = (inner * d, matrix.len() / self.degree / self.degree);
        for block in elements.chunks_exact_mut(self.degree * words) {
            let mut sums = Zeroizing::new(vec![vec![0; block.len()]; parts]);
            for w in 0..words {
                let column = Zeroizing::new(
                    block.iter().copied().skip(w).step_by(words).collect::<Vec<u64>>(),
                );
                for (i, row) in matrix.chunks_exact(self.degree).enumerate() {
                    sums[i % parts][i / parts * words + w] = dot(t, row, &column);
                }
            }
            // Σ sums_r ζ^r, by Horner.
            block.copy_from_slice(&sums[parts - 1]);
            for sum in sums[..parts - 1].iter().rev() {
                for (element, part) in block.chunks_exact_mut(d).zip(sum.chunks_exact(d)) {
                    let product = Zeroizing::new(ring.mul(&self.root, element));
                    element
                        .iter_mut()
                        .zip(part)
                        .zip(product.iter())
                        .for_each(|((x, &a), &b)| *x = t.add(a, b));
                }
            }
        }
    }
}

/// The entries of a matrix over `ring`, one row of residues for each output and coefficient of an
/// entry.
fn matrix(
    outputs: &[usize],
    inputs: &[usize],
    ring: &GaloisRing,
    entry: impl Fn(usize, usize) -> Vec<u64>,
) -> Vec<u64> {
    let row = |&o: &usize| {
        let entries: Vec<Vec<u64>> = inputs.iter().map(|&i| entry(o, i)).collect();
        (0..ring.degree())
            .flat_map(move |r| entries.iter().map(|entry| entry[r]).collect::<Vec<_>>())
    };
    outputs.iter().flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use everlevel_arith::{Backend, kernels};

    use super::*;

    #[test]
    fn correlations_are_their_sums_with_and_without_vectors() {
        let kernels = kernels::on(Backend::detect()).unwrap();
        // A word, an even modulus with short sums, one with long sums, and one above a word.
        for (p, e) in
            [(127, 3), (2, 10), (2, 20), (2, 24), (3, 31), (3, 39), (3, 40), (2, 61), (2, 64)]
        {
            let t = PrimePower::new(p, e).unwrap();
            let entry = |i: u64| t.reduce_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3);
            for (length, count) in [(1, 40), (45, 300), (2 * MAX_TERMS + 5, 3)] {
                // The second time with the largest sums there are.
                for top in [0, t.last()] {
                    let weights: Vec<u64> = (0..length as u64).map(|i| entry(i).max(top)).collect();
                    let sequence: Vec<u64> =
                        (0..(length + count) as u64).map(|i| entry(i + 7).max(top)).collect();
                    let sum = |i: usize| {
                        (0..length).fold(0, |s, j| t.add(s, t.mul(weights[j], sequence[i + j])))
                    };
                    assert_eq!(
                        *correlation(kernels, t, &weights, &sequence, count),
                        (0..count).map(sum).collect::<Vec<_>>(),
                        "{p}^{e}"
                    );
                }
            }
        }
    }
}
