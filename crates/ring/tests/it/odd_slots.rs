//! Slots of rings with axes, of odd index or 2^k times an odd number, against evaluation at roots
//! of unity by the definition.

use everlevel_ring::{Backend, GaloisElement, GaloisRing, PlaintextRing, RingError, SlotShape};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Index, prime, the exponents to look at (the largest one is built), the sizes of the dimensions,
/// d, and the bad dimensions.
type Facts = (u64, u64, &'static [u32], &'static [usize], usize, &'static [usize]);

const RINGS: [Facts; 48] = [
    (7, 2, &[1, 61], &[2], 3, &[]),
    (7, 4_611_686_018_427_387_847, &[1], &[1], 6, &[]),
    (9, 17, &[2], &[3], 2, &[]),
    (15, 2, &[1, 5, 61], &[2, 1], 4, &[]),
    (21, 13, &[1, 16], &[2, 3], 2, &[]),
    (23, 2, &[3], &[2], 11, &[]),
    (23, 3, &[39], &[2], 11, &[]),
    (25, 7, &[1, 4, 22], &[5], 4, &[]),
    (27, 17, &[3], &[3], 6, &[0]),
    (33, 2, &[4], &[2, 1], 10, &[]),
    (35, 11, &[2], &[4, 2], 3, &[]),
    (45, 11, &[2], &[4, 1], 6, &[]),
    (45, 31, &[1, 12], &[4, 2], 3, &[]),
    (45, 8191, &[4], &[4, 6], 1, &[]),
    (51, 65537, &[1, 3], &[2, 2], 8, &[1]),
    (63, 127, &[8], &[6, 6], 1, &[]),
    (75, 257, &[2], &[2, 5], 4, &[]),
    (85, 2, &[2], &[4, 2], 8, &[1]),
    (85, 127, &[3], &[4, 2], 8, &[1]),
    (217, 17, &[3], &[6, 1], 30, &[]),
    (217, 8191, &[2], &[6, 2], 15, &[]),
    (255, 2, &[1, 30], &[2, 4, 2], 8, &[2]),
    (255, 257, &[7], &[2, 4, 2], 8, &[2]),
    (441, 31, &[2], &[6, 7], 6, &[]),
    (12, 13, &[1, 16], &[2, 2], 1, &[]),
    (36, 17, &[2], &[2, 3], 2, &[]),
    (40, 3, &[1, 39], &[2, 2, 1], 4, &[]),
    (68, 127, &[3], &[2, 2], 8, &[1]),
    (80, 13, &[4], &[2, 4, 1], 4, &[]),
    (104, 17, &[2], &[2, 2, 2], 6, &[2]),
    (104, 31, &[2], &[2, 2, 3], 4, &[]),
    (216, 17, &[2], &[2, 2, 3], 6, &[2]),
    (240, 7, &[2], &[2, 4, 2, 1], 4, &[]),
    (272, 127, &[2], &[2, 4, 2], 8, &[2]),
    // Several axes that carry Frobenius together, all of the index or only the last ones.
    (15, 11, &[1, 17], &[4], 2, &[]),
    (21, 2, &[1, 61], &[2], 6, &[]),
    (24, 7, &[1, 22], &[2, 2], 2, &[]),
    (45, 2, &[1, 5], &[2], 12, &[]),
    (45, 19, &[3], &[2, 6], 2, &[0]),
    (57, 11, &[2], &[6], 6, &[0]),
    (76, 7, &[2], &[6], 6, &[0]),
    (105, 2, &[1, 9], &[2, 2], 12, &[]),
    (105, 11, &[2], &[2, 4], 6, &[]),
    (180, 19, &[2], &[2, 2, 6], 2, &[1]),
    (285, 7, &[2], &[2, 6], 12, &[1]),
    (357, 2, &[4], &[2, 2, 2], 24, &[1]),
    (420, 11, &[1, 3], &[2, 2, 4], 6, &[]),
    (459, 19, &[2], &[2, 6], 24, &[0, 1]),
];

fn rings() -> impl Iterator<Item = (PlaintextRing, u32, Facts)> {
    RINGS.iter().flat_map(|&facts| {
        let (index, p, exponents, ..) = facts;
        exponents.iter().map(move |&e| {
            let shape = SlotShape::new(index, p, exponents[exponents.len() - 1]).unwrap();
            (PlaintextRing::new(shape, Backend::detect()).unwrap(), e, facts)
        })
    })
}

pub(crate) fn random(rng: &mut ChaCha20Rng, count: usize, below: u64) -> Vec<u64> {
    (0..count).map(|_| rng.next_u64() % below).collect()
}

/// The exponents of the basis along all axes, in coefficient order, as exponents of X.
fn exponents(shape: &SlotShape) -> Vec<u64> {
    let axes = shape.axes().unwrap();
    axes.all().iter().enumerate().fold(vec![0], |all, (a, axis)| {
        let own: Vec<u64> =
            (0..axis.degree).map(|i| axes.coefficient_exponent(a, i) * axis.exponent).collect();
        all.iter().flat_map(|x| own.iter().map(move |e| (x + e) % axes.index())).collect()
    })
}

/// The powers of ζ, the product of the roots of all axes.
fn powers(shape: &SlotShape, ring: &GaloisRing, e: u32) -> Vec<Vec<u64>> {
    let axes = shape.axes().unwrap().all().len();
    let zeta =
        (0..axes).fold(ring.one(), |zeta, a| ring.mul(&zeta, &shape.axis_root(a, e).unwrap()));
    std::iter::successors(Some(ring.one()), |x| Some(ring.mul(x, &zeta)))
        .take(shape.ring_index() as usize)
        .collect()
}

/// The elements a(ζ^u) for the representatives u of all slots, term by term.
fn by_definition(plain: &PlaintextRing, a: &[u64], e: u32) -> Vec<u64> {
    let (shape, ring) = (plain.shape(), plain.shape().galois_ring(e).unwrap());
    let (powers, exponents) = (powers(shape, &ring, e), exponents(shape));
    let value = |u: u64| {
        a.iter().zip(&exponents).fold(ring.scalar(0), |sum, (&c, k)| {
            ring.add(&sum, &ring.scale(c, &powers[(u * k % shape.ring_index()) as usize]))
        })
    };
    shape.representatives().into_iter().flat_map(value).collect()
}

#[test]
fn shapes_are_the_ones_of_the_group() {
    for (plain, e, (index, p, _, sizes, degree, bad)) in rings() {
        let shape = plain.shape();
        let found: Vec<usize> = shape.dimensions().iter().map(|dimension| dimension.size).collect();
        assert_eq!((&found[..], shape.degree_of_slot()), (sizes, degree), "{index} {p}");
        assert_eq!(SlotShape::dimensions_of(index, p).unwrap(), shape.dimensions(), "{index} {p}");
        assert_eq!(
            (shape.slots() * degree, shape.columns()),
            (plain.degree(), sizes[sizes.len() - 1])
        );
        let order = |g: u64| {
            1 + std::iter::successors(Some(g), |x| Some(x * g % index))
                .position(|x| x == 1)
                .unwrap()
        };
        for (i, dimension) in shape.dimensions().iter().enumerate() {
            assert_eq!(dimension.good, !bad.contains(&i), "{index} {p}");
            assert_eq!(order(dimension.generator.exponent()) == dimension.size, dimension.good);
            let there = shape.rotation_along(i, 5);
            assert!(shape.is_identity(shape.compose(there, shape.rotation_along(i, -5))));
        }
        // The representatives and the powers of p make up the group.
        let mut units: Vec<u64> = shape.representatives();
        for k in 0..(degree - 1) * shape.slots() {
            units.push(units[k] * (p % index) % index);
        }
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len(), plain.degree());
        // Roots of the right orders, the same ones for all exponents.
        let powers = powers(shape, &shape.galois_ring(e).unwrap(), e);
        let t = shape.plain_modulus(1);
        let low = shape.galois_ring(1).unwrap();
        let axes = shape.axes().unwrap().all();
        for (a, axis) in axes.iter().enumerate() {
            assert_eq!(powers[axis.exponent as usize], shape.axis_root(a, e).unwrap());
            assert_eq!(low.reduce(&shape.axis_root(a, e).unwrap()), shape.axis_root(a, 1).unwrap());
            assert!(
                powers.iter().skip(1).all(|x| low.reduce(x) != low.one()),
                "order below {index} modulo {t}"
            );
        }
        let (ring, carrier) = (shape.galois_ring(e).unwrap(), shape.carrier().unwrap());
        let own = axes.len() - carrier.len()..axes.len();
        let product = own.fold(ring.one(), |x, a| ring.mul(&x, &shape.axis_root(a, e).unwrap()));
        assert_eq!(product, ring.x());
        let words: usize = carrier.iter().map(|axis| axis.degree).product();
        assert_eq!(shape.carrier_slots() * degree, words, "{index} {p}");
    }
}

#[test]
fn decoding_is_evaluation_and_encoding_its_inverse() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    for (plain, e, (index, p, ..)) in rings() {
        let (shape, t, d) = (plain.shape(), plain.modulus(e), plain.shape().degree_of_slot());
        let a = random(&mut rng, plain.degree(), t.value());
        let elements = plain.decode_elements(&a, e).unwrap();
        assert_eq!(elements, by_definition(&plain, &a, e), "index {index}, {p}^{e}");
        assert_eq!(plain.encode_elements(&elements, e).unwrap(), a);
        let thin = random(&mut rng, shape.slots(), t.value());
        let b = plain.encode(&thin, e).unwrap();
        assert_eq!(plain.decode(&b, e).unwrap(), thin);
        let lifted: Vec<u64> = thin
            .iter()
            .flat_map(|&x| std::iter::once(x).chain(std::iter::repeat_n(0, d - 1)))
            .collect();
        assert_eq!(plain.decode_elements(&b, e).unwrap(), lifted);
        assert_eq!(plain.galois(&b, shape.frobenius(), e), b);
        if d > 1 {
            assert!(matches!(plain.decode(&a, e), Err(RingError::NotThin { .. })));
        }
    }
}

#[test]
fn encoding_is_a_ring_homomorphism() {
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    for (plain, e, (index, p, ..)) in rings() {
        let (t, ring) = (plain.modulus(e), plain.galois_ring(e).unwrap());
        let (a, mut b) = (
            random(&mut rng, plain.degree(), t.value()),
            random(&mut rng, plain.degree(), t.value()),
        );
        // The second time with the largest sums there are.
        for _ in 0..2 {
            let [x, y, z] =
                [&a, &b, &plain.mul(&a, &b, e)].map(|a| plain.decode_elements(a, e).unwrap());
            let slots = x.chunks_exact(ring.degree()).zip(y.chunks_exact(ring.degree()));
            assert_eq!(
                z,
                slots.flat_map(|(x, y)| ring.mul(x, y)).collect::<Vec<_>>(),
                "index {index}, {p}^{e}"
            );
            b = a.iter().map(|_| t.value() / 2).collect();
        }
        for k in [0, 1, -2, 3, 5, 7, index as i64 - 1, i64::MIN] {
            let monomial = plain.mul_monomial(
                &plain.encode(&vec![1; plain.shape().slots()], e).unwrap(),
                k,
                e,
            );
            assert_eq!(plain.mul_monomial(&a, k, e), plain.mul(&a, &monomial, e), "X^{k}");
        }
        // X itself holds the power of ζ by every representative.
        let x =
            plain.mul_monomial(&plain.encode(&vec![1; plain.shape().slots()], e).unwrap(), 1, e);
        let powers = powers(plain.shape(), ring, e);
        let want: Vec<u64> = plain
            .shape()
            .representatives()
            .into_iter()
            .flat_map(|u| powers[u as usize].clone())
            .collect();
        assert_eq!(plain.decode_elements(&x, e).unwrap(), want);
    }
}

#[test]
fn automorphisms_permute_slots_along_their_dimensions() {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    for (plain, e, (index, p, _, sizes, d, _)) in rings() {
        let (shape, ring) = (plain.shape(), plain.galois_ring(e).unwrap());
        let x = random(&mut rng, plain.degree(), plain.modulus(e).value());
        let a = plain.encode_elements(&x, e).unwrap();
        let moved = |g| plain.decode_elements(&plain.galois(&a, g, e), e).unwrap();
        let slot = |s: usize| &x[s * d..][..d];
        let frobenius: Vec<u64> =
            (0..shape.slots()).flat_map(|s| ring.frobenius(slot(s), 1)).collect();
        assert_eq!(moved(shape.frobenius()), frobenius);

        let (axes, ahead) = (shape.axes().unwrap(), shape.carrier_dimensions().start);
        // By how much a unit moves along the dimensions ahead of the carrier.
        let shifts = |unit: u64| -> Vec<usize> {
            let others = axes.all().iter().enumerate();
            others
                .flat_map(|(a, axis)| {
                    let (mut place, mut inner) = (axes.logarithm(a, unit).unwrap(), axis.degree);
                    axis.cycles().into_iter().map(move |cycle| {
                        inner /= cycle.length;
                        (place / inner, place %= inner).0
                    })
                })
                .take(ahead)
                .collect()
        };
        let place = |coordinates: &[usize]| {
            coordinates.iter().zip(sizes).fold(0, |s, (c, size)| s * size + c)
        };
        for (i, dimension) in shape.dimensions().iter().enumerate() {
            let wrap = shape.wrap(i);
            assert!(i >= ahead || wrap == 0, "index {index}, {p}^{e}");
            // p^-wrap.
            let back = (0..d * shape.slots() - wrap).fold(1, |u, _| u * (p % index) % index);
            for k in [1, -1, 2]
                .into_iter()
                .filter(|k: &i64| k.unsigned_abs() < dimension.size as u64 || dimension.good)
            {
                let rotated = moved(shape.rotation_along(i, k));
                for s in 0..shape.slots() {
                    let mut rest = s;
                    let mut coordinates: Vec<usize> =
                        sizes.iter().rev().map(|n| (rest % n, rest /= n).0).collect();
                    coordinates.reverse();
                    let target = coordinates[i] as i64 + k;
                    let turns = target.div_euclid(dimension.size as i64);
                    coordinates[i] = target.rem_euclid(dimension.size as i64) as usize;
                    let want = if dimension.good || turns == 0 {
                        slot(place(&coordinates)).to_vec()
                    } else {
                        // The other dimensions are moved by p^-wrap, or by its inverse on the way
                        // back.
                        for ((coordinate, &shift), &size) in
                            coordinates.iter_mut().zip(&shifts(back)).zip(sizes)
                        {
                            *coordinate = (*coordinate
                                + if turns == 1 { shift } else { size - shift })
                                % size;
                        }
                        let conjugate = if turns == 1 { wrap } else { d - wrap };
                        ring.frobenius(slot(place(&coordinates)), conjugate)
                    };
                    assert_eq!(
                        rotated[s * d..][..d],
                        want,
                        "index {index}, {p}^{e}, dimension {i} by {k}, slot {s}"
                    );
                }
            }
        }
        assert_eq!(shape.rotation(2), shape.rotation_along(sizes.len() - 1, 2));
        assert_eq!(shape.column_wrap(), shape.wrap(sizes.len() - 1));
        assert_eq!(
            (shape.swap_rows(), shape.conjugation()),
            (GaloisElement::IDENTITY, GaloisElement::IDENTITY)
        );
        assert!(shape.projection().is_empty());
    }
}

#[test]
fn the_last_axes_alone_fill_all_places_of_the_others() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    for (plain, e, _) in rings() {
        let shape = plain.shape();
        let axes = shape.axes().unwrap().all();
        for count in 1..=axes.len() {
            let words: usize = axes[axes.len() - count..].iter().map(|axis| axis.degree).product();
            let row = random(&mut rng, words, plain.modulus(e).value());
            if count < shape.carrier().unwrap().len() {
                // Fewer places than Frobenius divides are no slots.
                let expected = shape.carrier_slots() * shape.degree_of_slot();
                let refused = RingError::ResidueCount { found: words, expected };
                assert_eq!(plain.encode_last(&row, e), Err(refused));
                continue;
            }
            let last = plain.encode_last(&row, e).unwrap();
            assert_eq!(last.len(), words);
            assert_eq!(plain.decode_last(&last, e).unwrap(), row);
            let all = row.repeat(plain.degree() / words);
            assert_eq!(
                plain.embed_last(&last, e).unwrap(),
                plain.encode_elements(&all, e).unwrap()
            );
        }
    }
}
