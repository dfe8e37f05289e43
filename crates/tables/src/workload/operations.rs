//! The operations of workloads, and how each is written in a program.

use std::fmt;

use super::error::WorkloadError;
use crate::nearest::did_you_mean;

/// An operation on columns of integers, as a workload names it.
///
/// Each corresponds to a line of a program on columns `x` and `y` ([`Operation::program`]), which
/// the planner rehearses and `eval` then runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation(pub(super) usize);

/// The properties of an operation.
pub(super) struct Entry {
    name: &'static str,
    /// Other names of the operation.
    aliases: &'static [&'static str],
    group: &'static str,
    help: &'static str,
    /// The operation on typed columns, in the language of `eval`; `None` for operations that only
    /// tables support. HALF stands for half of the largest value.
    typed: Option<&'static str>,
    /// The same in Python.
    python: &'static str,
    /// Whether it consists of sums and products only.
    pub(super) modular: bool,
    /// Whether it needs all entries of a column together, so that they have to share a ciphertext.
    pub(super) along: bool,
    /// Its part of a query on a table.
    pub(super) asked: Asked,
}

/// The part of a query that corresponds to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// No part: queries do not support the operation.
    Nothing,
    /// A condition on rows.
    Condition(&'static str),
    /// A sum over rows.
    Sum(&'static str),
    /// A sum over rows that has a condition of its own.
    Both(&'static str),
    /// Groups of rows.
    Groups,
}

const ARITHMETIC: &str = "arithmetic";
const ORDER: &str = "comparison";
const COLUMN: &str = "a whole column";
const DIGITS: &str = "digits and tables";

macro_rules! entries {
    ($($name:literal $aliases:tt $group:ident $help:literal, $typed:expr, $python:literal,
       $modular:literal, $along:literal, $asked:expr;)*) => {
        &[$(Entry {
            name: $name, aliases: &$aliases, group: $group, help: $help, typed: $typed,
            python: $python, modular: $modular, along: $along, asked: $asked,
        },)*]
    };
}

use Asked::{Both, Condition, Groups, Nothing, Sum};

#[rustfmt::skip]
const ENTRIES: &[Entry] = entries![
    "add" ["+", "plus"] ARITHMETIC "the sum of two columns, entry by entry",
        Some("x + y"), "x + y", true, false, Nothing;
    "sub" ["-", "subtract", "minus"] ARITHMETIC "their difference",
        Some("x - y"), "x - y", true, false, Nothing;
    "mul" ["*", "multiply", "product", "square"] ARITHMETIC "their product",
        Some("x * y"), "x * y", true, false, Nothing;
    "divide" ["/", "//", "%", "div", "rem", "mod"] ARITHMETIC
        "the quotient by a public integer, rounded down",
        Some("x / 7"), "x // 7", false, false, Nothing;
    "divide-columns" [] ARITHMETIC "the quotient of two columns without negative values",
        Some("x / y"), "x // y", false, false, Nothing;
    "abs" [] ARITHMETIC "the absolute value",
        Some("abs(x)"), "abs(x)", false, false, Nothing;
    "compare" ["<", "<=", ">", ">=", "lt", "le", "gt", "ge", "less", "greater", "between"] ORDER
        "one truth value for each row: which of two columns is larger",
        Some("x > y"), "x > y", false, false, Condition("x > HALF");
    "equal" ["==", "!=", "=", "eq", "ne", "isin"] ORDER "whether two columns are equal",
        Some("x == y"), "x == y", false, false, Condition("x = HALF");
    "min" ["minimum"] ORDER "the smaller one of two columns",
        Some("min(x, y)"), "np.minimum(x, y)", false, false, Nothing;
    "max" ["maximum"] ORDER "the larger one",
        Some("max(x, y)"), "np.maximum(x, y)", false, false, Nothing;
    "clip" ["clamp"] ORDER "the nearest integer between two bounds",
        Some("clip(x, 0, HALF)"), "np.clip(x, 0, HALF)", false, false, Nothing;
    "select" ["where", "if", "case", "filter"] ORDER
        "one of two values, or the rows of a sum, chosen by a comparison",
        Some("if(x > HALF, x, y)"), "np.where(x > HALF, x, y)", false, false,
        Both("sum(case when x > HALF then x else 0 end)");
    "sum" ["total"] COLUMN "the sum of a column, which is decrypted",
        Some("sum(x)"), "x.sum()", true, false, Sum("sum(x)");
    "mean" ["average", "avg"] COLUMN "its mean, which is decrypted",
        Some("mean(x)"), "x.mean()", false, false, Sum("avg(x)");
    "count" ["count-if"] COLUMN "how many rows meet a comparison",
        Some("count(x > HALF)"), "np.count_nonzero(x > HALF)", false, false, Sum("count(*)");
    "dot" ["inner"] COLUMN "the sum of the products of two columns",
        Some("sum(x * y)"), "(x * y).sum()", true, false, Sum("sum(x * y)");
    "group-by" ["group", "groupby"] COLUMN "sums, means and counts for each category",
        None, "", false, false, Groups;
    "sort" ["argsort", "order"] COLUMN "the entries in order",
        Some("sort(x)"), "np.sort(x)", false, true, Nothing;
    "median" ["quantile", "percentile"] COLUMN "the median of the entries",
        Some("median(x)"), "np.median(x)", false, true, Nothing;
    "argmax" ["argmin"] COLUMN "the position of the largest entry",
        Some("argmax(x)"), "x.argmax()", false, true, Nothing;
    "cumsum" [] COLUMN "running sums",
        Some("cumsum(x)"), "np.cumsum(x)", false, true, Nothing;
    "shift" ["<<", ">>"] DIGITS "by a public number of bits",
        Some("x >> 3"), "x >> 3", false, false, Nothing;
    "bits" ["&", "|", "^", "and", "or", "xor", "bitwise"] DIGITS "and, or, xor of two columns",
        Some("xor(x, y)"), "x ^ y", false, false, Nothing;
    "table" ["lookup"] DIGITS "a public table with up to 65,536 entries",
        Some("table(x, t)"), "everlevel.Table(t)[x]", false, false, Nothing;
];

impl Operation {
    pub(super) fn entry(self) -> &'static Entry {
        &ENTRIES[self.0]
    }

    /// All operations, in the order in which they are documented.
    pub fn all() -> impl Iterator<Item = Operation> {
        (0..ENTRIES.len()).map(Operation)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Other names that are understood.
    pub fn aliases(self) -> &'static [&'static str] {
        self.entry().aliases
    }

    /// What it computes, in a few words.
    pub fn help(self) -> &'static str {
        self.entry().help
    }

    /// The right side of its line in a program on typed columns with this largest value; `None` for
    /// operations that only tables support.
    pub fn program(self, largest: i128) -> Option<String> {
        self.entry().typed.map(|text| with_half(text, largest))
    }

    /// The same in Python.
    pub fn python(self, largest: i128) -> String {
        with_half(self.entry().python, largest)
    }

    /// The name of its result in programs: the operation's, as an identifier.
    pub fn result(self) -> String {
        format!("{}_result", self.name().replace('-', "_"))
    }

    /// The operations of a list such as `compare,sum`, each once.
    ///
    /// # Errors
    /// [`WorkloadError::Operation`] for a word that does not name an operation, with the most
    /// similar one; [`WorkloadError::NoOperations`] for none at all.
    pub fn parse_all<'a>(
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Operation>, WorkloadError> {
        let mut found = Vec::new();
        for word in words.into_iter().map(str::trim).filter(|word| !word.is_empty()) {
            let operation = word.parse()?;
            if !found.contains(&operation) {
                found.push(operation);
            }
        }
        match found.is_empty() {
            true => Err(WorkloadError::NoOperations { known: listed() }),
            false => Ok(found),
        }
    }

    /// The operations with their meanings, by groups, a line for each.
    pub fn described() -> String {
        let mut text = String::new();
        let mut group = "";
        for entry in ENTRIES {
            if entry.group != group {
                group = entry.group;
                text += &format!("{group}:\n");
            }
            text += &format!("  {:<15} {}", entry.name, entry.help);
            if !entry.aliases.is_empty() {
                text += &format!(" (also {})", entry.aliases.join(" "));
            }
            text.push('\n');
        }
        text
    }
}

fn with_half(text: &str, largest: i128) -> String {
    text.replace("HALF", &(largest / 2).to_string())
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All names.
fn listed() -> String {
    ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

impl std::str::FromStr for Operation {
    type Err = WorkloadError;

    fn from_str(word: &str) -> Result<Self, WorkloadError> {
        let lower = word.to_lowercase().replace('_', "-");
        let named = |entry: &Entry| entry.name == lower || entry.aliases.contains(&&*lower);
        if let Some(place) = ENTRIES.iter().position(named) {
            return Ok(Operation(place));
        }
        let words = ENTRIES.iter().flat_map(|entry| {
            [entry.name].into_iter().chain(entry.aliases.iter().copied()).filter(|w| w.len() > 2)
        });
        let meant = did_you_mean(&lower, words);
        Err(WorkloadError::Operation {
            name: word.chars().take(40).collect(),
            meant,
            known: listed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use everlevel::Program;

    use super::*;

    #[test]
    fn words_are_understood_once() {
        let mut words = BTreeSet::new();
        for operation in Operation::all() {
            for word in [operation.name()].iter().chain(operation.aliases()) {
                assert!(words.insert(*word), "{word} twice");
                assert_eq!(word.parse(), Ok(operation));
                assert_eq!(word.to_uppercase().parse(), Ok(operation));
            }
            if let Some(text) = operation.program(1000) {
                Program::parse(&format!("{} = {text}", operation.result())).unwrap();
            }
        }
        let found = Operation::parse_all(["compare", " gt", "", "SUM"]).unwrap();
        assert_eq!(found.iter().map(|o| o.name()).collect::<Vec<_>>(), ["compare", "sum"]);
    }

    #[test]
    fn unknown_words_are_refused_with_the_nearest_one() {
        for (word, meant) in [("comprae", "compare"), ("summ", "sum"), ("sorted", "sort")] {
            let told = word.parse::<Operation>().unwrap_err().to_string();
            assert!(told.contains(&format!("did you mean {meant}?")), "{told}");
            assert!(told.contains("add, sub, mul"), "{told}");
        }
        let told = "bootstrap".parse::<Operation>().unwrap_err().to_string();
        assert!(!told.contains("did you mean"), "{told}");
        assert!(Operation::parse_all(["", " "]).is_err());
    }
}
