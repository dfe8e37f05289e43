//! Parameter sets for the requirements of a computation.

mod candidate;
#[cfg(feature = "unstable")]
mod keyless;
mod made;
mod places;

use everlevel_circuit::bootstrap::TimeModel;
use everlevel_scheme::params;
use everlevel_scheme::{OptIn, Params, SchemeError};

use crate::error::Error;
use crate::planner::KeyPlanner;
pub use candidate::{Candidate, Minimize};
use candidate::{evaluate_bootstrapped, evaluate_leveled};
#[cfg(feature = "unstable")]
pub use keyless::{KeylessSet, SumOfProducts};
use made::{bootstrapped_set, largest_exponent, leveled_set};
use places::{MODULUS, Place, few_slots, places, prime_power};

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

    /// The sets that meet the requirements, as [`Requirements::params`] compares them, the best
    /// first. `model` returns the speed of the machine for a set ([`TimeModel::typical`], or
    /// measured).
    ///
    /// # Errors
    /// As [`Requirements::params`].
    #[cfg(feature = "unstable")]
    pub fn candidates(
        &self,
        model: impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        self.found(model)
    }

    /// The sets that meet the requirements, the best first.
    fn found(&self, model: impl Fn(&Params) -> TimeModel) -> Result<Vec<Candidate>, Error> {
        let (p, r) = self.checked()?;
        let found = match self.depth {
            Depth::Levels(depth) => {
                let found = leveled(p, r, depth, &self.places(p)?, &model)?;
                if found.is_empty() {
                    return Err(self.unmet(
                        "no ring up to degree 2^17 has room for that many multiplications at 128 \
                         bits: choose depth unlimited",
                    ));
                }
                found
            }
            Depth::Unlimited => {
                let named = self.named(p, r, &model)?;
                if named.is_empty() { self.made_over_any(p, r, &model)? } else { named }
            }
        };
        Ok(self.sorted(found))
    }

    /// The sets that are constructed over the ring of an index, the best first: for a bounded depth
    /// with several key-switching gadgets, for unlimited depth one set. They are for rings that
    /// [`Requirements::candidates`] does not choose, and show what a ring has room for; sets that
    /// have a name are not among them. Rings with large linear maps, which other searches leave
    /// out, may take hours.
    ///
    /// # Errors
    /// An index without a ring, or whose ring has too few slots; as [`Requirements::candidates`].
    #[cfg(feature = "unstable")]
    pub fn candidates_over(
        &self,
        index: u64,
        model: impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        let (p, r) = self.checked()?;
        let (place, slots) = places::single(p, index)?;
        if slots < self.slots {
            return Err(self.unmet(&format!(
                "the ring of index {index} has {slots} slots modulo powers of {p}: ask for fewer, \
                 or choose another ring"
            )));
        }
        let found = match self.depth {
            Depth::Levels(depth) => leveled(p, r, depth, &[place], &model)?,
            Depth::Unlimited => {
                self.check_bootstrapped()?;
                let none =
                    format!("no set that bootstraps could be made over the ring of index {index}");
                self.made((p, r), &[place], &none, &model)?
            }
        };
        if found.is_empty() {
            return Err(self.unmet(&format!(
                "the ring of index {index} has no room for that many multiplications at 128 bits: \
                 choose depth unlimited, or another ring"
            )));
        }
        Ok(self.sorted(found))
    }

    /// The best of the sets that meet the requirements. For a bounded depth these are sets of the
    /// two smallest sufficient degrees, with several key-switching gadgets. For unlimited depth
    /// they are the named sets with this plaintext modulus or, if there are none, up to three sets
    /// that are constructed. Sets are constructed over rings of power-of-two index or, if those
    /// have too few slots, above all for p = 2, over rings of odd index below 2^17.
    ///
    /// Takes a few seconds. Sets with bootstrapping over odd indices may take longer, and so does
    /// the search for the largest exponent that has one, if none can be constructed.
    ///
    /// # Errors
    /// A plaintext modulus that is not a power of a prime, or requirements that no set meets; the
    /// error states what was missing, and, where no set bootstraps modulo p^r, the largest smaller
    /// exponent for which one is made.
    pub fn params(&self) -> Result<Params, Error> {
        let found = self.found(|params| TimeModel::typical(params.degree()))?;
        Ok(found[0].params.clone())
    }

    /// The indices of the rings over which sets are constructed, by degree: powers of two with the
    /// required number of slots or, if there are none, for every step of degrees the odd index with
    /// the cheapest transforms. Sets that bootstrap are made over those of degree 2^14 to 2^16 for
    /// which no linear map of bootstrapping has more than 2^24 words. It is empty if no ring has as
    /// many slots ([`Requirements::exceeds_rings`]). Takes up to a few seconds.
    ///
    /// # Errors
    /// A plaintext modulus that is not a power of a prime; no slots, or a depth of 0.
    #[cfg(feature = "unstable")]
    pub fn rings(&self) -> Result<Vec<u64>, Error> {
        let (p, _) = self.checked()?;
        Ok(places(p, self.slots)?.into_iter().map(|place| place.index).collect())
    }

    /// Whether no ring over which sets are constructed has the required number of slots modulo
    /// powers of the prime, so that fewer have to be requested, whatever the depth. Takes up to a
    /// few seconds; it is false for a modulus that is not a power of a prime.
    #[cfg(feature = "unstable")]
    pub fn exceeds_rings(&self) -> bool {
        let Some((p, _)) = prime_power(self.plain_modulus) else { return false };
        places(p, self.slots).is_ok_and(|found| found.is_empty())
    }

    /// p and r of the plaintext modulus, of requirements that something can meet.
    fn checked(&self) -> Result<(u64, u32), Error> {
        let found = prime_power(self.plain_modulus).ok_or_else(|| self.unmet(MODULUS))?;
        if self.slots == 0 {
            return Err(self.unmet("slots = 0: expected at least 1"));
        }
        if self.depth == Depth::Levels(0) {
            return Err(self.unmet("depth = 0: expected at least one multiplication"));
        }
        Ok(found)
    }

    /// Refuses plaintext moduli of which no set bootstraps.
    fn check_bootstrapped(&self) -> Result<(), Error> {
        if self.plain_modulus >> 62 == 0 {
            return Ok(());
        }
        Err(self.unmet(
            "sets that bootstrap have plaintext moduli below 2^62: choose a number of \
             multiplications",
        ))
    }

    fn sorted(&self, mut found: Vec<Candidate>) -> Vec<Candidate> {
        found.sort_by(|a, b| a.score(self.minimize).total_cmp(&b.score(self.minimize)));
        found
    }

    fn unmet(&self, problem: &str) -> Error {
        let depth = match self.depth {
            Depth::Levels(depth) => depth.to_string(),
            Depth::Unlimited => "unlimited".into(),
        };
        let name = format!("{} slots modulo {}, depth {depth}", self.slots, self.plain_modulus);
        Error::from(SchemeError::BadParams { name, problem: problem.into() })
    }

    /// The set with no more slots than are used, if its values can repeat that often.
    fn with_fewer_slots(&self, set: &Params) -> Option<Params> {
        let used = self.slots.next_power_of_two().max(4);
        if !self.repeating || 2 * used > set.slots() {
            return None;
        }
        Params::new(set.spec().clone().with_used_slots(used).ok()?, OptIn::SecureOnly).ok()
    }

    /// The rings with enough slots.
    fn places(&self, p: u64) -> Result<Vec<Place>, Error> {
        let found = places(p, self.slots)?;
        if found.is_empty() { Err(self.unmet(&few_slots(p))) } else { Ok(found) }
    }

    /// The named sets that bootstrap.
    fn named(
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
                found.push(evaluate_bootstrapped(&KeyPlanner::new(&set)?, model)?);
                let fewer = self.with_fewer_slots(&set);
                let fewer = fewer.and_then(|set| KeyPlanner::new(&set).ok());
                found.extend(fewer.and_then(|set| evaluate_bootstrapped(&set, model).ok()));
            }
        }
        Ok(found)
    }

    /// Sets that bootstrap over the rings that are neither too small nor too large.
    fn made_over_any(
        &self,
        p: u64,
        r: u32,
        model: &impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        self.check_bootstrapped()?;
        // Keys of smaller rings leave no room, and those of larger ones take too long.
        let fitting =
            |place: &Place| (1 << 14..=1 << 16).contains(&place.degree) && place.has_small_maps(p);
        let places: Vec<Place> = self.places(p)?.into_iter().filter(fitting).collect();
        let none = "no named set bootstraps integers modulo this, and none could be made over \
                    rings of degree 2^14 to 2^16 whose linear maps are small enough";
        self.made((p, r), &places, none, model)
    }

    /// Sets that bootstrap over the first of these rings; the refusal begins with `none`.
    fn made(
        &self,
        (p, r): (u64, u32),
        places: &[Place],
        none: &str,
        model: &impl Fn(&Params) -> TimeModel,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found = Vec::new();
        for place in places {
            let set = bootstrapped_set(p, r, place);
            found.extend(set.and_then(|set| evaluate_bootstrapped(&set, model).ok()));
            if found.len() == MADE {
                break;
            }
        }
        if found.is_empty() { Err(self.not_made((p, r), places, none)) } else { Ok(found) }
    }

    /// No set that bootstraps modulo p^r could be made; the largest ring has the most room for a
    /// smaller exponent.
    fn not_made(&self, (p, r): (u64, u32), places: &[Place], none: &str) -> Error {
        let smaller = places.last().and_then(|place| {
            let exponent = largest_exponent(p, r, place)?;
            Some(format!("; for r = {exponent} one is made over the ring of index {}", place.index))
        });
        let way = smaller.unwrap_or_else(|| {
            "; state the number of multiplications, for which no set has to bootstrap, or choose a \
             smaller modulus"
                .into()
        });
        self.unmet(&format!("{none} (p = {p}, r = {r}){way}"))
    }
}

/// Sets for a bounded depth over the first two of these rings that have any.
fn leveled(
    p: u64,
    r: u32,
    depth: u32,
    places: &[Place],
    model: &impl Fn(&Params) -> TimeModel,
) -> Result<Vec<Candidate>, Error> {
    let mut found = Vec::new();
    let mut degrees = 0;
    for place in places {
        let before = found.len();
        for special in [1, 2, 3, 5] {
            if let Some(params) = leveled_set(p, r, place, special, depth) {
                found.push(evaluate_leveled(&params, depth, model)?);
            }
        }
        degrees += usize::from(found.len() > before);
        if degrees == 2 {
            break;
        }
    }
    Ok(found)
}
