//! The probability that a noise bound fails in a computation.

use std::iter::Sum;
use std::ops::{Add, Mul};

use super::logarithm::log_add;
use super::model::EVENT_LOG2;
use super::tracker::NoiseTracker;
use crate::counters::Cost;

/// The number of random events in a computation that can exceed their bounds: see the
/// [module](super) for a definition of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Fresh random polynomials: of roundings, key switches and encryptions. Each exceeds its bound
    /// at one embedding with probability at most 2^-170.
    fresh: u64,
    /// Bootstrappings, in each of which each coefficient of the overflow may exceed its bound.
    overflows: u64,
}

impl Events {
    /// No events: the operation is deterministic if its operands are within their bounds.
    pub const NONE: Events = Events { fresh: 0, overflows: 0 };
    /// This number of fresh random polynomials.
    pub const fn fresh(count: u64) -> Self {
        Events { fresh: count, overflows: 0 }
    }

    /// The overflow of this number of bootstrappings.
    pub const fn overflow(count: u64) -> Self {
        Events { fresh: 0, overflows: count }
    }
}

impl Add for Events {
    type Output = Events;
    fn add(self, other: Events) -> Events {
        Events {
            fresh: self.fresh.saturating_add(other.fresh),
            overflows: self.overflows.saturating_add(other.overflows),
        }
    }
}

impl Mul<u64> for Events {
    type Output = Events;
    fn mul(self, count: u64) -> Events {
        Events {
            fresh: self.fresh.saturating_mul(count),
            overflows: self.overflows.saturating_mul(count),
        }
    }
}

impl Sum for Events {
    fn sum<I: Iterator<Item = Events>>(events: I) -> Events {
        events.fold(Events::NONE, Add::add)
    }
}

/// A probability of 0, as a logarithm that reports can print.
pub const NEVER: f64 = -1024.0;

impl NoiseTracker {
    /// log2 of the probability that any of these events exceeds its bound, by the union bound over
    /// events, embeddings and coefficients; -1024 stands for probability 0: no event, or an
    /// overflow that is bounded by its worst case.
    pub fn failure_of_events(&self, events: Events) -> f64 {
        let degree = (self.ring.degree() as f64).log2();
        let counted = |count: u64, each: f64| (count as f64).log2() + degree + each;
        let overflow = match events.overflows {
            0 => f64::NEG_INFINITY,
            count => counted(count, self.bound.overflow_tail(self.spec.overflow_bound())),
        };
        log_add(counted(events.fresh, EVENT_LOG2), overflow).clamp(NEVER, 0.0)
    }

    /// log2 of the probability that any modeled event of a computation of this cost exceeds its
    /// bound: roundings and key switches, each in every embedding, at 2^-170 an event, and the
    /// overflow of one bootstrapping in every coefficient, for sets that bootstrap.
    pub fn failure_log2(&self, cost: &Cost) -> f64 {
        let fresh = Events::fresh((cost.roundings + cost.key_switches).max(1));
        self.failure_of_events(fresh + Events::overflow(u64::from(self.spec.bootstrap.is_some())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{OptIn, Params, spec};

    /// The union bound can exceed 1; the reported probability is at most 1.
    #[test]
    fn a_probability_is_never_above_1() {
        let mut often = spec("insecure_bgv-257-n8").unwrap();
        often.name = "insecure_often".into();
        let bootstrap = often.bootstrap.as_mut().unwrap();
        (bootstrap.sparse_weight, bootstrap.overflow_bound) = (8, Some(1));
        let params = Params::new(often, OptIn::InsecureAllowFailures).unwrap();
        let told =
            [1, 1000, u64::MAX / 2].map(|n| params.noise().failure_of_events(Events::overflow(n)));
        assert!(told.iter().all(|log2| (NEVER..=0.0).contains(log2)), "{told:?}");
        assert_eq!(told[2], 0.0);
        let all = Events::fresh(u64::MAX) + Events::overflow(u64::MAX);
        assert_eq!(params.noise().failure_of_events(all), 0.0);
        let notice = params.failure_notice().unwrap();
        assert!(!notice.contains("2^0.") || notice.contains("2^0.0"), "{notice}");
    }
}
