//! The maps along axes against their definitions, on plaintexts.

use everlevel_circuit::CircuitError;
use everlevel_circuit::linear::{AxisMap, LinearMapPlan, StepCosts};
use everlevel_circuit::transform::{AxisTransform, Packing};
use everlevel_ring::{Backend, GaloisElement, PlaintextRing, SlotShape};
use everlevel_scheme::DiagonalValues;

/// (m, p, e) with, in turn: good and bad last dimensions of one, two and three axes; d = 1; D = 1;
/// square factors along the carrier, ahead of it and along both; a power of two ahead of it, with
/// one cycle and two; several axes that carry Frobenius, without and with square factors, with good
/// and bad dimensions, alone and with others ahead.
const RINGS: [(u64, u64, u32); 36] = [
    (23, 2, 5),
    (31, 2, 3),
    (31, 5, 2),
    (17, 2, 4),
    (11, 23, 1),
    (13, 2, 2),
    (5 * 11, 31, 2),
    (3 * 31, 7, 1),
    (7 * 13, 17, 3),
    (7 * 13, 127, 2),
    (3 * 17, 2, 6),
    (3 * 5 * 17, 2, 3),
    (3 * 7 * 31, 67, 1),
    (5 * 7 * 11, 71, 2),
    (9, 17, 2),
    (25, 7, 3),
    (27, 17, 2),
    (3 * 25, 257, 1),
    (5 * 9, 11, 2),
    (5 * 9, 8191, 1),
    (9 * 11, 43, 1),
    (9 * 25, 151, 1),
    (4 * 9, 17, 2),
    (8 * 13, 31, 1),
    (16 * 5, 13, 2),
    (8 * 27, 53, 1),
    (3 * 7, 2, 4),
    (3 * 5, 11, 2),
    (3 * 5 * 7, 2, 2),
    (3 * 19, 11, 1),
    (9 * 5, 2, 3),
    (9 * 5, 19, 2),
    (8 * 3, 7, 2),
    (4 * 5 * 7, 3, 1),
    (4 * 9 * 5, 19, 1),
    (4 * 3 * 5 * 7, 11, 1),
];

fn random(seed: u64, count: usize, modulus: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * u128::from(modulus)) >> 64) as u64
    };
    (0..count).map(|_| next()).collect()
}

/// Plaintexts modulo p^e.
struct Plain {
    ring: PlaintextRing,
    e: u32,
}

impl Plain {
    fn new(index: u64, p: u64, e: u32) -> Self {
        Plain {
            ring: PlaintextRing::new(SlotShape::new(index, p, e).unwrap(), Backend::detect())
                .unwrap(),
            e,
        }
    }

    fn shape(&self) -> &SlotShape {
        self.ring.shape()
    }

    fn random(&self, seed: u64) -> Vec<u64> {
        random(seed, self.ring.degree(), self.ring.modulus(self.e).value())
    }

    fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| self.ring.modulus(self.e).add(*x, *y)).collect()
    }

    /// The product with elements along the last dimension.
    fn times(&self, elements: &[u64], x: &[u64]) -> Vec<u64> {
        let line = self.ring.encode_last(elements, self.e).unwrap();
        self.ring.mul(&self.ring.embed_last(&line, self.e).unwrap(), x, self.e)
    }

    fn galois(&self, x: &[u64], g: GaloisElement) -> Vec<u64> {
        self.ring.galois(x, g, self.e)
    }

    /// A map by its definition.
    fn map(&self, map: &AxisMap, inputs: &[Vec<u64>]) -> Vec<u64> {
        let points = map.points();
        let terms = inputs
            .iter()
            .enumerate()
            .flat_map(|(i, x)| points.iter().zip(map.diagonals(i)).map(move |term| (x, term)));
        terms.fold(vec![0; self.ring.degree()], |sum, (x, (point, diagonal))| {
            self.add(&sum, &self.times(diagonal, &self.galois(x, map.galois_element(point))))
        })
    }

    /// The same by baby and giant steps.
    fn plan(&self, plan: &LinearMapPlan, inputs: &[Vec<u64>]) -> Vec<u64> {
        let babies: Vec<Vec<u64>> =
            inputs.iter().flat_map(|x| plan.babies().iter().map(|g| self.galois(x, *g))).collect();
        let zero = vec![0; self.ring.degree()];
        plan.rows().iter().zip(plan.giants().elements()).fold(zero, |sum, (row, giant)| {
            let terms = row.iter().zip(&babies).filter_map(|(d, x)| Some((d.as_ref()?, x)));
            let inner = terms.fold(sum, |sum, (d, x)| match d {
                DiagonalValues::LastDimensions(elements) => {
                    self.add(&sum, &self.times(elements, x))
                }
                DiagonalValues::Periodic(_) => panic!("elements along the last dimension"),
            });
            self.galois(&inner, *giant)
        })
    }

    fn apply(&self, maps: &[AxisMap], inputs: Vec<Vec<u64>>) -> Vec<u64> {
        maps.iter().fold(inputs, |x, map| vec![self.map(map, &x)]).remove(0)
    }

    /// The place of X^e among the coefficients.
    fn place(&self, e: u64) -> usize {
        let axes = self.shape().axes().unwrap();
        let exponents = axes.all().iter().enumerate().fold(vec![0], |all: Vec<u64>, (a, axis)| {
            let own: Vec<u64> =
                (0..axis.degree).map(|i| axes.coefficient_exponent(a, i) * axis.exponent).collect();
            all.iter().flat_map(|x| own.iter().map(move |e| (x + e) % axes.index())).collect()
        });
        let place = exponents.iter().position(|x| *x == e).unwrap();
        // From the first coefficient by a product.
        let mut monomial = vec![0; self.ring.degree()];
        monomial[0] = 1;
        let turned = self.ring.mul_monomial(&monomial, e as i64 - exponents[0] as i64, self.e);
        assert_eq!(turned[place], 1);
        place
    }
}

#[test]
fn slot_to_coeff_puts_slots_where_the_places_say() {
    for (index, p, e) in RINGS {
        let plain = Plain::new(index, p, e);
        let transform = AxisTransform::new(plain.shape(), e).unwrap();
        let (slots, d, t) =
            (plain.shape().slots(), plain.shape().degree_of_slot(), plain.ring.modulus(e).value());
        let single = vec![1; transform.stages()];
        let merged = vec![transform.stages()];
        for (packing, inputs) in [(Packing::Thin, 1), (Packing::Whole, d)] {
            let vectors: Vec<Vec<u64>> =
                (0..inputs).map(|f| random(f as u64 + p, slots, t)).collect();
            let mut want = vec![0; plain.ring.degree()];
            for (f, values) in vectors.iter().enumerate() {
                for (s, value) in values.iter().enumerate() {
                    want[plain.place(transform.exponent_of_place(s, f))] = *value;
                }
            }
            // Frobenius to the power d is the identity.
            assert_eq!(transform.exponent_of_place(0, d), transform.exponent_of_place(0, 0));
            let encoded: Vec<Vec<u64>> =
                vectors.iter().map(|v| plain.ring.encode(v, e).unwrap()).collect();
            for sizes in [&single, &merged] {
                let maps = transform.slot_to_coeff(sizes, packing).unwrap();
                assert_eq!(
                    plain.apply(&maps, encoded.clone()),
                    want,
                    "m = {index}, p = {p}, {packing:?}, {sizes:?}"
                );
            }
            // And back.
            let maps = transform.coeff_to_slot(&single, packing).unwrap();
            let z = plain.apply(&maps, vec![want.clone()]);
            assert_eq!(
                plain.apply(&transform.coeff_to_slot(&merged, packing).unwrap(), vec![want]),
                z
            );
            let trace = |z: &[u64]| {
                let mut image = z.to_vec();
                let mut sum = vec![0; z.len()];
                for _ in 0..d {
                    sum = plain.add(&sum, &image);
                    image = plain.galois(&image, plain.shape().frobenius());
                }
                sum
            };
            if packing == Packing::Thin {
                assert_eq!(
                    plain.ring.decode(&trace(&z), e).unwrap(),
                    vectors[0],
                    "m = {index}, p = {p}"
                );
                continue;
            }
            let duals = transform.dual_basis().unwrap();
            for (f, values) in vectors.iter().enumerate() {
                assert_eq!(
                    plain.ring.decode(&trace(&plain.times(&duals[f], &z)), e).unwrap(),
                    *values,
                    "m = {index}, p = {p}"
                );
            }
        }
    }
}

#[test]
fn baby_and_giant_steps_are_the_map() {
    for (index, p, e) in RINGS {
        let plain = Plain::new(index, p, e);
        let transform = AxisTransform::new(plain.shape(), e).unwrap();
        let sizes = vec![transform.stages()];
        let d = plain.shape().degree_of_slot();
        let maps = [
            transform.slot_to_coeff(&sizes, Packing::Thin).unwrap().remove(0),
            transform.slot_to_coeff(&sizes, Packing::Whole).unwrap().remove(0),
            transform.coeff_to_slot(&sizes, Packing::Whole).unwrap().remove(0),
        ];
        for map in maps {
            let inputs: Vec<Vec<u64>> = (0..map.inputs()).map(|i| plain.random(i as u64)).collect();
            let want = plain.map(&map, &inputs);
            let costs = StepCosts { max_keys: 64, ..StepCosts::default() };
            let cheap = [
                costs,
                StepCosts { baby: 4.0, ..costs },
                StepCosts { giant: 50.0, ..costs },
                StepCosts { key: 1000.0, ..costs },
            ];
            let mut keys = Vec::new();
            for costs in cheap {
                let plan = LinearMapPlan::along_axes(&map, &costs).unwrap();
                keys.push(plan.galois_elements().len());
                assert_eq!(plan.plain_products(), map.inputs() * map.points().len());
                assert_eq!(plain.plan(&plan, &inputs), want, "m = {index}, p = {p}, d = {d}");
            }
            // Where keys are dear, one for each span is enough, and one to where a box begins.
            assert!(keys[3] <= map.spans().len() + 1, "{keys:?}");
            let refused = LinearMapPlan::along_axes(&map, &StepCosts { max_keys: 0, ..costs });
            assert!(
                map.points().len() == 1 || matches!(refused, Err(CircuitError::TooManyKeys { .. }))
            );
        }
    }
}

#[test]
fn maps_along_a_dimension_are_what_they_say() {
    for (index, p, e) in RINGS {
        let plain = Plain::new(index, p, e);
        let (shape, galois) = (plain.shape().clone(), plain.shape().galois_ring(e).unwrap());
        let (d, x) = (shape.degree_of_slot(), plain.random(3));
        let elements = plain.ring.decode_elements(&x, e).unwrap();
        let slot = |s: usize| &elements[s * d..(s + 1) * d];
        let sizes: Vec<usize> = shape.dimensions().iter().map(|dimension| dimension.size).collect();
        for (a, &size) in sizes.iter().enumerate() {
            let inner: usize = sizes[a + 1..].iter().product();
            let place = |s: usize| s / inner % size;
            let at = |s: usize, i: usize| s - place(s) * inner + i % size * inner;
            let encoded = |value: &dyn Fn(usize) -> Vec<u64>| -> Vec<u64> {
                plain
                    .ring
                    .encode_elements(&(0..shape.slots()).flat_map(value).collect::<Vec<_>>(), e)
                    .unwrap()
            };
            for k in [0, 1, -1, size as i64 / 2] {
                let map = AxisMap::rotation(&shape, e, a, k).unwrap();
                let want = encoded(&|s| {
                    slot(at(s, place(s) + k.rem_euclid(size as i64) as usize)).to_vec()
                });
                assert_eq!(
                    plain.map(&map, std::slice::from_ref(&x)),
                    want,
                    "m = {index}, p = {p}, rotation by {k} along {a}"
                );
                assert_eq!(
                    map.points().len(),
                    if shape.dimensions()[a].good || map.points()[0] == [0] { 1 } else { 2 }
                );
            }
            let constants = random(7, size * d, plain.ring.modulus(e).value());
            let constant =
                |k: i64| constants[k.rem_euclid(size as i64) as usize * d..][..d].to_vec();
            let map = AxisMap::convolution(&shape, e, a, constant).unwrap();
            let sum = |s: usize, term: &dyn Fn(usize) -> Vec<u64>| {
                (0..size).fold(vec![0; d], |sum, j| {
                    galois.add(&sum, &galois.mul(&term(j), slot(at(s, j))))
                })
            };
            let want = encoded(&|s| sum(s, &|j| constant(j as i64 - place(s) as i64)));
            assert_eq!(
                plain.map(&map, std::slice::from_ref(&x)),
                want,
                "m = {index}, p = {p}, convolution along {a}"
            );
            if a + 1 == sizes.len() {
                let entry = |i: usize, j: usize| {
                    galois.add(&constant(i as i64), &galois.mul(&constant(j as i64), &galois.x()))
                };
                let map = AxisMap::matrix(&shape, e, entry).unwrap();
                let want = encoded(&|s| sum(s, &|j| entry(place(s), j)));
                assert_eq!(
                    plain.map(&map, std::slice::from_ref(&x)),
                    want,
                    "m = {index}, p = {p}, matrix"
                );
            }
        }
        let missing = AxisMap::rotation(&shape, e, sizes.len(), 1);
        assert!(matches!(missing, Err(CircuitError::UnknownDimension { .. })));
    }
}

#[test]
fn other_indices_are_refused() {
    let shape = SlotShape::new(64, 17, 1).unwrap();
    let refused = AxisTransform::new(&shape, 1);
    assert!(matches!(refused, Err(CircuitError::UnsupportedIndex { index: 64 })));
    assert!(AxisMap::rotation(&shape, 1, 0, 1).is_err());
    let shape = SlotShape::new(16 * 17, 127, 1).unwrap();
    let words = shape.carrier_slots() * shape.degree_of_slot();
    // A diagonal is as long as the carrier, or as some of the last axes.
    for (factor, fits) in [(1, true), (2, false), (8, true)] {
        let map = AxisMap::new(&shape, 1, 1, Vec::new(), |_, _| vec![1; factor * words]);
        let refused =
            matches!(map, Err(CircuitError::SlotCount { expected, .. }) if expected == words);
        assert_eq!((map.is_ok(), refused), (fits, !fits), "{factor}");
    }
    // One axis of 65536 coefficients: more diagonals than are planned.
    let shape = SlotShape::new(65537, 2, 1).unwrap();
    let large = AxisTransform::new(&shape, 1).unwrap().coeff_to_slot(&[1], Packing::Whole);
    assert!(matches!(large, Err(CircuitError::LargeMap { words, .. }) if words > 1 << 31));
    let transform = AxisTransform::new(&SlotShape::new(7 * 13, 17, 1).unwrap(), 1).unwrap();
    for sizes in [&[][..], &[1], &[0, 2], &[3], &[usize::MAX, 3]] {
        assert!(matches!(
            transform.slot_to_coeff(sizes, Packing::Thin),
            Err(CircuitError::BadSizes { stages: 2, .. })
        ));
    }
}
