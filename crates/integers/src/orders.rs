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
use crate::method::{Joint, choice, order_of, suffice};
use crate::operation::Operation;
use crate::order::{Of, Order, Request, Wanted, ascending, seen_from};
use crate::places::Places;
use crate::ranked::Ranked;

/// The number of columns, and of choices of entries of a column, that are kept where operations are
/// not known before they are called.
const KEPT: usize = 4;

/// The operations of a program that put one of its columns in order, all of them.
pub struct Along<'a, O = Operation> {
    /// A number that the program has for this column only. What has another number is another
    /// column, even if its ciphertexts are the same: what is computed does not depend on that.
    pub column: usize,
    /// The operations, each as often as it is computed; none if they are not known.
    pub operations: &'a [&'a O],
}

impl<O> Clone for Along<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Along<'_, O> {}

impl<O> Default for Along<'_, O> {
    fn default() -> Self {
        Along { column: 0, operations: &[] }
    }
}

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
    fn taken(&self, x: &Column<C>, column: usize) -> Option<Ordered<C>> {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Ordered<C>| known.column == column && is_same(&known.given, x);
        let place = all.iter().position(same)?;
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

/// What is known of the order of a column. No ciphertext of it is a part of a result: whoever
/// computes with that may bootstrap it in place while others take theirs from here.
struct Ordered<C> {
    /// The number of the column in the program.
    column: usize,
    /// The column. As long as its ciphertexts are held here, no others have their addresses.
    given: Column<C>,
    /// The same with canonical digits.
    x: Column<C>,
    n: usize,
    /// The results that are still to be taken, each as often as it will be; `None` if that is not
    /// known.
    left: Option<Vec<Request>>,
    /// How they are computed; `None` for a network each.
    joint: Option<Joint>,
    ranks: Vec<(Order, Ranked<C>)>,
    /// Which entry has a rank in an order.
    bits: Vec<((Order, usize), Digit<C>)>,
    /// Which entries come to the first positions.
    chosen: Vec<Chosen<C>>,
    /// Results that are taken again.
    found: Vec<(Request, Column<C>)>,
}

/// Keeps one more, or the last few of them.
fn keep_few<K, V>(list: &mut Vec<(K, V)>, few: bool, one: (K, V)) {
    if few && list.len() >= KEPT {
        list.remove(0);
    }
    list.push(one);
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// [`Integers::operate`] for an operation of a program of which several may put this operand in
    /// order: `along` lists all of these ([`Operation::is_order`]), this one among them, and all of
    /// them are given the same `orders`, which belongs to one run of the program. An operation that
    /// is not in the list is computed by itself. With [`Orders::as_called`] there is no list, and
    /// columns are told apart by their ciphertexts.
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
        along: Along<'_>,
        orders: &Orders<S::Ciphertext>,
    ) -> Result<Column<S::Ciphertext>, IntegersError> {
        let shares = along.operations.len() > 1 || !orders.announced;
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
        along: Along<'_>,
        orders: &Orders<S::Ciphertext>,
    ) -> Result<Option<Column<S::Ciphertext>>, IntegersError> {
        let Some(n) = x.length().filter(|n| (2..=self.longest_ordered()).contains(n)) else {
            return Ok(None);
        };
        let Some(mut wanted) = operation.request(n) else { return Ok(None) };
        if orders.announced {
            wanted = ascending(wanted, n);
        }
        let mut known = match orders.taken(x, along.column) {
            Some(known) => known,
            None => {
                let left: Option<Vec<Request>> = orders.announced.then(|| {
                    let found = along.operations.iter().filter_map(|x| x.request(n));
                    found.map(|request| ascending(request, n)).collect()
                });
                // One alone shares nothing.
                let alone = |left: &Vec<Request>| left.len() < 2 || !left.contains(&wanted);
                if left.as_ref().is_some_and(alone) {
                    return Ok(None);
                }
                match self.known_of(x, n, along.column, left)? {
                    Some(known) => known,
                    None => return Ok(None),
                }
            }
        };
        let listed = known.left.as_mut().map(|left| {
            let place = left.iter().position(|other| *other == wanted);
            place.map(|place| left.swap_remove(place)).is_some()
        });
        match listed {
            Some(true) => (),
            Some(false) => {
                orders.keep(known);
                return Ok(None);
            }
            None => self.also(&mut known, wanted)?,
        }
        let found = self.taken_from(&mut known, wanted)?;
        if known.left.as_ref().is_none_or(|left| !left.is_empty()) {
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
        column: usize,
        left: Option<Vec<Request>>,
    ) -> Result<Option<Ordered<S::Ciphertext>>, IntegersError> {
        let x = given.clone().narrowed();
        if x.public_value().is_some() {
            return Ok(None);
        }
        let x = self.normalized(&x)?;
        if x.public_value().is_some() {
            return Ok(None);
        }
        let joint = match &left {
            Some(left) => {
                let mut requests: Vec<Request> = Vec::new();
                for request in left {
                    if !requests.contains(request) {
                        requests.push(*request);
                    }
                }
                self.joint(&x, n, &requests)?
            }
            None => None,
        };
        Ok(Some(Ordered {
            column,
            given: given.clone(),
            x,
            n,
            left,
            joint,
            ranks: Vec::new(),
            bits: Vec::new(),
            chosen: Vec::new(),
            found: Vec::new(),
        }))
    }

    /// One more result, if it was not known before. It decides by itself between ranks, which may
    /// be there already, and a network.
    fn also(
        &self,
        known: &mut Ordered<S::Ciphertext>,
        request: Request,
    ) -> Result<(), IntegersError> {
        if known.joint.as_ref().is_some_and(|joint| joint.by_ranks.contains(&request)) {
            return Ok(());
        }
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
            return Ok(found.detached());
        }
        let by_ranks = known.joint.as_ref().is_some_and(|x| x.by_ranks.contains(&request));
        let found = match by_ranks {
            true => self.by_shared_ranks(known, request)?,
            false => self.by_own_network(known, request)?,
        };
        // Ranks may be a result as they are.
        let own = found.detached();
        if known.left.as_ref().is_some_and(|left| left.contains(&request)) {
            known.found.push((request, found));
        }
        Ok(own)
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
        let by = order_of(joint, n, &(order, wanted)).ok_or_else(missing)?;
        let tiles = joint.tiles;
        let ranks = match known.ranks.iter().position(|(other, _)| *other == by) {
            Some(place) => &known.ranks[place].1,
            None => {
                known.ranks.push((by, self.ranked(&known.x, by, &tiles)?));
                &known.ranks.last().ok_or_else(missing)?.1
            }
        };
        // Truth values are kept if it is known that they are used again, or not known what is.
        match wanted {
            Wanted::Ranks => self.rank_column(ranks, n),
            Wanted::Nth(rank, of) => {
                let key = (by, seen_from(n, order, rank, by));
                let bit = match known.bits.iter().find(|(other, _)| *other == key) {
                    Some((_, bit)) => bit.clone(),
                    None => {
                        let bit = self.chosen_rank(ranks, n, key.1)?;
                        let later = |other: &Request| choice(joint, n, other) == Some(key);
                        if known.left.as_ref().is_none_or(|left| left.iter().any(later)) {
                            keep_few(&mut known.bits, known.left.is_none(), (key, bit.clone()));
                        }
                        bit
                    }
                };
                self.nth_by_choice(&known.x, &bit, of)
            }
            Wanted::First(take, of) => {
                let places = Places::new(n, take, self.columns()).ok_or_else(missing)?;
                let places = if by == order { places } else { places.counted_from_the_end() };
                let places = places.beside(ranks);
                let key = (by, take);
                let known_bits = known.chosen.iter().find(|(other, _)| *other == key);
                if let (Some((_, bits)), true) = (known_bits, by == order) {
                    return self.sorted_by_choices(&known.x, bits, of, &places);
                }
                let bits = self.chosen_places(ranks, &places)?;
                let found = self.sorted_by_choices(&known.x, &bits, of, &places)?;
                let beside = if of == Of::Entries { Of::Places } else { Of::Entries };
                let later = (order, Wanted::First(take, beside));
                let kept = match &known.left {
                    Some(left) => left.contains(&later) && joint.by_ranks.contains(&later),
                    // Several parts are much memory.
                    None => places.parts() == 1,
                };
                if by == order && kept {
                    keep_few(&mut known.chosen, known.left.is_none(), (key, bits));
                }
                Ok(found)
            }
        }
    }
}
