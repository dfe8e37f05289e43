//! The cost of an evaluation, counted by the code that performs it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use everlevel_ring::Basis;

/// A snapshot of [`Counters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Transforms of one limb.
    pub transforms: u64,
    /// Key switches (relinearizations included).
    pub key_switches: u64,
    /// Relinearizations alone.
    pub relinearizations: u64,
    /// Products of two ciphertexts.
    pub products: u64,
    /// Words read or written by limb-wise kernels, transforms excluded, times 8.
    pub bytes: u64,
    /// Words of switching keys among these, times 8: each is read once, and multiplied by a word
    /// of a digit.
    pub key_bytes: u64,
    /// Terms of all other sums of products, word by word: of conversions between bases, and of
    /// plaintext diagonals.
    pub terms: u64,
    /// Words of ciphertexts that are multiplied by constants in linear combinations, times 8, once
    /// for each combination; they are not among `bytes`.
    pub scaled_bytes: u64,
    /// Roundings of ciphertexts: divisions by P or by dropped primes.
    pub roundings: u64,
}

impl std::ops::Sub for Cost {
    type Output = Cost;
    fn sub(self, earlier: Cost) -> Cost {
        Cost {
            transforms: self.transforms - earlier.transforms,
            key_switches: self.key_switches - earlier.key_switches,
            relinearizations: self.relinearizations - earlier.relinearizations,
            products: self.products - earlier.products,
            bytes: self.bytes - earlier.bytes,
            key_bytes: self.key_bytes - earlier.key_bytes,
            terms: self.terms - earlier.terms,
            scaled_bytes: self.scaled_bytes - earlier.scaled_bytes,
            roundings: self.roundings - earlier.roundings,
        }
    }
}

impl std::ops::Div<u64> for Cost {
    type Output = Cost;
    /// The share of one of `parts` equal parts.
    fn div(self, parts: u64) -> Cost {
        Cost {
            transforms: self.transforms / parts,
            key_switches: self.key_switches / parts,
            relinearizations: self.relinearizations / parts,
            products: self.products / parts,
            bytes: self.bytes / parts,
            key_bytes: self.key_bytes / parts,
            terms: self.terms / parts,
            scaled_bytes: self.scaled_bytes / parts,
            roundings: self.roundings / parts,
        }
    }
}

/// Counters of one evaluator, safe to bump from many threads.
#[derive(Debug, Default)]
pub struct Counters {
    transforms: AtomicU64,
    key_switches: AtomicU64,
    relinearizations: AtomicU64,
    products: AtomicU64,
    bytes: AtomicU64,
    key_bytes: AtomicU64,
    terms: AtomicU64,
    scaled_bytes: AtomicU64,
    roundings: AtomicU64,
}

impl Counters {
    /// The counts so far.
    pub fn snapshot(&self) -> Cost {
        Cost {
            transforms: self.transforms.load(Relaxed),
            key_switches: self.key_switches.load(Relaxed),
            relinearizations: self.relinearizations.load(Relaxed),
            products: self.products.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            key_bytes: self.key_bytes.load(Relaxed),
            terms: self.terms.load(Relaxed),
            scaled_bytes: self.scaled_bytes.load(Relaxed),
            roundings: self.roundings.load(Relaxed),
        }
    }

    /// A relinearization, beside its key switch.
    pub fn relinearization(&self) {
        self.relinearizations.fetch_add(1, Relaxed);
    }

    /// A product of two ciphertexts.
    pub fn product(&self) {
        self.products.fetch_add(1, Relaxed);
    }

    /// `count` passes over limbs of `degree` words.
    pub fn limbs(&self, count: usize, degree: usize) {
        self.bytes.fetch_add((count * degree * 8) as u64, Relaxed);
    }

    /// `count` terms of sums of products, each over limbs of `degree` words.
    pub fn terms(&self, count: usize, degree: usize) {
        self.terms.fetch_add((count * degree) as u64, Relaxed);
    }

    /// `count` limbs of `degree` words that are multiplied by a constant.
    pub fn scaled(&self, count: usize, degree: usize) {
        self.scaled_bytes.fetch_add((count * degree * 8) as u64, Relaxed);
    }

    /// Counts transforms of one limb.
    pub fn transforms(&self, count: usize) {
        self.transforms.fetch_add(count as u64, Relaxed);
    }

    /// The division of a ciphertext's `polynomials` that takes them from one basis to another.
    pub fn rounding(&self, polynomials: usize, from: Basis, to: Basis, degree: usize) {
        self.roundings.fetch_add(1, Relaxed);
        // What falls is read and written once; each limb that remains: the remainder is written,
        // then read with the limb, the result is written.
        let lost = from.minus(to).len();
        self.limbs(polynomials * (2 * lost + 4 * to.len()), degree);
        self.terms(polynomials * lost * to.len(), degree);
    }

    /// `count` key switches of `components` components from one decomposition: `limbs` limbs in the
    /// basis, `digits` digits, `special` special primes.
    pub fn key_switch(
        &self,
        components: usize,
        count: usize,
        limbs: usize,
        digits: usize,
        special: usize,
        degree: usize,
    ) {
        self.key_switches.fetch_add(count as u64, Relaxed);
        // Digits are written once and read by each inner product with a key limb for each
        // component, one limb of which is written.
        let extended = limbs + special;
        self.limbs(digits * extended + 2 * limbs, degree);
        self.limbs(count * ((components + 1) * digits + components) * extended, degree);
        let keys = count * components * digits * extended;
        self.key_bytes.fetch_add((keys * degree * 8) as u64, Relaxed);
        // Each limb of a digit is a term of the limbs that the digit does not have, digits being of
        // equal length.
        self.terms(limbs * (extended - limbs / digits.max(1)), degree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_terms_are_counted_apart() {
        let counters = Counters::default();
        // Six limbs in three digits, two special primes; two rotations of two components.
        counters.key_switch(2, 2, 6, 3, 2, 16);
        let cost = counters.snapshot();
        assert_eq!(cost.key_bytes, 2 * 2 * 3 * 8 * 16 * 8);
        assert_eq!(cost.terms, 6 * (8 - 2) * 16);
        assert!(cost.key_bytes < cost.bytes);
        // Two components fall from eight primes to six, and no key is read.
        counters.rounding(2, Basis::of(0..8), Basis::of(0..6), 16);
        let rounding = counters.snapshot() - cost;
        assert_eq!((rounding.key_bytes, rounding.terms), (0, 2 * 2 * 6 * 16));
        counters.terms(5, 16);
        assert_eq!((counters.snapshot() - cost).terms, rounding.terms + 5 * 16);
        counters.scaled(3, 16);
        let scaled = counters.snapshot() - cost;
        assert_eq!((scaled.scaled_bytes, scaled.bytes), (3 * 16 * 8, rounding.bytes));
    }
}
