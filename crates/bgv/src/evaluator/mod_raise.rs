//! The scheme-specific first steps of bootstrapping (modulus raising), over ring-LWE only: from an
//! exhausted ciphertext to encryptions of its phase.
//!
//! Under the sparse key s0 modulo q0 an exhausted (b, a) in BGV form has b + a s0 = κ m + p^r ε +
//! q0 I over the integers. A polynomial combination o0 + o1 s0 with integer polynomials is
//! encrypted by one product of plaintext polynomials with encryptions of w^i s0 for each digit of
//! o1 in base w. If the message passes through the digit removal (Chen–Han 2018; in the unified
//! form of Geelen–Vercauteren 2022): with b' = p^v b modulo q0, centered, and a' likewise, b' + a'
//! s0 = p^v κ m + p^(r+v) ε' + q0 I. If the message bypasses it: with Δ c = c' + q0 O (c' centered,
//! O the integer quotient) for c = b, a, the overflow is u = -(O_b + O_a s0) = I' - Δ I; the
//! coefficients of O are below Δ/2 (Ma–Huang–Wang–Wang 2024, in the form of docs/adr/0003).

use everlevel_ring::{
    Coeff, Constant, Cpu, Engine, Eval, GaloisElement, IntegerDigits, IntegerMap, Poly, Rest,
    RoundingScale, Source, Sum, Use,
};

use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use crate::message::carried_poly;
use everlevel_scheme::KeyId;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::{Meta, raise_digit, raise_digit_ranges};
use everlevel_scheme::spec::{Form, Level, SetId};
use everlevel_scheme::{Arithmetic, Bootstrappable, PlainModulus, Plaintext, Scheme, same_modulus};

/// A ciphertext modulo q0 under the sparse key.
pub struct Base<E: Engine = Cpu> {
    /// (b, a).
    components: [Poly<Coeff, E>; 2],
    factor: u64,
    owner: Option<KeyId>,
    set: SetId,
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// Refuses what the evaluator of another set made.
    fn check_base(&self, r: &Base<E>) -> Result<(), SchemeError> {
        self.params().noise().check_origin_of(Some(r.set), "the exhausted ciphertext")
    }

    /// o0 + o1 s0 modulo the largest power of p, at the level of `meta`, with the factor of the
    /// keys; o0 and o1 are made of the components of `r`, and below `range` / 2.
    fn times_sparse(
        &self,
        r: &Base<E>,
        map: IntegerMap,
        range: u128,
        meta: Meta,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.engine.status()?;
        let (params, engine) = (self.params(), self.engine());
        self.check_base(r)?;
        let keys = self.sparse_keys()?;
        self.check_owner(&meta, "bootstrapping")?;
        let meta = Meta { owner: meta.owner.or(self.keys.owner()), ..meta };
        let meta = params.noise().checked(meta, "bootstrapping")?;
        let basis = params.chain().basis(meta.level);
        let t = params.plaintext_ring().modulus(meta.exponent);
        let [o0, o1] = &r.components;
        let (p, times) = (self.plain_prime(), (meta.factor != 1).then_some((t, meta.factor)));
        let whole = IntegerDigits { map, times, base: 1, count: 1 };
        let mut c0 = match engine.integer_digits(o0, &whole, basis)?.pop() {
            Some(carried) => carried.into_eval(engine),
            None => Poly::zero(engine, basis),
        };
        c0.scale_assign(engine, Constant::inverse(meta.form.scale(t.wide())));
        let mut c1 = Poly::zero(engine, basis);
        // One more digit than there are in general, for the ends of the range.
        let count = keys.len().min(raise_digit_ranges(p, range).len() + 1);
        let digits = IntegerDigits { map, times: None, base: raise_digit(p), count };
        for (digit, key) in engine.integer_digits(o1, &digits, basis)?.into_iter().zip(&*keys) {
            let digit = digit.into_eval(engine);
            for (c, key) in [&mut c0, &mut c1].into_iter().zip(key) {
                c.mul_add_assign(engine, &key.restricted(basis), &digit);
            }
        }
        Ok(Ciphertext::new(meta, vec![c0, c1]))
    }

    /// The key switch from s to s0 modulo q0, of a ciphertext in BGV form.
    fn to_sparse_key(
        &self,
        [c0, c1]: &[Poly<Eval, E>; 2],
        t: u128,
        key: &E::Key,
    ) -> [Poly<Eval, E>; 2] {
        let (params, engine) = (self.params(), self.engine());
        let low = c0.basis();
        let gadget = params.chain().encapsulation();
        let special = gadget.special();
        let digits = engine.decompose(gadget, Source::Eval(c1, t));
        let full = low.union(special);
        let cut = gadget.digits(low).count();
        self.counters.key_switch(2, 1, low.len(), cut, 1, params.degree());
        self.counters.rounding(2, full, low, params.degree());
        let sum = Sum {
            basis: full,
            switched: Some((Use::Once(digits), key)),
            rest: vec![Rest::Poly(c0), Rest::None],
            raise: special,
            factor: Constant::inverse(t),
            automorphism: GaloisElement::IDENTITY,
        };
        let out = engine.divide(sum, low, RoundingScale::times_plain(t));
        <[_; 2]>::try_from(out).expect("two rests, two quotients")
    }
}

impl<E: Engine, K: EvalKeys> Bootstrappable for Evaluator<E, K> {
    type Base = Base<E>;

    fn message_exponent(&self) -> u32 {
        self.params.plain_exponent()
    }

    fn overflow_digits(&self) -> u32 {
        self.params.spec().overflow_digits()
    }

    fn overflow_bound(&self) -> u64 {
        self.params.spec().overflow_bound()
    }

    fn minimum_capacity(&self) -> f64 {
        self.params.noise().bound().minimum_capacity(self.params.wide_modulus())
    }

    fn to_base_modulus(&self, x: &Ciphertext<E>) -> Result<Base<E>, SchemeError> {
        let params = self.params();
        self.engine.status()?;
        self.check_owner(&x.meta, "bootstrapping")?;
        if x.meta.owner.is_none() {
            // Under other keys the result would look like a valid encryption of an arbitrary value.
            return Err(SchemeError::UnknownOwner {
                operation: "bootstrapping",
                problem: "a wrong key would not be noticed afterwards; let the owner decrypt it \
                          and encrypt the values again",
            });
        }
        params.noise().check_raise(&x.meta)?;
        let key = self.encapsulation_key()?;
        let t = params.plaintext_ring().modulus(x.meta.exponent).wide();
        let low = params.chain().basis(Level(0));
        // The switch to q0 is checked by the distribution of its coefficients (check_raise), not by
        // the canonical bound.
        let scale = RoundingScale::plain_multiple(x.meta.form.divisor(t));
        if x.meta.level > Level(0) {
            self.counters.rounding(2, x.basis(), low, params.degree());
        }
        let [c0, c1] = &x.components[..] else {
            return Err(SchemeError::WrongParams {
                object: "the ciphertext",
                name: params.name().into(),
            });
        };
        let base = [c0, c1].map(|c| {
            let above = x.meta.level > Level(0);
            let mut c = if above { c.divided(self.engine(), low, scale) } else { c.clone() };
            if x.meta.form == Form::Bfv {
                c.scale_assign(self.engine(), t as i128);
            }
            c
        });
        let base = match &key {
            Some(key) => self.to_sparse_key(&base, t, key),
            None => base,
        };
        let factor = params.noise().mod_switch(&x.meta, Level(0)).factor;
        let components = base.map(|c| c.into_coeff(self.engine()));
        Ok(Base { components, factor, owner: x.meta.owner, set: params.set_id() })
    }

    fn mod_raise_overflow(&self, r: &Base<E>, delta: u64) -> Result<Ciphertext<E>, SchemeError> {
        let meta = self.params().noise().raised_overflow(delta)?;
        let raised = self.params().noise().raised(delta.into());
        let raised = Meta { owner: r.owner, ..raised };
        let u = self.times_sparse(r, IntegerMap::Quotient(delta), delta.into(), raised)?;
        self.reduce_plain_modulus(&u, meta.exponent)
    }

    fn mod_raise_message(
        &self,
        r: &Base<E>,
        like: &Ciphertext<E>,
    ) -> Result<Ciphertext<E>, SchemeError> {
        let params = self.params();
        self.check_set(&like.meta)?;
        self.check_base(r)?;
        let t = params.plaintext_ring().modulus(params.plain_exponent());
        let unit = t.inv(r.factor).expect("factors are units");
        let level = params.noise().raised_message(&like.meta)?.level;
        let meta = Meta { level, owner: r.owner, ..params.noise().raised(t.wide()) };
        let raised = self.times_sparse(r, IntegerMap::Residue(t, unit), t.wide(), meta)?;
        let raised = self.reduce_plain_modulus(&raised, params.plain_exponent())?;
        let low = like.meta.level.min(raised.meta.level);
        self.mod_switch_to(&raised, low)
    }

    fn base_modulus_mod_t(&self, r: &Base<E>) -> i64 {
        let t = self.params.plaintext_ring().modulus(self.params.plain_exponent());
        // A base of another set, whose factor may be no unit here, is refused where it is used.
        let unit = t.inv(t.reduce_u64(r.factor)).unwrap_or(1);
        t.centered(t.mul(t.reduce_i128(self.params.base_modulus()), unit))
    }

    fn mod_raise_scaled(&self, r: &Base<E>) -> Result<Ciphertext<E>, SchemeError> {
        let params = self.params();
        let meta = Meta { owner: r.owner, ..params.noise().raised_scaled() };
        let (q0, t) = (params.base_modulus(), params.plaintext_ring().modulus(meta.exponent));
        let shift = (self.plain_prime() as i128).pow(self.overflow_digits());
        let inverse = t.inv(t.reduce_i128(q0)).expect("q0 is coprime to p");
        // p^v c modulo q0, centered, and then modulo p^(r+v), q0 divided out of the overflow.
        self.times_sparse(r, IntegerMap::Scaled(shift, t, inverse), t.wide(), meta)
    }

    fn encrypt_zero_at(&self, capacity: f64) -> Result<Ciphertext<E>, SchemeError> {
        let meta =
            self.params.noise().checked(self.params.noise().entrance(capacity), "bootstrapping")?;
        // It decrypts under any key; what is made of it belongs to the owner of the server keys.
        let meta = Meta { owner: self.keys.owner(), ..meta };
        Ok(Ciphertext::new(meta, self.zeros(self.params.chain().basis(meta.level))))
    }

    fn transparent(&self, x: &Plaintext) -> Result<Ciphertext<E>, SchemeError> {
        let (params, engine) = (self.params(), self.engine());
        engine.status()?;
        x.check(params)?;
        let (level, t) =
            (params.chain().top(), params.plaintext_ring().modulus(x.exponent()).wide());
        let fresh = params.noise().modeled(level, x.exponent(), |model| model.fresh_secret(t));
        let meta = Meta { owner: self.keys.owner(), ..fresh };
        let meta = params.noise().checked(meta, "encryption")?;
        let basis = params.chain().basis(level);
        let mut components = self.zeros(basis);
        components[0] = carried_poly(params, engine, x, &meta, basis)?;
        Ok(Ciphertext::new(meta, components))
    }

    fn addend(&self, x: &Plaintext, like: &Ciphertext<E>) -> Result<Ciphertext<E>, SchemeError> {
        const OPERATION: &str = "addition of a plaintext";
        let (params, engine) = (self.params(), self.engine());
        engine.status()?;
        self.check_owner(&like.meta, OPERATION)?;
        same_modulus(like.meta.exponent, x.exponent(), OPERATION)?;
        let meta = params.noise().addend(&like.meta)?;
        let mut components = self.zeros(like.basis());
        components[0] = carried_poly(params, engine, x, &meta, like.basis())?;
        Ok(Ciphertext::new(meta, components))
    }

    fn prepare_thin_input(
        &self,
        x: &Ciphertext<E>,
        capacity: f64,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.check_set(&x.meta)?;
        let meta = self.params.noise().entered(&x.meta, capacity)?;
        Ok(self.mod_switch_to(x, meta.level)?.with_meta(meta))
    }

    fn set_correction_factor(&self, r: &Base<E>, mut x: Ciphertext<E>) -> Ciphertext<E> {
        x.meta.factor = self.params.noise().raised_unit(r.factor, &x.meta);
        x
    }
}
