//! Combinations with plaintexts whose evaluations repeat.

use everlevel_ring::{Basis, Engine};

use super::Laws;
use super::sums::level;

impl<E: Engine> Laws<'_, E> {
    pub(super) fn combinations(&self) {
        let (engine, ring, basis) = (self.engine, &self.definitions.ring, level());
        let counts: Vec<usize> =
            (1..=ring.degree()).filter(|n| self.definitions.repeating(*n).is_some()).collect();
        assert!(!counts.is_empty(), "plaintexts that repeat");
        for &count in &counts {
            let signed: Vec<Vec<i64>> = (0..3).map(|_| self.small(count)).collect();
            let powers = self.definitions.repeating(count).expect("counted");
            // Over more primes than are multiplied.
            let diagonal = |x: &Vec<i64>| engine.diagonal(x, self.extended()).expect("fits");
            let diagonals: Vec<E::Diagonal> = signed.iter().map(diagonal).collect();
            assert!(diagonals.iter().all(|d| E::diagonal_bytes(d) > 0), "bytes of a diagonal");
            let values = |d: usize, i: usize| {
                let reduced = signed[d].iter().map(|&x| ring.modulus(i).reduce_i64(x));
                let terms: Vec<(u64, u64)> = powers.iter().copied().zip(reduced).collect();
                self.definitions.values(i, &terms)
            };
            let known = [0; 4].map(|_| self.random(basis));
            let polys = known.each_ref().map(|x| self.eval(x));
            let rows = [[Some(0), Some(1)], [None, Some(2)]];
            let entries = |row: &[Option<usize>; 2]| {
                row.iter().map(|d| d.map(|d| &diagonals[d])).collect::<Vec<_>>()
            };
            let made = engine.combine(
                &[&polys[..2], &polys[2..]],
                &rows.iter().map(entries).collect::<Vec<_>>(),
            );
            for (row, made) in rows.iter().zip(&made) {
                for (k, made) in made.iter().enumerate() {
                    let limb = |i: usize| {
                        let q = ring.modulus(i);
                        let mut sum = vec![0; ring.degree()];
                        for (input, d) in row.iter().enumerate() {
                            let Some(d) = d else { continue };
                            let products = values(*d, i).into_iter();
                            let products = products.zip(known[2 * input + k].values(i));
                            sum.iter_mut()
                                .zip(products)
                                .for_each(|(s, (d, &x))| *s = q.mul_add(d, x, *s));
                        }
                        sum
                    };
                    let expected = basis.iter().map(limb).collect();
                    self.assert_is(made, basis, &expected, "combine");
                }
                assert_eq!(made.len(), 2, "combine: as many components as the inputs");
            }
            assert_eq!(made.len(), 2, "combine: a result for each row");
        }
        for count in (1..=ring.degree() + 1).filter(|n| !counts.contains(n)) {
            assert!(engine.diagonal(&vec![1; count], basis).is_err(), "{count} coefficients");
        }
    }

    /// As many terms as a kernel takes, and more.
    pub(super) fn combinations_of_many_terms(&self) {
        let (engine, ring, basis) = (self.engine, &self.definitions.ring, level());
        let repeats = |n: &usize| self.definitions.repeating(*n).is_some();
        let count = (1..=ring.degree()).find(repeats).expect("plaintexts that repeat");
        let powers = self.definitions.repeating(count).expect("found");
        let signed = self.small(count);
        let diagonal = engine.diagonal(&signed, basis).expect("fits");
        let known = [0; 4].map(|_| self.random(basis));
        let polys = known.each_ref().map(|x| self.eval(x));
        let inputs = [&polys[..2], &polys[2..]];
        for terms in [2048, 2049, 4500] {
            let columns: Vec<_> = (0..terms).map(|term| inputs[term % 2]).collect();
            let made = engine.combine(&columns, &[vec![Some(&diagonal); terms]]);
            assert_eq!((made.len(), made[0].len()), (1, 2), "combine: a row of two components");
            for (k, made) in made[0].iter().enumerate() {
                let limb = |i: usize| -> Vec<u64> {
                    let q = ring.modulus(i);
                    let reduced = signed.iter().map(|&x| q.reduce_i64(x));
                    let of_powers: Vec<(u64, u64)> = powers.iter().copied().zip(reduced).collect();
                    let factors = self.definitions.values(i, &of_powers);
                    let [x, y] = [&known[k], &known[2 + k]].map(|x| x.values(i));
                    let [xs, ys] = [terms.div_ceil(2), terms / 2].map(|n| q.reduce_u64(n as u64));
                    let sum = |place: usize| q.add(q.mul(xs, x[place]), q.mul(ys, y[place]));
                    (0..ring.degree()).map(|place| q.mul(factors[place], sum(place))).collect()
                };
                let expected = basis.iter().map(limb).collect();
                self.assert_is(made, basis, &expected, "combine, many terms");
            }
        }
    }

    /// Few rows and many, constants of all sizes, none, and more terms than a kernel takes.
    pub(super) fn combinations_with_constants(&self) {
        let (engine, ring, basis) = (self.engine, &self.definitions.ring, level());
        let known = [0; 4].map(|_| self.random(basis));
        let polys = known.each_ref().map(|x| self.eval(x));
        let inputs = [&polys[..2], &polys[2..]];
        for (terms, rows, bits) in [(1, 1, 1), (2, 1, 40), (7, 5, 3), (2500, 6, 3), (9, 4, 62)] {
            let constant = |row: usize, term: usize| {
                let place = (row * terms + term + 1) as u64;
                let word = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64;
                word >> (64 - bits)
            };
            let constants: Vec<Vec<i64>> =
                (0..rows).map(|row| (0..terms).map(|term| constant(row, term)).collect()).collect();
            let constants: Vec<&[i64]> = constants.iter().map(Vec::as_slice).collect();
            let columns: Vec<_> = (0..terms).map(|term| inputs[term % 2]).collect();
            let made = engine.linear_combinations(&columns, &constants);
            assert_eq!(made.len(), rows, "linear_combinations: a result for each row");
            for (made, row) in made.iter().zip(&constants) {
                assert_eq!(made.len(), 2, "linear_combinations: as many components");
                for (k, made) in made.iter().enumerate() {
                    let expected = self.words(basis, |i, place| {
                        let q = ring.modulus(i);
                        let terms = row.iter().enumerate().map(|(term, &c)| {
                            let x = known[2 * (term % 2) + k].values(i)[place];
                            q.mul(q.reduce_i64(c), x)
                        });
                        terms.fold(0, |sum, term| q.add(sum, term))
                    });
                    self.assert_is(made, basis, &expected, "linear_combinations");
                }
            }
        }
        assert!(engine.linear_combinations(&inputs, &[]).is_empty());
    }

    /// Small signed integers.
    fn small(&self, count: usize) -> Vec<i64> {
        let x = self.random(Basis::of([0]));
        x.coefficients[0].iter().cycle().take(count).map(|x| (x % 1000) as i64 - 500).collect()
    }
}
