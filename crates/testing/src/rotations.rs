//! Laws of the automorphisms.

use everlevel_ring::GaloisElement;
use everlevel_scheme::{DiagonalValues, ExactScheme, NextUse, PeriodicSlots, SchemeError};

use crate::Subject;
use crate::rotated::rotated_along;

impl<S: ExactScheme> Subject<'_, S> {
    /// What a rotation of the columns makes of slot values.
    fn rotated(&self, x: &[u64], k: i64) -> Vec<u64> {
        let columns = self.scheme.slot_shape().columns();
        let shift = k.rem_euclid(columns as i64) as usize;
        (0..x.len()).map(|i| x[i / columns * columns + (i % columns + shift) % columns]).collect()
    }

    /// What the exchange of the rows makes of slot values.
    fn swapped(&self, x: &[u64]) -> Vec<u64> {
        let columns = self.scheme.slot_shape().columns();
        (0..x.len()).map(|i| x[(i + columns) % x.len()]).collect()
    }

    /// Rotations and the exchange of the rows are an abelian group of ring automorphisms, as the
    /// slot shape says.
    ///
    /// # Panics
    /// If a law does not hold.
    pub fn rotation_laws(&self) {
        let s = self.scheme;
        let shape = s.slot_shape();
        let v = self.vectors(5, 2);
        let [x, y] = [&v[0], &v[1]];
        let [a, b] = [(self.encrypt)(x), (self.encrypt)(y)];
        let rotate = |a: &S::Ciphertext, k: i64| {
            s.rotate_columns(a, k).expect("room and a key for a rotation")
        };
        let swap = |a: &S::Ciphertext| {
            s.swap_rows(a).expect("room and a key for the exchange of the rows")
        };
        for &k in self.rotations {
            self.expect("rotation", &rotate(&a, k), &self.rotated(x, k));
            for &l in self.rotations {
                self.expect(
                    "rotations add up",
                    &rotate(&rotate(&a, k), l),
                    &self.rotated(x, k + l),
                );
                // Up to a power of Frobenius, which is the identity on integers in the slots.
                let (composed, direct) =
                    (shape.compose(shape.rotation(k), shape.rotation(l)), shape.rotation(k + l));
                let mut powers = std::iter::successors(Some(direct), |&g| {
                    Some(shape.compose(g, shape.frobenius()))
                });
                assert!(
                    powers.by_ref().take(shape.degree_of_slot()).any(|g| g == composed),
                    "composition of rotations"
                );
            }
            self.same(
                "rotations and the exchange commute",
                &rotate(&swap(&a), k),
                &swap(&rotate(&a, k)),
            );
            self.same(
                "a rotation of a sum",
                &rotate(&s.add(&a, &b).expect("room for a sum"), k),
                &s.add(&rotate(&a, k), &rotate(&b, k)).expect("room for a sum"),
            );
            let product = |a: &S::Ciphertext, b: &S::Ciphertext| {
                s.mul(a, b, NextUse::LinearMap).expect("room for a product")
            };
            self.same(
                "a rotation of a product",
                &rotate(&product(&a, &b), k),
                &product(&rotate(&a, k), &rotate(&b, k)),
            );
        }
        self.expect("exchange of the rows", &swap(&a), &self.swapped(x));
        self.expect("the exchange is its own inverse", &swap(&swap(&a)), x);
        self.expect("rotation by 0", &rotate(&a, 0), x);
        self.expect("rotation by all columns", &rotate(&a, shape.columns() as i64), x);
        self.expect(
            "the identity",
            &s.apply_galois(&a, shape.identity()).expect("no key needed"),
            x,
        );
    }

    /// Rotations along the good dimensions of the hypercube of slots are cyclic and commute, and
    /// Frobenius fixes integers, as the slot shape says. `steps` are (dimension, rotation) for
    /// which there are keys, as there are for Frobenius.
    ///
    /// # Panics
    /// If a law does not hold.
    pub fn dimension_laws(&self, steps: &[(usize, i64)]) {
        let s = self.scheme;
        let shape = s.slot_shape();
        let v = self.vectors(8, 2);
        let [x, y] = [&v[0], &v[1]];
        let [a, b] = [(self.encrypt)(x), (self.encrypt)(y)];
        let rotate = |a: &S::Ciphertext, dimension: usize, k: i64| {
            s.apply_galois(a, shape.rotation_along(dimension, k))
                .expect("room and a key for a rotation")
        };
        for &(dimension, k) in steps {
            assert!(shape.dimensions()[dimension].good, "rotations along good dimensions");
            let turned = rotate(&a, dimension, k);
            self.expect(
                "rotation along a dimension",
                &turned,
                &rotated_along(shape, x, dimension, k),
            );
            for &(other, l) in steps {
                self.expect(
                    "rotations along dimensions commute",
                    &rotate(&turned, other, l),
                    &rotated_along(shape, &rotated_along(shape, x, other, l), dimension, k),
                );
            }
            let sum = s.add(&a, &b).expect("room for a sum");
            self.same(
                "a rotation of a sum",
                &rotate(&sum, dimension, k),
                &s.add(&turned, &rotate(&b, dimension, k)).expect("room"),
            );
            let product = s.mul(&a, &b, NextUse::LinearMap).expect("room for a product");
            let rotated = s
                .mul(&turned, &rotate(&b, dimension, k), NextUse::LinearMap)
                .expect("room for a product");
            self.same("a rotation of a product", &rotate(&product, dimension, k), &rotated);
        }
        if shape.axes().is_some() && shape.dimensions().last().is_some_and(|d| !d.good) {
            let refused = s.rotate_columns(&a, 1);
            assert!(
                matches!(refused, Err(SchemeError::BadArgument { .. })),
                "a bad dimension is no cycle"
            );
        }
        self.expect(
            "Frobenius fixes integers",
            &s.apply_galois(&a, shape.frobenius()).expect("a key for Frobenius"),
            x,
        );
    }

    /// Hoisted rotations with diagonals are the linear map that they stand for.
    ///
    /// # Panics
    /// If they are not.
    pub fn hoisting(&self) {
        let s = self.scheme;
        let shape = s.slot_shape();
        let v = self.vectors(6, 1);
        let a = (self.encrypt)(&v[0]);
        let (columns, t) = (shape.columns(), self.modulus());
        let mut steps = vec![0];
        steps.extend(self.rotations);
        let elements: Vec<GaloisElement> = steps.iter().map(|&k| shape.rotation(k)).collect();
        let slots: Vec<PeriodicSlots> = (0..steps.len())
            .map(|j| {
                let period = (1usize << j).min(columns);
                let mut values: Vec<u64> =
                    (0..2 * period as u64).map(|i| (i * i + 3 * j as u64 + 1) % t).collect();
                // One row of slots: real, so that the result is thin again.
                values[shape.rows() * period..].fill(0);
                PeriodicSlots { period, values }
            })
            .collect();
        let diagonals: Vec<S::Diagonal> = slots
            .iter()
            .map(|d| {
                s.diagonal(&DiagonalValues::Periodic(d.clone()), self.exponent, s.level(&a))
                    .expect("a diagonal")
            })
            .collect();
        let babies = s.hoist(&a, &elements).expect("room and keys for rotations");
        let second = (0..diagonals.len()).map(|j| (j == 0).then_some(&diagonals[0])).collect();
        let rows = vec![diagonals.iter().map(Some).collect(), second];
        let parts = s.combine(&babies, &rows).expect("room for a linear map");
        let parts = [shape.identity(), shape.swap_rows()].into_iter().zip(parts).collect();
        let out = s.galois_sum(parts, NextUse::Product).expect("room for a linear map");

        let at =
            |d: &PeriodicSlots, i: usize| d.values[i / columns * d.period + i % columns % d.period];
        let mut expected = self.swapped(
            &(0..v[0].len())
                .map(|i| {
                    (u128::from(at(&slots[0], i)) * u128::from(v[0][i]) % u128::from(t)) as u64
                })
                .collect::<Vec<_>>(),
        );
        for (d, &k) in slots.iter().zip(&steps) {
            let moved = self.rotated(&v[0], k);
            let term: Vec<u64> = (0..moved.len()).map(|i| at(d, i)).collect();
            let term = self.zip(&term, &moved, |d, x| d * x);
            expected = self.zip(&expected, &term, |e, t| e + t);
        }
        self.expect("linear map", &out, &expected);
    }

    /// A rotation without a key is refused and says so. Only for schemes that have keys.
    ///
    /// # Panics
    /// If it is not.
    pub fn missing_key(&self, step: i64) {
        let a = (self.encrypt)(&self.vectors(7, 1)[0]);
        match self.scheme.rotate_columns(&a, step) {
            Err(SchemeError::MissingKey { .. }) => {}
            Err(e) => panic!("rotation by {step}: expected a missing key, found: {e}"),
            Ok(_) => panic!("rotation by {step}: expected a missing key, found a result"),
        }
    }
}
