//! Automorphisms of one ciphertext from one decomposition: stored, or made where they are combined.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::Modulus;
use rayon::prelude::*;

use super::access::limb;
use super::combine::{Diagonal, stretches};
use super::limb::Limb;
use super::processor::{CHUNK, Cpu, chunks};
use super::sum::within;
use crate::engine::Hoist;
use crate::gadget::KeyDigit;
use crate::galois::{EvaluationShift, GaloisElement};
use crate::poly::{Eval, Poly};

/// From so many bytes on, images are made where they are combined: fewer stay in a cache that is
/// shared by the cores, and are read from there faster than they are made anew for each stretch.
const STORED_BYTES: usize = 32 << 20;

/// The images of a ciphertext modulo one prime.
struct Images<'h> {
    position: usize,
    digits: Vec<Arc<Limb>>,
    /// What the components of the ciphertext are multiplied by; none where they vanish.
    factor: Option<u64>,
    components: &'h [Poly<Eval>],
    keyed: Vec<Keyed<'h>>,
}

/// One of them.
struct Keyed<'h> {
    /// Where places go to.
    forth: EvaluationShift,
    /// Where they come from.
    back: EvaluationShift,
    /// The key's limbs, of each component, digit by digit; none for the ciphertext itself.
    key: Option<Vec<Vec<&'h [u64]>>>,
}

impl Cpu {
    pub(super) fn hoisted(&self, hoist: &Hoist<'_, Cpu>) -> Vec<Vec<Poly<Eval>>> {
        let count = hoist.components.len();
        let positions: Vec<usize> = hoist.basis.iter().collect();
        // For each prime, for each automorphism, the limbs of its components.
        let columns = positions.par_iter().map(|&i| self.hoisted_limbs(hoist, i)).collect();
        self.assembled(hoist.basis, hoist.images.len(), count, columns)
    }

    /// Combinations of all images of some ciphertexts.
    pub(super) fn combined_images(
        &self,
        hoists: &[Hoist<'_, Cpu>],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval>>> {
        let Some(first) = hoists.first() else { return rows.iter().map(|_| Vec::new()).collect() };
        let images: usize = hoists.iter().map(|hoist| hoist.images.len()).sum();
        let limbs = images * first.components.len() * first.basis.len();
        if limbs * self.ring.degree() * size_of::<u64>() < STORED_BYTES {
            let images: Vec<_> = hoists.iter().flat_map(|hoist| self.hoisted(hoist)).collect();
            return self.combined(&images.iter().map(Vec::as_slice).collect::<Vec<_>>(), rows);
        }
        self.combined_unstored(first, hoists, rows)
    }

    /// The same without storing the images; `first` is one of `hoists`.
    fn combined_unstored(
        &self,
        first: &Hoist<'_, Cpu>,
        hoists: &[Hoist<'_, Cpu>],
        rows: &[Vec<Option<&Diagonal>>],
    ) -> Vec<Vec<Poly<Eval>>> {
        let (basis, count) = (first.basis, first.components.len());
        let positions: Vec<usize> = basis.iter().collect();
        let limbs = |&i: &usize| self.combined_image_limbs(hoists, rows, count, i);
        let columns = positions.par_iter().map(limbs).collect();
        self.assembled(basis, rows.len(), count, columns)
    }

    /// What all images of a ciphertext are made from, modulo prime i.
    fn images<'h>(&self, hoist: &'h Hoist<'_, Cpu>, i: usize) -> Images<'h> {
        let (ring, q) = (&self.ring, self.ring.modulus(i));
        let factor = || q.mul(ring.product_mod(hoist.raise, q), hoist.factor.modulo(ring, i));
        let cut = hoist.digits.as_ref();
        let keyed = |&(g, key): &(GaloisElement, Option<&'h Arc<[KeyDigit]>>)| Keyed {
            forth: g.evaluation_shift(ring),
            back: g.inverse(ring).evaluation_shift(ring),
            key: cut.zip(key).map(|(cut, key)| cut.key_limbs(key, i)),
        };
        Images {
            position: i,
            digits: cut.map_or(Vec::new(), |cut| cut.modulo(self, i, false)),
            factor: (!hoist.raise.contains(i)).then(factor),
            components: hoist.components,
            keyed: hoist.images.iter().map(keyed).collect(),
        }
    }

    /// Writes what the places `from` become, before they are moved.
    fn write_image(
        &self,
        q: Modulus,
        images: &Images<'_>,
        key: Option<&Vec<Vec<&[u64]>>>,
        outs: &mut [&mut [u64]],
        from: &Range<usize>,
    ) {
        let component = |k: usize| &limb(&images.components[k], images.position)[from.clone()];
        let Some(key) = key else {
            for (k, out) in outs.iter_mut().enumerate() {
                match images.factor {
                    Some(factor) => self.kernels.scalar_mul(q, out, component(k), factor),
                    None => out.fill(0),
                }
            }
            return;
        };
        let digits: Vec<&[u64]> = images.digits.iter().map(|d| &d[from.clone()]).collect();
        let key: Vec<_> = key.iter().map(|limbs| within(limbs, from)).collect();
        self.write_inner_products(q, outs, &digits, &key);
        let Some(factor) = images.factor else { return };
        // The last component is what the digits are of.
        let rest = images.components.len() - 1;
        for (k, out) in outs[..rest].iter_mut().enumerate() {
            self.kernels.scalar_mul_add_assign(q, out, component(k), factor);
        }
    }

    /// For each automorphism, the limbs of its components modulo prime i.
    fn hoisted_limbs(&self, hoist: &Hoist<'_, Cpu>, i: usize) -> Vec<Vec<Limb>> {
        let (q, count) = (self.ring.modulus(i), hoist.components.len());
        let images = self.images(hoist, i);
        let mut all: Vec<Vec<Limb>> =
            images.keyed.iter().map(|_| (0..count).map(|_| self.limb()).collect()).collect();
        // Chunk by chunk, so that the digits stay in the second-level cache while the keys stream
        // by.
        for chunk in chunks(&self.ring) {
            for (Keyed { forth, key, .. }, outs) in images.keyed.iter().zip(&mut all) {
                // Each contiguous piece goes straight to where the automorphism puts it.
                for (to, from) in forth.pieces_of(chunk.clone()) {
                    let mut outs: Vec<_> = outs.iter_mut().map(|x| &mut x[to.clone()]).collect();
                    self.write_image(q, &images, key.as_ref(), &mut outs, &from);
                }
            }
        }
        all
    }

    /// For each row, the limbs of its components modulo prime i; of the images, no more is made at
    /// a time than a near cache holds.
    fn combined_image_limbs(
        &self,
        hoists: &[Hoist<'_, Cpu>],
        rows: &[Vec<Option<&Diagonal>>],
        count: usize,
        i: usize,
    ) -> Vec<Vec<Limb>> {
        let q = self.ring.modulus(i);
        let all: Vec<Images<'_>> = hoists.iter().map(|hoist| self.images(hoist, i)).collect();
        let inputs: usize = all.iter().map(|images| images.keyed.len()).sum();
        let mut sums: Vec<Vec<Limb>> =
            rows.iter().map(|_| (0..count).map(|_| self.limb()).collect()).collect();
        // In one piece: limbs are a power of two apart, and would meet in a few lines of a cache.
        let mut made = vec![0; inputs * count * CHUNK];
        for places in stretches(rows, self.ring.degree()) {
            let len = places.len();
            let keyed = all.iter().flat_map(|x| x.keyed.iter().map(move |image| (x, image)));
            for ((images, Keyed { back, key, .. }), made) in
                keyed.zip(made.chunks_exact_mut(count * CHUNK))
            {
                let mut outs: Vec<&mut [u64]> = made.chunks_exact_mut(CHUNK).collect();
                for (from, to) in back.pieces_of(places.clone()) {
                    let to = to.start - places.start..to.end - places.start;
                    let mut outs: Vec<_> = outs.iter_mut().map(|x| &mut x[to.clone()]).collect();
                    self.write_image(q, images, key.as_ref(), &mut outs, &from);
                }
            }
            let input = |j: usize, k: usize| &made[(j * count + k) * CHUNK..][..len];
            self.write_rows(q, i, rows, &places, input, &mut sums);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use everlevel_arith::{Backend, primes};

    use super::super::access::limbs;
    use super::*;
    use crate::basis::Basis;
    use crate::constant::Constant;
    use crate::engine::{Engine, Source};
    use crate::gadget::Gadget;
    use crate::ring::Ring;
    use crate::sample;

    /// Rings of several stretches of places; diagonals of short and of long periods, whose ends
    /// are no multiples of a stretch over odd indices; two ciphertexts, the identity among the
    /// images with and without a key.
    #[test]
    fn images_that_are_not_stored_are_those_that_are() {
        for index in [16384, 16 * 523, 4369, 11 * 523] {
            let step = Ring::prime_step(index).unwrap();
            let moduli: Vec<u64> = primes::primes_congruent_one(step, 1 << 45).take(4).collect();
            let ring = Arc::new(Ring::new(index, &moduli).unwrap());
            let cpu = Cpu::new(ring.clone(), Backend::detect()).unwrap();
            let (level, special) = (Basis::of([0, 1]), Basis::of([2, 3]));
            let gadget = Gadget::new(special, vec![Basis::of([0]), Basis::of([1])]);
            let drawn = |place, basis| sample::expand(&cpu, &[3; 32], place, basis);
            let digit = |place: u32, group: usize| {
                let component = |k| drawn(100 * place + 2 * group as u32 + k, Basis::of(0..4));
                KeyDigit { group, components: vec![component(0), component(1)] }
            };
            let key = |place| Arc::from([0, 1].map(|group| digit(place, group)));
            let keys: [Arc<[KeyDigit]>; 3] = [1, 2, 3].map(key);
            let unit = |start: u64| {
                (start..index).find_map(|g| GaloisElement::new(index, g).ok()).expect("a unit")
            };
            let xs = [20, 30].map(|place| [drawn(place, level), drawn(place + 1, level)]);
            let hoists = || {
                let images = vec![
                    (GaloisElement::IDENTITY, None),
                    (unit(index / 3), Some(&keys[0])),
                    (unit(index / 2 + 1), Some(&keys[1])),
                    (GaloisElement::IDENTITY, Some(&keys[2])),
                ];
                xs.each_ref().map(|x| Hoist {
                    basis: level.union(special),
                    digits: Some(cpu.decompose(&gadget, Source::Eval(&x[1], 7))),
                    images: images.clone(),
                    components: x,
                    raise: special,
                    factor: Constant::inverse(7),
                })
            };
            let coefficients: Vec<i64> = (0..ring.degree() as i64).map(|k| k % 29 - 14).collect();
            let fits = |n: &usize| cpu.diagonal(&coefficients[..*n], Basis::of([0])).is_ok();
            let counts: Vec<usize> = (1..=ring.degree()).filter(fits).collect();
            assert!(counts.len() > 1, "several periods");
            let diagonal = |n: &usize| cpu.diagonal(&coefficients[..*n], level.union(special));
            let diagonals: Vec<Diagonal> = counts.iter().map(|n| diagonal(n).unwrap()).collect();
            let entry = |k: usize| Some(&diagonals[k % diagonals.len()]);
            let rows: Vec<Vec<Option<&Diagonal>>> = vec![
                (0..8).map(entry).collect(),
                (0..8).map(|k| entry(3 * k + 1).filter(|_| k % 3 == 1)).collect(),
            ];
            let made = hoists();
            let unstored = cpu.combined_unstored(&made[0], &made, &rows);
            let images: Vec<_> = hoists().iter().flat_map(|hoist| cpu.hoisted(hoist)).collect();
            let images: Vec<&[Poly<Eval>]> = images.iter().map(Vec::as_slice).collect();
            let stored = cpu.combined(&images, &rows);
            assert_eq!((unstored.len(), unstored[0].len()), (2, 2));
            for (x, y) in unstored.iter().flatten().zip(stored.iter().flatten()) {
                assert!(limbs(x).iter().zip(limbs(y)).all(|(x, y)| x[..] == y[..]), "{index}");
            }
        }
    }
}
