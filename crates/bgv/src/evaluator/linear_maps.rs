//! Automorphisms and linear maps with double hoisting.
//!
//! An [`Extended`] ciphertext is modulo Q P, multiplied by P and divided by t, so that a sum of
//! plaintext products and automorphisms needs only one division by P.

use everlevel_ring::{
    Basis, Constant, Cpu, Engine, Eval, GaloisElement, Hoist, Hoisted, Poly, Rest, RoundingScale,
    Source, Sum, Use,
};

use super::diagonal::Diagonal;
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::{ExtendedMeta, Meta};
use everlevel_scheme::spec::{Level, NextUse};
use everlevel_scheme::{no_parts, same_parts};

const OPERATION: &str = "linear map";

/// As many ciphertexts read keys together: all of their digits are in memory at the same time, and
/// what they save is shared by that many.
const TOGETHER: usize = 4;

/// The components of a ciphertext.
type Components<E> = Vec<Poly<Eval, E>>;

/// The components of an accumulator, and what is added to them after an automorphism.
type Moved<'a, E> = (&'a mut [Poly<Eval, E>], Components<E>);

/// A ciphertext before the division by P.
pub struct Extended<E: Engine = Cpu> {
    pub(crate) meta: ExtendedMeta,
    pub(crate) components: Vec<Poly<Eval, E>>,
}

/// A sum of automorphisms of parts, to which the moved parts have yet to be added.
struct PartialSum<E: Engine> {
    acc: Vec<Poly<Eval, E>>,
    moved: Vec<(GaloisElement, Vec<Poly<Eval, E>>)>,
    /// What the result is.
    out: Meta,
    level: Level,
    /// t, by which the parts were divided.
    divisor: u128,
}

impl<E: Engine> Extended<E> {
    fn basis(&self) -> Basis {
        self.components[0].basis()
    }
}

fn name(g: GaloisElement) -> String {
    format!("Galois key for X^{}", g.exponent())
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// The images of each ciphertext; those at one level with one divisor read the keys together.
    pub(super) fn hoisted(
        &self,
        xs: &[&Ciphertext<E>],
        gs: &[GaloisElement],
    ) -> Result<Vec<Vec<Extended<E>>>, SchemeError> {
        xs.iter().try_for_each(|x| self.check_set(&x.meta))?;
        let mut all = Vec::with_capacity(xs.len());
        let divisor = |x: &Ciphertext<E>| self.params.noise().divisor(&x.meta);
        for alike in xs.chunk_by(|x, y| x.basis() == y.basis() && divisor(x) == divisor(y)) {
            for together in alike.chunks(TOGETHER) {
                all.extend(self.hoisted_together(together, gs)?);
            }
        }
        Ok(all)
    }

    fn hoisted_together<'x>(
        &self,
        xs: &[&'x Ciphertext<E>],
        gs: &[GaloisElement],
    ) -> Result<Vec<Vec<Extended<E>>>, SchemeError> {
        self.engine.status()?;
        let params = self.params();
        params.check_switching()?;
        let Some(first) = xs.first() else { return Ok(Vec::new()) };
        let (basis, level) = (first.basis(), first.meta.level);
        let gadget = params.chain().gadget(level);
        let special = gadget.special();
        let t = params.noise().divisor(&first.meta);
        xs.iter().try_for_each(|x| self.check_owner(&x.meta, "automorphism"))?;
        let keys = self.galois_keys(first, gs)?;
        let switched = keys.iter().flatten().count();
        let digits = |x: &Ciphertext<E>| {
            self.count_key_switches(x.components.len(), switched, basis, level);
            self.engine.decompose(gadget, Source::Eval(x.last(), t))
        };
        let source = |x: &&'x Ciphertext<E>| Hoisted {
            digits: (switched > 0).then(|| digits(x)),
            components: &x.components,
        };
        let hoist = Hoist {
            basis: basis.union(special),
            images: gs.iter().copied().zip(keys.iter().map(Option::as_ref)).collect(),
            sources: xs.iter().map(source).collect(),
            raise: special,
            factor: Constant::inverse(t),
        };
        let images = |(x, images): (&&Ciphertext<E>, Vec<Components<E>>)| {
            let meta = |key: &Option<_>| {
                if key.is_some() { params.noise().key_switch(&x.meta) } else { x.meta }
            };
            let metas = keys.iter().map(|key| ExtendedMeta::flat(meta(key)));
            let images = images.into_iter().zip(metas);
            images.map(|(components, meta)| Extended { meta, components }).collect()
        };
        Ok(xs.iter().zip(self.engine.hoist(hoist)).map(images).collect())
    }

    /// Counts `count` key switches that share one decomposition of a component over `basis`.
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

    /// The images under the automorphisms `gs` of `x` after the key switch by each of the `keys`,
    /// or of `x` itself where there is no key.
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
            self.params.check_automorphism(g)?;
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
        let params = self.params();
        let shape_error = |found: String| SchemeError::BadArgument {
            what: "linear map",
            expected: "non-empty rows of one diagonal an input, at the inputs' plaintext modulus \
                       and level"
                .into(),
            found,
        };
        let Some(first) = inputs.first() else { return Err(shape_error("no input".into())) };
        inputs.iter().try_for_each(|x| self.check_set(&x.meta.meta))?;
        for d in rows.iter().flatten().flatten() {
            params.noise().check_origin_of(Some(d.set), "the diagonal")?;
        }
        for x in inputs {
            same_parts(&first.meta.meta, &x.meta.meta, OPERATION)?;
        }
        let (basis, count) = (first.basis(), first.components.len());
        let mut metas = Vec::with_capacity(rows.len());
        for row in rows {
            let fits = |d: &Diagonal<E>| d.fits(first.meta.meta.exponent, basis);
            if row.len() != inputs.len() || row.iter().flatten().any(|d| !fits(d)) {
                return Err(shape_error(format!(
                    "a row of {} entries for {} inputs, or of other diagonals",
                    row.len(),
                    inputs.len()
                )));
            }
            let pairs =
                inputs.iter().zip(row).filter_map(|(x, d)| d.map(|d| (&x.meta, d.profile())));
            metas.push(
                ExtendedMeta::combine(pairs).ok_or_else(|| shape_error("an empty row".into()))?,
            );
        }
        let streams = basis.len() * count * (inputs.len() + rows.len());
        self.counters.limbs(streams, params.degree());
        let entries = rows.iter().flatten().flatten().count();
        self.counters.terms(basis.len() * count * entries, params.degree());
        let inputs: Vec<&[Poly<Eval, E>]> = inputs.iter().map(|x| &x.components[..]).collect();
        let rows: Vec<Vec<Option<&E::Diagonal>>> = rows
            .iter()
            .map(|row| row.iter().map(|d| d.map(|d| &d.evaluations)).collect())
            .collect();
        let all = self.engine.combine(&inputs, &rows).into_iter().zip(metas);
        Ok(all.map(|(components, meta)| Extended { meta, components }).collect())
    }

    /// The sum of each list of parts; lists with the same automorphisms at one level read the keys
    /// together.
    pub(super) fn summed(
        &self,
        sums: Vec<Vec<(GaloisElement, Extended<E>)>>,
        next: NextUse,
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        self.engine.status()?;
        let begun = |parts| self.begun(parts, next);
        let mut sums = sums.into_iter().map(begun).collect::<Result<Vec<_>, SchemeError>>()?;
        for alike in sums.chunk_by_mut(|x, y| {
            let moves = |sum: &PartialSum<E>| sum.moved.iter().map(|(g, _)| *g).collect::<Vec<_>>();
            x.level == y.level && moves(x) == moves(y)
        }) {
            for together in alike.chunks_mut(TOGETHER) {
                self.add_all_moved(together)?;
            }
        }
        Ok(sums.into_iter().map(|sum| self.reduced(&sum.acc, sum.out, sum.divisor)).collect())
    }

    /// The sum of the parts that do not move.
    fn begun(
        &self,
        parts: Vec<(GaloisElement, Extended<E>)>,
        next: NextUse,
    ) -> Result<PartialSum<E>, SchemeError> {
        let params = self.params();
        for (g, x) in &parts {
            params.check_automorphism(*g)?;
            self.check_owner(&x.meta.meta, OPERATION)?;
            same_parts(&parts[0].1.meta.meta, &x.meta.meta, OPERATION)?;
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
        let moved = moved.into_iter().map(|(g, x)| (g, x.components)).collect();
        let (level, divisor) = (sum.meta.level, params.noise().divisor(&sum.meta));
        Ok(PartialSum { acc, moved, out, level, divisor })
    }

    /// Adds the moved parts of sums at one level that have the same automorphisms.
    fn add_all_moved(&self, sums: &mut [PartialSum<E>]) -> Result<(), SchemeError> {
        let Some(level) = sums.first().map(|sum| sum.level) else { return Ok(()) };
        let mut moved: Vec<_> =
            sums.iter_mut().map(|sum| std::mem::take(&mut sum.moved).into_iter()).collect();
        loop {
            let parts: Vec<_> = moved.iter_mut().filter_map(Iterator::next).collect();
            let Some(&(g, _)) = parts.first() else { return Ok(()) };
            let parts = parts.into_iter().map(|(_, x)| x);
            let accs = sums.iter_mut().map(|sum| &mut sum.acc[..]);
            self.add_moved(accs.zip(parts).collect(), g, level)?;
        }
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
            params.check_automorphism(g)?;
            self.check_owner(&x.meta.meta, OPERATION)?;
            if let Some(inner) = sum.take() {
                same_parts(&inner.meta.meta, &x.meta.meta, OPERATION)?;
                x.meta = x.meta.plus(&inner.meta);
                self.add_components(&mut x.components, &inner.components);
            }
            if !g.is_identity() {
                switched += 1;
                let meta = x.meta.shifted(g.evaluation_shift(params.ring()));
                let mut acc = self.zeros(x.basis());
                self.add_moved(vec![(&mut acc, x.components)], g, meta.meta.level)?;
                x = Extended { meta, components: acc };
            }
            sum = Some(x);
        }
        let sum = sum.ok_or_else(no_parts)?;
        let out = params.noise().galois_sum(&sum.meta, switched, next)?;
        Ok(self.reduced(&sum.components, out, params.noise().divisor(&sum.meta.meta)))
    }

    /// The components of a ciphertext of zero.
    pub(super) fn zeros(&self, basis: Basis) -> Vec<Poly<Eval, E>> {
        (0..self.params().components()).map(|_| self.engine.zero(basis)).collect()
    }

    fn add_components(&self, acc: &mut [Poly<Eval, E>], x: &[Poly<Eval, E>]) {
        acc.iter_mut().zip(x).for_each(|(acc, x)| acc.add_assign(self.engine(), x));
    }

    /// Adds g(x) to each accumulator, x over the extended modulus of `level`, after its key switch.
    fn add_moved(
        &self,
        sums: Vec<Moved<'_, E>>,
        g: GaloisElement,
        level: Level,
    ) -> Result<(), SchemeError> {
        let chain = self.params().chain();
        let basis = chain.basis(level);
        let key = self.galois_key(g, basis, level, OPERATION, || name(g))?;
        let (accs, mut xs): (Vec<_>, Vec<_>) = sums.into_iter().unzip();
        let last = |x: &mut Vec<_>| x.pop().expect("a ciphertext has a component");
        let lasts: Vec<Poly<Eval, E>> = xs.iter_mut().map(last).collect();
        let mut added = Vec::with_capacity(accs.len());
        for ((acc, x), last) in accs.into_iter().zip(&xs).zip(lasts) {
            self.count_key_switches(acc.len(), 1, basis, level);
            let rest = x.iter().map(Rest::Poly).chain([Rest::None]).collect();
            let rests = Sum::of_rests(last.basis(), rest);
            let digits = self.engine.decompose(chain.gadget(level), Source::Quotient(last, basis));
            let switched = Some((Use::Once(digits), &key));
            added.push((acc, Sum { switched, automorphism: g, ..rests }));
        }
        self.engine.accumulate(added);
        Ok(())
    }

    /// Division by P and by the primes that `out` does not have, and multiplication by t.
    fn reduced(&self, components: &[Poly<Eval, E>], out: Meta, t: u128) -> Ciphertext<E> {
        let params = self.params();
        let target = params.chain().basis(out.level);
        self.counters.rounding(components.len(), components[0].basis(), target, params.degree());
        let scale = RoundingScale::times_plain(t);
        let divided = components.iter().map(|c| c.divided(self.engine(), target, scale)).collect();
        Ciphertext::new(out, divided)
    }
}
