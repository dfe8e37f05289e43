//! Sums of products in one pass.

use everlevel_ring::{Engine, Pair};

use super::operands::Operands;
use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use everlevel_scheme::SchemeError;
use everlevel_scheme::noise::Meta;
use everlevel_scheme::spec::{Form, Level};
use everlevel_scheme::{Arithmetic, same_kind};

/// The products of a sum, before they are computed.
struct Terms<'c, E: Engine> {
    level: Level,
    /// What the sum will be, unless it is made product by product.
    meta: Meta,
    /// Whether residues can be added up: products of BGV with one correction factor.
    alike: bool,
    factors: Vec<(Meta, Operands<'c, E>)>,
}

impl<E: Engine> Terms<'_, E> {
    /// The pairs of components at these places of all products.
    fn pairs(&self, places: &[(usize, usize)]) -> Vec<Pair<'_, E>> {
        let of = |&(i, j): &(usize, usize)| {
            self.factors.iter().map(move |(_, (x, y))| (&x.components[i], &y.components[j]))
        };
        places.iter().flat_map(of).collect()
    }
}

impl<E: Engine, K: EvalKeys> Evaluator<E, K> {
    /// [`Arithmetic::sums_of_products`].
    ///
    /// In BGV the residues of all products are added up before they are reduced, and no product is
    /// stored: four multiplications of a word a slot and prime for each pair. BFV's products are
    /// made and added one by one, as are those of ciphertexts whose correction factors differ.
    pub(super) fn added_products(
        &self,
        sums: &[&[(&Ciphertext<E>, &Ciphertext<E>)]],
    ) -> Result<Vec<Product<E>>, SchemeError> {
        let sums = sums.iter().map(|pairs| self.terms(pairs)).collect::<Result<Vec<_>, _>>()?;
        if sums.iter().all(|terms| terms.alike && terms.level == sums[0].level) {
            return Ok(self.summed(&sums));
        }
        sums.iter().map(|terms| self.summed_alone(terms)).collect()
    }

    /// The products of a sum at their lowest level, checked.
    fn terms<'c>(
        &self,
        pairs: &[(&'c Ciphertext<E>, &'c Ciphertext<E>)],
    ) -> Result<Terms<'c, E>, SchemeError> {
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
        alike &= self.params.noise().product_form(meta.form) != Form::Bfv;
        Ok(Terms { level, meta, alike, factors })
    }

    /// A sum by itself.
    fn summed_alone(&self, terms: &Terms<'_, E>) -> Result<Product<E>, SchemeError> {
        if terms.alike {
            let mut sums = self.summed(std::slice::from_ref(terms));
            return Ok(sums.pop().expect("a sum for each list"));
        }
        let products = terms.factors.iter();
        let mut products = products.map(|(meta, (x, y))| self.multiplied(*meta, x, Some(y)));
        let first = products.next().expect("there is a pair");
        products.try_fold(first, |sum, next| self.add_products(&sum, &next))
    }

    /// Sums at one level whose residues can be added up, all of them in one pass.
    fn summed(&self, sums: &[Terms<'_, E>]) -> Vec<Product<E>> {
        let Some(first) = sums.first() else { return Vec::new() };
        let basis = self.params.chain().basis(first.level);
        // Which components make d0, d1, d2, or d.
        let places: &[&[(usize, usize)]] = match self.params.components() {
            1 => &[&[(0, 0)]],
            _ => &[&[(0, 0)], &[(0, 1), (1, 0)], &[(1, 1)]],
        };
        let products: usize = sums.iter().map(|terms| terms.factors.len()).sum();
        let streams = products * self.params.tensor_streams();
        self.counters.limbs(streams * basis.len(), self.params.degree());
        let pairs: Vec<_> =
            sums.iter().flat_map(|terms| places.iter().map(move |at| terms.pairs(at))).collect();
        let mut polys = self.engine().sums_of_products(basis, &pairs).into_iter();
        let product = |terms: &Terms<'_, E>| {
            let meta = terms.meta;
            let mut tensor = Tensor::Eval(polys.by_ref().take(places.len()).collect());
            // t x * t y is t times the product in BFV form.
            let t = self.params.plaintext_ring().modulus(meta.exponent).value();
            tensor.scale_assign(self.engine(), meta.form.scale(t).into());
            Product { meta, tensor }
        };
        sums.iter().map(product).collect()
    }
}
