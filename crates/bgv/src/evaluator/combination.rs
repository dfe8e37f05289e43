//! Linear combinations with constants: of ciphertexts, and of products before relinearization.

use everlevel_ring::{Constant, Engine, Eval, Poly, RoundingScale};

use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::noise::{AlignedTerm, Meta, NoiseModel};
use everlevel_scheme::spec::Level;
use everlevel_scheme::{AffineForm, Arithmetic, SchemeError, same_kind};

/// The weights and the constant of an affine form.
type Row<'a> = (&'a [i64], i64);

/// The rows of forms of this many values.
pub(super) fn rows_of(forms: &[AffineForm], values: usize) -> Result<Vec<Row<'_>>, SchemeError> {
    forms.iter().try_for_each(|form| form.check(values))?;
    Ok(forms.iter().map(|form| (&form.weights[..], form.constant)).collect())
}

/// Polynomials of several ciphertexts, or products, each as its components.
type Components<E> = Vec<Vec<Poly<Eval, E>>>;

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// Σ w x + c for each row: level by level from the highest down, the terms of a level in one
    /// pass for all rows.
    pub(super) fn combinations(
        &self,
        xs: &[&Ciphertext<E>],
        rows: &[Row<'_>],
    ) -> Result<Vec<Ciphertext<E>>, SchemeError> {
        let metas: Vec<&Meta> = xs.iter().map(|x| &x.meta).collect();
        for x in xs {
            x.check(&self.params)?;
            self.check_owner(&x.meta, "linear combination")?;
            same_kind(metas[0], &x.meta, "linear combination")?;
        }
        let terms = self.params.noise().combination(&metas)?;
        let mut sums: Vec<Ciphertext<E>> = Vec::new();
        let level = |term: &AlignedTerm| metas[term.position].level;
        for terms in terms.chunk_by(|a, b| level(a) == level(b)) {
            let switched = sums.iter().map(|sum| self.mod_switch_to(sum, level(&terms[0])));
            let above = switched.collect::<Result<Vec<_>, _>>()?;
            let before: Vec<Meta> = above.iter().map(|sum| sum.meta).collect();
            let inputs: Vec<_> = terms.iter().map(|t| &xs[t.position].components[..]).collect();
            let (after, mut components) = self.rows(terms, &metas, &inputs, rows, &before)?;
            for (sum, above) in components.iter_mut().zip(&above) {
                let pairs = sum.iter_mut().zip(&above.components);
                pairs.for_each(|(sum, above)| sum.add_assign(self.engine(), above));
            }
            let pairs = after.into_iter().zip(components);
            sums = pairs.map(|(meta, components)| Ciphertext::new(meta, components)).collect();
        }
        sums.into_iter().zip(rows).map(|(sum, row)| self.plus_scalar(sum, row.1)).collect()
    }

    /// The contribution of the terms of one level to each row: the public data include what was
    /// accumulated before, the polynomials do not.
    fn rows(
        &self,
        terms: &[AlignedTerm],
        metas: &[&Meta],
        inputs: &[&[Poly<Eval, E>]],
        rows: &[Row<'_>],
        before: &[Meta],
    ) -> Result<(Vec<Meta>, Components<E>), SchemeError> {
        let aligned = |row: &Row<'_>| -> Vec<i64> {
            terms.iter().map(|term| term.constant(row.0[term.position])).collect()
        };
        let constants: Vec<Vec<i64>> = rows.iter().map(aligned).collect();
        let meta = |(row, constants): (usize, &Vec<i64>)| {
            let terms = terms.iter().zip(constants).map(|(t, &k)| (t, metas[t.position], k));
            self.params.noise().combined(before.get(row).copied(), terms)
        };
        let after = constants.iter().enumerate().map(meta).collect::<Result<_, _>>()?;
        let constants: Vec<&[i64]> = constants.iter().map(Vec::as_slice).collect();
        Ok((after, self.engine().linear_combinations(inputs, &constants)))
    }

    /// a + k.
    pub(super) fn plus_scalar(
        &self,
        a: Ciphertext<E>,
        k: i64,
    ) -> Result<Ciphertext<E>, SchemeError> {
        let (meta, constant) = self.with_constant(&a.meta, k, |_, bits| bits)?;
        let mut out = a.with_meta(meta);
        out.components[0].add_constant(self.engine(), constant);
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
        let terms = self.params.noise().combination(&metas)?;
        let (metas, components) = self.rows(&terms, &metas, &inputs, &rows, &[])?;
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
