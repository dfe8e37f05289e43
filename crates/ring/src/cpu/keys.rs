//! Switching keys in the memory of the processor.
//!
//! They are what takes most memory, and every residue is read once a use: packed, they are 22 %
//! smaller, and products with them wait for memory that much less, which pays with AVX-512; with
//! four lanes unpacking takes longer than it saves. A uniformly random polynomial can stay its
//! seed, and is then expanded a few words at a time wherever it is used.

use std::ops::{DerefMut, Range};
use std::sync::Arc;

use everlevel_arith::kernels::Kernels;
use everlevel_arith::{Backend, Modulus, pack, unpack};
use rayon::prelude::*;

use super::access::{limb, limbs, within};
use super::limb::Limb;
use super::processor::Cpu;
use crate::basis::Basis;
use crate::poly::{Eval, Poly};
use crate::sample::{Seed, Uniform, expand};

/// A polynomial of a switching key, in evaluations. Copies share their memory.
#[derive(Clone)]
pub struct KeyPoly {
    basis: Basis,
    degree: usize,
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// A word for each residue.
    Words(Poly<Eval>),
    /// Packed limbs, in the order of the basis.
    Packed(Arc<[Limb]>),
    /// The uniform polynomial ([`expand`]) of a seed and a component.
    Seeded(Seed, u32),
}

impl Cpu {
    /// Whether residues of keys are packed in memory.
    pub fn packs_keys(&self) -> bool {
        self.backend() == Backend::Avx512
    }
}

impl KeyPoly {
    /// A polynomial, packed if the engine multiplies packed ones as fast as others.
    pub fn new(cpu: &Cpu, x: Poly<Eval>) -> Self {
        match cpu.packs_keys() {
            true => Self::packed(cpu, &x),
            false => KeyPoly { basis: x.basis(), degree: x.degree(), form: Form::Words(x) },
        }
    }

    /// A polynomial, packed.
    pub fn packed(cpu: &Cpu, x: &Poly<Eval>) -> Self {
        let packed = |limb: &Arc<Limb>| {
            let mut packed = cpu.packed_limb();
            pack(limb, &mut packed);
            packed
        };
        let limbs: Vec<Limb> = limbs(x).par_iter().map(packed).collect();
        KeyPoly { basis: x.basis(), degree: x.degree(), form: Form::Packed(limbs.into()) }
    }

    /// The uniform polynomial (`seed`, `component`) over `basis`, not expanded: see
    /// [`sample::expand`](crate::sample::expand).
    pub fn seeded(cpu: &Cpu, seed: &Seed, component: u32, basis: Basis) -> Self {
        KeyPoly { basis, degree: cpu.ring().degree(), form: Form::Seeded(*seed, component) }
    }

    /// Whether it is expanded from its seed wherever it is used.
    pub(super) fn is_seeded(&self) -> bool {
        matches!(self.form, Form::Seeded(..))
    }

    /// The primes.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The polynomial.
    pub fn expanded(&self, cpu: &Cpu) -> Poly<Eval> {
        match &self.form {
            Form::Words(x) => x.clone(),
            Form::Packed(packed) => {
                let unpacked = |packed: &Limb| {
                    let mut limb = cpu.limb();
                    unpack(packed, 0, &mut limb);
                    limb
                };
                cpu.poly(self.basis, packed.par_iter().map(unpacked).collect())
            }
            Form::Seeded(seed, component) => expand(cpu, seed, *component, self.basis),
        }
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> u64 {
        match &self.form {
            Form::Words(_) => self.expanded_bytes(),
            Form::Packed(limbs) => limbs.iter().map(|limb| size_of_val(&limb[..]) as u64).sum(),
            Form::Seeded(..) => size_of::<Seed>() as u64,
        }
    }

    /// Bytes of the polynomial with a word for each residue.
    pub fn expanded_bytes(&self) -> u64 {
        (self.basis.len() * self.degree * size_of::<u64>()) as u64
    }

    /// What the residues modulo the prime at `position` come from.
    fn source(&self, cpu: &Cpu, position: usize) -> Source<'_> {
        match &self.form {
            Form::Words(x) => Source::Words(limb(x, position)),
            Form::Packed(limbs) => {
                let place = self.basis.limb_of(position).expect("the key was checked to cover it");
                Source::Packed(&limbs[place])
            }
            Form::Seeded(seed, component) => {
                Source::Seeded(Box::new(Uniform::new(cpu, seed, *component, position)))
            }
        }
    }
}

/// What the residues of one polynomial modulo one prime come from.
enum Source<'k> {
    Words(&'k [u64]),
    Packed(&'k [u64]),
    Seeded(Box<Uniform>),
}

/// The polynomials of one component of a key modulo one prime, digit by digit.
enum Rows<'k> {
    /// All of them as words.
    Words(Vec<&'k [u64]>),
    /// All of them packed.
    Packed(Vec<&'k [u64]>),
    /// In several forms, or to be expanded: the residues at the places from the given one on.
    Expanded(Vec<(Source<'k>, Vec<u64>)>, usize),
}

impl<'k> Rows<'k> {
    fn new(sources: Vec<Source<'k>>) -> Self {
        let words = |source: &Source<'k>| match source {
            Source::Words(limb) => Some(*limb),
            _ => None,
        };
        let packed = |source: &Source<'k>| match source {
            Source::Packed(limb) => Some(*limb),
            _ => None,
        };
        let all: Option<Vec<&'k [u64]>> = sources.iter().map(words).collect();
        if let Some(limbs) = all {
            return Rows::Words(limbs);
        }
        let all: Option<Vec<&'k [u64]>> = sources.iter().map(packed).collect();
        match all {
            Some(limbs) => Rows::Packed(limbs),
            None => Rows::Expanded(sources.into_iter().map(|s| (s, Vec::new())).collect(), 0),
        }
    }

    /// Makes the places of a chunk ready, the next one in order if a polynomial has a seed.
    fn expand(&mut self, chunk: &Range<usize>) {
        let Rows::Expanded(rows, start) = self else { return };
        *start = chunk.start;
        for (source, words) in rows {
            words.resize(chunk.len(), 0);
            match source {
                Source::Words(limb) => words.copy_from_slice(&limb[chunk.clone()]),
                Source::Packed(limb) => unpack(limb, chunk.start, words),
                Source::Seeded(stream) => stream.fill(words),
            }
        }
    }

    /// The residues at the places `from`, of which `rows` hold those from `start` on.
    fn expanded<'r>(
        rows: &'r [(Source<'k>, Vec<u64>)],
        start: usize,
        from: &Range<usize>,
    ) -> Vec<&'r [u64]> {
        rows.iter().map(|(_, words)| &words[from.start - start..from.end - start]).collect()
    }
}

/// A key modulo one prime, for some digits.
pub(super) struct KeyLimbs<'k>(Vec<Rows<'k>>);

impl<'k> KeyLimbs<'k> {
    /// From the polynomials of each component, digit by digit.
    pub(super) fn new(
        cpu: &Cpu,
        position: usize,
        components: impl Iterator<Item = Vec<&'k KeyPoly>>,
    ) -> Self {
        let rows = |polys: Vec<&'k KeyPoly>| {
            Rows::new(polys.into_iter().map(|poly| poly.source(cpu, position)).collect())
        };
        KeyLimbs(components.map(rows).collect())
    }

    /// Makes the places of a chunk ready; every chunk is asked for once, in order, if a polynomial
    /// has a seed.
    pub(super) fn expand(&mut self, chunk: &Range<usize>) {
        self.0.iter_mut().for_each(|rows| rows.expand(chunk));
    }

    /// Writes Σ digits_j key_kj to the places `to` of every component k, from the places `from` of
    /// the chunk; the digits are those at these places.
    pub(super) fn write_products(
        &self,
        (kernels, q): (&Kernels, Modulus),
        outs: &mut [impl DerefMut<Target = [u64]>],
        to: &Range<usize>,
        digits: &[&[u64]],
        from: &Range<usize>,
    ) {
        match (&mut *outs, &self.0[..]) {
            ([o0, o1], [Rows::Packed(b), Rows::Packed(a)]) => {
                let (o0, o1) = (&mut o0[to.clone()], &mut o1[to.clone()]);
                return kernels.packed_product2(q, o0, o1, digits, b, a, from.start);
            }
            ([o0, o1], [Rows::Words(b), Rows::Words(a)]) => {
                let (o0, o1) = (&mut o0[to.clone()], &mut o1[to.clone()]);
                let (b, a) = (within(b, from), within(a, from));
                return kernels.inner_product2(q, o0, o1, digits, &b, &a);
            }
            _ => {}
        }
        for (out, rows) in outs.iter_mut().zip(&self.0) {
            let out = &mut out[to.clone()];
            match rows {
                Rows::Words(key) => kernels.inner_product(q, out, digits, &within(key, from)),
                Rows::Packed(key) => kernels.packed_product(q, out, digits, key, from.start),
                Rows::Expanded(rows, start) => {
                    kernels.inner_product(q, out, digits, &Rows::expanded(rows, *start, from));
                }
            }
        }
    }

    /// Adds c Σ digits_j key_kj to places of component k, as [`KeyLimbs::write_products`].
    pub(super) fn add_scaled_products(
        &self,
        (kernels, q): (&Kernels, Modulus),
        (k, out): (usize, &mut [u64]),
        digits: &[&[u64]],
        from: &Range<usize>,
        c: u64,
    ) {
        match self.0.get(k) {
            None => {}
            Some(Rows::Words(key)) => {
                kernels.inner_product_scale_add(q, out, digits, &within(key, from), c);
            }
            Some(Rows::Packed(key)) => {
                kernels.packed_product_scale_add(q, out, digits, key, from.start, c);
            }
            Some(Rows::Expanded(rows, start)) => {
                let key = Rows::expanded(rows, *start, from);
                kernels.inner_product_scale_add(q, out, digits, &key, c);
            }
        }
    }
}
