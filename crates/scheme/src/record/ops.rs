//! The operations, forwarded to the inner scheme and recorded.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use everlevel_ring::{GaloisElement, SlotShape};

use super::{Between, Recorded, RecordedCiphertext};
use crate::error::SchemeError;
use crate::noise::Events;
use crate::ops::{
    Arithmetic, Automorphisms, DiagonalValues, ExactScheme, LinearMaps, PlainModulus, Scheme,
};
use crate::plaintext::Plaintext;
use crate::spec::{Form, Level, NextUse};

/// Nothing but a rounding.
const ROUNDING: Events = Events::fresh(1);
/// A key switch and the rounding at its end.
const KEY_SWITCH: Events = Events::fresh(2);

impl<S: ExactScheme> Recorded<S> {
    /// The result of a modulus switch, which may be none.
    fn switched(
        &self,
        x: &RecordedCiphertext<S::Ciphertext>,
        out: S::Ciphertext,
    ) -> RecordedCiphertext<S::Ciphertext> {
        if self.inner.level(&out) == self.inner.level(&x.inner) {
            return RecordedCiphertext { inner: out, row: x.row };
        }
        self.after(out, "modulus switch", "", [x], ROUNDING)
    }

    /// A product that was not relinearized.
    fn product(
        &self,
        a: &RecordedCiphertext<S::Ciphertext>,
        b: &RecordedCiphertext<S::Ciphertext>,
        inner: S::Product,
    ) -> Between<S::Product> {
        // Both factors may have been switched down, and BFV rounds the product.
        Between { inner, from: [a.row, b.row].into(), events: Events::fresh(3), parts: 1 }
    }

    /// A linear map: the result of parts that came from `from`.
    fn mapped(
        &self,
        out: S::Ciphertext,
        from: BTreeSet<usize>,
        events: Events,
        diagonals: usize,
    ) -> RecordedCiphertext<S::Ciphertext> {
        let detail =
            if diagonals > 0 { format!("of {diagonals} diagonals") } else { String::new() };
        self.record(out, "linear map", detail, from, events + ROUNDING)
    }
}

fn galois(g: GaloisElement) -> String {
    format!("X^{}", g.exponent())
}

/// The key switches, with the roundings before or after them, of what is no identity.
fn switches<'a>(gs: impl Iterator<Item = &'a GaloisElement>) -> Events {
    KEY_SWITCH * gs.filter(|g| !g.is_identity()).count() as u64
}

/// One line an operation: the inner scheme does it, and the record gains a row with this label,
/// this detail and these events of rounding and key switching.
macro_rules! recorded {
    ($self:ident: $(
        $op:ident($x:ident $(, $y:ident)? $(; $arg:ident: $ty:ty)?)
        => $label:literal, $detail:expr, $events:expr;
    )*) => {$(
        fn $op(
            &$self,
            $x: &Self::Ciphertext,
            $($y: &Self::Ciphertext,)?
            $($arg: $ty,)?
        ) -> Result<Self::Ciphertext, SchemeError> {
            let out = $self.inner.$op(&$x.inner $(, &$y.inner)? $(, $arg)?)?;
            Ok($self.after(out, $label, $detail, [$x $(, $y)?], $events))
        }
    )*};
}

impl<S: ExactScheme> Scheme for Recorded<S> {
    type Ciphertext = RecordedCiphertext<S::Ciphertext>;

    fn slot_shape(&self) -> &SlotShape {
        self.inner.slot_shape()
    }

    fn plain_prime(&self) -> u64 {
        self.inner.plain_prime()
    }

    fn plain_exponent(&self, x: &Self::Ciphertext) -> u32 {
        self.inner.plain_exponent(&x.inner)
    }

    fn level(&self, x: &Self::Ciphertext) -> Level {
        self.inner.level(&x.inner)
    }

    fn noise_bound_bits(&self, x: &Self::Ciphertext) -> f64 {
        self.inner.noise_bound_bits(&x.inner)
    }

    fn noise_estimate_bits(&self, x: &Self::Ciphertext) -> Option<f64> {
        self.inner.noise_estimate_bits(&x.inner)
    }

    fn capacity_bits(&self, x: &Self::Ciphertext) -> f64 {
        self.inner.capacity_bits(&x.inner)
    }

    fn check_params(&self, x: &Self::Ciphertext) -> Result<(), SchemeError> {
        self.inner.check_params(&x.inner)
    }

    fn form(&self, x: &Self::Ciphertext) -> Form {
        self.inner.form(&x.inner)
    }

    fn encode_elements(&self, values: &[u64]) -> Result<Plaintext, SchemeError> {
        self.inner.encode_elements(values)
    }
}

impl<S: ExactScheme> Arithmetic for Recorded<S> {
    type Product = Between<S::Product>;

    recorded! { self:
        add(a, b) => "sum", "", ROUNDING * self.descents(&[a, b]);
        sub(a, b) => "difference", "", ROUNDING * self.descents(&[a, b]);
        neg(a) => "negative", "", Events::NONE;
        add_plain(a; x: &Plaintext) => "plus a plaintext", "", Events::NONE;
        mul_plain(a; x: &Plaintext) => "times a plaintext", "", Events::NONE;
        add_scalar(a; k: i64) => "plus a constant", k.to_string(), Events::NONE;
        mul_scalar(a; k: i64) => "times a constant", k.to_string(), Events::NONE;
        mul(a, b; next: NextUse) => "product", "", Events::fresh(3) + KEY_SWITCH;
        mul_monomial(a; k: i64) => "times a monomial", format!("X^{k}"), Events::NONE;
    }

    fn linear_combination(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        constant: i64,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let inner: Vec<(&S::Ciphertext, i64)> = terms.iter().map(|(x, k)| (&x.inner, *k)).collect();
        let out = self.inner.linear_combination(&inner, constant)?;
        let events = ROUNDING * self.descents(&terms.iter().map(|(x, _)| *x).collect::<Vec<_>>());
        let detail = format!("of {}", terms.len());
        Ok(self.record(
            out,
            "combination",
            detail,
            terms.iter().map(|(x, _)| x.row).collect(),
            events,
        ))
    }

    fn mul_lazy(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError> {
        Ok(self.product(a, b, self.inner.mul_lazy(&a.inner, &b.inner)?))
    }

    fn mul_lazy_aligned(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
    ) -> Result<Self::Product, SchemeError> {
        Ok(self.product(a, b, self.inner.mul_lazy_aligned(&a.inner, &b.inner)?))
    }

    fn add_products(
        &self,
        a: &Self::Product,
        b: &Self::Product,
    ) -> Result<Self::Product, SchemeError> {
        let inner = self.inner.add_products(&a.inner, &b.inner)?;
        let events = a.events + b.events + ROUNDING;
        Ok(Between { inner, from: &a.from | &b.from, events, parts: a.parts + b.parts })
    }

    fn relinearize(
        &self,
        a: &Self::Product,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let out = self.inner.relinearize(&a.inner, next)?;
        let detail =
            if a.parts > 1 { format!("of {}, relinearized", a.parts) } else { String::new() };
        let operation = if a.parts > 1 { "sum of products" } else { "product" };
        Ok(self.record(out, operation, detail, a.from.clone(), a.events + KEY_SWITCH))
    }

    fn prepare(
        &self,
        a: &Self::Ciphertext,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.switched(a, self.inner.prepare(&a.inner, next)?))
    }

    fn prepare_together(
        &self,
        xs: &[&Self::Ciphertext],
        next: NextUse,
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let inner: Vec<&S::Ciphertext> = xs.iter().map(|x| &x.inner).collect();
        let outs = self.inner.prepare_together(&inner, next)?;
        Ok(xs.iter().zip(outs).map(|(x, out)| self.switched(x, out)).collect())
    }

    fn mod_switch_to(
        &self,
        a: &Self::Ciphertext,
        level: Level,
    ) -> Result<Self::Ciphertext, SchemeError> {
        Ok(self.switched(a, self.inner.mod_switch_to(&a.inner, level)?))
    }
}

impl<S: ExactScheme> PlainModulus for Recorded<S> {
    fn convert(&self, a: &Self::Ciphertext, form: Form) -> Self::Ciphertext {
        let out = self.inner.convert(&a.inner, form);
        if self.inner.form(&a.inner) == form {
            return RecordedCiphertext { inner: out, row: a.row };
        }
        self.after(out, "convert", format!("to {}", form.name()), [a], Events::NONE)
    }

    recorded! { self:
        reduce_plain_modulus(a; k: u32) => "reduce", format!("modulo p^{k}"), Events::NONE;
        extend_plain_modulus(a; e: u32) => "extend", format!("to p^{e}"), Events::NONE;
        divide_by_p(a) => "divided by p", "", Events::NONE;
        multiply_by_p(a) => "times p", "", Events::NONE;
    }
}

impl<S: ExactScheme> Automorphisms for Recorded<S> {
    fn galois_level(&self, g: GaloisElement, from: Level) -> Option<Level> {
        self.inner.galois_level(g, from)
    }

    fn apply_galois(
        &self,
        a: &Self::Ciphertext,
        g: GaloisElement,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let out = self.inner.apply_galois(&a.inner, g)?;
        if g.is_identity() {
            return Ok(RecordedCiphertext { inner: out, row: a.row });
        }
        Ok(self.after(out, "automorphism", galois(g), [a], KEY_SWITCH))
    }

    fn apply_galois_many(
        &self,
        a: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Ciphertext>, SchemeError> {
        let outs = self.inner.apply_galois_many(&a.inner, gs)?;
        let tracked = |(out, g): (S::Ciphertext, &GaloisElement)| match g.is_identity() {
            true => RecordedCiphertext { inner: out, row: a.row },
            false => self.after(out, "automorphism", galois(*g) + ", hoisted", [a], KEY_SWITCH),
        };
        Ok(outs.into_iter().zip(gs).map(tracked).collect())
    }
}

impl<S: ExactScheme> LinearMaps for Recorded<S> {
    type Extended = Between<S::Extended>;
    type Diagonal = S::Diagonal;

    fn diagonal(
        &self,
        values: &DiagonalValues,
        e: u32,
        level: Level,
    ) -> Result<S::Diagonal, SchemeError> {
        self.inner.diagonal(values, e, level)
    }

    fn diagonal_at(&self, diagonal: &S::Diagonal, level: Level) -> Option<S::Diagonal> {
        self.inner.diagonal_at(diagonal, level)
    }

    fn hoist(
        &self,
        x: &Self::Ciphertext,
        gs: &[GaloisElement],
    ) -> Result<Vec<Self::Extended>, SchemeError> {
        let outs = self.inner.hoist(&x.inner, gs)?;
        let between = |(inner, g): (S::Extended, &GaloisElement)| {
            let events = switches(std::iter::once(g));
            Between { inner, from: [x.row].into(), events, parts: 0 }
        };
        Ok(outs.into_iter().zip(gs).map(between).collect())
    }

    fn combine(
        &self,
        inputs: &[impl Borrow<Self::Extended> + Sync],
        rows: &[Vec<Option<&Self::Diagonal>>],
    ) -> Result<Vec<Self::Extended>, SchemeError> {
        let inputs: Vec<&Self::Extended> = inputs.iter().map(Borrow::borrow).collect();
        let outs =
            self.inner.combine(&inputs.iter().map(|x| &x.inner).collect::<Vec<_>>(), rows)?;
        let mut inputs_events: Events = inputs.iter().map(|x| x.events).sum();
        let between = |(inner, row): (S::Extended, &Vec<Option<&Self::Diagonal>>)| {
            let used = inputs.iter().zip(row).filter(|(_, diagonal)| diagonal.is_some());
            let from = used.flat_map(|(x, _)| x.from.iter().copied()).collect();
            // The events of the inputs occurred once, for all outputs.
            let events = std::mem::replace(&mut inputs_events, Events::NONE);
            Between { inner, from, events, parts: row.iter().flatten().count() }
        };
        Ok(outs.into_iter().zip(rows).map(between).collect())
    }

    fn galois_sum(
        &self,
        parts: Vec<(GaloisElement, Self::Extended)>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let from = parts.iter().flat_map(|(_, x)| x.from.iter().copied()).collect();
        let events = parts.iter().map(|(_, x)| x.events).sum::<Events>()
            + switches(parts.iter().map(|(g, _)| g));
        let diagonals = parts.iter().map(|(_, x)| x.parts).sum();
        let out =
            self.inner.galois_sum(parts.into_iter().map(|(g, x)| (g, x.inner)).collect(), next)?;
        Ok(self.mapped(out, from, events, diagonals))
    }

    fn galois_chain(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Self::Extended), SchemeError>>,
        next: NextUse,
    ) -> Result<Self::Ciphertext, SchemeError> {
        let (mut from, mut events, mut diagonals) = (BTreeSet::new(), Events::NONE, 0);
        let inner = parts.map(|part| {
            part.map(|(g, x)| {
                from.extend(x.from);
                events = events + x.events + switches(std::iter::once(&g));
                diagonals += x.parts;
                (g, x.inner)
            })
        });
        let out = self.inner.galois_chain(inner, next)?;
        Ok(self.mapped(out, from, events, diagonals))
    }
}
