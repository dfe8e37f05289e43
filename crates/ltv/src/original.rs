//! The key generation of López-Alt, Tromer and Vaikuntanathan as Doröz–Hu–Sunar recall it (section
//! 2), for comparison: a prime and a secret for each level, and for each level an evaluation key of
//! its own, under which ζ_τ^(i) = h^(i) s_τ + 2 e_τ + 2^τ (f^(i-1))² modulo q_(i-1).
//!
//! Moduli are single primes below 2^50, enough for two or three levels of a small ring. In the
//! paper h^(i) is a residue modulo q_i; here it is one modulo q_(i-1) too, which ζ^(i) needs.

use std::sync::Arc;

use everlevel_arith::primes;
use everlevel_ring::cpu::{from_limbs, limb};
use everlevel_ring::{Backend, Basis, Coeff, Cpu, Eval, Poly, Ring, RingError, sample};
use everlevel_scheme::SchemeError;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// The keys of one level.
struct LevelKeys {
    /// f^(i), over all primes.
    secret: Poly<Eval>,
    /// h^(i) = 2 g^(i) / f^(i), over all primes.
    public: Poly<Eval>,
    /// ζ_τ^(i) modulo q_(i-1); none at level 0.
    evaluation: Vec<Poly<Eval>>,
}

/// Keys of every level, secret ones included: this is a model to run and to measure, not an
/// interface to deploy.
pub struct OriginalLtv {
    cpu: Cpu,
    levels: Vec<LevelKeys>,
}

/// A ciphertext at level i, modulo q_i, under f^(i).
#[derive(Clone, Debug)]
pub struct OriginalCiphertext {
    level: usize,
    poly: Poly<Eval>,
}

impl OriginalCiphertext {
    /// i: the number of products done.
    pub fn level(&self) -> usize {
        self.level
    }
}

impl OriginalLtv {
    /// Keys for the ring of index `index`, with the largest primes below 2 to the powers
    /// `prime_bits`, descending.
    ///
    /// # Errors
    /// An index or primes that [`Ring::new`] refuses, or no level.
    pub fn generate(
        index: u64,
        prime_bits: &[u32],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let step = Ring::prime_step(index)?;
        let largest =
            |&bits: &u32| primes::primes_congruent_one(step, 1 << bits.min(50)).next().unwrap_or(0);
        let moduli: Vec<u64> = prime_bits.iter().map(largest).collect();
        if moduli.is_empty() || moduli.windows(2).any(|pair| pair[0] <= pair[1]) {
            return Err(
                RingError::BadPrime { value: moduli.last().copied().unwrap_or(0), index }.into()
            );
        }
        let cpu = Cpu::new(Arc::new(Ring::new(index, &moduli)?), Backend::detect())?;
        let mut keys = OriginalLtv { cpu, levels: Vec::new() };
        for level in 0..moduli.len() {
            let own = keys.level_keys(level, rng);
            keys.levels.push(own);
        }
        Ok(keys)
    }

    fn all(&self) -> Basis {
        Basis::of(0..self.cpu.ring().prime_count())
    }

    /// 2 x from χ, over `basis`.
    fn doubled(&self, basis: Basis, rng: &mut impl CryptoRng) -> Poly<Eval> {
        let drawn = Zeroizing::new(sample::truncated_gaussian(self.cpu.ring().degree(), rng));
        let mut x = sample::secret_poly(&self.cpu, basis, &drawn);
        x.scale_assign(&self.cpu, 2);
        x
    }

    fn level_keys(&self, level: usize, rng: &mut impl CryptoRng) -> LevelKeys {
        let (cpu, ring) = (&self.cpu, self.cpu.ring());
        let (secret, inverse) = loop {
            let mut f = self.doubled(self.all(), rng);
            f.add_constant(cpu, 1);
            if let Some(inverse) = f.inverse(cpu) {
                break (f, inverse);
            }
        };
        let public = self.doubled(self.all(), rng).mul(cpu, &inverse);
        let mut evaluation = Vec::new();
        if let Some(before) = level.checked_sub(1) {
            let basis = Basis::of([before]);
            let mut source = self.levels[before].secret.restricted(basis);
            source.mul_assign(cpu, &source.clone());
            for _ in 0..ring.modulus(before).bits() {
                let mut digit = self.mask(&public, basis, rng);
                digit.add_assign(cpu, &source);
                evaluation.push(digit);
                source.scale_assign(cpu, 2);
            }
        }
        LevelKeys { secret, public, evaluation }
    }

    /// h s + 2 e over `basis`.
    fn mask(&self, public: &Poly<Eval>, basis: Basis, rng: &mut impl CryptoRng) -> Poly<Eval> {
        let s = Zeroizing::new(sample::truncated_gaussian(self.cpu.ring().degree(), rng));
        let mut mask =
            sample::secret_poly(&self.cpu, basis, &s).mul(&self.cpu, &public.restricted(basis));
        mask.add_assign(&self.cpu, &self.doubled(basis, rng));
        mask
    }

    /// How many levels there are; one less products.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The bits of all public and evaluation keys, residues packed: what Σ n (log q_i)² counts, and
    /// the h^(i).
    pub fn key_bits(&self) -> u64 {
        let polynomial = |i: usize| {
            self.cpu.ring().degree() as u64 * u64::from(self.cpu.ring().modulus(i).bits())
        };
        let level = |(i, keys): (usize, &LevelKeys)| {
            polynomial(i) + keys.evaluation.len() as u64 * i.checked_sub(1).map_or(0, polynomial)
        };
        self.levels.iter().enumerate().map(level).sum()
    }

    /// Encrypts n bits, in natural order, at level 0.
    ///
    /// # Panics
    /// If there are not n of them.
    pub fn encrypt(&self, bits: &[u64], rng: &mut impl CryptoRng) -> OriginalCiphertext {
        let basis = Basis::of([0]);
        let message: Vec<i64> = bits.iter().map(|&b| (b & 1) as i64).collect();
        let mut poly = self.mask(&self.levels[0].public, basis, rng);
        poly.add_assign(
            &self.cpu,
            &Poly::<Coeff>::from_signed(&self.cpu, basis, &message).into_eval(&self.cpu),
        );
        OriginalCiphertext { level: 0, poly }
    }

    /// Product, relinearization with binary digits to the next level's secret, and modulus
    /// switching to its prime.
    ///
    /// # Errors
    /// Operands of different levels, or of the last one.
    pub fn multiply(
        &self,
        a: &OriginalCiphertext,
        b: &OriginalCiphertext,
    ) -> Result<OriginalCiphertext, SchemeError> {
        let (level, next, cpu) = (a.level, a.level + 1, &self.cpu);
        let ring = cpu.ring();
        if b.level != level || next == self.levels.len() {
            return Err(SchemeError::BadArgument {
                what: "product",
                expected: format!("operands of one level below {}", self.levels.len() - 1),
                found: format!("levels {level} and {}", b.level),
            });
        }
        let (q, to) = (ring.modulus(level), ring.modulus(next));
        let product = a.poly.mul(cpu, &b.poly).into_coeff(cpu);
        let mut sum: Poly<Eval> = Poly::zero(cpu, product.basis());
        for (bit, key) in self.levels[next].evaluation.iter().enumerate() {
            let mut digit = cpu.limb();
            digit.iter_mut().zip(limb(&product, level).iter()).for_each(|(d, x)| *d = x >> bit & 1);
            cpu.forward_limb(level, &mut digit);
            sum.mul_add_assign(cpu, &from_limbs(cpu, product.basis(), vec![digit]), key);
        }
        // round(q_i / q_(i-1) x), to the nearest integer of x's parity.
        let sum = sum.into_coeff(cpu);
        let mut switched = cpu.limb();
        switched.iter_mut().zip(limb(&sum, level).iter()).for_each(|(r, &x)| {
            let x = q.centered(x);
            let real = x as f64 * (to.value() as f64 / q.value() as f64);
            let nearest = 2 * ((real - (x & 1) as f64) / 2.0).round() as i64 + (x & 1);
            *r = to.reduce_i64(nearest);
        });
        cpu.forward_limb(next, &mut switched);
        Ok(OriginalCiphertext {
            level: next,
            poly: from_limbs(cpu, Basis::of([next]), vec![switched]),
        })
    }

    /// The n bits, in natural order.
    pub fn decrypt(&self, a: &OriginalCiphertext) -> Vec<u64> {
        let q = self.cpu.ring().modulus(a.level);
        let phase = a
            .poly
            .mul(&self.cpu, &self.levels[a.level].secret.restricted(a.poly.basis()))
            .into_coeff(&self.cpu);
        let bits: Vec<u64> =
            limb(&phase, a.level).iter().map(|&x| (q.centered(x) & 1) as u64).collect();
        self.cpu.ring().natural_order(&bits)
    }
}
