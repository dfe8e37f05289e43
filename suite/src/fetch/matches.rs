//! Payloads of matches, out of their sums over chunks.

use super::circuit::BESIDE;
use super::protocol::PAYLOAD;
use crate::error::SuiteError;

/// Of each accumulator each field, slot by slot: the masks, the chunks' places, payload numbers.
pub(super) type Sums = Vec<Vec<Vec<u64>>>;

/// Where rows are in the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Slots of a row of slots.
    pub columns: usize,
    /// Slots.
    pub slots: usize,
    /// How many chunks there are.
    pub chunks: usize,
    /// How many rows of the database.
    pub rows: u64,
    /// By how many columns more a chunk is rotated than the one before.
    pub stride: i64,
    /// The plaintext modulus.
    pub modulus: u64,
}

impl Layout {
    /// Where slot `slot` of a chunk is in sum `sum`.
    fn moved(&self, slot: usize, chunk: usize, sum: usize) -> usize {
        let by = sum as i64 * chunk as i64 * self.stride;
        let (row, column) = (slot / self.columns, (slot % self.columns) as i64);
        row * self.columns + (column - by).rem_euclid(self.columns as i64) as usize
    }

    /// The slot of a chunk that is at `place` in sum `sum`.
    fn origin(&self, place: usize, chunk: usize, sum: usize) -> usize {
        let turn = self.columns - self.moved(0, chunk, sum);
        let (row, column) = (place / self.columns, place % self.columns);
        row * self.columns + (column + turn) % self.columns
    }
}

/// The number of matches from its parts, one at each of the first of `each` slots.
///
/// # Errors
/// What no honest server sends: sums of other slots that are not the same number together, more
/// matches than rows.
pub(super) fn total(sums: &[u64], layout: &Layout, each: usize) -> Result<u64, SuiteError> {
    let wrong = |expected: String, found: u64| SuiteError::Result {
        place: "the count".into(),
        expected,
        found,
    };
    // Each slot has the sum of those from it on, cyclically: from wherever, all parts together are
    // the same.
    let totals = (0..each).map(|first| sums.iter().skip(first).step_by(each).sum::<u64>());
    let totals: Vec<u64> = totals.collect();
    let total = totals[0];
    match totals.iter().find(|other| **other != total) {
        Some(other) => Err(wrong(format!("{total} from each slot on"), *other)),
        None if total > layout.rows => Err(wrong(format!("at most {}", layout.rows), total)),
        None => Ok(total),
    }
}

/// The payloads of all matches, in no order, from the sums of [`super::circuit::Search::run`], slot
/// by slot: masks, places of chunks and payload numbers, for each accumulator.
///
/// A slot of an accumulator where the masks add up to 1 holds the one row's chunk and payload,
/// which is taken out of all accumulators, until nothing is left.
///
/// # Errors
/// Matches that cannot be told apart, as each shares its slots with others; sums that no honest
/// server sends.
pub(super) fn resolve(mut sums: Sums, layout: &Layout) -> Result<Vec<[u16; PAYLOAD]>, SuiteError> {
    let wrong = |slot: usize, expected: String, found: u64| SuiteError::Result {
        place: format!("slot {slot}"),
        expected,
        found,
    };
    let mut single = Vec::new();
    for (sum, fields) in sums.iter().enumerate() {
        for (place, &count) in fields[0].iter().enumerate() {
            if count > layout.chunks as u64 {
                return Err(wrong(place, format!("at most {} matches", layout.chunks), count));
            }
            if count == 1 {
                single.push((sum, place));
            }
        }
    }
    let mut found = Vec::new();
    while let Some((sum, place)) = single.pop() {
        if sums[sum][0][place] != 1 {
            // Found in another sum before.
            continue;
        }
        let fields: Vec<u64> = sums[sum].iter().map(|field| field[place]).collect();
        let chunk = fields[1] as usize;
        let slot = layout.origin(place, chunk.min(layout.chunks), sum);
        let row = (chunk as u64).saturating_mul(layout.slots as u64) + slot as u64;
        if chunk >= layout.chunks || row >= layout.rows {
            return Err(wrong(place, format!("one of {} rows", layout.rows), row));
        }
        let mut payload = [0; PAYLOAD];
        for (number, &field) in payload.iter_mut().zip(&fields[BESIDE..]) {
            *number =
                u16::try_from(field).ok().filter(|x| *x <= i16::MAX as u16).ok_or_else(|| {
                    wrong(place, format!("payload numbers up to {}", i16::MAX), field)
                })?;
        }
        found.push(payload);
        for (other, all) in sums.iter_mut().enumerate() {
            let place = layout.moved(slot, chunk, other);
            if all[0][place] == 0 {
                return Err(wrong(place, format!("the match of row {row}"), 0));
            }
            for (field, value) in all.iter_mut().zip(&fields) {
                let left = field[place] + layout.modulus - value;
                field[place] = left % layout.modulus;
            }
            if all[0][place] == 1 {
                single.push((other, place));
            }
        }
    }
    let left: u64 = sums[0][0].iter().sum();
    if left > 0 {
        return Err(SuiteError::Collision { found: found.len(), left });
    }
    for all in &sums {
        for field in all {
            if let Some(place) = field.iter().position(|x| *x != 0) {
                return Err(wrong(place, "0, without a match".into(), field[place]));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout =
        Layout { columns: 8, slots: 16, chunks: 4, rows: 60, stride: 5, modulus: 257 };

    fn payload(row: u64) -> [u16; PAYLOAD] {
        std::array::from_fn(|k| (row as u16 * 4 + k as u16) % 250)
    }

    /// The sums of matches, as the server makes them.
    fn sums(rows: &[u64], accumulators: usize) -> Sums {
        let mut out = vec![vec![vec![0; LAYOUT.slots]; BESIDE + PAYLOAD]; accumulators];
        for &row in rows {
            let (chunk, slot) = ((row / 16) as usize, (row % 16) as usize);
            for (sum, all) in out.iter_mut().enumerate() {
                let (half, column) = (slot / 8, slot % 8);
                let place = half * 8 + (column + 8 * 5 * chunk - 5 * chunk * sum) % 8;
                let numbers = payload(row).map(u64::from);
                let values = [1, chunk as u64].into_iter().chain(numbers);
                for (field, value) in all.iter_mut().zip(values) {
                    field[place] = (field[place] + value) % LAYOUT.modulus;
                }
            }
        }
        out
    }

    fn resolved(rows: &[u64]) -> Result<Vec<[u16; PAYLOAD]>, &'static str> {
        let mut found = resolve(sums(rows, 2), &LAYOUT).map_err(|e| e.code())?;
        found.sort_unstable();
        Ok(found)
    }

    fn payloads(rows: &[u64]) -> Vec<[u16; PAYLOAD]> {
        let mut out: Vec<_> = rows.iter().map(|row| payload(*row)).collect();
        out.sort_unstable();
        out
    }

    /// All sets of up to three rows are found, those that share slots as well.
    #[test]
    fn any_three_matches_are_told_apart() {
        assert_eq!(resolved(&[]), Ok(vec![]));
        for a in 0..60 {
            for b in a..60 {
                for c in b..60 {
                    let mut rows = vec![a, b, c];
                    rows.dedup();
                    assert_eq!(resolved(&rows), Ok(payloads(&rows)), "{rows:?}");
                }
            }
        }
    }

    /// A set of many is found or refused, never another one.
    #[test]
    fn many_matches_are_found_or_refused() {
        // Chunks 0 and 1 share slot 2, 1 and 2 share slot 7, which the other sum has in the places
        // of the first two.
        let ring = [2, 18, 23, 39];
        assert_eq!(resolved(&ring), Err("suite.collision"));
        assert_eq!(resolved(&[2, 18, 23, 39, 4]), Err("suite.collision"));
        let mut word = 1u64;
        let (mut told, mut refused) = (0, 0);
        for count in (4..20).cycle().take(4000) {
            let mut rows: Vec<u64> = Vec::new();
            while rows.len() < count {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let row = (word >> 33) % 60;
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
            match resolved(&rows) {
                Ok(found) => {
                    assert_eq!(found, payloads(&rows), "{rows:?}");
                    told += 1;
                }
                Err(code) => {
                    assert_eq!(code, "suite.collision");
                    refused += 1;
                }
            }
        }
        assert!(told > 100 && refused > 100, "{told} {refused}");
    }

    #[test]
    fn sums_that_no_server_sends() {
        let code = |change: &dyn Fn(&mut Sums)| {
            let mut all = sums(&[3, 20, 59], 2);
            change(&mut all);
            resolve(all, &LAYOUT).map_err(|e| e.code())
        };
        assert!(code(&|_| ()).is_ok());
        let wrong = Err("suite.result");
        assert_eq!(code(&|all| all[0][0][0] = 5), wrong, "more matches than chunks");
        assert_eq!(code(&|all| all[0][1][3] = 4), wrong, "no chunk");
        assert_eq!(code(&|all| all[0][1][3] = 256), wrong, "no chunk");
        assert_eq!(code(&|all| all[1][0].fill(0)), wrong, "masks in one sum alone");
        assert_eq!(code(&|all| all[0][2][0] = 1), wrong, "a payload without a match");
        assert_eq!(code(&|all| all[0][4][3] += 1), wrong, "two payloads for one match");
        let mut outside = sums(&[3], 1);
        (outside[0][0][13], outside[0][1][13]) = (1, 3);
        let outside = resolve(outside, &LAYOUT).map_err(|e| e.code());
        assert_eq!(outside, wrong, "row 61 of 60");
    }

    #[test]
    fn counts() {
        // Two matches in slots 1 and 6 of 8, folded by four: slot j has those of j to j + 3.
        let layout = Layout { columns: 8, slots: 8, ..LAYOUT };
        let slots = [0, 1, 0, 0, 0, 0, 2, 0];
        let fold = |each: usize| -> Vec<u64> {
            (0..8).map(|j| (0..each).map(|k| slots[(j + k) % 8]).sum()).collect()
        };
        for each in [1, 2, 4, 8] {
            assert_eq!(total(&fold(each), &layout, each).unwrap(), 3, "{each}");
        }
        let mut changed = fold(4);
        changed[2] += 1;
        assert_eq!(total(&changed, &layout, 4).unwrap_err().code(), "suite.result");
        let few = Layout { rows: 2, ..layout };
        assert_eq!(total(&fold(4), &few, 4).unwrap_err().code(), "suite.result");
    }
}
