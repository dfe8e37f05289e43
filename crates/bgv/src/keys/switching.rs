//! Switching keys: hybrid key switching (Gentry–Halevi–Smart 2012) with RNS digits and a special
//! modulus P.

use std::sync::Arc;

use everlevel_ring::{Basis, Cpu, Eval, Gadget, KeyDigit, KeyPoly, Poly, sample};
use rand_core::CryptoRng;

use super::secret::MainSecret;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;

/// A switching key from a secret s to a secret s', for one gadget and over some of the primes.
///
/// A digit, over the primes of the key and P, is (b, a) with b + a s' = e + P δ s, where δ is 1
/// modulo the digit's primes and 0 modulo the others. Over NTRU: ζ with ζ s' = g s_i + s' e_i + P δ
/// s for small s_i and e_i.
///
/// Its errors are not multiplied by the plaintext modulus (ciphertexts are divided by t before the
/// decomposition and multiplied after), so one key serves every plaintext modulus, and BGV and BFV
/// alike. δ does not depend on the level, so the key serves every level whose primes it has.
///
/// In memory, residues are packed where that is faster. The uniform halves a can stay seeds
/// ([`SwitchingKey::seeded`]).
#[derive(Clone)]
pub struct SwitchingKey {
    basis: Basis,
    seed: Option<sample::Seed>,
    digits: Arc<[KeyDigit]>,
}

impl SwitchingKey {
    /// Generates the key from `source` to `destination` (both in evaluations over all primes of the
    /// key) over `basis` and the special primes of `gadget`.
    pub(crate) fn generate(
        params: &Params,
        gadget: &Gadget,
        basis: Basis,
        source: &Poly<Eval>,
        destination: &MainSecret,
        rng: &mut dyn CryptoRng,
    ) -> Self {
        let cpu = params.cpu();
        let special = gadget.special();
        let full = basis.union(special);
        let seed = sample::seed(rng);
        let hidden = destination.quotient_of(cpu, source);
        let digits = gadget
            .digits(basis)
            .map(|(group, primes)| {
                let mut components = destination.zero(params, full, (&seed, group as u32), rng);
                components[0].add_raised(cpu, &hidden, special, primes);
                let components = components.into_iter().map(|c| KeyPoly::new(cpu, c)).collect();
                KeyDigit { group, components }
            })
            .collect();
        let seed = (params.components() > 1).then_some(seed);
        SwitchingKey { basis, seed, digits }
    }

    /// The primes that a ciphertext may have to be switched with this key.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The seed of the uniformly random polynomials; none over NTRU.
    pub fn seed(&self) -> Option<&sample::Seed> {
        self.seed.as_ref()
    }

    /// The same key with half of the memory, and over NTRU the key itself: the uniform halves are
    /// not in memory, but expanded from their seed wherever they are used, one ChaCha20 stream a
    /// limb, which takes longer than reading them does.
    #[must_use]
    pub fn seeded(&self, params: &Params) -> Self {
        let Some(seed) = self.seed else { return self.clone() };
        self.with_uniform(|group, c| KeyPoly::seeded(params.cpu(), &seed, group as u32, c.basis()))
    }

    /// The same key with other forms of its uniform halves, made of the group and the form here.
    fn with_uniform(&self, uniform: impl Fn(usize, &KeyPoly) -> KeyPoly) -> Self {
        let digit = |digit: &KeyDigit| {
            let (firsts, rest) = digit.components.split_at(1);
            let rest = rest.iter().map(|c| uniform(digit.group, c));
            let components = firsts.iter().cloned().chain(rest).collect();
            KeyDigit { group: digit.group, components }
        };
        SwitchingKey { digits: self.digits.iter().map(digit).collect(), ..*self }
    }

    /// A key for `gadget` over `basis` and its special primes, from the first component of each
    /// digit in the order of [`Gadget::digits`], and over ring-LWE the seed of the uniform halves,
    /// which are expanded here: one ChaCha20 stream a limb. Residues must be canonical.
    ///
    /// # Errors
    /// A set without special primes, another number of digits than the gadget has over `basis`,
    /// polynomials over other primes, a seed over NTRU or none over ring-LWE.
    pub fn from_parts(
        params: &Params,
        gadget: &Gadget,
        basis: Basis,
        seed: Option<sample::Seed>,
        firsts: Vec<Poly<Eval>>,
    ) -> Result<Self, SchemeError> {
        let cpu = params.cpu();
        let key = Self::seeded_from_parts(params, gadget, basis, seed, firsts)?;
        Ok(key.with_uniform(|_, c| KeyPoly::new(cpu, c.expanded(cpu))))
    }

    /// [`SwitchingKey::from_parts`] with the uniform halves as seeds ([`SwitchingKey::seeded`]),
    /// which are never expanded as a whole.
    ///
    /// # Errors
    /// As [`SwitchingKey::from_parts`].
    pub fn seeded_from_parts(
        params: &Params,
        gadget: &Gadget,
        basis: Basis,
        seed: Option<sample::Seed>,
        firsts: Vec<Poly<Eval>>,
    ) -> Result<Self, SchemeError> {
        params.check_switching()?;
        let cpu = params.cpu();
        let full = basis.union(gadget.special());
        let groups: Vec<usize> = gadget.digits(basis).map(|(group, _)| group).collect();
        let fits = |c: &Poly<Eval>| c.basis() == full && c.degree() == params.degree();
        let sound = basis.intersection(gadget.special()).is_empty()
            && full.is_subset(params.chain().keyed())
            && seed.is_some() == (params.components() > 1);
        if !sound || firsts.len() != groups.len() || !firsts.iter().all(fits) {
            return Err(SchemeError::WrongParams {
                object: "the switching key",
                name: params.name().into(),
            });
        }
        let digit = |(group, first): (usize, Poly<Eval>)| {
            let uniform = seed.iter().map(|seed| KeyPoly::seeded(cpu, seed, group as u32, full));
            let components = std::iter::once(KeyPoly::new(cpu, first)).chain(uniform).collect();
            KeyDigit { group, components }
        };
        Ok(SwitchingKey {
            basis,
            seed,
            digits: groups.into_iter().zip(firsts).map(digit).collect(),
        })
    }

    /// The first component of each digit, by the group of primes.
    pub fn firsts(&self, cpu: &Cpu) -> impl Iterator<Item = (usize, Poly<Eval>)> {
        self.digits.iter().map(|digit| (digit.group, digit.components[0].expanded(cpu)))
    }

    /// The digits.
    pub(crate) fn digits(&self) -> &Arc<[KeyDigit]> {
        &self.digits
    }

    /// The size in memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.digits.iter().flat_map(|d| &d.components).map(KeyPoly::memory_bytes).sum()
    }

    /// The size in bytes with a word for each residue and the seed expanded.
    pub fn expanded_bytes(&self) -> u64 {
        self.digits.iter().flat_map(|d| &d.components).map(KeyPoly::expanded_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;
    use everlevel_scheme::OptIn;
    use everlevel_scheme::spec::{GadgetId, Level};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    /// ζ^(i) = ζ^(0) modulo q_i P (Doröz–Hu–Sunar 2014, section 4): over the primes of any level of
    /// the gadget, ζ f - P δ f² is the same small polynomial g s + f e, and so the top key, with
    /// primes left out, is a key of that level.
    #[test]
    fn an_ntru_key_of_a_lower_level_is_the_top_one_reduced() {
        for name in ["insecure_ltv-257-n8", "insecure_ltv-2-m255"] {
            let params = Params::named(name, OptIn::InsecureResearch).unwrap();
            let (cpu, chain) = (params.cpu(), params.chain());
            let ring = cpu.ring();
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let secret = SecretKey::generate(&params, &mut rng);
            let f = secret.main().poly();
            let square = f.mul(cpu, f);
            let gadget = &chain.gadgets()[0];
            let top = chain.basis(chain.top());
            let key =
                SwitchingKey::generate(&params, gadget, top, &square, secret.main(), &mut rng);
            let limit = params.noise().bound().error_norm_limit()
                * (params.noise().bound().drawn_norm_limit()
                    + params.noise().bound().key_norm_limit());
            let levels: Vec<Level> = (0..=chain.top().0)
                .map(Level)
                .filter(|l| chain.gadget_id(*l) == GadgetId(0))
                .collect();
            assert!(levels.len() > 3 && chain.basis(levels[0]).len() < top.len());
            for level in levels {
                let basis = chain.basis(level);
                let full = basis.union(gadget.special());
                for (group, primes) in gadget.digits(basis) {
                    let digit = key.digits.iter().find(|digit| digit.group == group).unwrap();
                    let first = digit.components[0].expanded(cpu).restricted(full);
                    let mut error = first.mul(cpu, &f.restricted(full));
                    error.neg_assign(cpu);
                    error.add_raised(cpu, &square, gadget.special(), primes);
                    let error = error.into_coeff(cpu);
                    let centered = |i: usize| cpu.centered(&error.restricted(Basis::of([i])));
                    let first = centered(full.iter().next().unwrap());
                    assert!(
                        full.iter().all(|i| centered(i) == first),
                        "{name}, level {level}, digit {group}"
                    );
                    let real: Vec<f64> = first.iter().map(|&x| x as f64).collect();
                    assert!(
                        ring.norm().max(&real) <= limit,
                        "{name}, level {level}, digit {group}"
                    );
                }
            }
        }
    }
}
