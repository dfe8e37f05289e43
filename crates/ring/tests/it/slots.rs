//! Slots of plaintexts modulo p^e for odd primes of all kinds, against evaluation at roots of unity
//! by the definition.

use everlevel_ring::{Backend, GaloisElement, PlaintextRing, RingError, SlotShape};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Index, prime, the exponents to look at (the largest one is built), and rows, slots, 5^columns as
/// a power of p.
const RINGS: [(u64, u64, &[u32], [usize; 3]); 13] = [
    (128, 3, &[1, 3, 39], [1, 2, 22]),
    (128, 5, &[1, 2, 26], [2, 2, 1]),
    (128, 7, &[1, 3, 22], [1, 4, 10]),
    (128, 17, &[2, 15], [2, 8, 7]),
    (128, 127, &[1, 2, 8], [1, 32, 0]),
    (256, 127, &[1, 2], [1, 64, 0]),
    (1024, 127, &[1, 3], [1, 64, 2]),
    (128, 257, &[1, 3, 7], [2, 64, 0]),
    (2048, 257, &[1, 2, 7], [2, 128, 7]),
    (128, 8191, &[2, 4], [1, 32, 0]),
    (256, 131_071, &[1, 3], [1, 64, 0]),
    (64, 65537, &[1, 2, 3], [2, 32, 0]),
    (512, 786_433, &[1, 3], [2, 256, 0]),
];

fn rings() -> impl Iterator<Item = (PlaintextRing, u32, [usize; 3])> {
    RINGS.iter().flat_map(|&(index, p, exponents, facts)| {
        exponents.iter().map(move |&e| {
            let shape = SlotShape::new(index, p, exponents[exponents.len() - 1]).unwrap();
            (PlaintextRing::new(shape, Backend::detect()).unwrap(), e, facts)
        })
    })
}

fn random(rng: &mut ChaCha20Rng, count: usize, below: u64) -> Vec<u64> {
    (0..count).map(|_| rng.next_u64() % below).collect()
}

/// The elements a(ξ^g) for the representatives g of all slots, term by term.
fn by_definition(plain: &PlaintextRing, a: &[u64], e: u32) -> Vec<u64> {
    let (shape, t, f) = (plain.shape(), plain.modulus(e), plain.modulus_polynomial(e));
    let (m, d) = (shape.ring_index() as usize, shape.degree_of_slot());
    // Powers of ξ: shift, and replace ξ^d.
    let mut powers = vec![vec![0; d]; m];
    powers[0][0] = 1;
    for k in 1..m {
        let top = powers[k - 1][d - 1];
        powers[k] = (0..d)
            .map(|i| t.sub(if i == 0 { 0 } else { powers[k - 1][i - 1] }, t.mul(top, f[i])))
            .collect();
    }
    let mut out = Vec::new();
    for row in 0..shape.rows() {
        let mut g = if row == 0 { 1 } else { m - 1 };
        for _ in 0..shape.columns() {
            let mut element = vec![0; d];
            for (c, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
                for (y, &z) in element.iter_mut().zip(&powers[g * c % m]) {
                    *y = t.add(*y, t.mul(x, z));
                }
            }
            out.extend(element);
            g = g * 5 % m;
        }
    }
    out
}

/// x(ξ^g): an automorphism of GR(p^e, d) if g is a power of p.
fn substituted(plain: &PlaintextRing, x: &[u64], g: u64, e: u32) -> Vec<u64> {
    let (shape, t) = (plain.shape(), plain.modulus(e));
    let d = shape.degree_of_slot();
    let mut one = vec![0; d];
    one[0] = 1;
    let mut xi = vec![0; d];
    if d == 1 {
        xi[0] = t.neg(plain.modulus_polynomial(e)[0])
    } else {
        xi[1] = 1
    }
    let power = (0..g).fold(one, |power, _| plain.element_mul(&power, &xi, e).unwrap());
    x.iter().rev().fold(vec![0; d], |acc, &c| {
        let mut next = plain.element_mul(&acc, &power, e).unwrap();
        next[0] = t.add(next[0], c);
        next
    })
}

#[test]
fn shapes_are_the_ones_of_the_group() {
    for (plain, _, [rows, slots, wrap]) in rings() {
        let shape = plain.shape();
        assert_eq!(
            (shape.rows(), shape.slots(), shape.column_wrap()),
            (rows, slots, wrap),
            "p = {}",
            shape.plain_prime()
        );
        assert_eq!(shape.rows() * shape.base_degree(), 2);
        let dimensions = shape.dimensions();
        let sizes: Vec<usize> = dimensions.iter().map(|dimension| dimension.size).collect();
        assert_eq!(sizes, if rows == 2 { vec![2, slots / 2] } else { vec![slots] });
        assert_eq!(
            (dimensions[0].good, dimensions[rows - 1].good),
            (rows == 2 || wrap == 0, wrap == 0)
        );
        assert_eq!(
            shape.rotation_along(rows - 1, (shape.columns() - 1) as i64),
            shape.rotation(-1)
        );
        assert!(rows == 1 || shape.rotation_along(0, -1) == shape.swap_rows());
        // φ_i sends X^(2^i) to its negative.
        let n = shape.ring_index() / 2;
        assert_eq!(1 << shape.projection().len(), shape.degree_of_slot());
        for (i, g) in shape.projection().iter().enumerate() {
            assert_eq!((g.exponent() << i) % (2 * n), (1 << i) + n);
        }
        for e in 2..=shape.max_exponent() {
            let below = shape.plain_modulus(e - 1);
            assert_eq!(shape.root(e).map(|x| x % below), shape.root(e - 1));
        }
    }
}

#[test]
fn decoding_is_evaluation_and_encoding_its_inverse() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for (plain, e, _) in rings() {
        let (shape, t) = (plain.shape(), plain.modulus(e));
        let (n, d, columns) = (plain.degree(), shape.degree_of_slot(), shape.columns());
        let a = random(&mut rng, n, t.value());
        let elements = plain.decode_elements(&a, e).unwrap();
        assert_eq!(plain.encode_elements(&elements, e).unwrap(), a);
        if n <= 256 {
            assert_eq!(
                elements,
                by_definition(&plain, &a, e),
                "p = {}, e = {e}",
                shape.plain_prime()
            );
        }
        // The minimal polynomial of ξ has ξ among its roots, and the order of ξ is m: X^n = -1 in
        // all slots.
        let thin = random(&mut rng, shape.slots(), t.value());
        let b = plain.encode(&thin, e).unwrap();
        assert_eq!(plain.decode(&b, e).unwrap(), thin);
        let lifted: Vec<u64> = thin
            .iter()
            .flat_map(|&x| std::iter::once(x).chain(std::iter::repeat_n(0, d - 1)))
            .collect();
        assert_eq!(plain.decode_elements(&b, e).unwrap(), lifted);
        // Base values are elements in 1 and ω = ξ^(d/2), here with i = (ω - u) / v.
        let base = random(&mut rng, 2 * columns, t.value());
        let c = plain.encode_base(&base, e).unwrap();
        assert_eq!(plain.decode_base(&c, e).unwrap(), base);
        let whole = plain.decode_elements(&c, e).unwrap();
        for s in 0..shape.slots() {
            let slot = &whole[s * d..(s + 1) * d];
            let mut want = vec![0; d];
            want[0] = base[s];
            if shape.base_degree() == 2 {
                let [u, v] = shape.root(e);
                let y = t.mul(base[columns + s], t.inv(v).unwrap());
                want[0] = t.sub(want[0], t.mul(u, y));
                want[d / 2] = y;
            }
            assert_eq!(slot, want);
        }
        // The same from a period.
        for period in
            [1, 2, columns / 2, columns].into_iter().filter(|&p| p >= 1 && columns % p == 0)
        {
            let repeated = |i: usize| base[i / columns * period + i % columns % period];
            let want =
                plain.encode_base(&(0..2 * columns).map(repeated).collect::<Vec<_>>(), e).unwrap();
            let short = plain.encode_periodic(&base[..2 * period], period, e).unwrap();
            let step = n / (2 * period);
            assert!((0..n).all(|i| want[i] == if i % step == 0 { short[i / step] } else { 0 }));
        }
    }
}

#[test]
fn encoding_is_a_ring_homomorphism() {
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    for (plain, e, _) in rings() {
        let (shape, t, d) = (plain.shape(), plain.modulus(e), plain.shape().degree_of_slot());
        let (x, y) = (
            random(&mut rng, plain.degree(), t.value()),
            random(&mut rng, plain.degree(), t.value()),
        );
        let (a, b) = (plain.encode_elements(&x, e).unwrap(), plain.encode_elements(&y, e).unwrap());
        let product = plain.decode_elements(&plain.mul(&a, &b, e), e).unwrap();
        for s in 0..shape.slots() {
            let slot = s * d..(s + 1) * d;
            assert_eq!(
                product[slot.clone()],
                plain.element_mul(&x[slot.clone()], &y[slot], e).unwrap()
            );
        }
        let (x, y) = (&x[..shape.slots()], &y[..shape.slots()]);
        let product = plain.mul(&plain.encode(x, e).unwrap(), &plain.encode(y, e).unwrap(), e);
        let want: Vec<u64> = x.iter().zip(y).map(|(&x, &y)| t.mul(x, y)).collect();
        assert_eq!(plain.decode(&product, e).unwrap(), want);
    }
}

#[test]
fn products_are_negacyclic() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    for (plain, e, _) in rings().filter(|r| r.0.degree() <= 256) {
        let (n, t) = (plain.degree(), plain.modulus(e));
        let mut a = random(&mut rng, n, t.value());
        // The largest sums there are.
        let mut b = vec![t.value() / 2; n];
        for _ in 0..2 {
            let mut want = vec![0; n];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    let term = t.mul(x, if i + j < n { y } else { t.neg(y) });
                    want[(i + j) % n] = t.add(want[(i + j) % n], term);
                }
            }
            assert_eq!(plain.mul(&a, &b, e), want);
            (a, b) = (vec![t.value() / 2 + 1; n], b);
        }
    }
}

#[test]
fn automorphisms_rotate_slots_and_conjugate_them() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    for (plain, e, [rows, _, wrap]) in rings().filter(|r| r.0.degree() <= 256) {
        let (shape, t) = (plain.shape(), plain.modulus(e));
        let (d, columns, p) = (shape.degree_of_slot(), shape.columns(), shape.plain_prime());
        let x = random(&mut rng, plain.degree(), t.value());
        let a = plain.encode_elements(&x, e).unwrap();
        let moved = |g| plain.decode_elements(&plain.galois(&a, g, e), e).unwrap();
        let slot =
            |x: &[u64], row: usize, column: usize| x[(row * columns + column) * d..][..d].to_vec();
        let m = shape.ring_index();
        let power_of_p = |s: usize| (0..s).fold(1, |g, _| g * (p % m) % m);

        let conjugated = moved(shape.frobenius());
        let round = power_of_p(wrap);
        for k in [1, columns as i64 / 2, -1] {
            let shift = k.rem_euclid(columns as i64) as usize;
            let rotated = moved(shape.rotation(k));
            for (row, j) in (0..rows).flat_map(|r| (0..columns).map(move |j| (r, j))) {
                let from = slot(&x, row, (j + shift) % columns);
                let passes = j + shift >= columns;
                assert_eq!(
                    slot(&rotated, row, j),
                    if passes { substituted(&plain, &from, round, e) } else { from }
                );
            }
        }
        for (row, j) in (0..rows).flat_map(|r| (0..columns).map(move |j| (r, j))) {
            let from = slot(&x, row, j);
            assert_eq!(slot(&conjugated, row, j), substituted(&plain, &from, p % m, e));
            assert_eq!(slot(&moved(shape.swap_rows()), rows - 1 - row, j), from);
        }
    }
}

#[test]
fn base_slots_rotate_cyclically_and_thin_ones_are_fixed_by_frobenius() {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    for (plain, e, [rows, slots, _]) in rings() {
        let (shape, t, ring) = (plain.shape(), plain.modulus(e), plain.base_ring(e).unwrap());
        let columns = shape.columns();
        let x = random(&mut rng, 2 * columns, t.value());
        let a = plain.encode_base(&x, e).unwrap();
        let moved = |g| plain.decode_base(&plain.galois(&a, g, e), e).unwrap();
        for k in [1, columns as i64 / 2, 3] {
            let rotated = moved(shape.rotation(k));
            let shift = k as usize % columns;
            assert!(
                (0..2 * columns)
                    .all(|i| rotated[i] == x[i / columns * columns + (i + shift) % columns])
            );
        }
        let conjugated = moved(shape.conjugation());
        for j in 0..columns {
            assert_eq!(
                [conjugated[j], conjugated[columns + j]],
                ring.conjugate([x[j], x[columns + j]])
            );
        }
        let thin = plain.encode(&x[..slots], e).unwrap();
        assert_eq!(plain.galois(&thin, shape.frobenius(), e), thin);
        if rows == 1 {
            let half = plain.decode(&plain.galois(&thin, shape.rotation(1), e), e).unwrap();
            assert!((0..slots).all(|j| half[j] == x[(j + 1) % slots]));
            assert!(matches!(plain.decode(&a, e), Err(RingError::NotThin { .. })));
        }
        // Projection: d times the part in Z[X^d].
        let d = shape.degree_of_slot();
        let mut b = random(&mut rng, plain.degree(), t.value());
        let kept: Vec<u64> = b
            .iter()
            .enumerate()
            .map(|(i, &c)| if i % d == 0 { t.mul(c, d as u64) } else { 0 })
            .collect();
        for g in shape.projection() {
            b = b.iter().zip(plain.galois(&b, g, e)).map(|(&x, y)| t.add(x, y)).collect();
        }
        assert_eq!(b, kept);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let plain =
        PlaintextRing::new(SlotShape::new(512, 257, 2).unwrap(), Backend::detect()).unwrap();
    let n = plain.degree();
    let monomial = |k: usize| -> Vec<u64> { (0..n).map(|i| (i == k) as u64).collect() };
    assert_eq!(plain.mul(&monomial(1), &monomial(1), 1), monomial(2));
    assert!(matches!(plain.decode(&monomial(1), 1), Err(RingError::NotThin { coefficient: 1 })));
    assert!(matches!(
        plain.decode_base(&monomial(3), 1),
        Err(RingError::NotThin { coefficient: 3 })
    ));
    let slots = plain.shape().slots();
    assert_eq!(
        plain.encode(&vec![0; slots + 1], 1),
        Err(RingError::TooManyValues { found: slots + 1, slots })
    );
    assert_eq!(
        plain.encode(&[0, 257], 1),
        Err(RingError::ValueOutOfRange { value: 257, position: 1, modulus: 257 })
    );
    assert_eq!(plain.encode(&[1], 3), Err(RingError::UnknownExponent { exponent: 3, highest: 2 }));
    assert_eq!(plain.decode(&[1], 1), Err(RingError::ResidueCount { found: 1, expected: n }));
    assert!(plain.encode_elements(&[1], 1).is_err() && plain.decode_elements(&[1], 0).is_err());
    assert!(plain.encode_base(&[1], 1).is_err() && plain.element_mul(&[1], &[1], 1).is_err());
    assert_eq!(
        plain.encode_periodic(&[1; 6], 3, 1),
        Err(RingError::BadPeriod { period: 3, columns: 64 })
    );
    assert_eq!(GaloisElement::IDENTITY, plain.shape().rotation(0));
}

#[test]
fn repeated_slots_are_the_periods_of_the_rows() {
    let mut rng = ChaCha20Rng::from_seed([12; 32]);
    for (index, p, e, slots) in
        [(128, 65537, 2, 8), (128, 257, 1, 4), (128, 257, 2, 64), (2048, 257, 2, 16)]
    {
        let whole = SlotShape::new(index, p, e).unwrap();
        let shape = whole.clone().repeating(slots).unwrap();
        let degree = index as usize / 2 / slots;
        assert_eq!(
            (shape.rows(), shape.columns(), shape.slots(), shape.degree_of_slot()),
            (2, slots / 2, slots, degree)
        );
        assert_eq!(shape.repetitions(), whole.slots() / slots);
        assert_eq!(shape == whole, shape.repetitions() == 1);
        assert_eq!(1 << shape.projection().len(), degree);
        let [plain, all] = [shape.clone(), whole.clone()]
            .map(|shape| PlaintextRing::new(shape, Backend::detect()).unwrap());
        let t = shape.plain_modulus(e);

        let values = random(&mut rng, slots, t);
        let thin = plain.encode(&values, e).unwrap();
        assert!(thin.iter().enumerate().all(|(i, &c)| i % degree == 0 || c == 0));
        let repeated: Vec<u64> =
            values.chunks(slots / 2).flat_map(|row| row.repeat(shape.repetitions())).collect();
        assert_eq!(all.decode(&thin, e).unwrap(), repeated);
        assert_eq!(plain.decode(&thin, e).unwrap(), values);
        // A rotation is cyclic within a period.
        let moved = plain.galois(&thin, shape.rotation(-1), e);
        let expected: Vec<u64> = values
            .chunks(slots / 2)
            .flat_map(|row| (0..row.len()).map(move |j| row[(j + row.len() - 1) % row.len()]))
            .collect();
        assert_eq!(plain.decode(&moved, e).unwrap(), expected);
        assert_eq!(shape.rotation(slots as i64 / 2), shape.identity());
        // What does not repeat is no thin plaintext.
        let mut x = vec![0; index as usize / 2];
        x[1] = 1;
        let found = plain.decode(&x, e);
        assert!(degree == 1 || found == Err(RingError::NotThin { coefficient: 1 }), "{found:?}");

        let elements = random(&mut rng, index as usize / 2, t);
        let polynomial = plain.encode_elements(&elements, e).unwrap();
        assert_eq!(plain.decode_elements(&polynomial, e).unwrap(), elements);
        assert_eq!(by_definition(&plain, &polynomial, e), elements);
    }
    let refused = |index, p, slots| SlotShape::new(index, p, 1).unwrap().repeating(slots).err();
    for slots in [0, 2, 3, 12, 128] {
        let bad = Some(RingError::BadPeriod { period: slots / 2, columns: 32 });
        assert_eq!(refused(128, 257, slots), bad);
    }
    assert!(matches!(refused(128, 127, 8), Some(RingError::BadPlainModulus { .. })));
    assert!(matches!(refused(15, 2, 1), Some(RingError::BadPlainModulus { .. })));
}
