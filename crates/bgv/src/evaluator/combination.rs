//! Linear combinations with constants: of ciphertexts, and of products before relinearization.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use everlevel_ring::{Constant, Engine, Eval, Poly, RoundingScale};

use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::noise::{AlignedTerm, Meta, NoiseModel};
use everlevel_scheme::spec::Level;
use everlevel_scheme::{AffineForm, Arithmetic, SchemeError, SparseForm, same_kind};

/// The weights and the constant of an affine form.
type Row<'a> = (&'a [i64], i64);

/// A term of a row: the place of its value, how it is aligned with the others of the row, and the
/// constant that does this.
#[derive(Clone, Copy)]
struct Term<'a> {
    place: usize,
    aligned: &'a AlignedTerm,
    constant: i64,
}

/// How the terms of forms are aligned, by the places of their values.
type Alignments = BTreeMap<Vec<usize>, Vec<AlignedTerm>>;

/// The places of the values of a form.
fn places(form: &SparseForm) -> Vec<usize> {
    form.terms.iter().map(|(place, _)| *place).collect()
}

/// The rows of forms of this many values.
fn rows_of(forms: &[AffineForm], values: usize) -> Result<Vec<Row<'_>>, SchemeError> {
    forms.iter().try_for_each(|form| form.check(values))?;
    Ok(forms.iter().map(|form| (&form.weights[..], form.constant)).collect())
}

/// The terms of a form whose alignment is known, from the highest level down.
fn terms<'a>(alignments: &'a Alignments, form: &SparseForm) -> Vec<Term<'a>> {
    let term = |aligned: &'a AlignedTerm| {
        let (place, weight) = form.terms[aligned.position];
        Term { place, aligned, constant: aligned.constant(weight) }
    };
    alignments.get(&places(form)).into_iter().flatten().map(term).collect()
}

/// Polynomials of several ciphertexts, or products, each as its components.
type Components<E> = Vec<Vec<Poly<Eval, E>>>;

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// Σ w x + c.
    pub(super) fn combination(
        &self,
        terms: &[(&Ciphertext<E>, i64)],
        constant: i64,
    ) -> Result<Ciphertext<E>, SchemeError> {
        let (xs, weights): (Vec<_>, Vec<_>) = terms.iter().copied().unzip();
        let terms = weights.into_iter().enumerate().collect();
        let sums = self.combinations(&xs, &[SparseForm { terms, constant }])?;
        Ok(sums.into_iter().next().expect("a sum for each row"))
    }

    /// Σ w x + c for each form: level by level from the highest down, the terms of a level in one
    /// pass for all rows that have some there. A row is aligned by its own terms only, so that it
    /// is what it would be without the others.
    pub(super) fn combinations(
        &self,
        xs: &[&Ciphertext<E>],
        forms: &[SparseForm],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        let metas: Vec<&Meta> = xs.iter().map(|x| &x.meta).collect();
        for x in xs {
            x.check(&self.params)?;
            self.check_owner(&x.meta, "linear combination")?;
        }
        let alignments = self.alignments(&metas, forms)?;
        let rows: Vec<Vec<Term<'_>>> = forms.iter().map(|form| terms(&alignments, form)).collect();
        for x in rows.iter().flatten().map(|term| xs[term.place]) {
            self.counters.scaled(x.components.len() * x.basis().len(), self.params.degree());
        }
        let level = |term: &Term<'_>| metas[term.place].level;
        let levels: BTreeSet<Level> = rows.iter().flatten().map(level).collect();
        let mut sums: Vec<Option<Ciphertext<E>>> = rows.iter().map(|_| None).collect();
        for current in levels.into_iter().rev() {
            let mut here = Vec::new();
            for (row, terms) in rows.iter().enumerate() {
                let mut parts = terms.chunk_by(|a, b| level(a) == level(b));
                let part = parts.find(|part| level(&part[0]) == current);
                here.extend(part.map(|part| (row, part)));
            }
            let above = here.iter().map(|(row, _)| {
                sums[*row].take().map(|sum| self.mod_switch_to(&sum, current)).transpose()
            });
            let above = above.collect::<Result<Vec<_>, _>>()?;
            let before: Vec<Option<Meta>> =
                above.iter().map(|sum| sum.as_ref().map(|sum| sum.meta)).collect();
            let parts: Vec<&[Term<'_>]> = here.iter().map(|(_, part)| *part).collect();
            let all: Vec<&[Poly<Eval, E>]> = xs.iter().map(|x| &x.components[..]).collect();
            let (after, components) = self.rows(&parts, &metas, &all, &before)?;
            let made = after.into_iter().zip(components).zip(above).zip(&here);
            for (((meta, mut sum), above), (row, _)) in made {
                if let Some(above) = above {
                    let pairs = sum.iter_mut().zip(&above.components);
                    pairs.for_each(|(sum, above)| sum.add_assign(self.engine(), above));
                }
                sums[*row] = Some(Ciphertext::new(meta, sum));
            }
        }
        let sums = sums.into_iter().map(|sum| sum.expect("a row has a term"));
        sums.zip(forms).map(|(sum, form)| self.plus_scalar(sum, form.constant)).collect()
    }

    /// How the terms of each form are aligned: once for all forms of the same values.
    fn alignments(&self, metas: &[&Meta], forms: &[SparseForm]) -> Result<Alignments, SchemeError> {
        let mut known = Alignments::new();
        for form in forms {
            form.check(metas.len())?;
            if let Entry::Vacant(entry) = known.entry(places(form)) {
                let of_form: Vec<&Meta> = entry.key().iter().map(|i| metas[*i]).collect();
                for meta in &of_form {
                    same_kind(of_form[0], meta, "linear combination")?;
                }
                entry.insert(self.params.noise().combination(&of_form)?);
            }
        }
        Ok(known)
    }

    /// The contribution of the terms of one level to each row: the public data include what was
    /// accumulated before, the polynomials do not. All values that a row has terms of are read once
    /// for all rows; those that it does not have are multiplied by 0 and do not count.
    fn rows(
        &self,
        rows: &[&[Term<'_>]],
        metas: &[&Meta],
        values: &[&[Poly<Eval, E>]],
        before: &[Option<Meta>],
    ) -> Result<(Vec<Meta>, Components<E>), SchemeError> {
        let meta = |(row, terms): (usize, &&[Term<'_>])| {
            let terms = terms.iter().map(|t| (t.aligned, metas[t.place], t.constant));
            self.params.noise().combined(before.get(row).copied().flatten(), terms)
        };
        let after = rows.iter().enumerate().map(meta).collect::<Result<_, _>>()?;
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        let mut inputs = Vec::new();
        for term in rows.iter().copied().flatten() {
            columns.entry(term.place).or_insert_with(|| {
                inputs.push(values[term.place]);
                inputs.len() - 1
            });
        }
        let constants = rows.iter().map(|terms| {
            let mut constants = vec![0; inputs.len()];
            terms.iter().for_each(|t| constants[columns[&t.place]] = t.constant);
            constants
        });
        let constants: Vec<Vec<i64>> = constants.collect();
        let constants: Vec<&[i64]> = constants.iter().map(Vec::as_slice).collect();
        Ok((after, self.engine().linear_combinations(&inputs, &constants)))
    }

    /// a + k.
    pub(super) fn plus_scalar(
        &self,
        a: Ciphertext<E>,
        k: i64,
    ) -> Result<Ciphertext<E>, SchemeError> {
        let (meta, constant) = self.with_constant(&a.meta, k, |_, bits| bits)?;
        let mut out = a.with_meta(meta);
        if constant.numerator != 0 {
            out.components[0].add_constant(self.engine(), constant);
        }
        Ok(out)
    }

    /// The public data after the addition of k to the first component, and what has to be added
    /// there; `norm` states how the secret changes its norm, relative to that of a ciphertext.
    fn with_constant(
        &self,
        m: &Meta,
        k: i64,
        norm: impl Fn(&NoiseModel, f64) -> f64,
    ) -> Result<(Meta, Constant), SchemeError> {
        let t = self.params.plaintext_ring().modulus(m.exponent);
        let constant = t.centered(t.mul(t.reduce_i64(k), m.factor));
        let bits = (constant.unsigned_abs().max(1) as f64).log2();
        let meta = self.params.noise().add_plain(m, |model| norm(model, bits))?;
        let (numerator, denominator) = (constant.into(), m.form.scale(t.wide()));
        Ok((meta, Constant { numerator, denominator }))
    }

    /// Affine forms of products that were not relinearized; the results are not relinearized
    /// either. It multiplies a matrix of constants with a vector of products, for servers without
    /// keys, and the owner of the key decrypts the results
    /// ([`SecretKey::decrypt_product`](crate::SecretKey::decrypt_product)). The results are at the
    /// lowest level of all terms; their noise is at most the sum of those of the terms, times their
    /// constants.
    ///
    /// Each word of a product is read once for all forms; scaled BFV products take a transform for
    /// each of their limbs.
    ///
    /// ```
    /// use everlevel_bgv::{Evaluator, SecretKey, ServerKeys};
    /// use everlevel_ring::sample::system_rng;
    /// use everlevel_scheme::{AffineForm, Arithmetic, OptIn, Params, ParamsSpec, Plaintext};
    ///
    /// // A layer of two neurons, squares, and one output: 2 (x + 3 y)² - (5 x - y + 1)² + 7.
    /// let params = Params::new(ParamsSpec::for_products(65537, 300)?, OptIn::SecureOnly)?;
    /// let (secret, rng) = (SecretKey::generate(&params, &mut system_rng()?), &mut system_rng()?);
    /// let x = secret.encrypt(&Plaintext::encode(&params, &[1, 2])?, rng)?;
    /// let y = secret.encrypt(&Plaintext::encode(&params, &[3, 4])?, rng)?;
    ///
    /// let server = Evaluator::new(ServerKeys::empty(&params));
    /// let form = |weights: &[i64], constant| AffineForm { weights: weights.into(), constant };
    /// let layer = server.linear_combinations(&[&x, &y], &[form(&[1, 3], 0), form(&[5, -1], 1)])?;
    /// let a = server.mul_lazy_aligned(&layer[0], &layer[0])?;
    /// let b = server.mul_lazy_aligned(&layer[1], &layer[1])?;
    /// let output = server.combine_products(&[&a, &b], &[form(&[2, -1], 7)])?;
    ///
    /// let values = secret.decrypt_product(&output[0])?.decode(&params)?;
    /// assert_eq!(values[..2], [2 * 10 * 10 - 3 * 3 + 7, 2 * 14 * 14 - 7 * 7 + 7]);
    /// # Ok::<(), everlevel_scheme::SchemeError>(())
    /// ```
    ///
    /// # Errors
    /// No product, a form with a wrong number of weights, products of different owners, plaintext
    /// moduli or forms, too much noise.
    pub fn combine_products(
        &self,
        products: &[&Product<E>],
        forms: &[AffineForm],
    ) -> Result<Vec<Product<E>>, SchemeError> {
        const OPERATION: &str = "combination of products";
        let rows = rows_of(forms, products.len())?;
        for product in products {
            product.check(&self.params)?;
            self.check_owner(&product.meta, OPERATION)?;
            same_kind(&products[0].meta, &product.meta, OPERATION)?;
        }
        let lowest = products.iter().map(|product| product.meta.level).min();
        let aligned = |product: &&Product<E>| -> Result<_, SchemeError> {
            let level = lowest.unwrap_or(product.meta.level);
            let product = self.product_at((*product).clone(), level)?;
            Ok((product.meta, product.components(self.engine())))
        };
        let aligned = products.iter().map(aligned).collect::<Result<Vec<_>, SchemeError>>()?;
        let metas: Vec<&Meta> = aligned.iter().map(|(meta, _)| meta).collect();
        let inputs: Vec<_> = aligned.iter().map(|(_, components)| &components[..]).collect();
        let aligned = self.params.noise().combination(&metas)?;
        let mut terms: Vec<Vec<Term<'_>>> = Vec::with_capacity(rows.len());
        for (weights, _) in &rows {
            let mut of_row = Vec::with_capacity(aligned.len());
            for aligned in &aligned {
                let (place, constant) =
                    (aligned.position, aligned.constant(weights[aligned.position]));
                of_row.push(Term { place, aligned, constant });
            }
            terms.push(of_row);
        }
        let terms: Vec<&[Term<'_>]> = terms.iter().map(Vec::as_slice).collect();
        let (metas, components) = self.rows(&terms, &metas, &inputs, &[])?;
        let sums = metas.into_iter().zip(components).zip(&rows);
        sums.map(|((meta, mut components), row)| {
            // Over NTRU the secret multiplies the first component of a product twice.
            let (meta, constant) = self.with_constant(&meta, row.1, NoiseModel::added)?;
            components[0].add_constant(self.engine(), constant);
            Ok(Product { meta, tensor: Tensor::Eval(components) })
        })
        .collect()
    }

    /// The product at a lower level.
    pub(super) fn product_at(
        &self,
        mut x: Product<E>,
        level: Level,
    ) -> Result<Product<E>, SchemeError> {
        let (params, noise) = (&self.params, self.params.noise());
        if x.meta.level > level {
            let switched = noise.round_square(&noise.mod_switch(&x.meta, level));
            x.meta = noise.checked(switched, "modulus switching of a product")?;
            let to = params.chain().basis(level);
            self.counters.rounding(x.tensor.len(), x.tensor.basis(), to, params.degree());
            let scale = RoundingScale::plain_multiple(noise.divisor(&x.meta));
            x.tensor = x.tensor.divided(self.engine(), to, scale);
        }
        Ok(x)
    }
}
