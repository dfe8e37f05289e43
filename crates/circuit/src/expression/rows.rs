//! Rows of columns that do not fill the slots: where a program leaves them.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{Function, Kind, Node, Program};

/// What is known of the slots of a part.
#[derive(Clone, Copy)]
struct Slots {
    /// Whether rows are in other slots than those that they came in.
    moved: bool,
    /// The integer in all slots without a row; none if they differ or it is not known.
    empty: Option<i128>,
}

impl Program {
    /// For inputs that leave slots empty, which hold 0: the statements whose rows are not in the
    /// slots of the inputs' rows any more.
    ///
    /// # Errors
    /// The column in the text of a `sum` that would add up empty slots that do not hold 0, which
    /// is not the sum of the rows.
    pub fn moved_rows(&self) -> Result<BTreeSet<&str>, usize> {
        let mut known: BTreeMap<&str, Slots> =
            self.inputs().map(|name| (name, Slots { moved: false, empty: Some(0) })).collect();
        for statement in &self.statements {
            let slots = statement.value.slots(&known)?;
            known.insert(&statement.name, slots);
        }
        Ok(known.into_iter().filter(|(_, slots)| slots.moved).map(|(name, _)| name).collect())
    }
}

impl Node {
    fn slots(&self, known: &BTreeMap<&str, Slots>) -> Result<Slots, usize> {
        let constant = |c: i128| Slots { moved: false, empty: Some(c) };
        Ok(match &self.kind {
            Kind::Constant(c) => constant((*c).into()),
            Kind::Name(name) => {
                known.get(name.as_str()).copied().unwrap_or(Slots { moved: true, empty: None })
            }
            Kind::Negative(x) => {
                let x = x.slots(known)?;
                Slots { empty: x.empty.and_then(i128::checked_neg), ..x }
            }
            Kind::Sum(terms) => terms.iter().try_fold(constant(0), |sum, (subtracted, term)| {
                let term = term.slots(known)?;
                let empty = sum.empty.zip(term.empty).and_then(|(x, y)| match subtracted {
                    true => x.checked_sub(y),
                    false => x.checked_add(y),
                });
                Ok::<_, usize>(Slots { moved: sum.moved || term.moved, empty })
            })?,
            Kind::Product(factors) => factors.iter().try_fold(constant(1), |product, factor| {
                let factor = factor.slots(known)?;
                let empty = match (product.empty, factor.empty) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (x, y) => x.zip(y).and_then(|(x, y)| x.checked_mul(y)),
                };
                Ok::<_, usize>(Slots { moved: product.moved || factor.moved, empty })
            })?,
            Kind::Power(_, 0) => constant(1),
            Kind::Power(x, exponent) => {
                let x = x.slots(known)?;
                let empty = match x.empty {
                    Some(c @ (0 | 1)) => Some(c),
                    c => c.zip(u32::try_from(*exponent).ok()).and_then(|(c, e)| c.checked_pow(e)),
                };
                Slots { empty, ..x }
            }
            Kind::Call(Function::Refresh, x) => x.slots(known)?,
            Kind::Call(Function::Sum, x) => match x.slots(known)?.empty {
                // The same in all slots.
                Some(0) => Slots { moved: false, empty: None },
                _ => return Err(self.column),
            },
            Kind::Call(Function::Rotate(_) | Function::RotateAlong(..) | Function::SwapRows, x) => {
                Slots { moved: true, ..x.slots(known)? }
            }
            // Typed integers know their rows; running these without types is an error.
            Kind::Binary(..) | Kind::Not(_) | Kind::Typed(..) | Kind::Named(..) => {
                Slots { moved: true, empty: None }
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
            program.moved_rows().map(|names| names.into_iter().collect::<Vec<_>>().join(" "))
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
}
