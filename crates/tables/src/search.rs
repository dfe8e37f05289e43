//! Least and greatest values, quantiles and first rows in rounds: a search by counts below
//! constants that the server does not see.
//!
//! A round counts the rows that meet the condition and have a value below each of some constants,
//! between which the searched value must be. All these rounds have the same plan with different
//! constants, and their number follows from the bounds of the column alone, so that the server
//! learns nothing from them. The cost of a round is that of its counts, which the plan states.
//!
//! For the first rows in an order, the searched value is that of the last of them; one more round
//! lists the rows up to it, of which the reader takes the first.

use std::collections::BTreeMap;

use crate::answer::{Answer, Cell};
use crate::error::TablesError;
use crate::field::Field;
use crate::output::OutputType;
use crate::parameter::NAME;
use crate::plan::Plan;
use crate::query::{Fold, OrderKey, Query};
use crate::schema::Schema;
use crate::sought::{Sought, Wanted, refused};

/// The largest number of parts that a round distinguishes.
const MOST_PARTS: usize = 32;

/// The search for a `min`, `max`, `median` or `quantile_cont` of a column, or for the rows of
/// `order by … limit`, in rounds. In each round, the party that reads the results runs
/// [`Search::plan`] with the constants of [`Search::constants`], until there are none.
///
/// This party learns the counts. The last round for rows also tells it all rows whose value is the
/// k-th or comes before it, and those without a value, with their positions.
#[derive(Clone, Debug)]
pub struct Search {
    /// The query from which the answer is computed: for a value without its condition.
    asked: Query,
    /// The plan of the rounds that count, and that of the round that lists rows, if there is one.
    plans: Vec<Plan>,
    wanted: Wanted,
    column: usize,
    parts: i128,
    /// The number of rounds that count, for each value that is searched.
    rounds: usize,
    done: usize,
    /// The number of values below a code, for the codes for which it is known.
    below: BTreeMap<i128, i128>,
    count: Option<i128>,
    /// The answer of the round that lists rows.
    found: Option<Answer>,
}

fn wrong(problem: &str) -> TablesError {
    TablesError::Result { problem: problem.into() }
}

impl Search {
    /// A search for `select min(column) from … where …`, or `max`, or a quantile, or for `select …
    /// from … where … order by column limit k`, in rounds that distinguish `parts` parts of the
    /// values. A round takes `parts` - 1 comparisons. The number of rounds is the number of digits,
    /// to the base `parts`, of the number of values that the column can have; twice that for a
    /// quantile, and one more for rows. Two parts take the fewest comparisons in all, and more
    /// parts take fewer rounds.
    ///
    /// # Errors
    /// Those of [`Plan::new`]; [`TablesError::Unsupported`] for other queries, for columns of
    /// categories, truth values and texts, and for fewer than 2 or more than 32 parts.
    pub fn new(text: &str, schema: &Schema, parts: usize) -> Result<Self, TablesError> {
        if !(2..=MOST_PARTS).contains(&parts) {
            return refused(
                &format!("a search by {parts} parts"),
                &format!("use 2 to {MOST_PARTS}: 4 is a good choice"),
            );
        }
        let sought = Sought::new(text, schema)?;
        let mut plans = vec![sought.counts(parts)?];
        let asked = match &sought.wanted {
            Wanted::Value(_) => sought.alone()?,
            Wanted::Rows(_, key) => {
                let rows = sought.rows(key)?;
                let asked = rows.query().clone();
                plans.push(rows);
                asked
            }
        };
        let (low, high) = schema.fields()[sought.column].values();
        let (mut size, mut rounds, parts) = (high - low + 1, 0, parts as i128);
        while size > 1 {
            (size, rounds) = ((size + parts - 1) / parts, rounds + 1);
        }
        Ok(Search {
            asked,
            plans,
            wanted: sought.wanted,
            column: sought.column,
            parts,
            rounds: rounds.max(1),
            done: 0,
            below: BTreeMap::from([(low, 0)]),
            count: None,
            found: None,
        })
    }

    /// The plan of the next round, and after the last round still that of the last.
    pub fn plan(&self) -> &Plan {
        &self.plans[usize::from(self.lists())]
    }

    /// The plans of all rounds: that of those that count, and that of the last round if it lists
    /// rows. They do not depend on any table.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// Whether no round that counts is left, and one lists rows.
    fn lists(&self) -> bool {
        self.plans.len() > 1 && self.done >= self.rounds
    }

    /// The types of the columns of the answer.
    pub fn output_types(&self) -> Vec<OutputType> {
        self.asked.output_types(self.plan().schema())
    }

    /// The number of rounds.
    pub fn rounds(&self) -> usize {
        match self.wanted {
            Wanted::Value(Fold::Quantile(_)) => 2 * self.rounds,
            Wanted::Value(_) => self.rounds,
            Wanted::Rows(..) => self.rounds + 1,
        }
    }

    /// The additional constants of the next round, by name and text.
    /// [`Constants::encrypt`](crate::Constants::encrypt) takes them together with those of the
    /// query itself. `None` after the last round.
    pub fn constants(&self) -> Option<Vec<(String, String)>> {
        if self.done == self.rounds() {
            return None;
        }
        let upper = self.done >= self.rounds;
        let (low, high) = self.between(self.rank(upper));
        let (field, size) = (self.field(), high - low + 1);
        let constant = |i: i128| {
            let code = (low + (i * size + self.parts - 1) / self.parts).min(high);
            (format!("{NAME}{i}"), field.text(code))
        };
        // Once all is counted one value is left, and is the constant of the round that lists rows.
        let last = if self.lists() { 1 } else { self.parts - 1 };
        Some((1..=last).map(constant).collect())
    }

    /// Takes the answer of the round whose constants were requested last.
    ///
    /// # Errors
    /// [`TablesError::Result`] for another answer, or for impossible counts or rows: if those of
    /// earlier rounds contradict them, the table was changed, or an answer was modified on its way.
    pub fn learn(&mut self, answer: &Answer) -> Result<(), TablesError> {
        let Some(constants) = self.constants() else {
            return Err(wrong("the search has come to its end"));
        };
        if let (true, Wanted::Rows(limit, key)) = (self.lists(), self.wanted) {
            self.check_rows(limit, &key, answer)?;
            (self.found, self.done) = (Some(answer.clone()), self.done + 1);
            return Ok(());
        }
        let count = |cell: &Cell| match cell {
            Cell::Number(count, 0) => Some(*count),
            _ => None,
        };
        let counts = match &answer.rows[..] {
            [row] if row.len() == constants.len() + 1 => row.iter().map(count).collect(),
            _ => None,
        };
        let counts: Vec<i128> =
            counts.ok_or_else(|| wrong("it has other columns than a round of the search"))?;
        let (known, all) = (&counts[..constants.len()], counts[constants.len()]);
        let mut below = self.below.clone();
        let field = self.field();
        for ((_, text), count) in constants.iter().zip(known) {
            let code = field.code(text).ok_or_else(|| wrong("a constant without a code"))?;
            if below.insert(code, *count).is_some_and(|before| before != *count) {
                return Err(wrong("its counts are others than those of an earlier round"));
            }
        }
        let ascends = below.values().zip(below.values().skip(1)).all(|(a, b)| a <= b);
        let last = below.values().next_back().is_none_or(|last| *last <= all);
        if !ascends || !last || self.count.is_some_and(|count| count != all) {
            return Err(wrong("its counts contradict each other, or those of an earlier round"));
        }
        (self.below, self.count, self.done) = (below, Some(all), self.done + 1);
        Ok(())
    }

    /// Checks that rows in an order are those that the counts tell of.
    fn check_rows(&self, limit: usize, key: &OrderKey, answer: &Answer) -> Result<(), TablesError> {
        let code = |row: &Vec<Cell>| match row.get(key.output) {
            Some(Cell::Text(_, code)) => Some(Some(*code)),
            Some(Cell::Null) => Some(None),
            _ => None,
        };
        let cells: Option<Vec<_>> = answer.rows.iter().map(code).collect();
        let cells =
            cells.ok_or_else(|| wrong("it has other columns than the rows of the query"))?;
        let values: Vec<i128> = cells.iter().flatten().copied().collect();
        // Empty cells that come first leave fewer places to values.
        let empty = if key.nulls_first { cells.len() - values.len() } else { 0 };
        let places = limit.saturating_sub(empty) as i128;
        let last = self.between(self.rank(false)).0;
        let reached = |value: &i128| if key.descending { *value >= last } else { *value <= last };
        let expected = values.len() as i128 == places.min(self.count.unwrap_or(0));
        // The k-th of k values or more is the one that was found.
        let other = values.get(limit.wrapping_sub(1)).is_some_and(|value| *value != last);
        if cells.len() > limit || !expected || !values.iter().all(reached) || other {
            return Err(wrong("its rows contradict the counts of earlier rounds"));
        }
        Ok(())
    }

    /// The answer to the query after all rounds; `None` before.
    ///
    /// # Errors
    /// Those of [`Answer::new`].
    pub fn answer(&self) -> Result<Option<Answer>, TablesError> {
        if self.done < self.rounds() {
            return Ok(None);
        }
        if let Some(rows) = &self.found {
            return Ok(Some(rows.clone()));
        }
        let found = |upper: bool| self.between(self.rank(upper)).0;
        let values = match (self.count, self.wanted) {
            (None | Some(0), _) => Vec::new(),
            (Some(count), Wanted::Value(Fold::Quantile(quantile))) => {
                quantile.fewest(count, [found(false), found(true)])
            }
            _ => vec![found(false)],
        };
        let rows: Vec<Vec<i128>> = values.into_iter().map(|value| vec![value]).collect();
        Ok(Some(Answer::new(&self.asked, self.plan().schema(), &rows)?))
    }

    /// Runs all rounds. `ask` encrypts the constants of a round, has a server run the plan, and
    /// reads the result; it also checks that all results are of one table, which answers do not
    /// tell ([`TableResult::check`](crate::TableResult::check)).
    ///
    /// # Errors
    /// Those of [`Search::learn`] and of `ask`.
    pub fn run<E: From<TablesError>>(
        mut self,
        mut ask: impl FnMut(&Plan, &[(String, String)]) -> Result<Answer, E>,
    ) -> Result<Answer, E> {
        loop {
            if let Some(answer) = self.answer()? {
                return Ok(answer);
            }
            let constants = self.constants().unwrap_or_default();
            let answer = ask(self.plan(), &constants)?;
            self.learn(&answer)?;
        }
    }

    /// The column in whose values there is a search.
    fn field(&self) -> &Field {
        &self.plan().schema().fields()[self.column]
    }

    /// The number of values before the searched one; 0 while the number of all values is unknown.
    fn rank(&self, upper: bool) -> i128 {
        let count = self.count.unwrap_or(0);
        match self.wanted {
            Wanted::Value(Fold::Greatest) => count - 1,
            Wanted::Value(Fold::Quantile(quantile)) => {
                let (lower, higher, _) = quantile.between(count);
                if upper { higher } else { lower }
            }
            Wanted::Value(_) => 0,
            // Of the last row; where there are fewer values, no value comes after it.
            Wanted::Rows(limit, key) if key.descending => count - limit as i128,
            Wanted::Rows(limit, _) => limit as i128 - 1,
        }
        .max(0)
    }

    /// The codes between which the value of this rank is.
    fn between(&self, rank: i128) -> (i128, i128) {
        let (low, high) = self.field().values();
        if self.count.is_none() {
            return (low, high);
        }
        let reached = self.below.iter().filter(|(_, count)| **count <= rank).map(|(code, _)| *code);
        let passed = self.below.iter().find(|(_, count)| **count > rank).map(|(code, _)| code - 1);
        (reached.max().unwrap_or(low), passed.unwrap_or(high))
    }
}
