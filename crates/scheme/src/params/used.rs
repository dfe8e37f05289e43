//! Sets with no more slots than are used.

use super::{FREQUENT_FAILURE_LOG2, OptIn, Params};

/// The least number of used slots that [`Params::with_slots_for`] chooses: below it bootstrapping
/// takes little less, and data has little room to grow.
const LEAST: usize = 256;
/// Fewer slots than a ring has are used up to this part of them: bootstrapping takes less, the
/// fewer stages its transforms have.
const PART: usize = 4;

impl Params {
    /// The set with the least number of used slots that holds `values` values in a ciphertext
    /// ([`ParamsSpec::with_used_slots`](crate::ParamsSpec::with_used_slots)): a power of two, 256
    /// at least and at most a quarter of all slots. `None` if there is no such number, and for sets
    /// whose slots cannot repeat, or already do.
    pub fn with_slots_for(&self, values: usize) -> Option<Params> {
        let used = values.max(LEAST).checked_next_power_of_two()?;
        if used > self.slots() / PART || self.slot_shape().repetitions() > 1 {
            return None;
        }
        let spec = self.spec().clone().with_used_slots(used).ok()?;
        // Keys are of the same kinds and sizes as those of this set, which was allowed, and values
        // are wrong no more often.
        let failures = self.failure_log2() > FREQUENT_FAILURE_LOG2;
        Params::new(spec, OptIn::new(true, failures)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_the_least_power_of_two() {
        let named = |name: &str| Params::named(name, OptIn::InsecureResearch).unwrap();
        let toy = named("insecure_bgv-65537-n11");
        let found = |values| toy.with_slots_for(values).map(|set| set.slots());
        // A quarter of 2048.
        for (values, slots) in [(0, 256), (1, 256), (256, 256), (257, 512), (512, 512)] {
            assert_eq!(found(values), Some(slots), "{values}");
        }
        for values in [513, 2048, 1 << 20, usize::MAX] {
            assert_eq!(found(values), None, "{values}");
        }
        let fewer = toy.with_slots_for(300).unwrap();
        assert_eq!(fewer.name(), "insecure_bgv-65537-n11-s512");
        assert!(fewer.with_slots_for(4).is_none(), "its slots repeat");
        assert!(named("insecure_bgv-257-n8").with_slots_for(4).is_none(), "it has 128 slots");
        let leveled = crate::ParamsSpec { bootstrap: None, ..toy.spec().clone() };
        let leveled = Params::new(leveled, OptIn::InsecureResearch).unwrap();
        assert!(leveled.with_slots_for(4).is_none());
    }
}
