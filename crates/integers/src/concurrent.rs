//! Which parts of a program are computed at the same time.
//!
//! Every operation is parallel by itself: over the digits of its operands, and over the primes of
//! each ciphertext. Threads wait where it works on fewer ciphertexts than there are threads: at the
//! last steps of comparisons, at tables of one digit, at rotations and bootstrappings of one
//! ciphertext. So parts that do not need each other are computed at the same time as long as the
//! ciphertexts that they read are together no more than the threads. The memory that they work in
//! is then that of one operation on as many digits, which occupies all threads by itself.
//!
//! A ciphertext that is bootstrapped in place is fresh for whatever reads it later. Parts that read
//! one in common are therefore computed in the order of the program if the session bootstraps, and
//! results, their noise bounds and the number of bootstrappings are those of that order. So are
//! parts that put the same column in order, whether the session bootstraps or not: the first of
//! them computes the ranks that the others take.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_circuit::expression::{Kind, Node, Statement};
use rayon::prelude::*;

use crate::functions::{Value, is_order};

/// Parts that nest deeper are computed by themselves: a thread that waits within one part may take
/// up another one, on the same stack.
const DEEPEST: usize = 16;

/// The parts of a program that are computed at the same time: the first `parts` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// How many they are.
    pub(crate) parts: usize,
    /// How many of them compute on ciphertexts.
    pub(crate) working: usize,
}

/// What decides which parts are computed at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The number of ciphertexts that parts may read together; below 2 all parts are computed in
    /// the order of the program.
    pub(crate) ciphertexts: usize,
    /// Whether they may read none in common.
    pub(crate) apart: bool,
}

impl Room {
    /// The share of each of the parts of a group.
    fn shared(self, group: Group) -> Self {
        Room { ciphertexts: self.ciphertexts / group.working.max(1), ..self }
    }

    /// The first of these parts that are computed at the same time, at least one.
    pub(crate) fn group<C>(self, parts: &[&Node], values: &BTreeMap<String, Value<C>>) -> Group {
        if self.ciphertexts < 2 {
            return Group { parts: parts.len().min(1), working: 1 };
        }
        let (mut working, mut total, mut taken) = (0, 0, BTreeSet::new());
        let mut ordered = BTreeSet::new();
        for (before, part) in parts.iter().enumerate() {
            if matches!(part.kind, Kind::Constant(_) | Kind::Name(_)) {
                continue;
            }
            let found = ciphertexts(part, values);
            if found.is_empty() {
                continue;
            }
            total += found.len();
            let own = in_order(part, values);
            let in_common =
                (self.apart && !taken.is_disjoint(&found)) || !ordered.is_disjoint(&own);
            let deep = is_deep(part);
            if working > 0 && (deep || in_common || total > self.ciphertexts) {
                return Group { parts: before, working };
            }
            working += 1;
            if deep {
                return Group { parts: before + 1, working };
            }
            taken.extend(found);
            ordered.extend(own);
        }
        Group { parts: parts.len(), working }
    }

    /// The results of a group in the order of its parts, each of which receives its share of the
    /// room. If its parts are computed one after the other, an error ends them.
    pub(crate) fn computed<T: Send, E: Send>(
        self,
        group: Group,
        parts: &[&Node],
        compute: &(impl Fn(&Node, Room) -> Result<T, E> + Sync),
    ) -> Vec<Result<T, E>> {
        let parts = &parts[..group.parts];
        if group.working > 1 {
            let room = self.shared(group);
            return parts.par_iter().map(|&part| compute(part, room)).collect();
        }
        let mut found = Vec::with_capacity(parts.len());
        for &part in parts {
            found.push(compute(part, self));
            if found.last().is_some_and(Result::is_err) {
                break;
            }
        }
        found
    }

    /// The results of all parts in their order, group by group, to the first group with an error.
    pub(crate) fn each<C, T: Send, E: Send>(
        self,
        parts: &[&Node],
        values: &BTreeMap<String, Value<C>>,
        compute: impl Fn(&Node, Room) -> Result<T, E> + Sync,
    ) -> Vec<Result<T, E>> {
        let mut found: Vec<Result<T, E>> = Vec::with_capacity(parts.len());
        while found.len() < parts.len() {
            let rest = &parts[found.len()..];
            let results = self.computed(self.group(rest, values), rest, &compute);
            let failed = results.iter().any(Result::is_err);
            found.extend(results);
            if failed {
                break;
            }
        }
        found
    }

    /// How many of the first statements need no result of each other, at least one. No more are
    /// considered than there is room for.
    pub(crate) fn independent(self, statements: &[Statement]) -> usize {
        let statements = &statements[..statements.len().min(self.ciphertexts.max(1))];
        let mut defined: BTreeSet<&str> = BTreeSet::new();
        for (before, statement) in statements.iter().enumerate() {
            if before > 0 && !defined.is_disjoint(&names(&statement.value)) {
                return before;
            }
            defined.insert(&statement.name);
        }
        statements.len()
    }
}

/// Whether a part nests deeper than [`DEEPEST`].
fn is_deep(part: &Node) -> bool {
    let mut open = vec![(part, 1)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST {
            return true;
        }
        open.extend(node.parts().into_iter().map(|x| (x, depth + 1)));
    }
    false
}

/// The names that a part of a program reads.
pub(crate) fn names(part: &Node) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut open = vec![part];
    while let Some(node) = open.pop() {
        if let Kind::Name(name) = &node.kind {
            found.insert(name.as_str());
        }
        open.extend(node.parts());
    }
    found
}

/// The ciphertexts of the columns that a part of a program puts in order by their names.
fn in_order<C>(part: &Node, values: &BTreeMap<String, Value<C>>) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![part]);
    while let Some(node) = open.pop() {
        open.extend(node.parts());
        if let Kind::Typed(function, arguments) = &node.kind
            && is_order(*function)
            && let Some(column @ Node { kind: Kind::Name(_), .. }) = arguments.first()
        {
            found.extend(ciphertexts(column, values));
        }
    }
    found
}

/// The ciphertexts that a part of a program reads, each once.
fn ciphertexts<C>(part: &Node, values: &BTreeMap<String, Value<C>>) -> BTreeSet<usize> {
    let columns = names(part).into_iter().filter_map(|name| match values.get(name) {
        Some(Value::Column(x)) => Some(x),
        _ => None,
    });
    columns.flat_map(|x| x.values()).map(|x| x.address()).collect()
}

#[cfg(test)]
mod tests {
    use everlevel_circuit::expression::Program;

    use super::*;
    use crate::column::{Column, Digit};
    use crate::interval::Interval;

    /// A column of a given number of digits, without ciphertexts behind them.
    fn column(digits: usize) -> Value<()> {
        let digit = || Digit { cipher: Some(().into()), low: 0, high: 15, pad: 0, steps: None };
        let digits = (0..digits).map(|_| digit()).collect();
        Value::Column(Column { interval: Interval::BOOL, anchor: 0, digits, length: Some(4) })
    }

    fn values() -> BTreeMap<String, Value<()>> {
        let two = column(2);
        let same = two.clone();
        [("a", column(1)), ("b", column(1)), ("c", column(1)), ("x", two), ("y", same)]
            .map(|(name, value)| (name.to_string(), value))
            .into()
    }

    fn group(text: &str, ciphertexts: usize, apart: bool) -> (usize, usize) {
        let program = Program::parse(text).unwrap();
        let room = Room { ciphertexts, apart };
        let statements = program.statements();
        let parts: Vec<&Node> = statements.iter().map(|s| &s.value).collect();
        let Group { parts, working } = room.group(&parts, &values());
        (parts, working)
    }

    #[test]
    fn as_many_parts_as_there_is_room_for() {
        let three = "p = a < 1; q = b < 1; r = c < 1";
        assert_eq!(group(three, 1, true), (1, 1));
        assert_eq!(group(three, 2, true), (2, 2));
        assert_eq!(group(three, 3, true), (3, 3));
        // What is wider than the room is computed by itself.
        assert_eq!(group("p = x < 1; q = a < 1", 2, true), (1, 1));
        assert_eq!(group("p = x < 1; q = a < 1", 3, true), (2, 2));
        // Names are no work.
        assert_eq!(group("p = a; q = b < 1; r = c; s = c < 1; t = x < 1", 2, true), (4, 2));
    }

    #[test]
    fn deep_parts_are_computed_by_themselves() {
        let program = |levels: usize| {
            let (open, close) = ("1 - (".repeat(levels), ")".repeat(levels));
            format!("p = {open}a{close}; q = b < 1; r = c < 1")
        };
        assert_eq!(group(&program(3), 8, true), (3, 3));
        assert_eq!(group(&program(20), 8, true), (1, 1));
        let last = format!("o = c < 1; {}", program(20));
        assert_eq!(group(&last, 8, false), (1, 1));
    }

    #[test]
    fn parts_with_a_ciphertext_in_common() {
        let shared = "p = a < 1; q = b < a; r = c < 1";
        assert_eq!(group(shared, 8, true), (1, 1));
        assert_eq!(group(shared, 8, false), (3, 3));
        // Two names of one column.
        assert_eq!(group("p = x < 1; q = y < 3", 8, true), (1, 1));
    }

    #[test]
    fn statements_that_need_each_other() {
        let independent = |text: &str, ciphertexts: usize| {
            let program = Program::parse(text).unwrap();
            Room { ciphertexts, apart: true }.independent(program.statements())
        };
        assert_eq!(independent("p = a < 1; q = b < 1; r = p & q; s = c", 8), 2);
        assert_eq!(independent("p = a < 1; q = b < 1; r = p & q; s = c", 1), 1);
        assert_eq!(independent("p = a; q = a + p", 8), 1);
    }

    #[test]
    fn results_are_in_order_up_to_an_error() {
        let program = Program::parse("p = a < 1; q = b < 1; r = x < 1; s = c < 1").unwrap();
        let statements = program.statements();
        let parts: Vec<&Node> = statements.iter().map(|s| &s.value).collect();
        let found = |ciphertexts: usize| -> Vec<Result<usize, usize>> {
            let room = Room { ciphertexts, apart: true };
            room.each(&parts, &values(), |part, _| match names(part).contains("b") {
                true => Err(part.column),
                false => Ok(names(part).len()),
            })
        };
        assert_eq!(found(1), [Ok(1), Err(18)]);
        assert_eq!(found(2), [Ok(1), Err(18)]);
        assert_eq!(found(4), [Ok(1), Err(18), Ok(1)]);
    }
}
