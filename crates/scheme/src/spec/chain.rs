//! The modulus chain.
//!
//! Every level is a product of q0, the first few word-size primes and some of the fine primes. A
//! fine prime that was dropped may come back at a lower level (the ciphertext is multiplied by it
//! before the division), so with fine primes a few bits shorter than a word there are levels near
//! any size, with no more limbs than words alone would need. docs/adr/0002 compares this with one
//! prime for each level.

use everlevel_ring::{Basis, Gadget, Modulus, Ring, primes};

use super::form::Form;
use super::level::Level;
use super::params::ParamsSpec;
use crate::error::SchemeError;

/// Levels closer than this are merged into the one with fewer limbs, then cheaper key switches.
const MERGE_BITS: f64 = 1.0;

/// Transforms of one key switch of polynomials over `basis`, roughly: digits over all primes, and
/// the division of that many components by P.
fn switch_cost(gadget: &Gadget, basis: Basis, components: usize) -> usize {
    let (k, special) = (basis.len(), gadget.special().len());
    (gadget.digits(basis).count() + components) * (k + special)
}

/// A gadget of a parameter set, by its position among [`ModulusChain::gadgets`].
///
/// Digits have as many primes as there are special primes. At a level without the upper words, the
/// primes of these words serve as additional special primes, as the modulus for which security was
/// estimated includes them. With a larger P, digits are larger and fewer, so a key switch in the
/// middle of the chain costs a third of what it would cost with the two special primes of the top
/// level (docs/adr/0008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GadgetId(pub usize);

/// The primes of a parameter set by their roles, and the modulus chain.
#[derive(Debug)]
pub struct ModulusChain {
    entries: Vec<(f64, Basis, GadgetId)>,
    gadgets: Vec<Gadget>,
    /// Of a ciphertext: how many polynomials a key switch divides by P.
    components: usize,
    encapsulation: Gadget,
    /// All primes that keys are made for, and of each level those that hold its products over q
    /// (none unless the set has BFV products).
    keyed: Basis,
    auxiliary: Vec<Basis>,
}

impl ModulusChain {
    /// Chooses the primes and builds the chain. Returns it with the primes in ring order: q0,
    /// words, fine, special.
    pub fn build(spec: &ParamsSpec) -> Result<(ModulusChain, Vec<u64>), SchemeError> {
        let taken = std::cell::RefCell::new(Vec::<u64>::new());
        let step = Ring::prime_step(spec.index)?;
        let pick = |bits: u32| -> Result<u64, SchemeError> {
            // 1 mod p as well, so that correction factors vanish: the largest such prime of that
            // size, else any that the transform can use.
            let below = 1u64 << bits;
            let near = below / 2;
            let free = |q: &u64| !taken.borrow().contains(q) && *q != spec.plain_prime;
            let both = step.checked_mul(spec.plain_prime).filter(|&step| step < below);
            let found = both
                .and_then(|step| {
                    primes::primes_congruent_one(step, below).take_while(|&q| q >= near).find(free)
                })
                .or_else(|| {
                    primes::primes_congruent_one(step, below).take_while(|&q| q >= near).find(free)
                });
            let q = found.ok_or_else(|| SchemeError::BadParams {
                name: spec.name.clone(),
                problem: format!(
                    "no unused prime of {bits} bits that is 1 modulo {step}: ask for larger or \
                     fewer primes"
                ),
            })?;
            taken.borrow_mut().push(q);
            Ok(q)
        };
        let base =
            if spec.base_bits <= 50 { vec![pick(spec.base_bits)?] } else { base_pair(spec, step)? };
        taken.borrow_mut().extend(&base);
        let special: Vec<u64> =
            (0..spec.special).map(|_| pick(spec.word_bits)).collect::<Result<_, _>>()?;
        let words: Vec<u64> =
            (0..spec.words).map(|_| pick(spec.word_bits)).collect::<Result<_, _>>()?;
        let fine: Vec<u64> = spec.fine_bits.iter().map(|&b| pick(b)).collect::<Result<_, _>>()?;

        let (w, f) = (words.len(), fine.len());
        let b = base.len();
        let fine_at = b + w;
        let special_at = fine_at + f;
        let gadgets = gadgets(spec, b, w, f);
        let components = spec.assumption.components();
        // The cheapest gadget whose special primes are free; every one would be correct.
        let choose = |basis: Basis| -> GadgetId {
            let free = gadgets
                .iter()
                .enumerate()
                .filter(|(_, g)| g.special().intersection(basis).is_empty());
            GadgetId(
                free.min_by_key(|(i, g)| (switch_cost(g, basis, components), *i))
                    .map_or(0, |(i, _)| i),
            )
        };

        let log = |q: u64| (q as f64).log2();
        let mut candidates: Vec<(f64, Basis)> = Vec::new();
        for used in 0..=w {
            let low = base.iter().map(|&q| log(q)).sum::<f64>()
                + words[..used].iter().map(|&q| log(q)).sum::<f64>();
            for mask in 0..1usize << f {
                let chosen = (0..f).filter(|i| mask >> i & 1 == 1);
                let bits = low + chosen.clone().map(|i| log(fine[i])).sum::<f64>();
                candidates
                    .push((bits, Basis::of((0..b + used).chain(chosen.map(|i| fine_at + i)))));
            }
        }
        let cost = |basis: Basis| {
            (basis.len(), switch_cost(&gadgets[choose(basis).0], basis, components), basis)
        };
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = Basis::of(0..special_at);
        let mut entries: Vec<(f64, Basis)> = Vec::new();
        for candidate in candidates {
            match entries.last_mut() {
                Some(last) if candidate.0 - last.0 < MERGE_BITS && last.1.len() > b => {
                    // The top level must stay reachable: it is what fresh ciphertexts and keys use.
                    if candidate.1 == all || cost(candidate.1) < cost(last.1) {
                        *last = candidate;
                    }
                }
                _ => entries.push(candidate),
            }
        }
        let mut moduli = [base, words, fine, special].concat();
        let keyed = Basis::of(0..moduli.len());
        let auxiliary = if spec.form == Form::Bfv && !spec.through_bgv {
            product_primes(spec, &entries, &mut moduli, pick)?
        } else {
            vec![Basis::EMPTY; entries.len()]
        };
        let entries: Vec<_> =
            entries.into_iter().map(|(bits, basis)| (bits, basis, choose(basis))).collect();
        // The primes of q0, each by itself, over the first special prime.
        let groups = (0..b).map(|i| Basis::of([i])).collect();
        let first = Basis::of((special_at..special_at + spec.special).take(1));
        let encapsulation = Gadget::new(first, groups);
        let chain = ModulusChain { entries, gadgets, components, encapsulation, keyed, auxiliary };
        Ok((chain, moduli))
    }

    /// The highest level.
    pub fn top(&self) -> Level {
        Level(self.entries.len() - 1)
    }

    /// log2 of the modulus at `level` (levels above the top count as the top).
    pub fn bits(&self, level: Level) -> f64 {
        self.entries[level.0.min(self.top().0)].0
    }

    /// The primes of `level` (levels above the top count as the top).
    pub fn basis(&self, level: Level) -> Basis {
        self.entries[level.0.min(self.top().0)].1
    }

    /// The lowest level of at least `bits` bits; the top if there is none.
    pub fn at_least(&self, bits: f64) -> Level {
        Level(self.entries.partition_point(|r| r.0 < bits).min(self.top().0))
    }

    /// The special primes of the top level.
    pub fn special(&self) -> Basis {
        self.gadgets[0].special()
    }

    /// All gadgets, that of the top level first.
    pub fn gadgets(&self) -> &[Gadget] {
        &self.gadgets
    }

    /// The gadget of a level.
    pub fn gadget_id(&self, level: Level) -> GadgetId {
        self.entries[level.0.min(self.top().0)].2
    }

    /// The gadget of a level.
    pub fn gadget(&self, level: Level) -> &Gadget {
        &self.gadgets[self.gadget_id(level).0]
    }

    /// The gadget of a relinearization at a level, where there are keys for some gadgets, each over
    /// the primes that `held` says: the level's own if its key has all primes of the level, else
    /// the cheapest one of which this is true, and the level's own if it is true of none.
    ///
    /// A gadget serves every level that has none of its special primes, so a set with fewer keys
    /// takes more transforms and is as right ([`KeyPlan::smaller`](crate::KeyPlan::smaller)).
    pub fn relin_gadget(&self, level: Level, held: impl Fn(GadgetId) -> Option<Basis>) -> GadgetId {
        let (own, basis) = (self.gadget_id(level), self.basis(level));
        let serves = |id: &GadgetId| {
            let free = self.gadgets[id.0].special().intersection(basis).is_empty();
            free && held(*id).is_some_and(|covered| basis.is_subset(covered))
        };
        if serves(&own) {
            return own;
        }
        let all = (0..self.gadgets.len()).map(GadgetId).filter(serves);
        all.min_by_key(|id| (self.switch_cost_by(*id, basis), *id)).unwrap_or(own)
    }

    /// Roughly the transforms of one key switch of polynomials over `basis` by a gadget.
    pub(crate) fn switch_cost_by(&self, id: GadgetId, basis: Basis) -> usize {
        switch_cost(&self.gadgets[id.0], basis, self.components)
    }

    /// Roughly the transforms of one key switch at a level.
    pub fn switch_cost(&self, level: Level) -> usize {
        switch_cost(self.gadget(level), self.basis(level), self.components)
    }

    /// The levels at which a key switch costs less than at all levels above, highest first, the top
    /// being the first of them: those that a computation may as well begin at.
    pub fn cheaper_levels(&self) -> Vec<Level> {
        let (mut least, mut found) = (usize::MAX, Vec::new());
        for level in (0..=self.top().0).rev().map(Level) {
            let cost = self.switch_cost(level);
            if cost < least {
                least = cost;
                found.push(level);
            }
        }
        found
    }

    /// The gadget of the encapsulation key.
    pub fn encapsulation(&self) -> &Gadget {
        &self.encapsulation
    }

    /// All primes that keys are made for: every one but the auxiliary ones of products.
    pub fn keyed(&self) -> Basis {
        self.keyed
    }

    /// The primes to which BFV products at `level` are extended; none for a set whose BFV products
    /// go through BGV.
    pub fn auxiliary(&self, level: Level) -> Basis {
        self.auxiliary[level.0.min(self.top().0)]
    }

    /// The primes of `level` and the special primes of its gadget.
    pub fn extended(&self, level: Level) -> Basis {
        self.basis(level).union(self.gadget(level).special())
    }
}

/// Numbers of words that gadgets take as special primes: every key a circuit uses at all levels
/// exists once for each, so they are few.
const BORROWED: [usize; 8] = [0, 1, 2, 3, 4, 6, 9, 14];

/// The gadgets of a ring with `b` base primes, `w` words, `f` fine primes and then the special
/// ones.
fn gadgets(spec: &ParamsSpec, b: usize, w: usize, f: usize) -> Vec<Gadget> {
    let special_at = b + w + f;
    BORROWED
        .into_iter()
        .filter(|&borrowed| borrowed <= w)
        .map(|borrowed| {
            let special =
                Basis::of((special_at..special_at + spec.special).chain(b + w - borrowed..b + w));
            let size = if borrowed == 0 { spec.digit_size } else { spec.special + borrowed };
            // Words and fine primes in one row, so that an odd word shares its digit with the first
            // fine prime.
            let row: Vec<usize> = (0..b + w - borrowed).chain(b + w..special_at).collect();
            let groups = row.chunks(size).map(|group| Basis::of(group.iter().copied())).collect();
            Gadget::new(special, groups)
        })
        .collect()
}

/// For each level the primes that a product over q is computed in: as many of those that the level
/// has dropped as needed, then new ones, which are added to `moduli` and are not used with keys.
fn product_primes(
    spec: &ParamsSpec,
    entries: &[(f64, Basis)],
    moduli: &mut Vec<u64>,
    pick: impl Fn(u32) -> Result<u64, SchemeError>,
) -> Result<Vec<Basis>, SchemeError> {
    let largest = (spec.plain_prime as f64).log2() * spec.largest_exponent() as f64;
    // |t (product) / q| is at most t n q / 2 for a power of two, and twice that for each odd prime factor of another index: 6 at most.
    let overlap = if spec.index.is_power_of_two() { 0.0 } else { 6.0 };
    let room = largest + (spec.index as f64).log2() + 2.0 + overlap;
    let mut auxiliary = Vec::with_capacity(entries.len());
    for &(bits, basis) in entries {
        let mut chosen = Basis::EMPTY;
        let mut have = 0.0;
        let mut position = 0;
        while have < bits + room {
            if position == moduli.len() {
                moduli.push(pick(50)?);
            }
            if !basis.contains(position) {
                chosen = chosen.union(Basis::of([position]));
                have += (moduli[position] as f64).log2();
            }
            position += 1;
        }
        auxiliary.push(chosen);
    }
    Ok(auxiliary)
}

/// How many first primes a search for a pair tries.
const FIRST_PRIMES: usize = 1 << 15;

/// q0 as a product of two primes that are 1 modulo `transform_step`, the product being 1 modulo p
/// and the largest below 2^base_bits found.
///
/// A single prime below 2^50 is too small for large p. For each first prime q, the second one is
/// fixed modulo p times that.
fn base_pair(spec: &ParamsSpec, transform_step: u64) -> Result<Vec<u64>, SchemeError> {
    let none = || SchemeError::BadParams {
        name: spec.name.clone(),
        problem: format!(
            "no two primes have a product of {} bits that is 1 modulo p = {}: change base_bits",
            spec.base_bits, spec.plain_prime
        ),
    };
    let (m, p) = (transform_step as u128, spec.plain_prime as u128);
    // Modulo 2, and modulo a p that divides what all primes are 1 modulo, every product is 1.
    let divides = m.is_multiple_of(p);
    let step = if divides {
        m
    } else {
        transform_step.checked_mul(spec.plain_prime).ok_or_else(none)? as u128
    };
    let inverse_modulo_p = if divides || p == 2 {
        None
    } else {
        let modulus = Modulus::new(spec.plain_prime).map_err(|_| none())?;
        let of_m = modulus.inv(modulus.reduce_u64(transform_step)).ok_or_else(none)? as u128;
        Some((modulus, of_m))
    };
    // What the second prime is modulo `step`: 1 modulo m, and the inverse of the first modulo p.
    let residue_for = |first: u64| match &inverse_modulo_p {
        None => Some(1),
        Some((modulus, of_m)) => {
            let inverse = modulus.inv(modulus.reduce_u64(first))? as u128;
            Some((1 + m * ((inverse + p - 1) % p * of_m % p)) % step)
        }
    };
    let limit = 1u128 << spec.base_bits;
    let half = spec.base_bits / 2;
    let mut best: Option<(u128, u64, u64)> = None;
    // The search has to end for a prime p or an index without such a pair, too.
    let firsts = primes::primes_congruent_one(transform_step, 1 << (half + 1)).take(FIRST_PRIMES);
    for first in firsts.take_while(|&q| q >> (half - 3) != 0) {
        let Some(residue) = residue_for(first) else { continue };
        let highest = ((limit - 1) / first as u128).min((1 << 50) - 1);
        let steps = highest.checked_sub(residue).map_or(0, |room| room / step + 1);
        // From the largest down.
        for second in (0..steps).rev().map(|k| residue + k * step) {
            let product = second * first as u128;
            if product < limit / 4
                || second >> (half - 3) == 0
                || best.is_some_and(|b| product <= b.0)
            {
                break;
            }
            if second != first as u128 && primes::is_prime(second as u64) {
                best = Some((product, first, second as u64));
            }
        }
        if best.is_some_and(|b| limit - b.0 < limit >> 16) {
            break;
        }
    }
    best.map(|(_, a, b)| vec![a, b]).ok_or_else(none)
}
