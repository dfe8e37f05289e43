//! Several automorphisms of one ciphertext from one decomposition.

use std::sync::Arc;

use everlevel_ring::{Eval, GaloisElement, Hoist, Hoisted, Poly, Rest, Sum, Use};

use crate::arguments::{
    COMPONENTS, HOISTED_DIGITS, HoistOf, IMAGES_A_LAUNCH, ImageArguments, Operand, Operation,
    for_each, positions,
};
use crate::gpu::Gpu;
use crate::library::Address;
use crate::memory::{Limbs, Slab};
use crate::sums::{Digits, Key, Target};

impl Gpu {
    /// Automorphisms of ciphertexts.
    pub(crate) fn hoisted(&self, hoist: &Hoist<'_, Gpu>) -> Vec<Vec<Vec<Poly<Eval, Gpu>>>> {
        hoist.sources.iter().map(|source| self.images(hoist, source)).collect()
    }

    fn images(
        &self,
        hoist: &Hoist<'_, Gpu>,
        source: &Hoisted<'_, Gpu>,
    ) -> Vec<Vec<Poly<Eval, Gpu>>> {
        let (n, basis) = (self.ring.degree(), hoist.basis);
        let (components, stride) = (source.components.len(), basis.len() * n);
        let at = |k: usize, slab: &Arc<Slab>| slab.address() + (k * stride * 8) as Address;
        let slabs: Vec<Arc<Slab>> =
            hoist.images.iter().map(|_| self.slab(components * stride)).collect();
        let mut launched = Vec::new();
        for (&(g, key), slab) in hoist.images.iter().zip(&slabs) {
            let outputs: Vec<Address> = (0..components).map(|k| at(k, slab)).collect();
            let Some(key) = key else {
                self.write_itself(hoist, source, &outputs);
                continue;
            };
            let digits = source.digits.as_ref().expect("digits for every key");
            if components > COMPONENTS || digits.groups.len() > HOISTED_DIGITS {
                self.write_sum_image(hoist, source, (g, key), digits, &outputs);
                continue;
            }
            let (flip, shift) = self.automorphism(g);
            launched.push(ImageArguments {
                key: key.arguments(digits, 0..digits.groups.len()),
                output: slab.address(),
                flip,
                shift,
            });
        }
        if let Some(digits) = &source.digits {
            let mut rest = [Operand::default(); COMPONENTS - 1];
            let constants = source.components.split_last().map_or(&[][..], |(_, rest)| rest);
            rest.iter_mut().zip(constants).for_each(|(to, x)| *to = x.limbs().operand());
            for images in launched.chunks(IMAGES_A_LAUNCH) {
                let mut image = [ImageArguments::default(); IMAGES_A_LAUNCH];
                image[..images.len()].copy_from_slice(images);
                let arguments = HoistOf {
                    primes: self.primes,
                    digits: digits.limbs.operand(),
                    digit_stride: (digits.extended.len() * n) as u64,
                    output_stride: stride as u64,
                    rest,
                    n: n as u32,
                    count: digits.groups.len() as u32,
                    components: components as u32,
                    images: images.len() as u32,
                    prime: positions(basis),
                    rest_factor: for_each(basis, |i| self.hoisted_factor(hoist, i)),
                    image,
                };
                self.over(&arguments, basis);
            }
        }
        let poly = |slab: &Arc<Slab>, k: usize| {
            let limbs = Limbs { slab: slab.clone(), offset: k * stride, whole: basis };
            self.poly(basis, limbs)
        };
        slabs.iter().map(|slab| (0..components).map(|k| poly(slab, k)).collect()).collect()
    }

    /// What a ciphertext is multiplied by modulo a prime.
    fn hoisted_factor(&self, hoist: &Hoist<'_, Gpu>, i: usize) -> u64 {
        self.rest_factor(hoist.raise, hoist.factor, i)
    }

    /// Writes the image that has no key.
    fn write_itself(&self, hoist: &Hoist<'_, Gpu>, source: &Hoisted<'_, Gpu>, outputs: &[Address]) {
        let (vanishing, kept) =
            (hoist.basis.intersection(hoist.raise), hoist.basis.minus(hoist.raise));
        for (component, &output) in source.components.iter().zip(outputs) {
            let operands = [component.limbs().operand(), Operand::default(), Operand::default()];
            let out = (output, hoist.basis);
            let factor = |i| self.constant_of(i, self.hoisted_factor(hoist, i));
            self.elements(Operation::Scale, out, kept, operands, factor);
            self.clear_limbs(out, vanishing);
        }
    }

    /// Writes an image with more digits or components than a launch for several images takes: as a
    /// sum, which takes any number.
    fn write_sum_image(
        &self,
        hoist: &Hoist<'_, Gpu>,
        source: &Hoisted<'_, Gpu>,
        (automorphism, key): (GaloisElement, &Key),
        digits: &Digits,
        outputs: &[Address],
    ) {
        let mut rest: Vec<Rest<'_, Gpu>> = source.components.iter().map(Rest::Poly).collect();
        // The last component is what the digits are of.
        if let Some(last) = rest.last_mut() {
            *last = Rest::None;
        }
        let sum = Sum {
            basis: hoist.basis,
            switched: Some((Use::Shared(digits), key)),
            rest,
            raise: hoist.raise,
            factor: hoist.factor,
            automorphism,
        };
        let target = Target { outputs, whole: hoist.basis, accumulate: false };
        self.write_sum(&sum, hoist.basis, target, |_| 1);
    }
}
