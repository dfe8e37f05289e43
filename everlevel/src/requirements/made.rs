//! Construction of parameter sets for given requirements.

use everlevel_scheme::noise::least_overflow_bound;
use everlevel_scheme::params::largest_modulus;
use everlevel_scheme::spec::BootstrapSpec;
use everlevel_scheme::{OptIn, Params, ParamsSpec};

use super::places::Place;
use crate::planner::{KeyPlanner, multiplications_left};

/// The security margin in bits above 128 for every key of a set that is constructed here:
/// estimators differ by about this much.
pub(super) const MARGIN_BITS: f64 = 1.0;
/// log2 of the probability that the overflow exceeds its bound over an odd index; failures of noise
/// bounds are additional.
const OVERFLOW_LOG2: f64 = -131.0;
/// The Hamming weights of sparse secrets that are tried, in ascending order.
const WEIGHTS: [usize; 7] = [24, 28, 32, 34, 40, 48, 64];
/// The largest q0 in bits.
const LONGEST_BASE: u32 = 96;
/// How much longer than the least a q0 is tried in the search for the largest exponent: beyond 50
/// bits some sizes have no pair of primes.
const SEARCHED_BITS: u32 = 16;
/// How many sizes of q0 are tried to find out whether a ring has room for any.
const ROOMIEST: usize = 2;

/// A specification over a ring, with the usual values for everything that is not chosen.
fn base_spec(
    name: String,
    p: u64,
    r: u32,
    place: &Place,
    word_bits: u32,
    base_bits: u32,
    special: usize,
) -> ParamsSpec {
    ParamsSpec {
        plain_exponent: r,
        base_bits,
        word_bits,
        // Short primes of different sizes let the chain stop near any size.
        fine_bits: vec![word_bits - 4, word_bits - 8],
        special,
        digit_size: special,
        ..ParamsSpec::new(name, place.index, p)
    }
}

/// The number of words that 128 bits of security allow in addition to those of a specification;
/// negative if it has too many.
fn words_left(spec: &ParamsSpec, limit: f64) -> f64 {
    let fixed = f64::from(spec.base_bits)
        + f64::from(spec.fine_bits.iter().sum::<u32>())
        + f64::from(spec.word_bits) * spec.special as f64;
    ((limit - fixed) / f64::from(spec.word_bits)).floor()
}

/// The shortest modulus chain over a ring that allows `depth` multiplications with `special`
/// special primes, if it has 128 bits of security.
pub(super) fn leveled_set(
    p: u64,
    r: u32,
    place: &Place,
    special: usize,
    depth: u32,
) -> Option<Params> {
    let limit = largest_modulus(place.degree, 128.0 + MARGIN_BITS)?;
    let message_bits = (p as f64).log2() * f64::from(r);
    // A noise floor of some 2^15 above the plaintext modulus stays at the end: in q0, or where that
    // would be longer than 62 bits, or than one prime for p = 2, in q0 and a word. These have two
    // residues, as a q0 of two primes has, and hold up to 100 bits instead of 62.
    let base_bits = (message_bits as u32 + 18).clamp(24, if p == 2 { 50 } else { 62 });
    let word_bits = match place.degree {
        ..=4096 => 30,
        4097..=8192 => 36,
        8193..=16384 => 45,
        _ => 50,
    };
    let name = format!("plan-{p}e{r}-{}-d{depth}-k{special}", place.label);
    let spec = base_spec(name, p, r, place, word_bits, base_bits, special);
    let room = words_left(&spec, limit);
    if room < 0.0 {
        return None;
    }
    let build = |words: usize| {
        let params = Params::new(ParamsSpec { words, ..spec.clone() }, OptIn::SecureOnly).ok()?;
        let (top, noise) = (params.chain().top(), params.noise());
        let fresh = noise.fresh(top, r, noise.bound().fresh_public(params.wide_modulus()));
        (multiplications_left(&params, &fresh, 0.0) >= depth as usize).then_some(params)
    };
    let (mut low, mut high) = (0, (room as usize).min(80));
    let mut best = build(high)?;
    while low < high {
        let middle = low + (high - low) / 2;
        match build(middle) {
            Some(params) => (high, best) = (middle, params),
            None => low = middle + 1,
        }
    }
    Some(best)
}

/// A set that bootstraps over a ring, with the dry run of its bootstrapping: the least Hamming
/// weight of a sparse secret that is secure at q0 R, the smallest q0 that works, and the largest
/// modulus with 128 bits of security.
pub(super) fn bootstrapped_set(p: u64, r: u32, place: &Place) -> Option<KeyPlanner> {
    Trials::new(p, r, place, LONGEST_BASE)?.first()
}

/// The largest exponent below `r` for which a set that bootstraps is made over a ring, if one is
/// made for each exponent below it: half of what is left is tried at a time.
pub(super) fn largest_exponent(p: u64, r: u32, place: &Place) -> Option<u32> {
    let (mut made, mut refused) = (0, r);
    while refused - made > 1 {
        let middle = made + (refused - made) / 2;
        match Trials::new(p, middle, place, SEARCHED_BITS).and_then(|trials| trials.first()) {
            Some(_) => made = middle,
            None => refused = middle,
        }
    }
    (made > 0).then_some(made)
}

/// The sets that bootstrap integers modulo p^r over a ring, by the size of q0 and the weight of the
/// sparse secret.
struct Trials<'a> {
    p: u64,
    r: u32,
    place: &'a Place,
    /// log2 of the largest modulus QP.
    limit: f64,
    word_bits: u32,
    special: usize,
    /// The sizes of q0 in bits, ascending.
    bases: Vec<u32>,
}

impl<'a> Trials<'a> {
    /// Those with a q0 at most `longer` bits longer than the least; none if the ring has no modulus
    /// with 128 bits of security, or if the overflow has too many digits.
    fn new(p: u64, r: u32, place: &'a Place, longer: u32) -> Option<Self> {
        let (word_bits, special) = match place.degree {
            ..=16384 => (45, 1),
            16385..=32768 => (50, 2),
            32769..=65535 => (50, 4),
            _ => (50, 5),
        };
        let bits = (p as f64).log2();
        let message_bits = bits * f64::from(r);
        let removed_bits = bits * f64::from(raised(p, place, WEIGHTS[0])?.removed_digits());
        // No less holds what the key switch to the sparse secret leaves.
        let least = (message_bits + 18.0).max(message_bits + removed_bits + 8.0).max(30.0) as u32;
        Some(Trials {
            p,
            r,
            place,
            limit: largest_modulus(place.degree, 128.0 + MARGIN_BITS)?,
            word_bits,
            special,
            bases: (least..=LONGEST_BASE.min(least + longer)).step_by(4).collect(),
        })
    }

    fn spec(&self, prefix: &str, sparse_weight: usize, base_bits: u32) -> Option<ParamsSpec> {
        let Trials { p, r, place, word_bits, .. } = *self;
        let name = format!("{prefix}plan-{p}e{r}-{}-unlimited", place.label);
        let mut spec = base_spec(name, p, r, place, word_bits, base_bits, self.special);
        spec.fine_bits = vec![word_bits - 3, word_bits - 6, word_bits - 11, word_bits - 13];
        spec.words = words_left(&spec, self.limit).max(0.0) as usize;
        spec.bootstrap = Some(raised(p, place, sparse_weight)?);
        Some(spec)
    }

    /// A set on trial, which is named insecure so that it can be made without an estimate of its
    /// security.
    fn trial(&self, sparse_weight: usize, base_bits: u32) -> Option<Params> {
        let spec = self.spec("insecure_", sparse_weight, base_bits)?;
        Params::new(spec, OptIn::InsecureResearch).ok()
    }

    /// log2 of Q, but for what primes differ from their sizes.
    fn modulus_bits(&self, base_bits: u32) -> u32 {
        let words = |spec: ParamsSpec| spec.words as u32 * self.word_bits;
        base_bits + self.spec("", WEIGHTS[0], base_bits).map_or(0, words)
    }

    /// Whether a set can be expected at all: by the q0 with which Q is longest, and the lightest
    /// secret. Most rings are too small for a large p^r, and so are all sizes of q0.
    fn has_room(&self) -> bool {
        let mut bases = self.bases.clone();
        bases.sort_by_cached_key(|&bits| std::cmp::Reverse((self.modulus_bits(bits), bits)));
        let found = bases.iter().filter_map(|&bits| self.trial(WEIGHTS[0], bits)).take(ROOMIEST);
        found.map(|params| working(&params)).any(|planner| planner.is_some())
    }

    /// The secure set with the smallest q0 that works.
    fn first(&self) -> Option<KeyPlanner> {
        if !self.has_room() {
            return None;
        }
        // A weight that is not secure at a q0 is not secure at a longer one.
        let mut lightest = 0;
        for &base_bits in &self.bases {
            // Heavier secrets leave less capacity, and estimates of security take much longer than
            // to find out whether the lightest one that may be secure leaves any.
            let Some(first) = self.trial(WEIGHTS[lightest], base_bits) else { continue };
            if working(&first).is_none() {
                continue;
            }
            let is_secure = |params: &Params| params.has_security(128.0 + MARGIN_BITS);
            if !is_secure(&first) {
                let secure =
                    |i: &usize| self.trial(WEIGHTS[*i], base_bits).as_ref().is_some_and(is_secure);
                lightest = (lightest + 1..WEIGHTS.len()).find(secure)?;
            }
            let spec = self.spec("", WEIGHTS[lightest], base_bits)?;
            let params = Params::new(spec, OptIn::SecureOnly).ok();
            if let Some(planner) = params.and_then(|params| working(&params)) {
                return Some(planner);
            }
        }
        None
    }
}

/// The dry run of a bootstrapping after which there is room for a multiplication.
fn working(params: &Params) -> Option<KeyPlanner> {
    KeyPlanner::new(params).ok().filter(|planner| planner.multiplications_after() > 0)
}

/// Encapsulation by a sparse secret of this weight, with enough digits for its overflow: in the
/// worst case if the index is a power of two, and up to a rarely exceeded bound if it is odd.
fn raised(p: u64, place: &Place, sparse_weight: usize) -> Option<BootstrapSpec> {
    let overflow_bound = if place.index.is_power_of_two() {
        None
    } else {
        Some(least_overflow_bound(place.index, sparse_weight, OVERFLOW_LOG2).ok()?)
    };
    let spec = BootstrapSpec { overflow_bound, ..BootstrapSpec::encapsulated(sparse_weight) };
    let values = 2 * spec.bound() + 1;
    let digits = (1..=16).find(|v| p.saturating_pow(*v) >= values)?;
    Some(BootstrapSpec { digits: Some(digits).filter(|v| *v > 1), ..spec })
}
