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

/// What the result of a sort consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The entries.
    Entries,
    /// The positions of the entries in the column.
    Places,
}

/// The requested result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The number of entries that come before each entry.
    Ranks,
    /// A given number of entries that come first.
    First(usize, Of),
    /// The entry of this rank.
    Nth(usize, Of),
}

/// A requested result, and the order in which it is meant.
pub(crate) type Request = (Order, Wanted);

/// The same with the rank of an entry in ascending order, so that equal requests are found.
pub(crate) fn ascending((order, wanted): Request, n: usize) -> Request {
    match wanted {
        Wanted::Nth(rank, Of::Entries) => {
            let rank = seen_from(n, order, rank, Order::Ascending);
            (Order::Ascending, Wanted::Nth(rank, Of::Entries))
        }
        Wanted::Ranks | Wanted::First(..) | Wanted::Nth(..) => (order, wanted),
    }
}

/// The rank in one order of the entry that has a rank in another one.
pub(crate) fn seen_from(n: usize, order: Order, rank: usize, by: Order) -> usize {
    if order == by { rank } else { n - 1 - rank }
}
