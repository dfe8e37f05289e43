//! The levels at which the conditions of a query begin.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use everlevel::Level;

use crate::condition::Condition;
use crate::known::Known;
use crate::layout::Layout;

/// Asks whether the search for the levels, or other work, was cancelled.
pub(crate) type Cancelled = Arc<dyn Fn() -> bool + Send + Sync>;

/// Conditions that begin at the same level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All sets of codes of a column: they share its powers.
    Column(usize),
    /// A comparison, or a condition that indexes decide, which has no powers to share.
    Alone(Condition),
}

impl Part {
    /// The part that a condition belongs to; none if it consists of other conditions, or is
    /// constant.
    pub(crate) fn of(condition: &Condition) -> Option<Part> {
        match condition {
            Condition::Within { column, .. } => Some(Part::Column(*column)),
            Condition::Compare(..) | Condition::Indexed(..) => Some(Part::Alone(condition.clone())),
            _ => None,
        }
    }

    /// The columns that decide about it.
    pub(crate) fn reads(&self) -> BTreeSet<usize> {
        match self {
            Part::Column(place) => BTreeSet::from([*place]),
            Part::Alone(condition) => {
                let mut columns = BTreeSet::new();
                condition.reads(&mut columns);
                columns
            }
        }
    }

    /// The columns that it depends on.
    pub(crate) fn columns(&self) -> BTreeSet<usize> {
        let mut columns = BTreeSet::new();
        match self {
            Part::Column(place) => drop(columns.insert(*place)),
            Part::Alone(condition) => condition.columns(&mut columns),
        }
        columns
    }
}

/// The level at which each condition begins; the columns themselves stay at the top, for sums.
/// They depend on query, schema, parameter set and number of blocks alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Starts {
    levels: HashMap<Part, Level>,
    /// Whether the digits of columns decide conditions that their indexes could decide.
    by_digits: bool,
}

impl Starts {
    /// Levels for some parts; all others begin where their columns are.
    pub(crate) fn new(levels: impl IntoIterator<Item = (Part, Level)>) -> Self {
        Starts { levels: levels.into_iter().collect(), by_digits: false }
    }

    /// No levels: all conditions begin where their columns are, decided by digits or by indexes.
    pub(crate) fn at_top(by_digits: bool) -> Self {
        Starts { by_digits, ..Starts::default() }
    }

    /// The same levels, with conditions decided by digits or by indexes.
    #[must_use]
    pub(crate) fn deciding(self, by_digits: bool) -> Self {
        Starts { by_digits, ..self }
    }

    /// Whether conditions are decided by the digits of columns, and not by indexes, whose modulus
    /// has too little room for the query.
    pub(crate) fn by_digits(&self) -> bool {
        self.by_digits
    }

    /// Whether all conditions begin where their columns are.
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The same levels, each higher by a number of steps. A part that reaches the first step begins
    /// where its columns are.
    pub(crate) fn raised(&self, steps: &[Level], by: usize) -> Starts {
        let raise = |(part, level): (&Part, &Level)| {
            let step = steps.iter().position(|step| step == level)?.checked_sub(by)?;
            (step > 0).then(|| (part.clone(), steps[step]))
        };
        Starts::new(self.levels.iter().filter_map(raise)).deciding(self.by_digits)
    }

    /// The level at which a part begins, if it is a lower one than that of its columns.
    pub(crate) fn of(&self, part: &Part) -> Option<Level> {
        self.levels.get(part).copied()
    }
}

/// The parts of the conditions of a layout, in order, each with its conditions; those on known
/// columns alone are left out, as they take no operation.
pub(crate) fn parts<C>(
    layout: &Layout,
    known: Option<&Known<'_, C>>,
) -> Vec<(Part, Vec<Condition>)> {
    let mut found: Vec<(Part, Vec<Condition>)> = Vec::new();
    let mut rest: Vec<&Condition> = layout.filter.iter().chain(&layout.masks).collect();
    rest.reverse();
    while let Some(condition) = rest.pop() {
        let Some(part) = Part::of(condition) else {
            match condition {
                Condition::And(all) | Condition::Or(all) => rest.extend(all.iter().rev()),
                Condition::Not(c) => rest.push(c),
                _ => {}
            }
            continue;
        };
        if known.is_some_and(|known| part.columns().iter().all(|place| known.knows(*place))) {
            continue;
        }
        match found.iter_mut().find(|(other, _)| *other == part) {
            Some((_, all)) if all.contains(condition) => {}
            Some((_, all)) => all.push(condition.clone()),
            None => found.push((part, vec![condition.clone()])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use everlevel::{OptIn, Params};

    use super::*;
    use crate::plan::Plan;
    use crate::schema::Schema;

    #[test]
    fn conditions_on_a_column_are_one_part_and_each_comparison_is_another() {
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let schema = Schema::from_json(
            r#"{"columns": [
                {"name": "a", "type": "integer", "low": 0, "high": 9},
                {"name": "b", "type": "integer", "low": 0, "high": 9},
                {"name": "c", "type": "integer", "low": 0, "high": 999}]}"#,
        );
        let text = "select a, count(*), sum(c) filter (where b < a) from t \
                    where c < 100 and not (a < b and b > 2) group by a";
        let plan = Plan::new(text, &schema.unwrap()).unwrap();
        let (_, layout) = plan.layout(&params, 100).unwrap();
        let found = parts::<()>(&layout, None);
        let columns: Vec<Vec<usize>> =
            found.iter().map(|(part, _)| part.columns().into_iter().collect()).collect();
        assert_eq!(columns, [vec![2], vec![0, 1], vec![1], vec![0], vec![0, 1]]);
        // The ten groups are one part.
        assert_eq!((found[3].0.clone(), found[3].1.len()), (Part::Column(0), 10));
        let starts = Starts::new([(Part::Column(2), Level(7))]);
        assert_eq!((starts.of(&found[0].0), starts.of(&found[1].0)), (Some(Level(7)), None));
        let steps = [Level(9), Level(8), Level(7)];
        assert_eq!(starts.raised(&steps, 0), starts);
        assert_eq!(starts.raised(&steps, 1), Starts::new([(Part::Column(2), Level(8))]));
        assert!(!starts.is_empty() && starts.raised(&steps, 2).is_empty());
        // What decides is the same at all levels.
        let digits = starts.deciding(true);
        assert_eq!(digits.raised(&steps, 2), Starts::at_top(true));
        assert!(digits.by_digits() && !Starts::at_top(false).by_digits());
    }
}
