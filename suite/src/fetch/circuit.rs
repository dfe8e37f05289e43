//! What the server computes, over any scheme: run on encryptions, and rehearsed for its keys.

use std::ops::Range;

use everlevel_circuit::poly::{DepthGoal, Polynomial, PolynomialPlan};
use everlevel_circuit::{Expansion, PrimePower};
use everlevel_scheme::{
    ExactScheme, KeyPlan, Level, NextUse, NoOp, Params, Plaintext, Scheme, SchemeError,
};

use super::protocol::{LARGEST_SCORE, PAYLOAD, PAYLOAD_LEVEL, Task, Workload};
use crate::error::SuiteError;

/// Coordinates whose products with the query are added in one pass.
const TOGETHER: usize = 8;
/// What is added up for each payload beside its numbers: the mask, and the chunk's place.
pub(super) const BESIDE: usize = 2;

/// Where the encrypted database comes from, a part at a time.
pub(super) trait Database<S: Scheme> {
    /// Coordinates of the rows of a chunk, by their ranks in the order of expansion.
    fn rows(&mut self, chunk: usize, ranks: Range<usize>)
    -> Result<Vec<S::Ciphertext>, SuiteError>;

    /// The numbers of the payloads of a chunk.
    fn payloads(&mut self, chunk: usize) -> Result<Vec<S::Ciphertext>, SuiteError>;
}

/// The search for rows whose score with a query is at least a threshold.
///
/// The query is one ciphertext, expanded into a constant for each coordinate. A chunk has a row in
/// each slot, and a ciphertext for each coordinate, so that a score is a sum of products; a
/// polynomial makes 0 or 1 of it. Then either these are counted, or payloads times them are added
/// up over chunks, slot by slot.
pub(super) struct Search {
    expansion: Expansion,
    threshold: PolynomialPlan,
    chunks: usize,
    folds: u32,
    stride: i64,
}

impl Search {
    /// For a workload and a parameter set of its ring.
    pub fn new(params: &Params, workload: &Workload) -> Result<Self, SuiteError> {
        let shape = params.slot_shape();
        let expansion = expansion(params, workload)?;
        let t = PrimePower::new(params.spec().plain_prime, 1)?;
        let scores = -LARGEST_SCORE..=LARGEST_SCORE;
        let points: Vec<u64> = scores.clone().map(|score| t.reduce_i64(score)).collect();
        let values: Vec<u64> = scores.map(|score| u64::from(workload.matches(score))).collect();
        let polynomial = Polynomial::interpolate(t, &points, &values)?;
        let threshold = PolynomialPlan::new(&[polynomial], DepthGoal::Least)?;
        let chunks = workload.chunks(params.slots());
        let (folds, stride) = (folds(params, workload), stride(shape.columns()));
        Ok(Search { expansion, threshold, chunks, folds, stride })
    }

    /// The keys that the server needs.
    pub fn key_plan(&self, params: &Params, task: Task) -> Result<KeyPlan, SuiteError> {
        let dry = NoOp::blank(params);
        self.rehearse(&dry, task)?;
        Ok(dry.key_plan())
    }

    /// The results of a run that has no values.
    pub fn rehearse(
        &self,
        dry: &NoOp,
        task: Task,
    ) -> Result<Vec<<NoOp as Scheme>::Ciphertext>, SuiteError> {
        let zero = Plaintext::encode(dry.params(), &[])?;
        let (row, payload) = (dry.encrypt(&zero)?, dry.encrypt_at(&zero, Level(PAYLOAD_LEVEL))?);
        self.run(dry, row.clone(), &mut Blank { row, payload }, task)
    }

    /// The results: a count in parts, or accumulators of payloads.
    pub fn run<S: ExactScheme>(
        &self,
        scheme: &S,
        query: S::Ciphertext,
        database: &mut impl Database<S>,
        task: Task,
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let scores = self.scores(scheme, query, database)?;
        match task {
            Task::Count => Ok(vec![self.count(scheme, scores)?]),
            Task::Fetch => self.accumulate(scheme, scores, database),
        }
    }

    /// The scores of each chunk, not relinearized yet.
    fn scores<S: ExactScheme>(
        &self,
        scheme: &S,
        query: S::Ciphertext,
        database: &mut impl Database<S>,
    ) -> Result<Vec<S::Product>, SuiteError> {
        let mut sums: Vec<Option<S::Product>> = vec![None; self.chunks];
        let (mut done, mut together) = (0, Vec::with_capacity(TOGETHER));
        self.expansion.expand(scheme, query, |_, x| {
            together.push(x);
            let ranks = done..done + together.len();
            if together.len() < TOGETHER && ranks.end < self.expansion.count() {
                return Ok(());
            }
            for (chunk, sum) in sums.iter_mut().enumerate() {
                let rows = database.rows(chunk, ranks.clone())?;
                let pairs: Vec<_> = together.iter().zip(&rows).collect();
                let part = scheme.sum_of_products(&pairs)?;
                *sum = Some(match sum.take() {
                    None => part,
                    Some(sum) => scheme.add_products(&sum, &part)?,
                });
            }
            done = ranks.end;
            together.clear();
            Ok::<(), SuiteError>(())
        })?;
        Ok(sums.into_iter().flatten().collect())
    }

    /// 1 where the score reaches the threshold, else 0.
    fn mask<S: ExactScheme>(
        &self,
        scheme: &S,
        score: &S::Product,
        next: NextUse,
    ) -> Result<S::Ciphertext, SuiteError> {
        let score = scheme.relinearize(score, NextUse::Product)?;
        let mut found = self.threshold.evaluate(scheme, &score, next)?;
        Ok(found.swap_remove(0))
    }

    /// The number of matches, in sums over so few slots each that none wraps.
    fn count<S: ExactScheme>(
        &self,
        scheme: &S,
        scores: Vec<S::Product>,
    ) -> Result<S::Ciphertext, SuiteError> {
        let mut sum: Option<S::Ciphertext> = None;
        for score in scores {
            let mask = self.mask(scheme, &score, NextUse::LinearMap)?;
            sum = Some(match sum {
                None => mask,
                Some(sum) => scheme.add(&sum, &mask)?,
            });
        }
        let mut sum = sum.ok_or(SchemeError::BadArgument {
            what: "database",
            expected: "at least one chunk".into(),
            found: "none".into(),
        })?;
        let columns = scheme.slot_shape().columns().ilog2();
        for fold in 0..self.folds {
            let moved = if fold < columns {
                scheme.rotate_columns(&sum, 1 << fold)?
            } else {
                scheme.swap_rows(&sum)?
            };
            sum = scheme.add(&sum, &moved)?;
        }
        Ok(sum)
    }

    /// Payloads times masks, the masks, and the places of chunks times masks, added up over all
    /// chunks; and, if there are several, once more with the columns of chunk c rotated to the left
    /// by c times a stride: rows that share a slot in one sum do not in the other.
    fn accumulate<S: ExactScheme>(
        &self,
        scheme: &S,
        scores: Vec<S::Product>,
        database: &mut impl Database<S>,
    ) -> Result<Vec<S::Ciphertext>, SuiteError> {
        let mut sums: Option<[Vec<S::Ciphertext>; 2]> = None;
        for (chunk, score) in scores.into_iter().enumerate().rev() {
            let mask = self.mask(scheme, &score, NextUse::Product)?;
            // Not switched further down afterwards: the sums need what the modulus holds.
            let level = scheme.level(&mask).min(Level(PAYLOAD_LEVEL));
            let mask = scheme.mod_switch_to(&mask, level)?;
            let payload =
                |x| Ok(scheme.relinearize(&scheme.mul_lazy_aligned(&mask, x)?, NextUse::Keep)?);
            let payloads = database.payloads(chunk)?;
            let payloads = payloads.iter().map(payload).collect::<Result<Vec<_>, SuiteError>>()?;
            let level = payloads.iter().map(|x| scheme.level(x)).min();
            let mask = scheme.mod_switch_to(&mask, level.unwrap_or(scheme.level(&mask)))?;
            let place = scheme.mul_scalar(&mask, chunk as i64)?;
            let all: Vec<_> = [mask, place].into_iter().chain(payloads).collect();
            sums = Some(match sums {
                None => [all.clone(), all],
                Some([plain, moved]) => {
                    let add = |(sum, x): (S::Ciphertext, _)| scheme.add(&sum, x);
                    let turn = |(sum, x): (S::Ciphertext, _)| {
                        scheme.add(&scheme.rotate_columns(&sum, self.stride)?, x)
                    };
                    let plain = plain.into_iter().zip(&all).map(add);
                    let moved = moved.into_iter().zip(&all).map(turn);
                    [plain.collect::<Result<_, _>>()?, moved.collect::<Result<_, _>>()?]
                }
            });
        }
        let sums = sums.into_iter().flatten();
        Ok(sums.take(accumulators(self.chunks)).flatten().collect())
    }
}

/// A database without values.
struct Blank<C> {
    row: C,
    payload: C,
}

impl<S: Scheme> Database<S> for Blank<S::Ciphertext> {
    fn rows(&mut self, _: usize, ranks: Range<usize>) -> Result<Vec<S::Ciphertext>, SuiteError> {
        Ok(vec![self.row.clone(); ranks.len()])
    }

    fn payloads(&mut self, _: usize) -> Result<Vec<S::Ciphertext>, SuiteError> {
        Ok(vec![self.payload.clone(); PAYLOAD])
    }
}

/// How the query is expanded.
pub(super) fn expansion(params: &Params, workload: &Workload) -> Result<Expansion, SuiteError> {
    Expansion::new(params.slot_shape(), workload.dimension).ok_or_else(|| {
        SchemeError::BadArgument {
            what: "coordinates",
            expected: format!("1 to {}", params.degree()),
            found: workload.dimension.to_string(),
        }
        .into()
    })
}

/// How many sums of payloads there are: rows of one chunk never share a slot.
pub(super) fn accumulators(chunks: usize) -> usize {
    chunks.min(2)
}

/// How often the counts of slots are folded: to one slot if no more rows than the plaintext modulus
/// tells apart are there, else to as few as keep each sum below it.
pub(super) fn folds(params: &Params, workload: &Workload) -> u32 {
    let (slots, largest) = (params.slots(), params.plain_modulus() - 1);
    let all = slots.ilog2();
    if workload.instance.count <= largest {
        return all;
    }
    let each = largest / workload.chunks(slots) as u64;
    each.max(1).ilog2().min(all)
}

/// By how much the columns of each chunk are rotated more than those of the one before: odd, so
/// that no two chunks of fewer than there are columns are rotated alike, and large, so that rows
/// near to each other do not meet.
pub(super) fn stride(columns: usize) -> i64 {
    ((columns / 8 * 5) | 1) as i64
}
#[cfg(test)]
mod tests {
    use everlevel_scheme::noop::NoOpCiphertext;
    use everlevel_scheme::{OptIn, ParamsSpec};

    use super::*;
    use crate::fetch::matches::{Layout, resolve, total};
    use crate::fetch::protocol::{INSTANCES, STAND_IN, spec};
    use crate::instance::Instance;

    /// Every instance and task fits the set, with some capacity left, and not much.
    #[test]
    fn the_set_holds_every_instance() {
        let sizes = (0..INSTANCES.len()).map(|i| i.to_string()).chain([STAND_IN.name.into()]);
        for size in sizes {
            let workload = Workload::of(&[&size]).unwrap().0;
            let params = workload.params().unwrap();
            let search = Search::new(&params, &workload).unwrap();
            for task in [Task::Count, Task::Fetch] {
                let dry = NoOp::blank(&params);
                let found = search.rehearse(&dry, task).unwrap();
                let left = found.iter().map(|x| dry.capacity_bits(x)).fold(f64::MAX, f64::min);
                println!("{size} {task:?}: {left:.1} bits left, {:?}", dry.cost());
                assert!(left > 4.0, "{size} {task:?}: {left} bits");
                assert!(size == STAND_IN.name || left < 50.0, "{size} {task:?}: {left} bits");
                // What the client can do with it.
                assert!(found.iter().all(|x| dry.decrypt(x).is_ok()));
            }
        }
    }

    /// Rows of one coordinate, by chunks, in the clear.
    struct Plain<'a> {
        dry: &'a NoOp,
        rows: &'a [bool],
    }

    fn payload(row: usize) -> [u16; PAYLOAD] {
        std::array::from_fn(|k| (row * 7 + k) as u16 % 5000)
    }

    impl Plain<'_> {
        fn encrypt(&self, chunk: usize, value: impl Fn(usize) -> u64) -> NoOpCiphertext {
            let slots = self.dry.params().slots();
            let rows =
                (slots * chunk..slots * (chunk + 1)).take_while(|row| *row < self.rows.len());
            let values: Vec<u64> = rows.map(value).collect();
            let message = Plaintext::encode(self.dry.params(), &values).unwrap();
            self.dry.encrypt(&message).unwrap()
        }
    }

    impl Database<NoOp> for Plain<'_> {
        fn rows(&mut self, c: usize, _: Range<usize>) -> Result<Vec<NoOpCiphertext>, SuiteError> {
            Ok(vec![self.encrypt(c, |row| 22 * u64::from(self.rows[row]))])
        }

        fn payloads(&mut self, c: usize) -> Result<Vec<NoOpCiphertext>, SuiteError> {
            let number = |k: usize| self.encrypt(c, |row| payload(row)[k].into());
            Ok((0..PAYLOAD).map(number).collect())
        }
    }

    /// Four hundred chunks of 32 rows, more than the plaintext modulus in all: they are counted,
    /// and their payloads found, from one to the other end.
    #[test]
    fn many_chunks_neither_wrap_nor_mix() {
        let name = "insecure_fetch-12289-n5".into();
        let spec = ParamsSpec { name, index: 64, plain_prime: 12_289, ..spec(11) };
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let count = 12_795;
        let instance = Instance { name: "of this test", count };
        let workload = Workload { instance, dimension: 1 };
        let search = Search::new(&params, &workload).unwrap();
        let (slots, columns) = (params.slots(), params.slot_shape().columns());
        let chunks = workload.chunks(slots);
        assert_eq!((slots, columns, chunks), (32, 16, 400));
        // 400 · 16 is more than half of the modulus, 400 · 32 would wrap.
        assert_eq!(folds(&params, &workload), 4);
        let layout = Layout {
            columns,
            slots,
            chunks,
            rows: count,
            stride: stride(columns),
            modulus: params.plain_modulus(),
        };
        let run = |rows: &[bool], task: Task| -> Vec<Vec<u64>> {
            let dry = NoOp::new(&params, 1);
            let query = expansion(&params, &workload).unwrap().encode(&params, &[22]).unwrap();
            let query = dry.encrypt(&query).unwrap();
            let found = search.run(&dry, query, &mut Plain { dry: &dry, rows }, task).unwrap();
            let open = |x| dry.decrypt(x).unwrap().decode(&params).unwrap();
            found.iter().map(open).collect()
        };
        let all = vec![true; count as usize];
        let few: Vec<usize> = vec![0, 1, 31, 32, 64, 100, 4_000, 4_032, 12_768, 12_794];
        let chosen: Vec<bool> = (0..all.len()).map(|row| few.contains(&row)).collect();
        for (rows, matches) in [(&all, count), (&chosen, few.len() as u64)] {
            let sums = run(rows, Task::Count);
            assert_eq!(total(&sums[0], &layout, 16).unwrap(), matches);
        }
        let sums = run(&chosen, Task::Fetch);
        let sums = sums.chunks(BESIDE + PAYLOAD).map(<[_]>::to_vec).collect();
        let mut found = resolve(sums, &layout).unwrap();
        let mut wanted: Vec<_> = few.iter().map(|row| payload(*row)).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_set_is_secure() {
        let params = Workload::of(&["1"]).unwrap().0.params().unwrap();
        assert_eq!(params.slots(), params.degree());
        assert!(params.security().bits() >= 128.0, "{}", params.security().weakest());
        println!("{:.1} bits", params.security().bits());
    }
}
