//! What a soak test has counted so far: the record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::input::{Message, Noise};
use super::run::Outcome;

/// The width of a place of the histogram, in bits.
pub const WIDTH: f64 = 0.5;

/// What was asked for.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The family.
    pub family: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Key pairs.
    pub keys: u64,
    /// Bootstrappings under each.
    pub runs: u64,
}

/// The counts.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tally {
    /// What was asked for.
    pub plan: Plan,
    /// What the family stands for.
    pub what: String,
    /// log2 of the probability that one bootstrapping fails, as it is computed.
    pub failure_log2: f64,
    /// Key pairs so far.
    pub key_pairs: u64,
    /// Bootstrappings so far.
    pub bootstrappings: u64,
    /// Slots that were compared, before and after.
    pub verified_slots: u64,
    /// Those that were wrong: must be 0.
    pub wrong_slots: u64,
    /// Results, and inputs, whose noise was above their bound: must be 0.
    pub above_bound: u64,
    /// The largest log2 of the noise of a result.
    pub largest_noise_bits: f64,
    /// The bound of that result.
    pub bound_bits: f64,
    /// The least log2(bound / noise) of a result.
    pub least_gap_bits: f64,
    /// The least log2(bound / noise) of an input with crafted noise.
    pub least_input_gap_bits: f64,
    /// How many results have a log2(bound / noise) in [i w, (i + 1) w), for w = `gap_width`.
    pub gaps: Vec<u64>,
    /// The width of a place of the histogram.
    pub gap_width: f64,
    /// The least log2(bound / noise) of a result, by message and by noise.
    pub least_by_message: BTreeMap<Message, f64>,
    /// See `least_by_message`.
    pub least_by_noise: BTreeMap<Noise, f64>,
    /// Wall-clock seconds, of all sittings.
    pub seconds: f64,
}

impl Tally {
    /// Nothing yet.
    pub fn new(plan: Plan, what: &str, failure_log2: f64) -> Self {
        Tally {
            plan,
            what: what.into(),
            failure_log2,
            key_pairs: 0,
            bootstrappings: 0,
            verified_slots: 0,
            wrong_slots: 0,
            above_bound: 0,
            largest_noise_bits: 0.0,
            bound_bits: 0.0,
            least_gap_bits: 1e3,
            least_input_gap_bits: 1e3,
            gaps: Vec::new(),
            gap_width: WIDTH,
            least_by_message: BTreeMap::new(),
            least_by_noise: BTreeMap::new(),
            seconds: 0.0,
        }
    }

    /// The same counts on the way to another plan, if that plan begins as this one.
    pub fn continued(self, plan: &Plan) -> Option<Self> {
        let asked = Plan { keys: plan.keys, ..self.plan.clone() };
        let begins = asked == *plan && self.key_pairs <= plan.keys && self.gap_width == WIDTH;
        begins.then_some(Tally { plan: asked, ..self })
    }

    /// The numbers of the key pairs that are left.
    pub fn left(&self) -> Vec<u64> {
        (self.key_pairs..self.plan.keys).collect()
    }

    /// One more key pair.
    pub fn enter(&mut self, outcomes: &[Outcome], slots: usize) {
        self.key_pairs += 1;
        for o in outcomes {
            self.bootstrappings += 1;
            self.verified_slots += 2 * slots as u64;
            self.wrong_slots += o.wrong as u64;
            self.above_bound += u64::from(o.gap < 0.0) + u64::from(o.input_gap < 0.0);
            let [gap, input_gap, measured, bound] =
                [o.gap, o.input_gap, o.measured, o.bound].map(rounded);
            if measured > self.largest_noise_bits {
                (self.largest_noise_bits, self.bound_bits) = (measured, bound);
            }
            self.least_gap_bits = self.least_gap_bits.min(gap);
            if o.noise != Noise::Fresh {
                self.least_input_gap_bits = self.least_input_gap_bits.min(input_gap);
            }
            let place = (gap.max(0.0) / WIDTH) as usize;
            self.gaps.resize(self.gaps.len().max(place + 1), 0);
            self.gaps[place] += 1;
            let least = self.least_by_message.entry(o.message).or_insert(gap);
            *least = least.min(gap);
            let least = self.least_by_noise.entry(o.noise).or_insert(gap);
            *least = least.min(gap);
        }
    }

    /// Whether every slot was right and every bound held.
    pub fn is_clean(&self) -> bool {
        self.wrong_slots == 0 && self.above_bound == 0
    }
}

/// To 10^-6: what is written to a file and read again is the same number.
fn rounded(bits: f64) -> f64 {
    (bits * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let plan = Plan { family: "x".into(), seed: 1, keys: 3, runs: 1 };
        Tally::new(plan, "", -128.0)
    }

    fn outcome(gap: f64, wrong: usize) -> Outcome {
        let (message, noise) = (Message::Half, Noise::Dense);
        Outcome { message, noise, input_gap: 0.1, gap, measured: 20.0 - gap, bound: 20.0, wrong }
    }

    #[test]
    fn gaps_are_counted_and_violations_seen() {
        let mut t = tally();
        t.enter(&[outcome(2.6, 0), outcome(1.2, 0)], 4);
        assert_eq!(t.left(), [1, 2]);
        let of = |seed, keys| t.clone().continued(&Plan { seed, keys, ..t.plan.clone() });
        assert_eq!(of(1, 5).unwrap().left(), [1, 2, 3, 4]);
        assert!(of(2, 5).is_none() && of(1, 0).is_none());
        assert_eq!((t.gaps.as_slice(), t.least_gap_bits), ([0, 0, 1, 0, 0, 1].as_slice(), 1.2));
        assert_eq!((t.largest_noise_bits, t.verified_slots), (18.8, 16));
        assert!(t.is_clean());
        for bad in [outcome(-0.1, 0), outcome(1.0, 2)] {
            let mut t = tally();
            t.enter(&[bad], 4);
            assert!(!t.is_clean());
        }
    }
}
