//! Automorphisms and linear maps with double hoisting.
//!
//! An [`Extended`] ciphertext lives modulo Q P, multiplied by P and divided by t, so that sums of
//! plaintext products and of automorphisms need one division by P in all.

use everlevel_ring::{
    Basis, Constant, Cpu, Engine, Eval, GaloisElement, Hoist, Poly, Rest, RoundingScale, Source,
    Sum, Use,
};

use super::diagonal::Diagonal;
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::{ExtendedMeta, Meta};
use everlevel_scheme::spec::{Level, NextUse};
use everlevel_scheme::{no_parts, same_owner};

const OPERATION: &str = "linear map";

/// A ciphertext before the division by P.
pub struct Extended<E: Engine = Cpu> {
    pub(crate) meta: ExtendedMeta,
    pub(crate) components: Vec<Poly<Eval, E>>,
}

impl<E: Engine> Extended<E> {
    fn basis(&self) -> Basis {
        self.components[0].basis()
    }
}

/// What the images of a ciphertext are made from, and the public data of each.
struct Images<E: Engine> {
    keys: Vec<Option<E::Key>>,
    digits: Option<E::Digits>,
    metas: Vec<ExtendedMeta>,
}

/// The public data of combinations of `inputs` over `basis`.
fn combined_metas<E: Engine>(
    inputs: &[&ExtendedMeta],
    basis: Basis,
    rows: &[Vec<Option<&Diagonal<E>>>],
) -> Result<Vec<ExtendedMeta>, SchemeError> {
    let shape_error = |found: String| SchemeError::BadArgument {
        what: OPERATION,
        expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus and \
                   level"
            .into(),
        found,
    };
    let Some(first) = inputs.first() else { return Err(shape_error("no input".into())) };
    for x in inputs {
        same_owner(first.meta.owner, x.meta.owner, OPERATION)?;
    }
    let fits = |d: &Diagonal<E>| d.fits(first.meta.exponent, basis);
    let combined = |row: &Vec<Option<&Diagonal<E>>>| {
        if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
            return Err(shape_error(format!(
                "a row of {} entries for {} inputs, or of other diagonals",
                row.len(),
                inputs.len()
            )));
        }
        let pairs = inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (*x, d.profile())));
        ExtendedMeta::combine(pairs).ok_or_else(|| shape_error("an empty row".into()))
    };
    rows.iter().map(combined).collect()
}

fn evaluations<'d, E: Engine>(
    rows: &[Vec<Option<&'d Diagonal<E>>>],
) -> Vec<Vec<Option<&'d E::Diagonal>>> {
    rows.iter().map(|row| row.iter().map(|d| d.map(|d| &d.evaluations)).collect()).collect()
}

fn name(g: GaloisElement) -> String {
    format!("Galois key for X^{}", g.exponent())
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    pub(super) fn hoisted(
        &self,
        x: &Ciphertext<E>,
        gs: &[GaloisElement],
    ) -> Result<Vec<Extended<E>>, SchemeError> {
        self.engine.status()?;
        let mut images = self.images(x, gs)?;
        let all = self.engine.hoist(self.described(x, gs, &mut images));
        let metas = images.metas.into_iter();
        Ok(all
            .into_iter()
            .zip(metas)
            .map(|(components, meta)| Extended { meta, components })
            .collect())
    }

    /// Combinations of all images of some ciphertexts, which are not stored on the way.
    pub(super) fn combined_images(
        &self,
        xs: &[Ciphertext<E>],
        gs: &[GaloisElement],
        rows: &[Vec<Option<&Diagonal<E>>>],
    ) -> Result<Vec<Extended<E>>, SchemeError> {
        self.engine.status()?;
        let mut images =
            xs.iter().map(|x| self.images(x, gs)).collect::<Result<Vec<_>, SchemeError>>()?;
        let inputs: Vec<&ExtendedMeta> = images.iter().flat_map(|x| &x.metas).collect();
        let extended = |x: &Ciphertext<E>| self.params().chain().extended(x.meta.level);
        let basis = xs.first().map_or(Basis::EMPTY, extended);
        let metas = combined_metas(&inputs, basis, rows)?;
        self.count_combination(inputs.len(), rows.len(), basis);
        let described = |(x, images)| self.described(x, gs, images);
        let hoists: Vec<Hoist<'_, E>> = xs.iter().zip(&mut images).map(described).collect();
        let all = self.engine.hoist_and_combine(hoists, &evaluations(rows)).into_iter().zip(metas);
        Ok(all.map(|(components, meta)| Extended { meta, components }).collect())
    }

    /// What the images of a ciphertext under `gs` are made from.
    fn images(&self, x: &Ciphertext<E>, gs: &[GaloisElement]) -> Result<Images<E>, SchemeError> {
        let params = self.params();
        params.check_switching()?;
        let keys = self.galois_keys(x, gs)?;
        let switched = keys.iter().flatten().count();
        let digits = (switched > 0).then(|| {
            let gadget = params.chain().gadget(x.meta.level);
            let divisor = params.noise().divisor(&x.meta);
            let digits = self.engine.decompose(gadget, Source::Eval(x.last(), divisor));
            self.count_key_switches(x.components.len(), switched, x.basis(), x.meta.level);
            digits
        });
        let meta = |key: &Option<_>| {
            if key.is_some() { params.noise().key_switch(&x.meta) } else { x.meta }
        };
        let metas = keys.iter().map(|key| ExtendedMeta::flat(meta(key))).collect();
        Ok(Images { keys, digits, metas })
    }

    /// The images of a ciphertext as an engine is told of them; takes the digits.
    fn described<'a>(
        &self,
        x: &'a Ciphertext<E>,
        gs: &[GaloisElement],
        images: &'a mut Images<E>,
    ) -> Hoist<'a, E> {
        let special = self.params().chain().gadget(x.meta.level).special();
        Hoist {
            basis: x.basis().union(special),
            digits: images.digits.take(),
            images: gs.iter().copied().zip(images.keys.iter().map(Option::as_ref)).collect(),
            components: &x.components,
            raise: special,
            factor: Constant::inverse(self.params().noise().divisor(&x.meta)),
        }
    }

    /// Counts `count` key switches from one decomposition of a component over `basis`.
    fn count_key_switches(&self, components: usize, count: usize, basis: Basis, level: Level) {
        let gadget = self.params.chain().gadget(level);
        let (digits, special) = (gadget.digits(basis).count(), gadget.special().len());
        let degree = self.params.degree();
        self.counters.key_switch(components, count, basis.len(), digits, special, degree);
    }

    /// Ciphertexts, not extended ones: each division by P takes its limbs while they are in cache.
    pub(super) fn rotated(
        &self,
        x: &Ciphertext<E>,
        gs: &[GaloisElement],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.switched(x, gs, &self.galois_keys(x, gs)?)
    }

    /// The automorphisms `gs` of what each of the `keys` makes of `x`; `x` itself where there is no
    /// key.
    pub(crate) fn switched(
        &self,
        x: &Ciphertext<E>,
        gs: &[GaloisElement],
        keys: &[Option<E::Key>],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.engine.status()?;
        let params = self.params();
        let gadget = params.chain().gadget(x.meta.level);
        let (basis, special, count) = (x.basis(), gadget.special(), x.components.len());
        let extended = basis.union(special);
        let t = params.noise().divisor(&x.meta);
        let switched = keys.iter().flatten().count();
        if switched == 0 {
            return Ok(vec![x.clone(); gs.len()]);
        }
        let meta = params.noise().reduce(&params.noise().key_switch(&x.meta), NextUse::Keep);
        let out = params.noise().checked(meta, "automorphism")?;
        let digits = self.engine.decompose(gadget, Source::Eval(x.last(), t));
        self.count_key_switches(count, switched, basis, x.meta.level);
        let rotate = |(&g, key): (&GaloisElement, &Option<E::Key>)| {
            let Some(key) = key else { return x.clone() };
            self.counters.rounding(count, extended, basis, params.degree());
            let constant = x.constant().map(Rest::Poly);
            let sum = Sum {
                basis: extended,
                switched: Some((Use::Shared(&digits), key)),
                rest: constant.into_iter().chain([Rest::None]).collect(),
                raise: special,
                factor: Constant::inverse(t),
                automorphism: g,
            };
            let scale = RoundingScale::times_plain(t);
            Ciphertext::new(out, self.engine.divide(sum, basis, scale))
        };
        Ok(gs.iter().zip(keys).map(rotate).collect())
    }

    /// The keys of `gs` at the level of `x`, none for the identity.
    fn galois_keys(
        &self,
        x: &Ciphertext<E>,
        gs: &[GaloisElement],
    ) -> Result<Vec<Option<E::Key>>, SchemeError> {
        self.check_owner(&x.meta, "automorphism")?;
        let key = |&g: &GaloisElement| {
            if g.is_identity() {
                return Ok(None);
            }
            self.galois_key(g, x.basis(), x.meta.level, "automorphism", || name(g)).map(Some)
        };
        gs.iter().map(key).collect()
    }

    pub(super) fn combined(
        &self,
        inputs: &[&Extended<E>],
        rows: &[Vec<Option<&Diagonal<E>>>],
    ) -> Result<Vec<Extended<E>>, SchemeError> {
        self.engine.status()?;
        let basis = inputs.first().map_or(Basis::EMPTY, |x| x.basis());
        let metas = inputs.iter().map(|x| &x.meta).collect::<Vec<_>>();
        let metas = combined_metas(&metas, basis, rows)?;
        self.count_combination(inputs.len(), rows.len(), basis);
        let inputs: Vec<&[Poly<Eval, E>]> = inputs.iter().map(|x| &x.components[..]).collect();
        let all = self.engine.combine(&inputs, &evaluations(rows)).into_iter().zip(metas);
        Ok(all.map(|(components, meta)| Extended { meta, components }).collect())
    }

    /// Counts what `rows` combinations of `inputs` read and write.
    fn count_combination(&self, inputs: usize, rows: usize, basis: Basis) {
        let params = self.params();
        let streams = basis.len() * params.components() * (inputs + rows);
        self.counters.limbs(streams, params.degree());
    }

    pub(super) fn summed(
        &self,
        parts: Vec<(GaloisElement, Extended<E>)>,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.engine.status()?;
        let params = self.params();
        for (_, x) in &parts {
            self.check_owner(&x.meta.meta, OPERATION)?;
            same_owner(parts[0].1.meta.meta.owner, x.meta.meta.owner, OPERATION)?;
        }
        let shifts = parts.iter().map(|(g, x)| (g.evaluation_shift(params.ring()), &x.meta));
        let sum = ExtendedMeta::sum(shifts).ok_or_else(no_parts)?;
        let switched = parts.iter().filter(|(g, _)| !g.is_identity()).count();
        let out = params.noise().galois_sum(&sum, switched, next)?;
        let extended = params.chain().extended(sum.meta.level);
        let (identity, moved): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(g, _)| g.is_identity());
        let mut identity = identity.into_iter().map(|(_, x)| x.components);
        let mut acc = identity.next().unwrap_or_else(|| self.zeros(extended));
        identity.for_each(|x| self.add_components(&mut acc, &x));
        for (g, x) in moved {
            self.add_moved(&mut acc, g, x.components, sum.meta.level)?;
        }
        Ok(self.reduced(&acc, out, params.noise().divisor(&sum.meta)))
    }

    pub(super) fn chained(
        &self,
        parts: impl Iterator<Item = Result<(GaloisElement, Extended<E>), SchemeError>>,
        next: NextUse,
    ) -> Result<Ciphertext<E>, SchemeError> {
        self.engine.status()?;
        let params = self.params();
        let mut sum: Option<Extended<E>> = None;
        let mut switched = 0;
        for part in parts {
            let (g, mut x) = part?;
            self.check_owner(&x.meta.meta, OPERATION)?;
            if let Some(inner) = sum.take() {
                same_owner(inner.meta.meta.owner, x.meta.meta.owner, OPERATION)?;
                x.meta = x.meta.plus(&inner.meta);
                self.add_components(&mut x.components, &inner.components);
            }
            if !g.is_identity() {
                switched += 1;
                let meta = x.meta.shifted(g.evaluation_shift(params.ring()));
                let mut acc = self.zeros(x.basis());
                self.add_moved(&mut acc, g, x.components, meta.meta.level)?;
                x = Extended { meta, components: acc };
            }
            sum = Some(x);
        }
        let sum = sum.ok_or_else(no_parts)?;
        let out = params.noise().galois_sum(&sum.meta, switched, next)?;
        Ok(self.reduced(&sum.components, out, params.noise().divisor(&sum.meta.meta)))
    }

    fn zeros(&self, basis: Basis) -> Vec<Poly<Eval, E>> {
        (0..self.params().components()).map(|_| self.engine.zero(basis)).collect()
    }

    fn add_components(&self, acc: &mut [Poly<Eval, E>], x: &[Poly<Eval, E>]) {
        acc.iter_mut().zip(x).for_each(|(acc, x)| acc.add_assign(self.engine(), x));
    }

    /// Adds g(x), x over the extended modulus of `level`, after its key switch.
    fn add_moved(
        &self,
        acc: &mut [Poly<Eval, E>],
        g: GaloisElement,
        mut x: Vec<Poly<Eval, E>>,
        level: Level,
    ) -> Result<(), SchemeError> {
        let chain = self.params().chain();
        let basis = chain.basis(level);
        let key = self.galois_key(g, basis, level, OPERATION, || name(g))?;
        let last = x.pop().expect("a ciphertext has a component");
        let extended = last.basis();
        let digits = self.engine.decompose(chain.gadget(level), Source::Quotient(last, basis));
        self.count_key_switches(acc.len(), 1, basis, level);
        let sum = Sum {
            switched: Some((Use::Once(digits), &key)),
            automorphism: g,
            ..Sum::of_rests(extended, x.iter().map(Rest::Poly).chain([Rest::None]).collect())
        };
        self.engine.accumulate(acc, sum);
        Ok(())
    }

    /// Division by P and by the primes that `out` does not have, and multiplication by t.
    fn reduced(&self, components: &[Poly<Eval, E>], out: Meta, t: u64) -> Ciphertext<E> {
        let params = self.params();
        let target = params.chain().basis(out.level);
        self.counters.rounding(components.len(), components[0].basis(), target, params.degree());
        let scale = RoundingScale::times_plain(t);
        let divided = components.iter().map(|c| c.divided(self.engine(), target, scale)).collect();
        Ciphertext::new(out, divided)
    }
}
