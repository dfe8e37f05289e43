//! What rankings tell about the rows of a block.

use everlevel_integers::Column;

use crate::across::Part;

/// Truth values of the rankings of a pass for the rows of a block.
pub(crate) struct Ranked<C> {
    /// Of sets of rows of this block alone; none if there are no such sets.
    pub(crate) within: Option<Vec<Column<C>>>,
    /// Of sets that begin in the block before, in a column of all slots.
    pub(crate) before: Option<Vec<Column<C>>>,
    /// Of sets that end in the next block.
    pub(crate) after: Option<Vec<Column<C>>>,
}

impl<C> Clone for Ranked<C> {
    fn clone(&self) -> Self {
        let Ranked { within, before, after } = self;
        Ranked { within: within.clone(), before: before.clone(), after: after.clone() }
    }
}

impl<C> Ranked<C> {
    /// The truth values among which those of a set are; any for one without rows in the block, and
    /// none if there are no others.
    pub(crate) fn of(&self, part: Part) -> Option<&Vec<Column<C>>> {
        match part {
            Part::Within => self.within.as_ref(),
            Part::Before => self.before.as_ref(),
            Part::After => self.after.as_ref(),
            Part::Absent => self.within.as_ref().or(self.before.as_ref()).or(self.after.as_ref()),
        }
    }
}
