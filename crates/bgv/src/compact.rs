//! Compact ciphertexts: reduced to the bits that decryption needs.
//!
//! In BFV form the phase is (q/t) m' + w/t modulo q. Its components times 2^k / q, rounded, have
//! the phase (2^k/t) m' + 2^k w / (q t) + τ modulo 2^k, where τ comes from the roundings: m' = ⌊t
//! phase / 2^k⌉ as long as |w| / q + t |τ| / 2^k < 1/2 in every coefficient. What s multiplies is
//! rounded to k bits; c0, whose rounding nothing multiplies, to fewer. The widths are the least for
//! which the bounds hold: the carried one for w, the law of the coefficients for the rounding of c1
//! (see [`everlevel_scheme::noise`]), the worst case for that of c0.

use everlevel_ring::{Basis, Coeff, Constant, Poly, PrimePower};
use zeroize::Zeroize;

use crate::ciphertext::Ciphertext;
use crate::encryption::{DECRYPTION_SLACK, check_noticed};
use crate::keys::SecretKey;
use everlevel_scheme::KeyId;
use everlevel_scheme::Params;
use everlevel_scheme::Plaintext;
use everlevel_scheme::SchemeError;
use everlevel_scheme::spec::Form;

/// The largest width of a component in bits: quotients are computed to 64 bits.
const WIDEST: u32 = 56;
/// One half, in units of 2^-32: no number is farther from the nearest integer.
const LARGEST_DISTANCE: u32 = 1 << 31;

/// A ciphertext whose components are cut to a few bits, for decryption and nothing else
/// ([`SecretKey::decrypt_compact`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactCiphertext {
    exponent: u32,
    unit: u64,
    widths: Vec<u32>,
    components: Vec<Vec<u64>>,
    /// How far t times the phase may lie from an integer, in units of 2^-32.
    distance: u32,
    owner: Option<KeyId>,
}

impl CompactCiphertext {
    /// From the exponent e of the plaintext modulus p^e, the unit modulo p^e that the rounded phase
    /// has to be multiplied by, and for each component its width in bits and its coefficients in
    /// natural order.
    ///
    /// # Errors
    /// An exponent that the set does not provide, no unit, another number of components or
    /// coefficients, widths outside of 1 to 56 or a first one above the last, coefficients that do
    /// not fit them.
    pub fn from_parts(
        params: &Params,
        exponent: u32,
        unit: u64,
        widths: Vec<u32>,
        components: Vec<Vec<u64>>,
    ) -> Result<Self, SchemeError> {
        let highest = params.slot_shape().max_exponent();
        let bad = |what, expected: String, found: String| {
            Err(SchemeError::BadArgument { what, expected, found })
        };
        if !(1..=highest).contains(&exponent) {
            return bad("plaintext exponent", format!("1 to {highest}"), exponent.to_string());
        }
        let t = params.plaintext_ring().modulus(exponent);
        if unit > t.last() || unit.is_multiple_of(t.prime()) {
            return bad("unit", format!("a unit below {}", t.wide()), unit.to_string());
        }
        let count = params.components();
        let shape = widths.len() == count
            && components.len() == count
            && components.iter().all(|c| c.len() == params.degree());
        if !shape || widths.iter().any(|w| !(1..=WIDEST).contains(w)) || !widths.is_sorted() {
            return bad(
                "compact ciphertext",
                format!(
                    "{count} components of {} coefficients, ascending widths of 1 to {WIDEST} bits",
                    params.degree()
                ),
                format!("widths {widths:?}, or other components"),
            );
        }
        if components.iter().zip(&widths).any(|(c, w)| c.iter().any(|x| x >> w != 0)) {
            return bad(
                "compact ciphertext",
                format!("coefficients of {widths:?} bits"),
                "more bits".into(),
            );
        }
        let distance = LARGEST_DISTANCE;
        Ok(CompactCiphertext { exponent, unit, widths, components, distance, owner: None })
    }

    /// The same with a bound on how far t times the phase, divided by 2 to the last width, lies
    /// from integers, in units of 2^-32: what decryption checks. [`CompactCiphertext::from_parts`]
    /// knows none, which is one half, 2^31.
    ///
    /// # Errors
    /// 0, or more than one half.
    pub fn within(mut self, distance: u32) -> Result<Self, SchemeError> {
        if !(1..=LARGEST_DISTANCE).contains(&distance) {
            return Err(SchemeError::BadArgument {
                what: "bound of a compact ciphertext",
                expected: format!("1 to {LARGEST_DISTANCE}"),
                found: distance.to_string(),
            });
        }
        self.distance = distance;
        Ok(self)
    }

    /// The bound of [`CompactCiphertext::within`].
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// The same under this secret key, or under one that is not known, which is what
    /// [`CompactCiphertext::from_parts`] makes.
    #[must_use]
    pub fn owned_by(mut self, owner: Option<KeyId>) -> Self {
        self.owner = owner;
        self
    }

    /// The secret key that it decrypts under, if that is known.
    pub fn owner(&self) -> Option<KeyId> {
        self.owner
    }

    /// The exponent e of its plaintext modulus p^e.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// What the rounded phase is multiplied by, modulo p^e.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Bits of each coefficient, component by component.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// The coefficients of the components in natural order.
    pub fn components(&self) -> &[Vec<u64>] {
        &self.components
    }
}

impl Ciphertext {
    /// Cuts a ciphertext of these parameters to what decryption needs: about 2 log2 t + 13 bits a
    /// coefficient instead of 2 log2 q, whatever its level. One inverse transform a limb.
    ///
    /// # Errors
    /// A ciphertext of other parameters, too noisy, or of a plaintext modulus so large (above some
    /// 2^40) that 56 bits do not hold the phase.
    pub fn compact_for_decryption(
        &self,
        params: &Params,
    ) -> Result<CompactCiphertext, SchemeError> {
        let meta = params.noise().checked(self.meta, "compaction")?;
        // That it is too noisy was told just now: what is left is that it is of another set.
        self.check(params).map_err(|_| SchemeError::WrongParams {
            object: "the ciphertext",
            name: params.name().into(),
        })?;
        let basis = params.chain().basis(meta.level);
        let t = params.plaintext_ring().modulus(meta.exponent);
        let (widths, distance) =
            widths(params, t.wide(), -params.noise().capacity(&meta) - 1.0, basis.len())
                .ok_or_else(|| SchemeError::BadArgument {
                    what: "compaction",
                    expected: format!(
                        "a plaintext modulus whose phase fits {WIDEST} bits, and a little capacity"
                    ),
                    found: format!(
                        "modulus {}, {:.1} bits of capacity",
                        t.wide(),
                        params.noise().capacity(&meta)
                    ),
                })?;
        // m' = -w / q, w = κ m.
        let q = params.ring().product_mod(basis, t);
        let unit = t.neg(t.mul(q, t.inv(meta.factor).expect("factors are units")));
        let scale = match meta.form {
            Form::Bgv => Constant::inverse(t.wide()),
            Form::Bfv => Constant::ONE,
        };
        let cpu = params.cpu();
        let components = self
            .components
            .iter()
            .zip(&widths)
            .map(|(c, &width)| cpu.fractions(&c.clone().into_coeff(cpu), scale, width))
            .collect();
        // Rounded up.
        let distance = (distance * 32f64.exp2()) as u32 + 1;
        let (exponent, owner) = (meta.exponent, meta.owner);
        Ok(CompactCiphertext { exponent, unit, widths, components, distance, owner })
    }
}

/// The widths of the components that have the least sum; `carried` is log2 of |w| / q. None if none
/// are wide enough. With them the bound on the distance from integers that they leave.
fn widths(params: &Params, t: u128, carried: f64, limbs: usize) -> Option<(Vec<u32>, f64)> {
    let (law, sum) = params.noise().bound().compact_rounding();
    let t = t as f64;
    // The quotients are too small by less than a unit of their last bit for each prime.
    let used = carried.exp2() + t * limbs as f64 * (1.0 + sum) * (-64f64).exp2();
    let distance = |first: u32, last: u32| {
        let constant =
            if params.components() > 1 { t * (-f64::from(first) - 1.0).exp2() } else { 0.0 };
        used + t * law * (-f64::from(last)).exp2() + constant
    };
    let best = (1..=WIDEST)
        .flat_map(|last| (1..=last).map(move |first| (first, last)))
        .filter(|&(first, last)| distance(first, last) < 0.499);
    let (first, last) = best.min_by_key(|&(first, last)| (first + last, last))?;
    let widths = if params.components() > 1 { vec![first, last] } else { vec![last] };
    Some((widths, distance(first, last)))
}

impl SecretKey {
    /// Decrypts a ciphertext that [`Ciphertext::compact_for_decryption`] made.
    ///
    /// # Errors
    /// A ciphertext of other parameters or of another key; one whose phase lies further from a
    /// message than it states ([`SchemeError::NotDecryptable`]), found after decoding, in a time
    /// that does not depend on the phase. For a bound of d in units of 1 the phase of a ciphertext
    /// of another key passes with probability (2d)^n; without an owner that has to be below 2^-40
    /// ([`SchemeError::UnknownOwner`]).
    pub fn decrypt_compact(
        &self,
        ciphertext: &CompactCiphertext,
    ) -> Result<Plaintext, SchemeError> {
        let params = self.params();
        let (ring, cpu) = (params.ring(), params.cpu());
        let wrong = || SchemeError::WrongParams {
            object: "the compact ciphertext",
            name: params.name().into(),
        };
        let (n, count) = (params.degree(), params.components());
        let fits = ciphertext.components.len() == count
            && ciphertext.components.iter().all(|c| c.len() == n);
        if !fits || ciphertext.exponent > params.slot_shape().max_exponent() {
            return Err(wrong());
        }
        self.check_owner(ciphertext.owner, "decryption")?;
        let far = f64::from(ciphertext.distance) * (-32f64).exp2();
        check_noticed(params, ciphertext.owner, -(2.0 * far).log2())?;
        let last = *ciphertext.widths.last().ok_or_else(wrong)?;
        // ‖c1 s‖ <= n 2^(last - 1) ‖s‖.
        let norm =
            f64::from(last) + (n as f64).log2() + params.noise().bound().key_norm_limit().log2();
        let need = norm + ring.coefficient_bits() + 1.0 + DECRYPTION_SLACK;
        let add = |basis: Basis, i| {
            if ring.log2(basis) < need { basis.union(Basis::of([i])) } else { basis }
        };
        let basis = params.chain().keyed().iter().fold(Basis::EMPTY, add);
        if ring.log2(basis) < need {
            return Err(wrong());
        }
        let modulus = PrimePower::new(2, last)?;
        let centered: Vec<i64> =
            ciphertext.components[count - 1].iter().map(|&x| modulus.centered(x)).collect();
        let mut product = Poly::<Coeff>::from_signed(cpu, basis, &centered).into_eval(cpu);
        product.wipe_on_drop();
        product.mul_assign(cpu, &self.main().poly().restricted(basis));
        let product = product.into_coeff(cpu);
        let mut phase = cpu.reduce(product, modulus, 1);
        if let [c0, _] = &ciphertext.components[..] {
            let shift = last - ciphertext.widths[0];
            phase.iter_mut().zip(c0).for_each(|(x, c)| *x = modulus.add(*x, c << shift));
        }
        let t = params.plaintext_ring().modulus(ciphertext.exponent);
        let far = phase.iter().fold(0, |far, &x| {
            let fraction = modulus.reduce_u128(u128::from(x) * t.wide());
            modulus.centered(fraction).unsigned_abs().max(far)
        });
        let message = |x: u64| {
            let rounded = (u128::from(x) * t.wide() + (1 << (last - 1))) >> last;
            t.mul(t.reduce_u128(rounded), ciphertext.unit)
        };
        let coefficients = phase.iter().map(|&x| message(x)).collect::<Vec<_>>().into();
        phase.zeroize();
        let plaintext = Plaintext::from_reduced(coefficients, t);
        let allowed = (u128::from(ciphertext.distance) << last) >> 32;
        if u128::from(far) > allowed { Err(SchemeError::NotDecryptable) } else { Ok(plaintext) }
    }
}
