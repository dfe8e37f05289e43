//! Large rings, whose transforms take two passes: the same bits as on the processor.

use std::sync::Arc;

use everlevel_ring::cpu::{fingerprint, limbs_mut};
use everlevel_ring::{
    Backend, Basis, Coeff, Constant, Cpu, Engine, Eval, Gadget, GaloisElement, Hoist, Hoisted,
    IntegerDigits, IntegerMap, KeyDigit, KeyPoly, Poly, PrimePower, Rest, RoundingScale, Source,
    Sum, Use, sample,
};

use crate::{device, ring};

/// Polynomials of residues that are uniform, largest and 0.
fn operands(host: &Cpu, basis: Basis) -> Vec<Poly<Eval>> {
    let mut all: Vec<Poly<Eval>> =
        (0..3).map(|k| sample::expand(host, &[k; 32], 1, basis)).collect();
    let mut largest = all[0].clone();
    for (i, limb) in basis.iter().zip(limbs_mut(&mut largest)) {
        limb.fill(host.ring().modulus(i).value() - 1);
    }
    all.extend([largest, host.zero(basis)]);
    all
}

/// What operations leave, as digests.
struct Digests<'e, E: Engine> {
    engine: &'e E,
    found: Vec<(String, u64)>,
}

impl<E: Engine> Digests<'_, E> {
    fn eval(&mut self, name: &str, polys: impl IntoIterator<Item = Poly<Eval, E>>) {
        for x in polys {
            let x = self.engine.download(&x).unwrap();
            self.found.push((name.into(), fingerprint(&[x])));
        }
    }

    fn coeff(&mut self, name: &str, polys: impl IntoIterator<Item = Poly<Coeff, E>>) {
        for x in polys {
            let x = self.engine.download(&x).unwrap();
            self.found.push((name.into(), fingerprint(&[x])));
        }
    }
}

/// Of the operands, those of these numbers are transformed, divided and taken apart; all are
/// combined.
fn digests<E: Engine>(engine: &E, host: &Cpu, each: &[usize]) -> Vec<(String, u64)> {
    let (all, special, level) = (Basis::of(0..7), Basis::of([5, 6]), Basis::of(0..5));
    let gadget = Gadget::new(special, vec![Basis::of([0, 1]), Basis::of([2, 3]), Basis::of([4])]);
    let mut out = Digests { engine, found: Vec::new() };
    let host_polys = operands(host, all);
    let polys: Vec<_> = host_polys.iter().map(|x| engine.upload(x)).collect();
    for x in each.iter().map(|&k| &polys[k]) {
        out.coeff("intt", [engine.intt(x.clone())]);
        out.eval("ntt", [engine.ntt(engine.intt(x.clone()))]);
        let as_coefficients = engine.intt(x.clone());
        out.eval("ntt of some", [engine.ntt(as_coefficients.restricted(Basis::of([1, 4, 6])))]);
        let low = as_coefficients.restricted(Basis::of([0, 2, 3]));
        out.coeff("convert", engine.convert(vec![low], Basis::of([1, 4, 5, 6])));
        out.eval("extend", engine.extend(&[x.restricted(level)], special));
        out.eval("mul", [engine.mul(x, &polys[0])]);
    }
    for k in [0, 1, -7, 12345] {
        out.eval("monomial", [engine.monomial(all, k)]);
    }
    let poly = |k| KeyPoly::new(host, sample::expand(host, &[9; 32], k, all));
    let digit = |group| KeyDigit {
        group,
        components: vec![poly(2 * group as u32), poly(2 * group as u32 + 1)],
    };
    let key: Arc<[KeyDigit]> = [digit(0), digit(1), digit(2)].into();
    let key = engine.key(&key);
    let low: Vec<_> = polys.iter().map(|x| x.restricted(level)).collect();
    let m = host.ring().index();
    let g = GaloisElement::new(m, m - 25).unwrap();
    for (x, y) in each.iter().map(|&k| (&low[k], &polys[k])) {
        let coefficients = engine.intt(x.clone());
        let cuts = [
            engine.decompose(&gadget, Source::Eval(x, 257)),
            engine.decompose(&gadget, Source::Coeff(&coefficients, 1)),
            engine.decompose(&gadget, Source::Quotient(y.clone(), level)),
        ];
        for digits in cuts {
            let components = [low[1].clone(), x.clone()];
            let images = vec![(GaloisElement::IDENTITY, None), (g, Some(&key))];
            let sum = |digits| Sum {
                basis: all,
                switched: Some((digits, &key)),
                rest: vec![Rest::Poly(&low[0]), Rest::None],
                raise: special,
                factor: Constant::from(3),
                automorphism: g,
            };
            let (scale, fewer) = (RoundingScale::plain_multiple(65537), Basis::of(0..3));
            out.eval("divide", engine.divide(sum(Use::Shared(&digits)), level, scale));
            out.coeff("to coeff", engine.divide_to_coeff(sum(Use::Shared(&digits)), fewer, scale));
            let mut acc = [polys[0].clone(), polys[1].clone()];
            engine.accumulate(vec![(&mut acc, sum(Use::Shared(&digits)))]);
            out.eval("accumulate", acc);
            let sources = vec![Hoisted { digits: Some(digits), components: &components }];
            let hoist = Hoist { basis: all, images, sources, raise: special, factor: 7.into() };
            engine.hoist(hoist).into_iter().flatten().for_each(|image| out.eval("hoist", image));
        }
    }
    let t = PrimePower::new(65537, 2).unwrap();
    for x in each.iter().map(|&k| &polys[k]) {
        let x = engine.intt(x.restricted(Basis::of([0, 2])));
        for (map, times) in [
            (IntegerMap::Quotient(12345), None),
            (IntegerMap::Quotient(6), Some((t, 77))),
            (IntegerMap::Residue(t, 31), None),
            (IntegerMap::Residue(t, 1), Some((t, 65538))),
            (IntegerMap::Scaled(65537, t, 3), None),
            // The device leaves even moduli to the processor.
            (IntegerMap::Residue(PrimePower::new(2, 8).unwrap(), 3), None),
        ] {
            for (base, count) in [(257, 3), (32, 2), (1, 1)] {
                let digits = IntegerDigits { map, times, base, count };
                let mut made = engine.integer_digits(&x, &digits, level).unwrap();
                made.resize_with(count, || engine.zero(level));
                out.coeff("integers", made);
            }
        }
    }
    let diagonals: Vec<E::Diagonal> = [64, 4096.min(m as usize / 2)]
        .iter()
        .map(|&length| {
            let values: Vec<i64> = (0..length as i64).map(|k| k * k * 77 - 1000).collect();
            engine.diagonal(&values, all).unwrap()
        })
        .collect();
    let inputs: Vec<Vec<_>> = polys.windows(2).map(<[_]>::to_vec).collect();
    let inputs: Vec<&[_]> = inputs.iter().map(|x| &x[..]).collect();
    let [a, b] = [Some(&diagonals[0]), Some(&diagonals[1])];
    let rows = vec![vec![a, None, b, a], vec![None; 4], vec![b, b, None, None]];
    engine.combine(&inputs, &rows).into_iter().for_each(|row| out.eval("combine", row));
    let rows: [&[i64]; 5] =
        [&[1, -2, 3, 0], &[0; 4], &[i64::MAX, i64::MIN, 1, 1], &[5; 4], &[-1, 0, 0, 1]];
    let made = engine.linear_combinations(&inputs, &rows);
    made.into_iter().for_each(|row| out.eval("linear combinations", row));
    out.found
}

/// Computes on the device and on the processor; operands as in [`digests`].
fn same_bits(log_n: u32, each: &[usize]) {
    let ring = ring(2 << log_n, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let (found, expected) = (digests(&gpu, &host, each), digests(&host, &host, each));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "n = 2^{log_n}");
    }
    println!("n = 2^{log_n}: {} polynomials", found.len());
}

/// The numbers of all operands, and those of one that is uniform and of the largest.
const ALL: [usize; 5] = [0, 1, 2, 3, 4];
const SOME: [usize; 2] = [2, 3];

#[test]
fn large_rings_give_the_same_bits() {
    for log_n in [11, 12, 13] {
        same_bits(log_n, &ALL);
    }
    same_bits(15, &SOME);
}

/// The first pass has tiles of their full size in the largest ring.
#[test]
fn the_largest_ring_gives_the_same_bits() {
    same_bits(17, &SOME);
}

#[test]
#[ignore = "a minute on the emulated device: all operands of the largest rings"]
fn large_rings_give_the_same_bits_in_full() {
    for log_n in [15, 17] {
        same_bits(log_n, &ALL);
    }
}

/// A recording computes on what its input holds when it is launched.
#[test]
fn recordings_compute_anew() {
    let ring = ring(1 << 13, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    let basis = Basis::of(0..7);
    let polys = operands(&host, basis);
    let (x, y) = (gpu.upload(&polys[0]), gpu.upload(&polys[1]));
    let work = || gpu.ntt(gpu.intt(gpu.mul(&gpu.mul(&x, &y), &y)));
    let square = |x: &Poly<Eval>| host.mul(&host.mul(x, &polys[1]), &polys[1]);
    work();
    let recording = gpu.record(work).unwrap();
    assert!(recording.nodes() >= 4);
    for source in &polys {
        gpu.overwrite(&x, source).unwrap();
        recording.launch().unwrap();
        // Other work, between launches, gets other memory.
        gpu.mul(&y, &y);
        let found = gpu.download(recording.result().unwrap()).unwrap();
        assert_eq!(fingerprint(&[found]), fingerprint(&[square(source)]));
    }
    let inputs: Vec<_> = polys.iter().map(|x| gpu.upload(x)).collect();
    let record = |x| gpu.record(|| gpu.mul(&gpu.mul(x, &y), &y)).unwrap();
    let recordings: Vec<_> = inputs.iter().map(record).collect();
    gpu.launch_together(&recordings).unwrap();
    for (recording, source) in recordings.iter().zip(&polys) {
        let found = gpu.download(recording.result().unwrap()).unwrap();
        assert_eq!(fingerprint(&[found]), fingerprint(&[square(source)]));
    }
}
