//! Orders of entries, and the results that can be requested of them.

/// Which entries come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least entries first; of equal ones the first.
    Ascending,
    /// The largest entries first; of equal ones the first.
    Descending,
}

impl Order {
    /// The reverse order.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Order::Ascending => Order::Descending,
            Order::Descending => Order::Ascending,
        }
    }
}

/// What is put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The entries.
    Entries,
    /// The positions of the entries in the column.
    Places,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// How many entries come before each.
    Ranks,
    /// The first ones, so many of them.
    First(usize, Of),
    /// The one of this rank.
    Nth(usize, Of),
}
