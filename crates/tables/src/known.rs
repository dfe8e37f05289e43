//! Columns that a server knows in the clear.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_integers::EncryptedConstant;

use crate::condition::Condition;
use crate::schema::Schema;

/// The plaintext data of a block of rows: the codes of the columns of the schema that are not
/// encrypted, with the number of rows.
pub struct Known<'a, C> {
    /// The known columns by their indices; `None` for an encrypted column.
    pub columns: Vec<Option<&'a [i128]>>,
    /// The encrypted constants, by the indices of their columns, with the value in every slot.
    pub constants: &'a BTreeMap<usize, EncryptedConstant<C>>,
    /// The number of rows.
    pub rows: usize,
}

impl<C> Known<'_, C> {
    /// Whether a column is known; columns of rankings are not.
    pub(crate) fn knows(&self, place: usize) -> bool {
        self.columns.get(place).is_some_and(Option::is_some)
    }

    /// Whether the known columns decide that no row meets a condition.
    pub(crate) fn rules_out(&self, condition: &Condition) -> bool {
        self.rows > 0
            && self.columns.iter().any(Option::is_some)
            && (0..self.rows).all(|row| self.truth(condition, row) == Some(false))
    }

    /// Whether a row meets a condition; `None` if this depends on other columns.
    pub(crate) fn truth(&self, condition: &Condition, row: usize) -> Option<bool> {
        match condition {
            Condition::And(all) => {
                let mut truths = all.iter().map(|c| self.truth(c, row));
                truths
                    .try_fold(Some(true), |sofar, truth| match truth {
                        Some(false) => Err(()),
                        truth => Ok(sofar.and(truth)),
                    })
                    .unwrap_or(Some(false))
            }
            Condition::Or(any) => {
                let mut truths = any.iter().map(|c| self.truth(c, row));
                truths
                    .try_fold(Some(false), |sofar, truth| match truth {
                        Some(true) => Err(()),
                        truth => Ok(sofar.and(truth)),
                    })
                    .unwrap_or(Some(true))
            }
            Condition::Not(c) => self.truth(c, row).map(|truth| !truth),
            Condition::Constant(_)
            | Condition::Within { .. }
            | Condition::Indexed(..)
            | Condition::Compare(..) => {
                let mut columns = BTreeSet::new();
                condition.columns(&mut columns);
                let known = columns.iter().all(|place| self.knows(*place));
                let code = |place: usize| self.columns[place].map_or(0, |codes| codes[row]);
                known.then(|| condition.holds(&code))
            }
        }
    }

    /// The values of a function of known columns: one for each row, and one for the slots behind
    /// them, which hold the least codes.
    pub(crate) fn slots(
        &self,
        schema: &Schema,
        of_row: impl Fn(&dyn Fn(usize) -> i128) -> i128,
    ) -> (Vec<i128>, i128) {
        let code = |place: usize, row: usize| self.columns[place].map_or(0, |column| column[row]);
        let rows = (0..self.rows).map(|row| of_row(&|place| code(place, row))).collect();
        (rows, of_row(&|place| schema.fields()[place].bounds().0))
    }
}
