//! Least and greatest values and quantiles in rounds: a search by counts below constants that the
//! server does not see.
//!
//! A round counts the rows that meet the condition and have a value below each of some constants,
//! between which the searched value must be. All rounds have the same plan with different
//! constants, and their number follows from the bounds of the column alone, so that the server
//! learns nothing from them. The cost of a round is that of its counts, which the plan states.

use std::collections::BTreeMap;

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem, SetExpr};

use crate::answer::{Answer, Cell};
use crate::condition::Number;
use crate::error::TablesError;
use crate::flatten::flattened;
use crate::kind::Kind;
use crate::output::OutputType;
use crate::plan::Plan;
use crate::query::{Fold, Query};
use crate::schema::Schema;
use crate::sql::{ast_of, only_select};

/// The largest number of parts that a round distinguishes.
const MOST_PARTS: usize = 32;
/// The prefix of the names of the constants of a round, which is followed by a number from 1.
const NAME: &str = "search_";

/// The search for a `min`, `max`, `median` or `quantile_cont` of a column, in rounds. In each
/// round, the party that reads the counts runs [`Search::plan`] with the constants of
/// [`Search::constants`], until there are none.
#[derive(Clone, Debug)]
pub struct Search {
    /// The query without its condition, from which the answer is computed.
    asked: Query,
    plan: Plan,
    column: usize,
    parts: i128,
    /// The number of rounds for each value that is searched.
    rounds: usize,
    done: usize,
    /// The number of values below a code, for the codes for which it is known.
    below: BTreeMap<i128, i128>,
    count: Option<i128>,
    fold: Fold,
}

fn refused<T>(found: &str, remedy: &str) -> Result<T, TablesError> {
    Err(TablesError::unsupported(found, remedy))
}

impl Search {
    /// A search for `select min(column) from … where …`, or `max`, or a quantile, in rounds that
    /// distinguish `parts` parts of the values. A round takes `parts` - 1 comparisons. The number
    /// of rounds is the number of digits, to the base `parts`, of the number of values that the
    /// column can have, and twice that for a quantile. Two parts take the fewest comparisons in
    /// all, and more parts take fewer rounds.
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
        let remedy = "write select min(COLUMN) from TABLE where …, or max, median or \
                      quantile_cont, and nothing else";
        let ast = flattened(&ast_of(text)?, schema)?;
        let query = Query::parse(text, schema)?;
        let mut folds = query.aggregates.iter().filter(|a| a.fold != Fold::Sum);
        let plain = query.outputs.len() == 1
            && query.groups.is_empty()
            && query.having.is_none()
            && query.order.is_empty()
            && query.limit.is_none();
        let (fold, column) = match (folds.next(), folds.next()) {
            (Some(a), None) if plain && a.fold != Fold::Distinct => match a.value {
                Number::Column(column) => (a.fold, column),
                _ => return refused("a search for an expression", "search for a column"),
            },
            _ => return refused(&format!("a search for {text}"), remedy),
        };
        let field = &schema.fields()[column];
        if matches!(field.kind(), Kind::Boolean | Kind::Category { .. } | Kind::Text { .. }) {
            return refused(
                &format!("a search in {:?}, which is not compared with < in secret", field.name()),
                "group by it, and take the first group that has rows",
            );
        }
        let select = only_select(&ast)?;
        let x = match argument(&select.projection[0]) {
            Some(x) if is_column(x) => x.to_string(),
            // A tenth of a column has its digits, and is another number.
            Some(_) => return refused("a search for an expression", "search for a column"),
            None => return refused(&format!("a search for {text}"), remedy),
        };
        let names = (1..parts).map(|i| format!("count(*) filter (where {x} < :{NAME}{i})"));
        let counts = format!("select {}, count({x}) from t", names.collect::<Vec<_>>().join(", "));
        let counts = ast_of(&counts)?;
        let mut round = ast.clone();
        if let SetExpr::Select(round) = &mut *round.body {
            round.projection = only_select(&counts)?.projection.clone();
        }
        let mut alone = ast.clone();
        if let SetExpr::Select(alone) = &mut *alone.body {
            alone.selection = None;
            for item in &mut alone.projection {
                // It may read as an expression: what is spelled in another way is called as before.
                if let SelectItem::ExprWithAlias { alias, .. } = item {
                    alias.quote_style = Some('"');
                }
            }
        }
        let plan = Plan::new(&round.to_string(), schema)?;
        // The parser writes two quotation marks in a row, of a text or a name, as it writes one.
        let (again, (low, high)) = (plan.query(), field.values());
        let compared = low == high || again.columns().contains(&column);
        if again.filter != query.filter || !compared {
            return refused(
                &format!("a search for {text}"),
                "leave out texts and names with two quotation marks in a row: list the others",
            );
        }
        if query.parameters.iter().any(|p| p.name.starts_with(NAME)) {
            return refused(&format!("a constant called :{NAME}…"), "give it another name");
        }
        let (mut size, mut rounds, parts) = (high - low + 1, 0, parts as i128);
        while size > 1 {
            (size, rounds) = ((size + parts - 1) / parts, rounds + 1);
        }
        Ok(Search {
            asked: Query::parse(&alone.to_string(), schema)?,
            plan,
            column,
            parts,
            rounds: rounds.max(1),
            done: 0,
            below: BTreeMap::from([(low, 0)]),
            count: None,
            fold,
        })
    }

    /// The plan of all rounds.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The types of the columns of the answer.
    pub fn output_types(&self) -> Vec<OutputType> {
        self.asked.output_types(self.plan.schema())
    }

    /// The number of rounds.
    pub fn rounds(&self) -> usize {
        match self.fold {
            Fold::Quantile(_) => 2 * self.rounds,
            _ => self.rounds,
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
        let (field, size) = (&self.plan.schema().fields()[self.column], high - low + 1);
        let constant = |i: i128| {
            let code = (low + (i * size + self.parts - 1) / self.parts).min(high);
            (format!("{NAME}{i}"), field.text(code))
        };
        Some((1..self.parts).map(constant).collect())
    }

    /// Takes the answer of the round whose constants were requested last.
    ///
    /// # Errors
    /// [`TablesError::Result`] for another answer, or for impossible counts: if those of earlier
    /// rounds contradict them, the table was changed, or an answer was modified on its way.
    pub fn learn(&mut self, answer: &Answer) -> Result<(), TablesError> {
        let wrong = |problem: &str| TablesError::Result { problem: problem.into() };
        let Some(constants) = self.constants() else {
            return Err(wrong("the search has come to its end"));
        };
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
        let field = &self.plan.schema().fields()[self.column];
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

    /// The answer to the query after all rounds; `None` before.
    ///
    /// # Errors
    /// Those of [`Answer::new`].
    pub fn answer(&self) -> Result<Option<Answer>, TablesError> {
        if self.done < self.rounds() {
            return Ok(None);
        }
        let found = |upper: bool| self.between(self.rank(upper)).0;
        let values = match (self.count, self.fold) {
            (None | Some(0), _) => Vec::new(),
            (Some(count), Fold::Quantile(quantile)) => {
                quantile.fewest(count, [found(false), found(true)])
            }
            _ => vec![found(false)],
        };
        let rows: Vec<Vec<i128>> = values.into_iter().map(|value| vec![value]).collect();
        Ok(Some(Answer::new(&self.asked, self.plan.schema(), &rows)?))
    }

    /// Runs all rounds. `ask` encrypts the constants of a round, has a server run the plan, and
    /// reads the result.
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
            let answer = ask(&self.plan, &constants)?;
            self.learn(&answer)?;
        }
    }

    /// The number of values before the searched one; 0 while the number of all values is unknown.
    fn rank(&self, upper: bool) -> i128 {
        let count = self.count.unwrap_or(0);
        match self.fold {
            Fold::Greatest => count - 1,
            Fold::Quantile(quantile) => {
                let (lower, higher, _) = quantile.between(count);
                if upper { higher } else { lower }
            }
            _ => 0,
        }
        .max(0)
    }

    /// The codes between which the value of this rank is.
    fn between(&self, rank: i128) -> (i128, i128) {
        let (low, high) = self.plan.schema().fields()[self.column].values();
        if self.count.is_none() {
            return (low, high);
        }
        let reached = self.below.iter().filter(|(_, count)| **count <= rank).map(|(code, _)| *code);
        let passed = self.below.iter().find(|(_, count)| **count > rank).map(|(code, _)| code - 1);
        (reached.max().unwrap_or(low), passed.unwrap_or(high))
    }
}

/// Whether an expression is a column as it is.
fn is_column(x: &Expr) -> bool {
    match x {
        Expr::Nested(inner) => is_column(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// The first argument of the function in an item of a select list.
fn argument(item: &SelectItem) -> Option<&Expr> {
    let (SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. }) = item else {
        return None;
    };
    let mut e = e;
    while let Expr::Nested(inner) = e {
        e = inner;
    }
    let Expr::Function(function) = e else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    match (&list.args[..], &function.filter) {
        ([FunctionArg::Unnamed(FunctionArgExpr::Expr(x)), ..], None) => Some(x),
        _ => None,
    }
}
