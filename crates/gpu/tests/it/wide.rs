//! More digits, terms and components than one launch takes: the same bits as on the processor.

use std::sync::Arc;

use everlevel_ring::cpu::fingerprint;
use everlevel_ring::{
    Backend, Basis, Constant, Cpu, Engine, Eval, Gadget, GaloisElement, Hoist, Hoisted, KeyDigit,
    KeyPoly, Pair, Poly, Representation, Rest, RoundingScale, Source, Sum, Use, sample,
};

use crate::{device, ring, ring_of};

fn digest<R: Representation, E: Engine>(engine: &E, x: &Poly<R, E>) -> u64 {
    fingerprint(&[engine.download(x).unwrap()])
}

/// Digits of one prime each, times a key.
struct Switch {
    all: Basis,
    special: Basis,
    level: Basis,
    gadget: Gadget,
    key: Arc<[KeyDigit]>,
    polys: Vec<Poly<Eval>>,
    automorphism: GaloisElement,
}

impl Switch {
    fn new(host: &Cpu, digits: usize, components: usize) -> Self {
        let (all, level) = (Basis::of(0..digits + 2), Basis::of(0..digits));
        let special = all.minus(level);
        let gadget = Gadget::new(special, (0..digits).map(|i| Basis::of([i])).collect());
        let poly = |k: usize| KeyPoly::new(host, sample::expand(host, &[9; 32], k as u32, all));
        // In another order than that of the groups.
        let key = (0..digits).rev().map(|group| KeyDigit {
            group,
            components: (0..components).map(|k| poly(components * group + k)).collect(),
        });
        let m = host.ring().index();
        Switch {
            all,
            special,
            level,
            gadget,
            key: key.collect(),
            polys: (0..9).map(|k| sample::expand(host, &[k; 32], 1, all)).collect(),
            automorphism: GaloisElement::new(m, m - 25).unwrap(),
        }
    }

    /// Digests of divisions, accumulations and images of as many components.
    fn digests<E: Engine>(&self, engine: &E, components: usize) -> Vec<(&'static str, u64)> {
        let polys: Vec<_> = self.polys.iter().map(|x| engine.upload(x)).collect();
        let low: Vec<_> = polys.iter().map(|x| x.restricted(self.level)).collect();
        let key = engine.key(&self.key);
        let digits = || engine.decompose(&self.gadget, Source::Eval(&low[0], 257));
        let pairs = |count: usize| Rest::Products(low.iter().zip(&low[1..]).take(count).collect());
        let rest = |k: usize| match k % 4 {
            0 => Rest::Poly(&low[1 + k]),
            1 => pairs(8),
            2 => Rest::None,
            _ => pairs(2),
        };
        let of_key = self.key[0].components.len();
        let cut = digits();
        let sum = |components: usize| Sum {
            basis: self.all,
            switched: Some((Use::Shared(&cut), &key)),
            rest: (0..components).map(rest).collect(),
            raise: self.special,
            factor: Constant::from(-5),
            automorphism: self.automorphism,
        };
        let mut found = Vec::new();
        let scale = RoundingScale::plain_multiple(257);
        for x in engine.divide(sum(components), self.level, scale) {
            found.push(("divide", digest(engine, &x)));
        }
        for x in engine.divide_to_coeff(sum(components), self.level, scale) {
            found.push(("divide to coefficients", digest(engine, &x)));
        }
        let mut acc: Vec<_> = (0..of_key).map(|k| polys[k].clone()).collect();
        engine.accumulate(vec![(&mut acc[..], sum(of_key))]);
        found.extend(acc.iter().map(|x| ("accumulate", digest(engine, x))));
        let images = vec![
            (GaloisElement::IDENTITY, None),
            (self.automorphism, Some(&key)),
            (GaloisElement::IDENTITY, Some(&key)),
        ];
        let source = Hoisted { digits: Some(digits()), components: &low[..of_key] };
        let hoist = Hoist {
            basis: self.all,
            images,
            sources: vec![source],
            raise: self.special,
            factor: Constant::from(7),
        };
        for image in engine.hoist(hoist).into_iter().flatten() {
            found.extend(image.iter().map(|x| ("hoist", digest(engine, x))));
        }
        found
    }
}

#[test]
fn digits_and_components_of_any_number_give_the_same_bits() {
    // 12 digits and 3 components are the most of a launch for several images, and 32 of a sum.
    for (digits, of_key, components) in [
        (12, 2, 2),
        (13, 2, 3),
        (32, 3, 3),
        (33, 2, 2),
        (40, 4, 4),
        (5, 4, 4),
        (3, 5, 8),
        (70, 2, 2),
    ] {
        let ring = ring_of(64, 30, digits + 2);
        let Some(gpu) = device(&ring) else { return };
        let host = Cpu::new(ring, Backend::detect()).unwrap();
        let switch = Switch::new(&host, digits, of_key);
        let (found, expected) =
            (switch.digests(&gpu, components), switch.digests(&host, components));
        assert_eq!(found, expected, "{digits} digits, {of_key} and {components} components");
        assert_eq!(found.len(), 2 * components + 4 * of_key);
    }
}

/// Digests of sums with more terms than a launch takes.
fn sums<E: Engine>(engine: &E, host: &Cpu) -> Vec<u64> {
    let basis = Basis::of(0..7);
    let poly = |k: u8| engine.upload(&sample::expand(host, &[k; 32], 1, basis));
    let polys: Vec<_> = (0..135).map(poly).collect();
    let pairs = |count: usize| -> Vec<Pair<'_, E>> {
        polys.iter().zip(polys.iter().rev()).take(count).collect()
    };
    let mut found = engine.sums_of_products(basis, &[pairs(64), pairs(65), pairs(135)]);
    let inputs: Vec<&[Poly<Eval, E>]> = polys.windows(2).take(133).collect();
    let row = |k: i64| -> Vec<i64> { (0..133).map(|j| j * k - 1000).collect() };
    let rows: Vec<Vec<i64>> = [1, -77, i64::MAX / 133, 0, 12345].map(row).into();
    let rows: Vec<&[i64]> = rows.iter().map(|row| &row[..]).collect();
    found.extend(engine.linear_combinations(&inputs, &rows).into_iter().flatten());
    let diagonal = |k: i64| {
        let values: Vec<i64> = (0..32).map(|j| j * j * k - 9).collect();
        engine.diagonal(&values, basis).unwrap()
    };
    let diagonals: Vec<E::Diagonal> = (1..6).map(diagonal).collect();
    let entry = |j: usize| (!j.is_multiple_of(7)).then(|| &diagonals[j % 5]);
    let rows: Vec<Vec<_>> = (0..5).map(|k| (0..133).map(|j| entry(j + k)).collect()).collect();
    found.extend(engine.combine(&inputs, &rows).into_iter().flatten());
    found.iter().map(|x| digest(engine, x)).collect()
}

#[test]
fn terms_of_any_number_give_the_same_bits() {
    let ring = ring(64, 50);
    let Some(gpu) = device(&ring) else { return };
    let host = Cpu::new(ring, Backend::detect()).unwrap();
    assert_eq!(sums(&gpu, &host), sums(&host, &host));
}

/// Ciphertexts without components have images without any.
#[test]
fn nothing_is_combined_to_nothing() {
    let ring = ring(64, 50);
    let Some(gpu) = device(&ring) else { return };
    let inputs: [&[Poly<Eval, everlevel_gpu::Gpu>]; 2] = [&[], &[]];
    let rows: [&[i64]; 2] = [&[1, 2], &[3, 4]];
    let combined = gpu.linear_combinations(&inputs, &rows);
    assert_eq!(combined.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0]);
    let combined = gpu.combine(&inputs, &[vec![None, None]]);
    assert_eq!(combined.iter().map(Vec::len).collect::<Vec<_>>(), [0]);
}
