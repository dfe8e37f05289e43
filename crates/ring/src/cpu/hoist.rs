//! Images of ciphertexts under automorphisms, made together: a part of a key is read once for all
//! ciphertexts.

use std::ops::Range;
use std::sync::Arc;

use everlevel_arith::Modulus;
use rayon::prelude::*;

use super::access::limb;
use super::keys::KeyLimbs;
use super::limb::Limb;
use super::processor::{CHUNK, Cpu, chunks};
use super::timings::Work;
use crate::engine::{Hoist, Hoisted};
use crate::gadget::KeyDigit;
use crate::galois::GaloisElement;
use crate::poly::{Eval, Poly};

impl Cpu {
    pub(super) fn hoisted(&self, hoist: &Hoist<'_, Cpu>) -> Vec<Vec<Vec<Poly<Eval>>>> {
        let Some(first) = hoist.sources.first() else { return Vec::new() };
        let (images, count) = (hoist.images.len(), first.components.len());
        let positions: Vec<usize> = hoist.basis.iter().collect();
        // Automorphisms take places all over the limbs, so a task that is divided is by images.
        let share = self.blocks(positions.len()).share(images);
        // For each prime, for each image of each ciphertext, the limbs of its components.
        let columns = positions.par_iter().map(|&i| self.hoisted_limbs(hoist, i, share)).collect();
        let results = hoist.sources.len() * images;
        let mut all = self.assembled(hoist.basis, results, count, columns).into_iter();
        hoist.sources.iter().map(|_| all.by_ref().take(images).collect()).collect()
    }

    /// For each ciphertext, for each automorphism, the limbs of its components modulo prime i: some
    /// automorphisms by a task.
    fn hoisted_limbs(&self, hoist: &Hoist<'_, Cpu>, i: usize, share: usize) -> Vec<Vec<Limb>> {
        let works: Vec<HoistedLimbs<'_>> =
            hoist.sources.iter().map(|source| HoistedLimbs::new(self, hoist, source, i)).collect();
        // For each automorphism, for each ciphertext, the limbs of its components.
        let limbs = |source: &Hoisted<'_, Cpu>| -> Vec<Limb> {
            source.components.iter().map(|_| self.limb()).collect()
        };
        let image = |_| -> Vec<Vec<Limb>> { hoist.sources.iter().map(limbs).collect() };
        let mut outs: Vec<Vec<Vec<Limb>>> = hoist.images.iter().map(image).collect();
        outs.par_chunks_mut(share)
            .zip(hoist.images.par_chunks(share))
            .for_each(|(outs, images)| self.write_images(hoist, &works, i, images, outs));
        let mut all = Vec::with_capacity(works.len() * outs.len());
        for source in 0..works.len() {
            all.extend(outs.iter_mut().map(|image| std::mem::take(&mut image[source])));
        }
        all
    }

    /// The images of all ciphertexts under some automorphisms, modulo prime i.
    fn write_images(
        &self,
        hoist: &Hoist<'_, Cpu>,
        works: &[HoistedLimbs<'_>],
        i: usize,
        images: &[Image<'_>],
        outs: &mut [Vec<Vec<Limb>>],
    ) {
        let _timer = self.time(Work::KeyProducts);
        // The digits of all ciphertexts have the same primes, and so the same parts of the keys.
        let cut = hoist.sources.iter().find_map(|source| source.digits.as_ref());
        let mut keys: Vec<Option<KeyLimbs<'_>>> = images
            .iter()
            .map(|(_, key)| key.zip(cut).map(|(key, cut)| cut.key_limbs(self, key, i)))
            .collect();
        for (outs, _) in outs.iter_mut().zip(images).filter(|(_, (_, key))| key.is_none()) {
            works.iter().zip(outs).for_each(|(work, outs)| work.write_itself(self, outs));
        }
        if keys.iter().all(Option::is_none) {
            return;
        }
        // Chunk by chunk, so that the digits of all ciphertexts stay in the second-level cache
        // while the keys stream by, and a part of a key while it is used for each of them.
        for chunk in chunks(0..self.ring.degree(), CHUNK / works.len()) {
            for ((outs, &(g, _)), key) in outs.iter_mut().zip(images).zip(&mut keys) {
                let Some(key) = key else { continue };
                key.expand(&chunk);
                // Each contiguous piece goes straight to where the automorphism puts it.
                for (to, from) in g.evaluation_shift(&self.ring).pieces_of(chunk.clone()) {
                    works.iter().zip(&mut *outs).for_each(|(work, outs)| {
                        work.write(self, key, outs, &to, &from);
                    });
                }
            }
        }
    }
}

/// An automorphism with its key, if it has one.
type Image<'a> = (GaloisElement, Option<&'a Arc<[KeyDigit]>>);

/// One ciphertext modulo one prime, while its images are made.
struct HoistedLimbs<'a> {
    q: Modulus,
    /// What the ciphertext is multiplied by; 0 modulo the primes of P.
    factor: u64,
    digits: Vec<Arc<Limb>>,
    /// The components, where they do not vanish.
    components: Vec<&'a Limb>,
}

impl<'a> HoistedLimbs<'a> {
    /// Modulo the prime at `i`.
    fn new(cpu: &Cpu, hoist: &Hoist<'_, Cpu>, source: &'a Hoisted<'_, Cpu>, i: usize) -> Self {
        let (ring, q) = (&cpu.ring, cpu.ring.modulus(i));
        let ordinary = !hoist.raise.contains(i);
        let factor = || q.mul(ring.product_mod(hoist.raise, q), hoist.factor.modulo(ring, i));
        let digits = source.digits.as_ref().map(|cut| cut.modulo(cpu, i, false));
        HoistedLimbs {
            q,
            factor: if ordinary { factor() } else { 0 },
            digits: digits.unwrap_or_default(),
            components: match ordinary {
                true => source.components.iter().map(|c| limb(c, i)).collect(),
                false => Vec::new(),
            },
        }
    }

    /// Writes the image that has no key.
    fn write_itself(&self, cpu: &Cpu, outs: &mut [Limb]) {
        for (k, out) in outs.iter_mut().enumerate() {
            match self.components.get(k) {
                Some(c) => cpu.kernels.scalar_mul(self.q, out, c, self.factor),
                None => out.fill(0),
            }
        }
    }

    /// Writes the image under an automorphism, the key of which is given, from the places `from` to
    /// the places `to`.
    fn write(
        &self,
        cpu: &Cpu,
        key: &KeyLimbs<'_>,
        outs: &mut [Limb],
        to: &Range<usize>,
        from: &Range<usize>,
    ) {
        let digits: Vec<&[u64]> = self.digits.iter().map(|d| &d[from.clone()]).collect();
        key.write_products((cpu.kernels, self.q), outs, to, &digits, from);
        // The last component is what the digits are of.
        let constants = self.components.split_last().map_or(&[][..], |(_, constants)| constants);
        for (out, c) in outs.iter_mut().zip(constants) {
            let (out, c) = (&mut out[to.clone()], &c[from.clone()]);
            cpu.kernels.scalar_mul_add_assign(self.q, out, c, self.factor);
        }
    }
}
