//! Sums of products in one pass.

use everlevel_ring::{Engine, Pair};

use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::Form;
use everlevel_scheme::{Arithmetic, same_kind};

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// [`Arithmetic::sum_of_products`].
    ///
    /// In BGV the residues of all products are added up before they are reduced, and no product is
    /// stored: four multiplications of a word a slot and prime for each pair. BFV's products are
    /// made and added one by one, as are those of ciphertexts whose correction factors differ.
    pub(super) fn added_products(
        &self,
        pairs: &[(&Ciphertext<E>, &Ciphertext<E>)],
    ) -> Result<Product<E>, SchemeError> {
        let lowest = pairs.iter().map(|(x, y)| x.meta.level.min(y.meta.level)).min();
        let level = lowest.ok_or_else(|| SchemeError::BadArgument {
            what: "sum of products",
            expected: "at least one pair".into(),
            found: "none".into(),
        })?;
        let mut factors = Vec::with_capacity(pairs.len());
        let mut sum: Option<Meta> = None;
        let mut alike = true;
        for (x, y) in pairs {
            x.check(self.params())?;
            y.check(self.params())?;
            let (meta, both) = self.factors(x, y, level)?;
            sum = Some(match sum {
                None => meta,
                Some(before) => {
                    same_kind(&before, &meta, "sum of products")?;
                    alike &= before.factor == meta.factor;
                    // Where factors differ, this is less than the sum will have.
                    self.params.noise().add(&before, &meta)?
                }
            });
            factors.push((meta, both));
        }
        let meta = sum.expect("there is a pair");
        if !alike || self.params.noise().product_form(meta.form) == Form::Bfv {
            let mut products =
                factors.iter().map(|(meta, (x, y))| self.multiplied(*meta, x, Some(y)));
            let first = products.next().expect("there is a pair");
            return products.try_fold(first, |sum, next| self.add_products(&sum, &next));
        }
        let basis = self.params.chain().basis(level);
        let pairs = |places: &[(usize, usize)]| -> Vec<Pair<'_, E>> {
            let of = |&(i, j): &(usize, usize)| {
                factors.iter().map(move |(_, (x, y))| (&x.components[i], &y.components[j]))
            };
            places.iter().flat_map(of).collect()
        };
        // Which components make d0, d1, d2, or d.
        let places: &[&[(usize, usize)]] = match self.params.components() {
            1 => &[&[(0, 0)]],
            _ => &[&[(0, 0)], &[(0, 1), (1, 0)], &[(1, 1)]],
        };
        let streams = factors.len() * self.params.tensor_streams();
        self.counters.limbs(streams * basis.len(), self.params.degree());
        let sums: Vec<_> = places.iter().map(|places| pairs(places)).collect();
        let mut tensor = Tensor::Eval(self.engine().sums_of_products(basis, &sums));
        // t x * t y is t times the product in BFV form.
        let t = self.params.plaintext_ring().modulus(meta.exponent).wide();
        tensor.scale_assign(self.engine(), meta.form.scale(t) as i128);
        Ok(Product { meta, tensor })
    }
}
