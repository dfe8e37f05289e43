//! Where coordinates are in slots: scores as sums of rotations of the query times diagonals of
//! rows.
//!
//! A chunk of the database has a row for each slot, and the query's d coordinates repeat along its
//! columns, so that column c of the query, rotated by k, has coordinate c + k modulo d. It is
//! multiplied by a ciphertext, *diagonal* k of the chunk, that has this coordinate of the row in
//! each slot; the sum over all k is the score of each row. With k = b + B g for b < B and g < G,
//!
//! ```text
//! score = Σ_g rot_(B g) ( Σ_b rot_b(query) · rot_(-B g)(diagonal b + B g) ):
//! ```
//!
//! the client encrypts the diagonals rotated back, and the server rotates the query by b < B, once
//! for all chunks, and the inner sums of each chunk by multiples of B. Source: diagonals of Halevi
//! and Shoup 2014 (ia.cr/2014/106), baby steps and giant steps of Halevi and Shoup 2018
//! (ia.cr/2018/244).

use everlevel_circuit::AllRotations;
use everlevel_scheme::{Params, SchemeError};

use super::protocol::Workload;
use crate::error::SuiteError;

/// Rotations of the query whose products with the rows of a chunk are added in one pass over the
/// sums.
const TOGETHER: usize = 16;

/// The order of the diagonals of a chunk, and what they hold.
pub(super) struct Diagonals {
    columns: usize,
    slots: usize,
    dimension: usize,
    giants: usize,
    rotations: AllRotations,
}

impl Diagonals {
    /// For a workload and a parameter set of its ring. The coordinates must be a power of two of at
    /// most as many as there are columns.
    pub fn new(params: &Params, workload: &Workload) -> Result<Self, SuiteError> {
        let (shape, slots) = (params.slot_shape(), params.slots());
        let (columns, dimension) = (shape.columns(), workload.dimension);
        let giants = workload.giants(slots);
        let fits = dimension.is_power_of_two() && dimension <= columns;
        let rotations = fits.then(|| AllRotations::new(shape, dimension / giants)).flatten();
        let rotations = rotations.ok_or_else(|| SchemeError::BadArgument {
            what: "coordinates",
            expected: format!("a power of two of at most {columns}"),
            found: dimension.to_string(),
        })?;
        Ok(Diagonals { columns, slots, dimension, giants, rotations })
    }

    /// d, the coordinates, and the diagonals of a chunk.
    pub fn count(&self) -> usize {
        self.dimension
    }

    /// G.
    pub fn giants(&self) -> usize {
        self.giants
    }

    /// The rotations of the query, by less than B.
    pub fn rotations(&self) -> &AllRotations {
        &self.rotations
    }

    /// How many rotations of the query are in memory at the same time: a divisor of B.
    pub fn together(&self) -> usize {
        TOGETHER.min(self.rotations.count())
    }

    /// b and g of a diagonal by its rank in the files: for each few b in a row first those of g =
    /// 0, then those of g = 1, and so on.
    fn place(&self, rank: usize) -> (usize, usize) {
        let together = self.together();
        let (step, within) = (rank / together, rank % together);
        (step / self.giants * together + within, step % self.giants)
    }

    /// The slots of the query that has these coordinates.
    pub fn query(&self, coordinates: &[i8]) -> Vec<i64> {
        let slots = coordinates.iter().cycle().take(self.slots);
        slots.map(|x| i64::from(*x)).collect()
    }

    /// The slots of the diagonal of this rank, rotated back, of a chunk of rows, of which the last
    /// ones may be missing.
    pub fn of_rows(&self, rank: usize, rows: &[i8]) -> impl Iterator<Item = i64> {
        let (baby, giant) = self.place(rank);
        let (columns, dimension) = (self.columns, self.dimension);
        let back = giant * self.rotations.count();
        (0..self.slots).map(move |slot| {
            let column = slot % columns;
            let row = slot - column + (column + columns - back) % columns;
            let coordinate = (column + baby) % dimension;
            rows.get(row * dimension + coordinate).map_or(0, |x| i64::from(*x))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::protocol::STAND_IN;
    use crate::instance::Instance;

    /// In the clear: what the server computes are the scores, whatever is in a row, and 0 where
    /// there is none.
    #[test]
    fn rotations_times_diagonals_are_scores() {
        let stand_in = Workload::of(&[STAND_IN.name]).unwrap().0;
        let params = stand_in.params().unwrap();
        let (slots, columns) = (params.slots(), params.slot_shape().columns());
        let many = Instance { name: "many", count: 1_000_000 };
        for (instance, dimension, giants) in
            [(STAND_IN, 16, 4), (STAND_IN, 1, 1), (STAND_IN, 128, 4), (many, 64, 1)]
        {
            let workload = Workload { instance, dimension };
            let diagonals = Diagonals::new(&params, &workload).unwrap();
            assert_eq!((diagonals.giants(), diagonals.count()), (giants, dimension));
            let number = |k: usize| (k * k % 251 % 17) as i8 - 8;
            let coordinates: Vec<i8> = (0..dimension).map(|i| number(i + 3)).collect();
            // A chunk that is not full.
            let there = slots - 37;
            let rows: Vec<i8> = (0..there * dimension).map(|k| number(5 * k + 1)).collect();
            let rotated = |x: &[i64], by: usize| -> Vec<i64> {
                let rows = x.chunks(columns);
                rows.flat_map(|x| x.iter().cycle().skip(by).take(columns).copied()).collect()
            };
            let query = diagonals.query(&coordinates);
            let mut sums = vec![vec![0i64; slots]; giants];
            let mut seen = vec![false; dimension];
            for rank in 0..dimension {
                let (baby, giant) = diagonals.place(rank);
                let seen = &mut seen[baby + giant * dimension / giants];
                assert!(!std::mem::replace(seen, true), "{rank}");
                let query = rotated(&query, baby);
                let terms = sums[giant].iter_mut().zip(query).zip(diagonals.of_rows(rank, &rows));
                terms.for_each(|((sum, x), y)| *sum += x * y);
            }
            let mut found = vec![0; slots];
            for (giant, sum) in sums.iter().enumerate() {
                let moved = rotated(sum, giant * dimension / giants);
                found.iter_mut().zip(moved).for_each(|(all, x)| *all += x);
            }
            let score = |slot: usize| -> i64 {
                let row = rows.chunks(dimension).nth(slot).unwrap_or(&[]);
                row.iter().zip(&coordinates).map(|(x, y)| i64::from(*x) * i64::from(*y)).sum()
            };
            assert!(found.into_iter().eq((0..slots).map(score)), "{dimension} {giants}");
        }
    }

    /// Ranks go on over few rotations of the query, all giant steps of which are taken at once.
    #[test]
    fn what_is_multiplied_together_is_together() {
        let params = Workload::of(&[STAND_IN.name]).unwrap().0.params().unwrap();
        let workload = Workload { instance: STAND_IN, dimension: 128 };
        let diagonals = Diagonals::new(&params, &workload).unwrap();
        let together = diagonals.together();
        assert_eq!(together, 16);
        for (step, first) in (0..128).step_by(together).enumerate() {
            let places = (first..first + together).map(|rank| diagonals.place(rank));
            let (group, giant) = (step / 4, step % 4);
            assert!(places.eq((0..together).map(|b| (group * together + b, giant))));
        }
    }

    #[test]
    fn other_numbers_of_coordinates_are_refused() {
        let params = Workload::of(&[STAND_IN.name]).unwrap().0.params().unwrap();
        for dimension in [0, 3, 40, 96, 2048] {
            let workload = Workload { instance: STAND_IN, dimension };
            let refused = Diagonals::new(&params, &workload).err().unwrap();
            assert_eq!(refused.code(), "scheme.bad-argument", "{dimension}");
        }
    }
}
