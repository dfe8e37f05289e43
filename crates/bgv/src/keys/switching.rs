//! Switching keys: hybrid key switching (Gentry–Halevi–Smart 2012) with RNS digits and a special
//! modulus P.

use everlevel_arith::kernels;
use everlevel_ring::{Basis, Eval, Poly, sample};
use rand_core::CryptoRng;

use super::secret::MainSecret;
use everlevel_scheme::Params;
use everlevel_scheme::SchemeError;
use everlevel_scheme::spec::Gadget;

/// One digit of a switching key, over the primes of the key and P: (b, a) with b + a s' = e + P δ
/// s, where δ is 1 modulo the digit's primes and 0 modulo the others. Over NTRU: ζ with ζ s' = g
/// s_i + s' e_i + P δ s for small s_i and e_i.
pub(crate) struct SwitchDigit {
    pub(crate) group: usize,
    pub(crate) components: Vec<Poly<Eval>>,
}

/// A key from a secret s to a secret s', for one gadget and over some of the primes.
///
/// Its errors are not multiplied by the plaintext modulus (ciphertexts are divided by t before the
/// decomposition and multiplied after), so one key serves every plaintext modulus, and BGV and BFV
/// alike. δ depends on no level, so the key serves every level whose primes it holds.
pub struct SwitchingKey {
    basis: Basis,
    seed: Option<sample::Seed>,
    pub(crate) digits: Vec<SwitchDigit>,
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
        rng: &mut impl CryptoRng,
    ) -> Self {
        let ring = params.ring();
        let special = gadget.special();
        let full = basis.union(special);
        let seed = sample::seed(rng);
        let hidden = destination.quotient_of(ring, source);
        let digits = gadget
            .digits(basis)
            .map(|(group, primes)| {
                let mut components = destination.zero(params, full, (&seed, group as u32), rng);
                components[0].for_each(|i, limb| {
                    let q = ring.modulus(i);
                    if primes.contains(i) {
                        kernels::scalar_mul_add_assign(
                            q,
                            limb,
                            hidden.limb(i),
                            ring.product_mod(special, q),
                        );
                    }
                });
                SwitchDigit { group, components }
            })
            .collect();
        let seed = (params.components() > 1).then_some(seed);
        SwitchingKey { basis, seed, digits }
    }

    /// The primes that ciphertexts to be switched may have.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The seed of the uniform halves; NTRU has none.
    pub fn seed(&self) -> Option<&sample::Seed> {
        self.seed.as_ref()
    }

    /// A key for `gadget` over `basis` and its special primes, from the first component of each
    /// digit in the order of [`Gadget::digits`], and over ring-LWE the seed of the uniform halves,
    /// which are expanded here: one ChaCha20 stream a limb. Residues must be canonical.
    ///
    /// # Errors
    /// Another number of digits than the gadget has over `basis`, polynomials over other primes, a
    /// seed over NTRU or none over ring-LWE.
    pub fn from_parts(
        params: &Params,
        gadget: &Gadget,
        basis: Basis,
        seed: Option<sample::Seed>,
        firsts: Vec<Poly<Eval>>,
    ) -> Result<Self, SchemeError> {
        let full = basis.union(gadget.special());
        let groups: Vec<usize> = gadget.digits(basis).map(|(group, _)| group).collect();
        let fits = |c: &Poly<Eval>| {
            c.basis() == full && c.limbs().iter().all(|limb| limb.len() == params.degree())
        };
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
            let expanded =
                seed.iter().map(|seed| sample::expand(params.ring(), seed, group as u32, full));
            SwitchDigit { group, components: std::iter::once(first).chain(expanded).collect() }
        };
        Ok(SwitchingKey {
            basis,
            seed,
            digits: groups.into_iter().zip(firsts).map(digit).collect(),
        })
    }

    /// The first component of each digit, by the group of primes.
    pub fn firsts(&self) -> impl Iterator<Item = (usize, &Poly<Eval>)> {
        self.digits.iter().map(|digit| (digit.group, &digit.components[0]))
    }

    /// The digit for a group of primes.
    pub(crate) fn digit(&self, group: usize) -> Option<&SwitchDigit> {
        self.digits.iter().find(|d| d.group == group)
    }

    /// Bytes in memory, both halves expanded.
    pub fn memory_bytes(&self) -> u64 {
        self.digits
            .iter()
            .flat_map(|d| &d.components)
            .flat_map(|c| c.limbs())
            .map(|l| l.len() as u64 * 8)
            .sum()
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
            let (ring, chain) = (params.ring(), params.chain());
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let secret = SecretKey::generate(&params, &mut rng);
            let f = secret.main().poly();
            let square = f.mul(ring, f);
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
                    let digit = key.digit(group).unwrap();
                    let mut error =
                        digit.components[0].restricted(full).mul(ring, &f.restricted(full));
                    error.for_each(|i, limb| {
                        let q = ring.modulus(i);
                        if primes.contains(i) {
                            kernels::scalar_mul_add_assign(
                                q,
                                limb,
                                square.limb(i),
                                q.neg(ring.product_mod(gadget.special(), q)),
                            );
                        }
                    });
                    let error = error.into_coeff(ring);
                    let centered = |i: usize| -> Vec<i64> {
                        ring.natural_order(error.limb(i))
                            .into_iter()
                            .map(|x| ring.modulus(i).centered(x))
                            .collect()
                    };
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
