//! Rows of columns that do not fill the slots: where a program leaves them.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{Function, Kind, Node, Program, TypedFunction};

/// What is known of the slots of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Whether rows are in other slots than those that they came in.
    pub moved: bool,
    /// The integer in all slots without a row; none if they differ or it is not known.
    pub empty: Option<i128>,
}

impl Program {
    /// Where the statements leave the rows of inputs that leave slots empty, of which `empty` says
    /// what they hold: an integer, or none if it is not known.
    ///
    /// # Errors
    /// The column in the text of a `sum` that would add up empty slots that do not hold 0, which
    /// is not the sum of the rows.
    pub fn rows(
        &self,
        empty: impl Fn(&str) -> Option<i128>,
    ) -> Result<BTreeMap<&str, Rows>, usize> {
        let input = |name| (name, Rows { moved: false, empty: empty(name) });
        let mut known: BTreeMap<&str, Rows> = self.inputs().map(input).collect();
        for statement in &self.statements {
            let rows = statement.value.rows(&known)?;
            known.insert(&statement.name, rows);
        }
        Ok(known)
    }

    /// The names, of inputs and of what is defined, whose values depend on an input for which `of`
    /// holds.
    pub fn made_of(&self, of: impl Fn(&str) -> bool) -> BTreeSet<&str> {
        let mut found: BTreeSet<&str> = self.inputs().filter(|&name| of(name)).collect();
        for statement in &self.statements {
            if statement.value.reads(&found) {
                found.insert(&statement.name);
            } else {
                found.remove(statement.name.as_str());
            }
        }
        found
    }

    /// Whether it moves values modulo p^r to other slots: by a rotation or an exchange of rows.
    pub fn rotates(&self) -> bool {
        self.statements.iter().any(|statement| statement.value.rotates())
    }

    /// Whether results on typed columns are the same if the columns are cut and the program is run
    /// on each part: but for sums and counts, which are results by themselves and of which each
    /// part has its own.
    ///
    /// # Errors
    /// The column in the text of what takes a column as a whole.
    pub fn in_parts(&self) -> Result<(), usize> {
        let totals: Vec<&str> = (self.statements.iter())
            .filter(|statement| statement.value.total().is_some())
            .map(|statement| statement.name.as_str())
            .collect();
        let entries = |value: &Node| value.total().unwrap_or(value).entrywise(&totals);
        self.statements.iter().try_for_each(|statement| entries(&statement.value))
    }
}

impl Node {
    /// What is added up, if this is a sum or a count.
    fn total(&self) -> Option<&Node> {
        match &self.kind {
            Kind::Call(Function::Sum, x) => Some(x),
            Kind::Typed(TypedFunction::Count, parts) => parts.first(),
            _ => None,
        }
    }

    /// Whether it depends on one of these names; a power with exponent 0 does not.
    fn reads(&self, names: &BTreeSet<&str>) -> bool {
        match &self.kind {
            Kind::Name(name) => names.contains(name.as_str()),
            Kind::Power(_, 0) => false,
            _ => self.parts().into_iter().any(|x| x.reads(names)),
        }
    }

    fn rotates(&self) -> bool {
        let moving = |function| !matches!(function, Function::Sum | Function::Refresh);
        let own = matches!(self.kind, Kind::Call(function, _) if moving(function));
        own || self.parts().into_iter().any(Self::rotates)
    }

    /// Refuses whatever takes a column as a whole, or one of the `totals`.
    fn entrywise(&self, totals: &[&str]) -> Result<(), usize> {
        let total = matches!(&self.kind, Kind::Name(name) if totals.contains(&name.as_str()));
        if total || self.is_along() {
            return Err(self.column);
        }
        self.parts().into_iter().try_for_each(|x| x.entrywise(totals))
    }

    fn rows(&self, known: &BTreeMap<&str, Rows>) -> Result<Rows, usize> {
        let constant = |c: i128| Rows { moved: false, empty: Some(c) };
        Ok(match &self.kind {
            Kind::Constant(c) => constant((*c).into()),
            Kind::Name(name) => {
                known.get(name.as_str()).copied().unwrap_or(Rows { moved: true, empty: None })
            }
            Kind::Negative(x) => {
                let x = x.rows(known)?;
                Rows { empty: x.empty.and_then(i128::checked_neg), ..x }
            }
            Kind::Sum(terms) => terms.iter().try_fold(constant(0), |sum, (subtracted, term)| {
                let term = term.rows(known)?;
                let empty = sum.empty.zip(term.empty).and_then(|(x, y)| match subtracted {
                    true => x.checked_sub(y),
                    false => x.checked_add(y),
                });
                Ok::<_, usize>(Rows { moved: sum.moved || term.moved, empty })
            })?,
            Kind::Product(factors) => factors.iter().try_fold(constant(1), |product, factor| {
                let factor = factor.rows(known)?;
                let empty = match (product.empty, factor.empty) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (x, y) => x.zip(y).and_then(|(x, y)| x.checked_mul(y)),
                };
                Ok::<_, usize>(Rows { moved: product.moved || factor.moved, empty })
            })?,
            Kind::Power(_, 0) => constant(1),
            Kind::Power(x, exponent) => {
                let x = x.rows(known)?;
                let empty = match x.empty {
                    Some(c @ (0 | 1)) => Some(c),
                    c => c.zip(u32::try_from(*exponent).ok()).and_then(|(c, e)| c.checked_pow(e)),
                };
                Rows { empty, ..x }
            }
            Kind::Call(Function::Refresh, x) => x.rows(known)?,
            Kind::Call(Function::Sum, x) => match x.rows(known)?.empty {
                // The same in all slots.
                Some(0) => Rows { moved: false, empty: None },
                _ => return Err(self.column),
            },
            Kind::Call(Function::Rotate(_) | Function::RotateAlong(..) | Function::SwapRows, x) => {
                Rows { moved: true, ..x.rows(known)? }
            }
            // Typed integers know their rows; running these without types is an error.
            Kind::Binary(..) | Kind::Not(_) | Kind::Typed(..) | Kind::Named(..) => {
                Rows { moved: true, empty: None }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_rows() {
        let rows = |text: &str| {
            let program = Program::parse(text).unwrap();
            program.rows(|_| Some(0)).map(|rows| {
                let moved = rows.into_iter().filter(|(_, rows)| rows.moved);
                moved.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
            })
        };
        for (text, expected) in [
            ("y = 3*x*(1-x)", Ok("")),
            ("y = sum(x)", Ok("")),
            ("y = sum(3*x*(1-x))*x", Ok("")),
            ("y = rotate(x, 1) + x; z = y^2; w = x", Ok("y z")),
            ("y = sum(rotate(x, 1)*x)", Ok("")),
            ("y = swap_rows(refresh(x))", Ok("y")),
            ("y = sum(x + 1)", Err(5)),
            ("y = sum(x + 1 - 1)", Ok("")),
            ("_a = 1 - x; y = sum(_a*x); z = 2 + sum(_a)", Err(36)),
            ("y = sum(sum(x))", Err(5)),
            ("y = sum(x*0^0 + (x-1)^2)", Err(5)),
        ] {
            assert_eq!(rows(text), expected.map(String::from), "{text}");
        }
    }

    /// What is in the empty slots of a result is known of those of its inputs.
    #[test]
    fn empty_slots() {
        let program = Program::parse("y = x + 1; z = x*w; v = (x - 2)^3 - y; s = sum(x)").unwrap();
        let rows = program.rows(|name| (name == "x").then_some(0)).unwrap();
        let empty = ["y", "z", "v", "s", "w"].map(|name| rows[name].empty);
        assert_eq!(empty, [Some(1), Some(0), Some(-9), None, None]);
        assert_eq!(program.rows(|_| None), Err(44));
    }

    #[test]
    fn what_results_are_made_of() {
        let text = "_s = x + y; z = _s^2; w = 3*y; v = x^0*y; u = rotate(y, 1) - sum(x)";
        let program = Program::parse(text).unwrap();
        let found = program.made_of(|name| name == "x");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["_s", "u", "x", "z"]);
        assert!(program.made_of(|_| false).is_empty());
    }

    #[test]
    fn what_takes_a_column_as_a_whole() {
        let parts = |text: &str| Program::parse(text).unwrap().in_parts();
        for (text, expected) in [
            ("y = if(x > 3, x, -w); z = table(y, t)", Ok(())),
            ("s = sum(x*x); c = count(x > 3); y = x + 1", Ok(())),
            ("y = x - sum(x)", Err(9)),
            ("s = sum(x); y = x*s", Err(19)),
            ("m = mean(x)", Err(5)),
            ("y = sort(x)", Err(5)),
            ("y = sort(x, 3)", Err(5)),
            ("y = rotate(x, 1)", Err(5)),
            ("c = count(x > median(x))", Err(15)),
            ("s = sum(cumsum(x))", Err(9)),
            ("y = total(x)", Err(5)),
            ("s = dot(x, weights)", Err(5)),
            ("y = quantile(x, 1, 4)", Err(5)),
            ("y = isin(x, codes)", Ok(())),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
