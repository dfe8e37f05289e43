//! Sums of products in one pass.

use everlevel_ring::cpu::SeededPair;
use everlevel_ring::{Cpu, Engine, Eval, Pair, Poly};

use super::operands::Operands;
use super::product::{Product, Tensor};
use crate::ciphertext::Ciphertext;
use crate::evaluator::Evaluator;
use crate::keys::EvalKeys;
use crate::seeded::SeededCiphertext;
use crate::stored::{RightFactor, StoredCiphertext};
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
            return Ok(self.products_summed(&sums));
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
        for (x, y) in pairs {
            x.check(self.params())?;
            y.check(self.params())?;
            factors.push(self.factors(x, y, level)?);
        }
        let (meta, alike) = self.sum_of_metas(factors.iter().map(|(meta, _)| *meta))?;
        Ok(Terms { level, meta, alike, factors })
    }

    /// What a sum of these products will be, and whether residues can be added up: products of BGV
    /// with one correction factor. Where factors differ, its bound is less than the sum will have.
    fn sum_of_metas(
        &self,
        mut products: impl Iterator<Item = Meta>,
    ) -> Result<(Meta, bool), SchemeError> {
        let first = products.next().expect("there is a pair");
        let bgv = self.params.noise().product_form(first.form) != Form::Bfv;
        products.try_fold((first, bgv), |(sum, alike), meta| -> Result<_, SchemeError> {
            same_kind(&sum, &meta, "sum of products")?;
            Ok((self.params.noise().add(&sum, &meta)?, alike && sum.factor == meta.factor))
        })
    }

    /// A sum by itself.
    fn summed_alone(&self, terms: &Terms<'_, E>) -> Result<Product<E>, SchemeError> {
        if terms.alike {
            let mut sums = self.products_summed(std::slice::from_ref(terms));
            return Ok(sums.pop().expect("a sum for each list"));
        }
        let products = terms.factors.iter();
        let mut products = products.map(|(meta, (x, y))| self.multiplied(*meta, x, Some(y)));
        let first = products.next().expect("there is a pair");
        products.try_fold(first, |sum, next| self.add_products(&sum, &next))
    }

    /// Sums at one level whose residues can be added up, all of them in one pass.
    fn products_summed(&self, sums: &[Terms<'_, E>]) -> Vec<Product<E>> {
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
        let polys = self.engine().sums_of_products(basis, &pairs);
        self.products_of(polys, places.len(), sums.iter().map(|terms| terms.meta))
    }

    /// Products of `each` polynomials.
    fn products_of(
        &self,
        polys: Vec<Poly<Eval, E>>,
        each: usize,
        metas: impl Iterator<Item = Meta>,
    ) -> Vec<Product<E>> {
        let mut polys = polys.into_iter();
        let product = |meta: Meta| {
            let mut tensor = Tensor::Eval(polys.by_ref().take(each).collect());
            // t x * t y is t times the product in BFV form.
            let t = self.params.plaintext_ring().modulus(meta.exponent).wide();
            tensor.scale_assign(self.engine(), meta.form.scale(t) as i128);
            Product { meta, tensor }
        };
        metas.map(product).collect()
    }
}

impl<K: EvalKeys> Evaluator<Cpu, K> {
    /// [`Arithmetic::sums_of_products`] with right factors whose seeds are expanded a few residues
    /// at a time where they are multiplied, and the same results. Where ciphertexts have several
    /// levels or correction factors, or BFV's form, seeds are expanded first.
    ///
    /// One result for each list. Four products of residues for each pair, residue and prime, and
    /// an expansion of each seed for each list that has it; no transform and no key. The noise is
    /// that of [`Arithmetic::sum_of_products`].
    ///
    /// # Errors
    /// As [`Arithmetic::sum_of_products`].
    pub fn sums_of_seeded_products(
        &self,
        sums: &[&[(&Ciphertext, &SeededCiphertext)]],
    ) -> Result<Vec<Product>, SchemeError> {
        self.sums_with_seeds(sums)
    }

    /// [`Evaluator::sums_of_seeded_products`] with right factors as files have them, which are
    /// unpacked where they are multiplied, and the same results. An unpacking for each list more,
    /// and no word of a right factor is written to memory.
    ///
    /// # Errors
    /// As [`Arithmetic::sum_of_products`].
    pub fn sums_of_stored_products(
        &self,
        sums: &[&[(&Ciphertext, &StoredCiphertext)]],
    ) -> Result<Vec<Product>, SchemeError> {
        self.sums_with_seeds(sums)
    }

    fn sums_with_seeds<Y: RightFactor>(
        &self,
        sums: &[&[(&Ciphertext, &Y)]],
    ) -> Result<Vec<Product>, SchemeError> {
        self.engine.status()?;
        let params = self.params();
        for (x, y) in sums.iter().copied().flatten() {
            x.check(params)?;
            y.check(params)?;
            same_kind(&x.meta, y.meta(), "multiplication")?;
        }
        let Some((first, _)) = sums.iter().copied().flatten().next() else {
            return self.sums_of_expanded(sums);
        };
        let level = first.meta.level;
        let there = |(x, y): &(&Ciphertext, &Y)| x.meta.level == level && y.meta().level == level;
        if !sums.iter().all(|pairs| !pairs.is_empty() && pairs.iter().all(there)) {
            return self.sums_of_expanded(sums);
        }
        let product = |(x, y): &(&Ciphertext, &Y)| params.noise().product(&x.meta, y.meta());
        let mut metas = Vec::with_capacity(sums.len());
        for pairs in sums {
            let products = pairs.iter().map(product).collect::<Result<Vec<_>, _>>()?;
            metas.push(self.sum_of_metas(products.into_iter())?);
        }
        if !metas.iter().all(|(_, alike)| *alike) {
            return self.sums_of_expanded(sums);
        }
        let basis = params.chain().basis(level);
        let count: usize = sums.iter().map(|pairs| pairs.len()).sum();
        (0..count).for_each(|_| self.counters.product());
        self.counters.limbs(count * params.tensor_streams() * basis.len(), params.degree());
        let pairs: Vec<Vec<_>> = sums
            .iter()
            .map(|pairs| pairs.iter().map(|&(x, y)| components(x, y)).collect())
            .collect();
        let polys = self.engine().sums_of_seeded_products(basis, &pairs);
        Ok(self.products_of(polys, 3, metas.iter().map(|(meta, _)| *meta)))
    }

    /// The same of ciphertexts that are expanded first.
    fn sums_of_expanded<Y: RightFactor>(
        &self,
        sums: &[&[(&Ciphertext, &Y)]],
    ) -> Result<Vec<Product>, SchemeError> {
        let expanded = |pairs: &&[(&Ciphertext, &Y)]| {
            pairs.iter().map(|(_, y)| y.whole(self.params())).collect::<Result<Vec<_>, _>>()
        };
        let expanded = sums.iter().map(expanded).collect::<Result<Vec<_>, _>>()?;
        let sums = sums.iter().zip(&expanded);
        let pairs: Vec<Vec<_>> =
            sums.map(|(pairs, ys)| pairs.iter().map(|(x, _)| *x).zip(ys).collect()).collect();
        self.added_products(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// What is multiplied.
fn components<'a, Y: RightFactor>(x: &'a Ciphertext, y: &'a Y) -> SeededPair<'a> {
    let (body, seed) = y.parts();
    ([&x.components[0], &x.components[1]], body, seed)
}
