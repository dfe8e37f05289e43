//! Operations of one program that put the same column in order, and share its comparisons.
//!
//! The maximum, its position, the median and the entries in order all begin with the ranks of the
//! entries, and ranks cost most of what they cost. Which operations of a program read the same
//! column is known before it runs. The first of them that is computed makes the ranks, and the
//! others take them.
//!
//! Entries are the same from either end: the one of rank k in one order has rank n - 1 - k in the
//! other one. Equal entries have their positions in one order only, so positions and ranks are
//! taken from ranks in their own order. If a program has these in both orders, there are two
//! rankings. The truth values that choose entries are shared, too: by the maximum and its position,
//! or by the entries in order and their positions.

use std::sync::{Mutex, PoisonError};

use everlevel_circuit::CircuitError;

use crate::column::{Column, Digit, Operand};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::method::{Joint, suffice};
use crate::operation::Operation;
use crate::order::{Of, Order, Request, Wanted};
use crate::places::Places;
use crate::ranked::Ranked;

/// The number of columns of which something is kept where operations are not known before they are
/// called.
const KEPT: usize = 4;

/// What the operations of one run of a program share that put the same columns in order
/// ([`Integers::operate_sharing`]). What is kept of a column is dropped after the last of them.
pub struct Orders<C> {
    /// The column that was ordered last at the end.
    known: Mutex<Vec<Ordered<C>>>,
    /// Whether all operations are known before the first of them.
    announced: bool,
}

impl<C> Default for Orders<C> {
    fn default() -> Self {
        Orders { known: Mutex::new(Vec::new()), announced: true }
    }
}

impl<C> Orders<C> {
    /// The same for a program whose operations are only known when they are called, one after the
    /// other: they take the ranks of those before them, of the last few columns that were ordered.
    /// Which columns those are is decided by the calls alone.
    pub fn as_called() -> Self {
        Orders { announced: false, ..Self::default() }
    }

    /// What is known of a column. It is taken out, so that nothing is locked while others compute.
    fn taken(&self, x: &Column<C>) -> Option<Ordered<C>> {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|known| is_same(&known.given, x))?;
        Some(all.remove(place))
    }

    fn keep(&self, known: Ordered<C>) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.announced && all.len() >= KEPT {
            all.remove(0);
        }
        all.push(known);
    }
}

/// Whether two columns consist of the same ciphertexts with the same meaning. An index is not read
/// here.
fn is_same<C>(x: &Column<C>, y: &Column<C>) -> bool {
    let digit = |(x, y): (&Digit<C>, &Digit<C>)| {
        let address = |d: &Digit<C>| d.cipher.as_ref().map(|value| value.address());
        (x.low, x.high, x.pad) == (y.low, y.high, y.pad) && address(x) == address(y)
    };
    (x.interval, x.anchor, x.length) == (y.interval, y.anchor, y.length)
        && x.digits.len() == y.digits.len()
        && x.digits.iter().zip(&y.digits).all(digit)
}

/// An order and a number of positions, and which entries come to these.
type Chosen<C> = ((Order, usize), Vec<Digit<C>>);

/// What is known of the order of a column.
struct Ordered<C> {
    /// The column. As long as its ciphertexts are held here, no others have their addresses.
    given: Column<C>,
    /// The same with canonical digits.
    x: Column<C>,
    n: usize,
    /// The results that the program takes from it, each once.
    requests: Vec<Request>,
    /// The operations that are still to come.
    left: usize,
    /// How they are computed; `None` for a network each.
    joint: Option<Joint>,
    ranks: Vec<(Order, Ranked<C>)>,
    /// Which entry has a rank in an order.
    bits: Vec<((Order, usize), Digit<C>)>,
    /// Which entries come to the first positions.
    chosen: Vec<Chosen<C>>,
    /// Results that are taken more than once.
    found: Vec<(Request, Column<C>)>,
    /// The results of all operations, as often as they are taken.
    all: Vec<Request>,
    /// Whether there may be more of them.
    unannounced: bool,
}

/// The result of an operation along a column of `n` entries; `None` for other operations, and for
/// those that are refused.
fn request(operation: &Operation, n: usize) -> Option<Request> {
    let (order, wanted) = match operation {
        Operation::Ranks(order) => (*order, Wanted::Ranks),
        Operation::Sort(order, take) => (*order, Wanted::First(*take, Of::Entries)),
        Operation::ArgSort(order, take) => (*order, Wanted::First(*take, Of::Places)),
        Operation::Nth(order, rank) => (*order, Wanted::Nth(*rank, Of::Entries)),
        Operation::ArgNth(order, rank) => (*order, Wanted::Nth(*rank, Of::Places)),
        Operation::Quantile(a, b) if *b > 0 && a <= b => {
            let rank = (n as u64 - 1) * u64::from(*a) / u64::from(*b);
            (Order::Ascending, Wanted::Nth(rank as usize, Of::Entries))
        }
        _ => return None,
    };
    match wanted {
        Wanted::Ranks => Some((order, wanted)),
        Wanted::First(take, _) => (1..=n).contains(&take).then_some((order, wanted)),
        Wanted::Nth(rank, _) => (rank < n).then_some((order, wanted)),
    }
}

/// The same with the rank of an entry in ascending order, so that equal requests are found.
fn ascending((order, wanted): Request, n: usize) -> Request {
    match wanted {
        Wanted::Nth(rank, Of::Entries) => {
            let rank = seen_from(n, order, rank, Order::Ascending);
            (Order::Ascending, Wanted::Nth(rank, Of::Entries))
        }
        Wanted::Ranks | Wanted::First(..) | Wanted::Nth(..) => (order, wanted),
    }
}

/// The rank in one order of the entry that has a rank in another one.
fn seen_from(n: usize, order: Order, rank: usize, by: Order) -> usize {
    if order == by { rank } else { n - 1 - rank }
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// [`Integers::operate`] for an operation of a program of which several may put this operand in
    /// order: `along` lists all of these ([`Operation::is_order`]), this one among them, and all of
    /// them are given the same `orders`, which belongs to one run of the program. With
    /// [`Orders::as_called`] there is no list.
    ///
    /// Results are those of [`Integers::operate`]. Operations that take the ranks of all entries
    /// share them, and so do a maximum and its position, or the entries in order and their
    /// positions, the truth values that choose them. An operation that shares nothing costs what it
    /// costs by itself. Of columns whose pairs do not fit one row of slots, operations take ranks
    /// or a network as it takes least time for all of them by the model. Operations that share
    /// should not be computed at the same time: those would both compute what they share.
    ///
    /// # Errors
    /// As [`Integers::operate`].
    pub fn operate_sharing(
        &self,
        operation: &Operation,
        operands: &[Operand<'_, S::Ciphertext>],
        along: &[&Operation],
        orders: &Orders<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let shares = along.len() > 1 || !orders.announced;
        if let ([Operand::Column(x)], true) = (operands, shares)
            && let Some(found) = self.ordered_together(operation, x, along, orders)?
        {
            return Ok(found);
        }
        self.operate(operation, operands)
    }

    /// The result of one of several operations; `None` if it shares nothing.
    fn ordered_together(
        &self,
        operation: &Operation,
        x: &Column<S::Ciphertext>,
        along: &[&Operation],
        orders: &Orders<S::Ciphertext>,
    ) -> Result<Option<Column<S::Ciphertext>>, IntegersError> {
        let Some(n) = x.length().filter(|n| (2..=self.longest_ordered()).contains(n)) else {
            return Ok(None);
        };
        let Some(mut wanted) = request(operation, n) else { return Ok(None) };
        if orders.announced {
            wanted = ascending(wanted, n);
        }
        let mut known = match orders.taken(x) {
            Some(known) => known,
            None => {
                let all: Vec<Request> = match orders.announced {
                    true => {
                        let found = along.iter().filter_map(|operation| request(operation, n));
                        found.map(|request| ascending(request, n)).collect()
                    }
                    false => vec![wanted],
                };
                // One alone shares nothing.
                if orders.announced && all.len() < 2 {
                    return Ok(None);
                }
                match self.known_of(x, n, all)? {
                    Some(known) => Ordered { unannounced: !orders.announced, ..known },
                    None => return Ok(None),
                }
            }
        };
        if !known.requests.contains(&wanted) {
            // Of a column that is the same as another one, and was announced with other operations.
            if orders.announced {
                orders.keep(known);
                return Ok(None);
            }
            self.also(&mut known, wanted)?;
        }
        let found = self.taken_from(&mut known, wanted)?;
        known.left = known.left.saturating_sub(1);
        if known.left > 0 || !orders.announced {
            orders.keep(known);
        }
        Ok(Some(found))
    }

    /// What several operations share before the first of them is computed; `None` for columns that
    /// are public.
    fn known_of(
        &self,
        given: &Column<S::Ciphertext>,
        n: usize,
        all: Vec<Request>,
    ) -> Result<Option<Ordered<S::Ciphertext>>, IntegersError> {
        let x = given.clone().narrowed();
        if x.public_value().is_some() {
            return Ok(None);
        }
        let x = self.normalized(&x)?;
        if x.public_value().is_some() {
            return Ok(None);
        }
        let mut requests: Vec<Request> = Vec::new();
        for request in &all {
            if !requests.contains(request) {
                requests.push(*request);
            }
        }
        let left = all.len();
        Ok(Some(Ordered {
            given: given.clone(),
            joint: self.joint(&x, n, &requests)?,
            x,
            n,
            requests,
            left,
            ranks: Vec::new(),
            bits: Vec::new(),
            chosen: Vec::new(),
            found: Vec::new(),
            all,
            unannounced: false,
        }))
    }

    /// One more result, which was not known before. It decides by itself between ranks, which may
    /// be there already, and a network.
    fn also(
        &self,
        known: &mut Ordered<S::Ciphertext>,
        request: Request,
    ) -> Result<(), IntegersError> {
        known.requests.push(request);
        let Some(own) = self.joint(&known.x, known.n, &[request])? else { return Ok(()) };
        match &mut known.joint {
            Some(joint) => {
                joint.by_ranks.push(request);
                // Entries need none of their own.
                if !suffice(&joint.orders, &request) {
                    joint.orders.push(request.0);
                }
            }
            none => *none = Some(own),
        }
        Ok(())
    }

    fn taken_from(
        &self,
        known: &mut Ordered<S::Ciphertext>,
        request: Request,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        if let Some((_, found)) = known.found.iter().find(|(other, _)| *other == request) {
            return Ok(found.clone());
        }
        let by_ranks = known.joint.as_ref().is_some_and(|x| x.by_ranks.contains(&request));
        let found = match by_ranks {
            true => self.by_shared_ranks(known, request)?,
            false => self.by_own_network(known, request)?,
        };
        if known.all.iter().filter(|other| **other == request).count() > 1 {
            known.found.push((request, found.clone()));
        }
        Ok(found)
    }

    fn by_own_network(
        &self,
        known: &Ordered<S::Ciphertext>,
        (order, wanted): Request,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let (x, n) = (&known.x, known.n);
        match wanted {
            Wanted::Ranks => self.ranked_by_network(x, n, order),
            Wanted::First(take, of) => self.sorted_by_network(x, n, order, (take, of)),
            Wanted::Nth(rank, of) => self.nth_by_network(x, n, order, (rank, of)),
        }
    }

    fn by_shared_ranks(
        &self,
        known: &mut Ordered<S::Ciphertext>,
        (order, wanted): Request,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let missing = || CircuitError::Empty { what: "the list of ranks" };
        let Some(joint) = &known.joint else { return Err(missing().into()) };
        let n = known.n;
        // The order in which a position takes the same truth values, or the own one if it is there.
        let beside = |by: &&Order| match wanted {
            Wanted::Nth(rank, Of::Entries) => {
                let place = Wanted::Nth(seen_from(n, order, rank, **by), Of::Places);
                joint.by_ranks.contains(&(**by, place))
            }
            _ => false,
        };
        let found = joint.orders.iter().find(beside);
        let found = found.or_else(|| joint.orders.iter().find(|by| **by == order));
        let by = *found.or(joint.orders.first()).ok_or_else(missing)?;
        let tiles = joint.tiles;
        let ranks = match known.ranks.iter().position(|(other, _)| *other == by) {
            Some(place) => &known.ranks[place].1,
            None => {
                known.ranks.push((by, self.ranked(&known.x, by, &tiles)?));
                &known.ranks.last().ok_or_else(missing)?.1
            }
        };
        match wanted {
            Wanted::Ranks => self.rank_column(ranks, n),
            Wanted::Nth(rank, of) => {
                let rank = seen_from(n, order, rank, by);
                let bit = match known.bits.iter().find(|(key, _)| *key == (by, rank)) {
                    Some((_, bit)) => bit.clone(),
                    None => {
                        let bit = self.chosen_rank(ranks, n, rank)?;
                        known.bits.push(((by, rank), bit.clone()));
                        bit
                    }
                };
                self.nth_by_choice(&known.x, &bit, of)
            }
            Wanted::First(take, of) => {
                let Some(places) = Places::new(n, take, self.columns()) else {
                    return self.by_own_network(known, (order, wanted));
                };
                let places = if by == order { places } else { places.counted_from_the_end() };
                let places = places.beside(ranks);
                let key = (by, take);
                let known_bits = known.chosen.iter().find(|(other, _)| *other == key);
                if let (Some((_, bits)), true) = (known_bits, by == order) {
                    return self.sorted_by_choices(&known.x, bits, of, &places);
                }
                let bits = self.chosen_places(ranks, &places)?;
                let found = self.sorted_by_choices(&known.x, &bits, of, &places)?;
                let both = [Of::Entries, Of::Places].map(|of| (order, Wanted::First(take, of)));
                // Several parts are much memory, which is kept only if it is known to be used.
                if by == order
                    && (both.iter().all(|x| known.requests.contains(x))
                        || (known.unannounced && places.parts() == 1))
                {
                    known.chosen.push((key, bits));
                }
                Ok(found)
            }
        }
    }
}
