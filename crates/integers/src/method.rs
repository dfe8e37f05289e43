//! The choice between two methods to put a column in order, by time.
//!
//! Comparisons of all pairs grow with the square of the number of entries, and those of a network
//! with the square of its logarithm. But a layer of the network takes longer than a comparison of
//! pairs, whose operands are bootstrapped only once. Both methods are rehearsed on the no-op scheme
//! for the first few parts or layers, on digits that were just bootstrapped, as all digits but the
//! first are. So the choice depends only on the set, the number of digits and the number of
//! entries.

use everlevel_scheme::NoOp;
use everlevel_scheme::noop::NoOpCiphertext;

use crate::column::{Column, Digit};
use crate::context::{IntegerScheme, Integers};
use crate::error::IntegersError;
use crate::layers::layers;
use crate::network::{self, Moving, nearer};
use crate::order::{Of, Order, Request, Wanted, seen_from};
use crate::pairs::Tiles;
use crate::places::Places;
use crate::ranked::Ranked;
use crate::rehearsal::Rehearsal;

/// The number of parts, or layers, that are rehearsed; each further one costs as much as the last
/// of these.
const FEW: usize = 3;

/// The seconds of `count` steps, extrapolated from `seconds`, those of the first steps.
fn extrapolated(
    count: usize,
    seconds: impl Fn(usize) -> Result<f64, IntegersError>,
) -> Result<f64, IntegersError> {
    if count <= 2 * FEW {
        return seconds(count);
    }
    let (few, more) = (seconds(FEW)?, seconds(2 * FEW)?);
    Ok(few + (more - few) * (count - FEW) as f64 / FEW as f64)
}

/// The rehearsal, on columns as bootstrapping leaves them.
struct Model {
    rehearsal: Rehearsal,
    x: Column<NoOpCiphertext>,
    n: usize,
}

impl Model {
    fn new<S: IntegerScheme>(
        ints: &Integers<'_, S>,
        x: &Column<S::Ciphertext>,
        n: usize,
    ) -> Result<Self, IntegersError> {
        let rehearsal = Rehearsal::alike(ints)?;
        let session = rehearsal.session();
        let fresh = session.scheme().encrypt(ints.blank())?;
        let fresh = session.refresh(&session.share(fresh))?.get();
        let digit = |d: &Digit<S::Ciphertext>| Digit {
            cipher: d.cipher.as_ref().map(|_| session.share((*fresh).clone())),
            low: d.low,
            high: d.high,
            pad: d.pad,
            steps: None,
        };
        let x = Column {
            interval: x.interval,
            anchor: x.anchor,
            digits: x.digits.iter().map(digit).collect(),
            length: x.length,
        };
        Ok(Model { rehearsal, x, n })
    }

    fn seconds<T>(
        &self,
        work: impl FnOnce(&Integers<'_, NoOp>) -> Result<T, IntegersError>,
    ) -> Result<f64, IntegersError> {
        let ints = self.rehearsal.integers()?;
        Ok(self.rehearsal.counted(|| work(&ints))?.1.seconds)
    }

    fn by_pairs(&self, tiles: &Tiles, wanted: Wanted) -> Result<f64, IntegersError> {
        Ok(self.ranks(tiles)? + self.after_ranks(wanted)?)
    }

    /// The seconds of the ranks.
    fn ranks(&self, tiles: &Tiles) -> Result<f64, IntegersError> {
        extrapolated(tiles.parts(), |parts| {
            self.seconds(|ints| ints.ranked(&self.x, Order::Ascending, &tiles.first(parts)))
        })
    }

    /// The seconds of what follows the ranks.
    fn after_ranks(&self, wanted: Wanted) -> Result<f64, IntegersError> {
        let x = &self.x;
        let rank = Ranked::Digits(self.rehearsal.integers()?.places(self.n, Some(self.n))?);
        match wanted {
            Wanted::Ranks => Ok(0.0),
            Wanted::Nth(place, of) => self.seconds(|ints| ints.nth_by_ranks(x, &rank, place, of)),
            Wanted::First(take, of) => {
                let columns = self.rehearsal.integers()?.columns();
                let Some(places) = Places::new(self.n, take, columns) else {
                    return Ok(f64::INFINITY);
                };
                extrapolated(places.parts(), |parts| {
                    let places = places.clone().first(parts);
                    self.seconds(|ints| ints.sorted_by_ranks(x, &rank, of, &places))
                })
            }
        }
    }

    fn by_network(&self, wanted: Wanted) -> Result<f64, IntegersError> {
        let (n, count) = (self.n, self.n.next_power_of_two());
        let (kept, of) = match wanted {
            Wanted::Ranks => (n, Of::Places),
            Wanted::First(take, of) => (take, of),
            Wanted::Nth(rank, of) => (nearer(n, Order::Ascending, rank).1 + 1, of),
        };
        let layers = layers(count, kept.next_power_of_two());
        let places = self.rehearsal.integers()?.places(count, None)?.digits;
        let sort = |keys: &[Digit<NoOpCiphertext>]| {
            let beside = if of == Of::Places { &places[..] } else { &[] };
            extrapolated(layers.len(), |steps| {
                let digits = beside.iter().chain(keys).cloned().collect();
                let x = Moving::new(digits);
                self.seconds(|ints| ints.exchanges(x, Order::Ascending, &layers[..steps]))
            })
        };
        // Ranks are where the places of the entries in order are.
        let twice = if wanted == Wanted::Ranks { sort(&places)? } else { 0.0 };
        Ok(sort(&self.x.digits)? + twice)
    }
}

/// How several results of the order of one column are computed.
pub(crate) struct Joint {
    /// The arrangement of pairs, of which ranks are computed once in each of `orders`.
    pub(crate) tiles: Tiles,
    pub(crate) orders: Vec<Order>,
    /// The results that are taken from these ranks; others are computed by a network each.
    pub(crate) by_ranks: Vec<Request>,
}

/// Whether ranks in some orders suffice for a result: entries are the same from either end, but
/// equal ones have their positions in one order.
pub(crate) fn suffice(orders: &[Order], (order, wanted): &Request) -> bool {
    match wanted {
        Wanted::First(_, Of::Entries) | Wanted::Nth(_, Of::Entries) => !orders.is_empty(),
        Wanted::Ranks | Wanted::First(_, Of::Places) | Wanted::Nth(_, Of::Places) => {
            orders.contains(order)
        }
    }
}

/// The order of the ranks that a result is taken from: one in which a position takes the same truth
/// values, or else its own, or else any that there is.
pub(crate) fn order_of(joint: &Joint, n: usize, (order, wanted): &Request) -> Option<Order> {
    let beside = |by: &&Order| match wanted {
        Wanted::Nth(rank, Of::Entries) => {
            let place = Wanted::Nth(seen_from(n, *order, *rank, **by), Of::Places);
            joint.by_ranks.contains(&(**by, place))
        }
        _ => false,
    };
    let found = joint.orders.iter().find(beside);
    let found = found.or_else(|| joint.orders.iter().find(|by| *by == order));
    found.or(joint.orders.first()).copied()
}

/// The order and the rank of the truth values that choose the entry of a result; `None` if it is
/// not one entry, or does not come from ranks.
pub(crate) fn choice(joint: &Joint, n: usize, request: &Request) -> Option<(Order, usize)> {
    let (order, Wanted::Nth(rank, _)) = *request else { return None };
    let by = order_of(joint, n, request).filter(|_| joint.by_ranks.contains(request))?;
    Some((by, seen_from(n, order, rank, by)))
}

impl<S: IntegerScheme> Integers<'_, S> {
    /// The arrangement of pairs, if comparing them takes less time by the model; `None` for the
    /// network, which needs bootstrapping.
    pub(crate) fn pairs_if_faster(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        wanted: Wanted,
    ) -> Result<Option<Tiles>, IntegersError> {
        let columns = self.columns();
        let Some(tiles) = Tiles::new(n, columns, self.slots() / columns) else { return Ok(None) };
        let network =
            self.session().can_bootstrap() && n <= network::longest(columns, self.slots());
        if tiles.parts() == 1 || !network {
            return Ok(Some(tiles));
        }
        let model = Model::new(self, x, n)?;
        Ok((model.by_pairs(&tiles, wanted)? <= model.by_network(wanted)?).then_some(tiles))
    }

    /// How different results of one column take the least time by the model: each from ranks that
    /// they share, or by a network of its own; `None` if all do the latter.
    pub(crate) fn joint(
        &self,
        x: &Column<S::Ciphertext>,
        n: usize,
        requests: &[Request],
    ) -> Result<Option<Joint>, IntegersError> {
        let columns = self.columns();
        let Some(tiles) = Tiles::new(n, columns, self.slots() / columns) else { return Ok(None) };
        // Entries alone need any order, which is that of the first of them.
        let mut needed: Vec<Order> = Vec::new();
        for (order, wanted) in requests {
            let placed = !suffice(&[order.reversed()], &(*order, *wanted));
            if placed && !needed.contains(order) {
                needed.push(*order);
            }
        }
        if needed.is_empty() {
            needed.extend(requests.first().map(|(order, _)| *order));
        }
        let with = |orders: Vec<Order>, by_ranks: Vec<Request>| Joint { tiles, orders, by_ranks };
        let network =
            self.session().can_bootstrap() && n <= network::longest(columns, self.slots());
        if tiles.parts() == 1 || !network {
            return Ok(Some(with(needed, requests.to_vec())));
        }
        let model = Model::new(self, x, n)?;
        let ranks = model.ranks(&tiles)?;
        let mut costs = Vec::with_capacity(requests.len());
        for request in requests {
            costs.push((request, model.after_ranks(request.1)?, model.by_network(request.1)?));
        }
        let mut best = (costs.iter().map(|(_, _, network)| network).sum::<f64>(), None);
        let both = (needed.len() > 1).then(|| needed.clone());
        let each = needed.iter().map(|order| vec![*order]);
        for orders in each.chain(both) {
            let by_ranks = |(request, after, network): &(&Request, f64, f64)| {
                suffice(&orders, request) && after <= network
            };
            let seconds = |x: &(&Request, f64, f64)| if by_ranks(x) { x.1 } else { x.2 };
            let total = orders.len() as f64 * ranks + costs.iter().map(seconds).sum::<f64>();
            let chosen: Vec<Request> =
                costs.iter().filter(|x| by_ranks(x)).map(|(request, _, _)| **request).collect();
            if total <= best.0 && !chosen.is_empty() {
                best = (total, Some((orders, chosen)));
            }
        }
        Ok(best.1.map(|(orders, by_ranks)| with(orders, by_ranks)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_circuit::{PrimePower, Session};
    use everlevel_scheme::{OptIn, Params, Plaintext};

    use super::*;
    use crate::encode::Encoded;
    use crate::rehearsal::no_op_session;
    use crate::square::Square;
    use crate::types::Type;

    /// The no-op scheme with values, bootstrapped.
    struct Bench {
        params: Params,
        scheme: Arc<NoOp>,
        session: Session<NoOp>,
    }

    impl Bench {
        fn new() -> Self {
            let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
            let scheme = Arc::new(NoOp::new(&params, 1));
            let session = no_op_session(&params, scheme.clone(), true).unwrap();
            Bench { params, scheme, session }
        }

        fn encrypt(&self, values: &[i128], kind: Type) -> Column<NoOpCiphertext> {
            let encoded = Encoded::new(values, kind, self.params.slots()).unwrap();
            let encrypt = |slots: &[u64]| {
                Ok::<_, IntegersError>(
                    self.scheme.encrypt(&Plaintext::encode(&self.params, slots)?)?,
                )
            };
            encoded.encrypt(encrypt).unwrap()
        }

        fn decrypt(&self, x: &Column<NoOpCiphertext>) -> Vec<i128> {
            let open = |c: &NoOpCiphertext| {
                Ok::<_, IntegersError>(self.scheme.decrypt(c)?.decode(&self.params)?)
            };
            x.decrypt(PrimePower::new(65537, 1).unwrap(), open).unwrap().to_vec()
        }
    }

    /// The positions of the entries in order; equal entries keep their order.
    fn in_order(xs: &[i128], order: Order) -> Vec<usize> {
        let mut out: Vec<usize> = (0..xs.len()).collect();
        out.sort_by_key(|i| if order == Order::Ascending { xs[*i] } else { -xs[*i] });
        out
    }

    /// Compares ranks and entries of a rank by both methods, for columns of any length, and the
    /// first entries and their positions for the requested numbers of entries.
    fn check(bench: &Bench, kind: Type, xs: &[i128], order: Order, takes: &[(usize, Of)]) {
        let ints = Integers::new(&bench.session, &bench.params).unwrap();
        let (n, columns) = (xs.len(), ints.columns());
        let x = ints.normalized(&bench.encrypt(xs, kind)).unwrap();
        let expected = in_order(xs, order);
        let same = |found: Column<NoOpCiphertext>, of: Of, ranks: std::ops::Range<usize>| {
            let value = |i: &usize| if of == Of::Entries { xs[*i] } else { *i as i128 };
            let wanted: Vec<i128> = expected[ranks].iter().map(value).collect();
            assert_eq!(found.length(), Some(wanted.len()));
            assert_eq!(bench.decrypt(&found), wanted, "{order:?} {of:?} {xs:?}");
        };
        let tiles = Tiles::new(n, columns, ints.slots() / columns).unwrap();
        // As integers where that fits, and with carries.
        let whole = ints.ranked(&x, order, &tiles).unwrap();
        let [later, others] = ints.counted_pairs(&x, order, &tiles).unwrap().unwrap();
        let carried = ints.carried_ranks(&later, &others, &tiles).unwrap();
        assert!(n > 16 || matches!(whole, Ranked::Whole(_)), "{xs:?}");
        // The last one, from the other end.
        let last = |take: usize| n - take..n - take + 1;
        let mut ways = vec![whole, Ranked::Digits(carried)];
        if let Some(square) = Square::new(n, columns) {
            assert!(matches!(ways[0], Ranked::Repeated { .. }), "{xs:?}");
            let bit = ints.square_of_pairs(&x, order, &square).unwrap();
            ways.push(Ranked::Digits(ints.carried_in_square(bit, &square).unwrap()));
        }
        for ranks in ways {
            let found = ints.normalized(&ints.rank_column(&ranks, n).unwrap()).unwrap();
            let found = bench.decrypt(&found);
            assert!((0..n).all(|rank| found[expected[rank]] == rank as i128), "{xs:?}");
            for (take, of) in takes.iter().copied() {
                let (places, one) = (Places::new(n, take, columns).unwrap(), last(take));
                same(ints.sorted_by_ranks(&x, &ranks, of, &places).unwrap(), of, 0..take);
                same(ints.nth_by_ranks(&x, &ranks, one.start, of).unwrap(), of, one);
            }
        }
        for (take, of) in takes.iter().copied() {
            let one = last(take);
            same(ints.sorted_by_network(&x, n, order, (take, of)).unwrap(), of, 0..take);
            same(ints.nth_by_network(&x, n, order, (one.start, of)).unwrap(), of, one);
        }
    }

    #[test]
    fn both_ways_agree() {
        let bench = Bench::new();
        for order in [Order::Ascending, Order::Descending] {
            for n in [2usize, 5, 8] {
                let takes = [(n, Of::Entries), (2, Of::Places), (1, Of::Places)];
                check(&bench, Type::I8, &[127, -128, 0, 127, -1, 0, 5, -128][..n], order, &takes);
            }
            check(&bench, Type::I8, &[-128; 3], order, &[(3, Of::Places), (1, Of::Places)]);
            // Digits that are never 0, and ranks.
            let (xs, kind) = ([1005, 1003, 1004, 1003, 1005], Type::ranged(1003, 1005).unwrap());
            check(&bench, kind, &xs, order, &[(5, Of::Entries)]);
            let ints = Integers::new(&bench.session, &bench.params).unwrap();
            let x = ints.normalized(&bench.encrypt(&xs, kind)).unwrap();
            let ranks = bench.decrypt(&ints.ranked_by_network(&x, 5, order).unwrap());
            let expected = in_order(&xs, order);
            assert!((0..5).all(|rank| ranks[expected[rank]] == rank as i128), "{ranks:?}");
        }
        // All ordered pairs in one row, and as many entries as there may be.
        for (n, order) in [(20, Order::Descending), (32, Order::Ascending)] {
            let xs: Vec<i128> = (0..n).map(|i| i * i * 29 % 37 * 6 - 100).collect();
            let takes = [(n as usize, Of::Entries), (3, Of::Places)];
            check(&bench, Type::I8, &xs, order, &takes);
        }
        // Pairs in several parts, in both rows.
        let bits: Vec<i128> = (0..130).map(|i| i * i / 3 % 2).collect();
        check(&bench, Type::Bool, &bits, Order::Descending, &[(2, Of::Places)]);
    }
}
