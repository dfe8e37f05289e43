//! Parameter sets for the requirements of a computation.

mod candidate;
mod made;
mod places;

use everlevel_circuit::bootstrap::TimeModel;
use everlevel_scheme::params;
use everlevel_scheme::{OptIn, Params, SchemeError};

use crate::error::Error;
pub use candidate::{Candidate, Minimize};
use candidate::{evaluate_bootstrapped, evaluate_leveled};
use made::{bootstrapped_set, largest_exponent, leveled_set};
use places::{Place, most_in_powers_of_two, places};

/// The number of consecutive multiplications (the multiplicative depth).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// At most this number, without bootstrapping.
    Levels(u32),
    /// Unlimited: the set bootstraps.
    Unlimited,
}

/// The requirements of a computation: begin with [`Requirements::new`], then change defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Requirements {
    /// p^r of at most 2^64: slots hold integers modulo this.
    pub plain_modulus: u128,
    /// The least number of slots.
    pub slots: usize,
    /// The multiplicative depth.
    pub depth: Depth,
    /// The quantity to minimize.
    pub minimize: Minimize,
    /// Whether no more than `slots` slots are used, so that values may repeat in the others.
    pub repeating: bool,
}

/// The number of sets with bootstrapping that are constructed, over the smallest rings that are
/// large enough.
const MADE: usize = 3;

impl Requirements {
    /// Integers modulo `plain_modulus` = p^r, in at least one slot, with unlimited depth and least
    /// latency.
    pub fn new(plain_modulus: u128) -> Self {
        let (depth, minimize) = (Depth::Unlimited, Minimize::Latency);
        Requirements { plain_modulus, slots: 1, depth, minimize, repeating: false }
    }

    /// Sets the least number of slots.
    #[must_use]
    pub fn slots(self, slots: usize) -> Self {
        Requirements { slots, ..self }
    }

    /// Sets the multiplicative depth.
    #[must_use]
    pub fn depth(self, depth: Depth) -> Self {
        Requirements { depth, ..self }
    }

    /// Sets the quantity to minimize.
    #[must_use]
    pub fn minimize(self, minimize: Minimize) -> Self {
        Requirements { minimize, ..self }
    }

    /// Sets whether no more than these slots are used: sets that bootstrap are then also offered
    /// with this number of slots (a power of two, 4 at least), whose values repeat in all others
    /// ([`BootstrapSpec::used_slots`](everlevel_scheme::spec::BootstrapSpec::used_slots)).
    #[must_use]
    pub fn repeating(self, repeating: bool) -> Self {
        Requirements { repeating, ..self }
    }

    /// The sets that meet the requirements, the best first. For a bounded depth these are sets of
    /// the two smallest sufficient degrees, with several key-switching gadgets. For unlimited depth
    /// they are the named sets with this plaintext modulus or, if there are none, up to three sets
    /// that are constructed. Sets are constructed over rings of power-of-two index or, if those
    /// have too few slots, above all for p = 2, over rings of odd index below 2^17.
    ///
    /// `model` returns the speed of the machine for a set ([`TimeModel::typical`], or measured).
    /// Takes a few seconds, or some tens of seconds if sets with bootstrapping are constructed over
    /// odd indices; longer if none can be, as the largest exponent that has one is searched for.
    ///
    /// # Errors
    /// A plaintext modulus that is not a power of a prime, or requirements that no set meets; the
    /// error states what was missing, and, where no set bootstraps modulo p^r, the largest smaller
    /// exponent for which one is made.
    pub fn candidates(
        &self,
        model: impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        let (p, r) = prime_power(self.plain_modulus).ok_or_else(|| {
            self.unmet("plain_modulus: expected a power of a prime below 2^50, of at most 2^64")
        })?;
        if self.slots == 0 {
            return Err(self.unmet("slots = 0: expected at least 1"));
        }
        let mut found = match self.depth {
            Depth::Levels(0) => {
                return Err(self.unmet("depth = 0: expected at least one multiplication"));
            }
            Depth::Levels(depth) => self.leveled(p, r, depth, &model)?,
            Depth::Unlimited => self.unlimited(p, r, &model)?,
        };
        found.sort_by(|a, b| a.score(self.minimize).total_cmp(&b.score(self.minimize)));
        Ok(found)
    }

    /// The best of the sets that meet the requirements.
    ///
    /// # Errors
    /// As [`Requirements::candidates`].
    pub fn params(&self) -> Result<Params, Error> {
        let candidates = self.candidates(|params| TimeModel::typical(params.degree()))?;
        Ok(candidates[0].params.clone())
    }

    /// Whether no ring over which sets are constructed has the required number of slots modulo
    /// powers of the prime, so that fewer have to be requested, whatever the depth. Takes up to a
    /// few seconds; it is false for a modulus that is not a power of a prime.
    #[cfg(feature = "unstable")]
    pub fn exceeds_rings(&self) -> bool {
        let Some((p, _)) = prime_power(self.plain_modulus) else { return false };
        places(p, self.slots).is_ok_and(|found| found.is_empty())
    }

    fn unmet(&self, problem: &str) -> Error {
        let depth = match self.depth {
            Depth::Levels(depth) => depth.to_string(),
            Depth::Unlimited => "unlimited".into(),
        };
        let name = format!("{} slots modulo {}, depth {depth}", self.slots, self.plain_modulus);
        Error::from(SchemeError::BadParams { name, problem: problem.into() })
    }

    fn few_slots(&self, p: u64) -> Error {
        self.unmet(&format!(
            "rings of power-of-two index have at most {} slots modulo powers of {p}, and no ring \
             of odd, square-free index below 2^17 in which one axis carries Frobenius has as many: \
             ask for fewer",
            most_in_powers_of_two(p)
        ))
    }

    /// The set with no more slots than are used, if its values can repeat that often.
    fn with_fewer_slots(&self, set: &Params) -> Option<Params> {
        let used = self.slots.next_power_of_two().max(4);
        if !self.repeating || 2 * used > set.slots() {
            return None;
        }
        Params::new(set.spec().clone().with_used_slots(used).ok()?, OptIn::SecureOnly).ok()
    }

    fn leveled(
        &self,
        p: u64,
        r: u32,
        depth: u32,
        model: &impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        let places = places(p, self.slots)?;
        if places.is_empty() {
            return Err(self.few_slots(p));
        }
        let mut found = Vec::new();
        let mut degrees = 0;
        for place in places {
            let before = found.len();
            for special in [1, 2, 3, 5] {
                if let Some(params) = leveled_set(p, r, &place, special, depth) {
                    found.push(evaluate_leveled(&params, depth, model)?);
                }
            }
            degrees += usize::from(found.len() > before);
            if degrees == 2 {
                break;
            }
        }
        if found.is_empty() {
            return Err(self.unmet(
                "no ring up to degree 2^17 has room for that many multiplications at 128 bits: \
                 choose depth unlimited",
            ));
        }
        Ok(found)
    }

    fn unlimited(
        &self,
        p: u64,
        r: u32,
        model: &impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found = Vec::new();
        for name in params::names() {
            let spec = params::spec(name)?;
            if spec.bootstrap.is_none() || (spec.plain_prime, spec.plain_exponent) != (p, r) {
                continue;
            }
            // Sets that are insecure by name are refused here.
            let Ok(set) = Params::new(spec, OptIn::SecureOnly) else { continue };
            if set.slots() >= self.slots {
                found.push(evaluate_bootstrapped(&set, model)?);
                let fewer = self.with_fewer_slots(&set);
                found.extend(fewer.and_then(|set| evaluate_bootstrapped(&set, model).ok()));
            }
        }
        if found.is_empty() {
            if self.plain_modulus >> 62 != 0 {
                return Err(self.unmet(
                    "sets that bootstrap have plaintext moduli below 2^62: choose a number of \
                     multiplications",
                ));
            }
            let places = places(p, self.slots)?;
            if places.is_empty() {
                return Err(self.few_slots(p));
            }
            // Keys of smaller rings leave no room, and those of larger ones take too long.
            let fitting = |place: &Place| (1 << 14..=1 << 16).contains(&place.degree);
            let places: Vec<Place> = places.into_iter().filter(fitting).collect();
            for place in &places {
                let set = bootstrapped_set(p, r, place);
                found.extend(set.and_then(|set| evaluate_bootstrapped(&set, model).ok()));
                if found.len() == MADE {
                    break;
                }
            }
            if found.is_empty() {
                return Err(self.not_made(p, r, places.last()));
            }
        }
        Ok(found)
    }

    /// No set that bootstraps modulo p^r could be made; the largest ring has the most room for a
    /// smaller exponent.
    fn not_made(&self, p: u64, r: u32, largest: Option<&Place>) -> Error {
        let smaller = largest.and_then(|place| {
            let exponent = largest_exponent(p, r, place)?;
            Some(format!("; for r = {exponent} one is made over the ring of index {}", place.index))
        });
        self.unmet(&format!(
            "no named set bootstraps integers modulo this, and none could be made over rings of \
             degree 2^14 to 2^16 (p = {p}, r = {r}){}",
            smaller.unwrap_or_default()
        ))
    }
}

/// (p, r) if this is p^r of at most 2^64 with p below 2^50.
fn prime_power(modulus: u128) -> Option<(u64, u32)> {
    if modulus == 1 << 64 {
        return Some((2, 64));
    }
    match everlevel_arith::primes::factor(u64::try_from(modulus).ok()?).as_slice() {
        &[(p, r)] if p >> 50 == 0 => Some((p, r)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::multiplications_left;
    use everlevel_scheme::ParamsSpec;

    fn typical(params: &Params) -> TimeModel {
        TimeModel::typical(params.degree())
    }

    #[test]
    fn leveled_sets_do_what_was_asked_and_no_shorter_chain_does() {
        let wanted = Requirements {
            plain_modulus: 65537,
            slots: 1000,
            depth: Depth::Levels(3),
            minimize: Minimize::Latency,
            repeating: false,
        };
        let candidates = wanted.candidates(typical).unwrap();
        for c in &candidates {
            assert!(
                c.params.slots() >= 1000
                    && c.multiplications >= 3
                    && c.params.plain_modulus() == 65537
            );
            assert!(
                c.params.security().bits() >= 128.0
                    && c.failure_log2 < -128.0
                    && !c.params.name().starts_with("insecure")
            );
            let spec = c.params.spec().clone();
            if spec.words > 0 {
                let shorter =
                    Params::new(ParamsSpec { words: spec.words - 1, ..spec }, OptIn::SecureOnly)
                        .unwrap();
                let (top, noise) = (shorter.chain().top(), shorter.noise());
                let fresh = noise.fresh(top, 1, noise.bound().fresh_public(65537u64));
                assert!(multiplications_left(&shorter, &fresh, 0.0) < 3, "{}", c.params.name());
            }
        }
        assert!(candidates.windows(2).all(|w| w[0].latency <= w[1].latency));
        for minimize in [Minimize::Throughput, Minimize::Memory] {
            let other = Requirements { minimize, ..wanted }.candidates(typical).unwrap();
            assert!(
                other.windows(2).all(|w| w[0].score(minimize) <= w[1].score(minimize))
                    && other.len() == candidates.len()
            );
        }
    }

    #[test]
    fn bits_and_their_powers_have_leveled_sets_over_odd_rings() {
        for (plain_modulus, slots, depth) in
            [(2, 1000, 10), (256, 500, 3), (257, 1000, 2), (1 << 64, 500, 1)]
        {
            let wanted = Requirements::new(plain_modulus).slots(slots).depth(Depth::Levels(depth));
            let candidates = wanted.candidates(typical).unwrap();
            for c in &candidates {
                let params = &c.params;
                assert!(params.spec().index % 2 == 1 && params.slots() >= slots, "{params:?}");
                assert_eq!(params.wide_modulus(), plain_modulus);
                assert!(c.multiplications >= depth as usize && c.failure_log2 < -128.0);
                assert!(params.security().bits() >= 129.0, "{}", params.name());
            }
        }
    }

    #[test]
    fn sets_with_no_more_slots_than_are_used_are_faster() {
        let wanted = Requirements::new(65537).slots(1000).repeating(true);
        let candidates = wanted.candidates(typical).unwrap();
        let named = |name: &str| candidates.iter().find(|c| c.params.name() == name).unwrap();
        let (all, fewer) = (named("bgv-65537-n15"), named("bgv-65537-n15-s1024"));
        assert_eq!((all.params.slots(), fewer.params.slots()), (32768, 1024));
        assert!(fewer.latency < all.latency && fewer.bytes < all.bytes, "{fewer:?}, {all:?}");
        assert!(fewer.multiplications >= 3 && fewer.failure_log2 < -128.0, "{fewer:?}");
        assert!(fewer.params.security().bits() >= 129.0);
        // Unless it is said that no more slots are used, no set has fewer.
        let others = wanted.repeating(false).candidates(typical).unwrap();
        assert!(others.iter().all(|c| c.params.slot_shape().repetitions() == 1));
        assert!(2 * others.len() >= candidates.len());
    }

    #[test]
    fn requirements_that_nothing_meets_say_why() {
        let wanted = Requirements {
            plain_modulus: 65537,
            slots: 1000,
            depth: Depth::Levels(3),
            minimize: Minimize::Memory,
            repeating: false,
        };
        for (changed, problem) in [
            (Requirements { plain_modulus: 65536 * 3, ..wanted }, "power of a prime"),
            (Requirements { plain_modulus: 0, ..wanted }, "power of a prime"),
            (Requirements { plain_modulus: 1 << 65, ..wanted }, "power of a prime"),
            (
                Requirements { plain_modulus: 1 << 64, depth: Depth::Unlimited, ..wanted },
                "below 2^62",
            ),
            (Requirements { slots: 0, ..wanted }, "at least 1"),
            (Requirements { slots: 1 << 20, ..wanted }, "at most"),
            (Requirements { plain_modulus: 2, slots: 1 << 17, ..wanted }, "ask for fewer"),
            (Requirements { depth: Depth::Levels(0), ..wanted }, "at least one"),
            (
                Requirements {
                    depth: Depth::Levels(1000),
                    slots: 1 << 17,
                    plain_modulus: 786433,
                    ..wanted
                },
                "unlimited",
            ),
        ] {
            let error = changed.candidates(typical).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
            assert_eq!(changed.exceeds_rings(), error.contains("ask for fewer"), "{error}");
        }
    }
}
