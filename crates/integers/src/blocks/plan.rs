//! Which powers are computed in which block, and what is added to sums there.

use std::collections::{BTreeMap, BTreeSet};

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::{CircuitBuilder, NodeId};
use everlevel_ring::PrimePower;

use super::work::{Block, Place, Powers, Work, missing};
use crate::bilinear::{PairForm, Terms, Variable};

/// A polynomial of an input, by the place of the input.
type Factor = (usize, Terms);

/// A sum of functions of one input and of two.
#[derive(Default)]
pub(crate) struct Wanted {
    /// By input and power.
    multiples: BTreeMap<(usize, usize), i64>,
    pairs: Vec<[Factor; 2]>,
    pub(super) constant: i64,
}

impl Wanted {
    /// Adds Σ c x^n + constant.
    pub(crate) fn add(&mut self, input: usize, (terms, constant): (&Terms, i64)) {
        for (n, c) in terms {
            *self.multiples.entry((input, *n)).or_default() += c;
        }
        self.constant += constant;
    }

    /// Adds a function of two digits.
    pub(crate) fn add_pair(&mut self, (a, b): (usize, usize), form: &PairForm) {
        self.add(a, (&form.a, form.constant));
        self.add(b, (&form.b, 0));
        let pair = |[u, v]: &[Terms; 2]| [(a, u.clone()), (b, v.clone())];
        self.pairs.extend(form.products.iter().map(pair));
    }

    /// Adds a constant.
    pub(crate) fn add_constant(&mut self, c: i64) {
        self.constant += c;
    }

    /// Whether it has a product.
    pub(crate) fn has_pairs(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// The same modulo t, without terms of 0. Of a sum that turns out to be a constant one term
    /// stays, as there is no ciphertext without.
    pub(super) fn centered(self, t: PrimePower) -> Self {
        let centered = |c: i64| t.centered(t.reduce_i64(c));
        let all = self.multiples.into_iter().map(|(x, c)| (x, centered(c)));
        let (mut kept, mut zero) = (BTreeMap::new(), None);
        for (x, c) in all {
            if c == 0 {
                zero = zero.or(Some(x));
            } else {
                kept.insert(x, c);
            }
        }
        if let Some(x) = zero.filter(|_| kept.is_empty() && self.pairs.is_empty()) {
            kept.insert(x, 0);
        }
        Wanted { multiples: kept, pairs: self.pairs, constant: centered(self.constant) }
    }
}

/// Powers and polynomials that are asked for one by one.
struct Asked {
    inputs: Vec<usize>,
    fourths: bool,
    builder: CircuitBuilder,
    variables: Vec<Variable>,
    nodes: Vec<NodeId>,
    places: BTreeMap<NodeId, usize>,
    factors: Vec<bool>,
    terms: Vec<bool>,
}

impl Asked {
    fn of(inputs: Vec<usize>, fourths: bool) -> Self {
        let mut builder = CircuitBuilder::new();
        let own: Vec<NodeId> = inputs.iter().map(|_| builder.input(1)).collect();
        let variables = match fourths {
            false => own.into_iter().map(Variable::new).collect(),
            true => own.into_iter().map(|x| Variable::with_fourth(x, builder.input(1))).collect(),
        };
        Asked {
            inputs,
            fourths,
            builder,
            variables,
            nodes: Vec::new(),
            places: BTreeMap::new(),
            factors: Vec::new(),
            terms: Vec::new(),
        }
    }

    fn has(&self, input: usize) -> bool {
        self.inputs.contains(&input)
    }

    fn place(&mut self, input: usize, terms: &Terms) -> Result<usize, CircuitError> {
        let at = self.inputs.iter().position(|x| *x == input).ok_or_else(missing)?;
        let node = self.variables[at].polynomial(&mut self.builder, terms)?;
        let next = self.nodes.len();
        let place = *self.places.entry(node).or_insert(next);
        if place == next {
            self.nodes.push(node);
            self.factors.push(false);
            self.terms.push(false);
        }
        Ok(place)
    }

    fn factor(&mut self, (input, terms): &Factor) -> Result<usize, CircuitError> {
        let place = self.place(*input, terms)?;
        self.factors[place] = true;
        Ok(place)
    }

    fn term(&mut self, (input, power): (usize, usize)) -> Result<usize, CircuitError> {
        let place = self.place(input, &vec![(power, 1)])?;
        self.terms[place] = true;
        Ok(place)
    }

    fn finish(self) -> Result<Powers, CircuitError> {
        let Asked { inputs, fourths, builder, nodes, factors, terms, .. } = self;
        Ok(Powers { inputs, fourths, circuit: builder.finish(&nodes)?, factors, terms })
    }
}

/// What is planned so far.
pub(super) struct Planning<'a> {
    sums: &'a [Wanted],
    fourths: bool,
    /// Pairs of inputs whose products are added up.
    done: BTreeSet<(usize, usize)>,
    /// Inputs whose terms are added up.
    pub(super) seen: BTreeSet<usize>,
}

impl<'a> Planning<'a> {
    pub(super) fn new(sums: &'a [Wanted], fourths: bool) -> Self {
        Planning { sums, fourths, done: BTreeSet::new(), seen: BTreeSet::new() }
    }

    /// The pairs of inputs whose products are wanted, the lower input first.
    pub(super) fn open(&self) -> BTreeSet<(usize, usize)> {
        let pairs = self.sums.iter().flat_map(|sum| &sum.pairs);
        let pairs = pairs.map(|[a, b]| (a.0.min(b.0), a.0.max(b.0)));
        pairs.filter(|pair| !self.done.contains(pair)).collect()
    }

    /// The products of what is held with itself or with another input, and the terms of whichever
    /// of both is new.
    fn work(
        &mut self,
        held: &mut Asked,
        mut other: Option<&mut Asked>,
    ) -> Result<Work, CircuitError> {
        let (mut work, mut now) = (Work::default(), BTreeSet::new());
        let own = other.as_ref().map_or(&held.inputs, |other| &other.inputs);
        let new: Vec<usize> = own.iter().copied().filter(|x| !self.seen.contains(x)).collect();
        for (at, sum) in self.sums.iter().enumerate() {
            for [a, b] in &sum.pairs {
                let key = (a.0.min(b.0), a.0.max(b.0));
                let here = match &other {
                    None => held.has(a.0) && held.has(b.0),
                    Some(other) => {
                        (held.has(a.0) && other.has(b.0)) || (other.has(a.0) && held.has(b.0))
                    }
                };
                if !here || self.done.contains(&key) {
                    continue;
                }
                now.insert(key);
                let mut place = |x: &Factor| -> Result<Place, CircuitError> {
                    match &mut other {
                        Some(other) if other.has(x.0) => {
                            Ok(Place { held: false, at: other.factor(x)? })
                        }
                        _ => Ok(Place { held: true, at: held.factor(x)? }),
                    }
                };
                let pair = [place(a)?, place(b)?];
                work.pairs.entry(at).or_default().push(pair);
            }
            for (term, c) in sum.multiples.iter().filter(|(term, _)| new.contains(&term.0)) {
                let place = match &mut other {
                    Some(other) => other.term(*term)?,
                    None => held.term(*term)?,
                };
                work.terms.entry(at).or_default().push((place, *c));
            }
        }
        self.done.extend(now);
        self.seen.extend(new);
        Ok(work)
    }

    /// The block that holds these inputs; `None` if nothing is left to do for them.
    pub(super) fn block(&mut self, inputs: &[usize]) -> Result<Option<Block>, CircuitError> {
        let mut held = Asked::of(inputs.to_vec(), self.fourths);
        let own = self.work(&mut held, None)?;
        let other = |(a, b): (usize, usize)| match (held.has(a), held.has(b)) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        };
        let partners: BTreeSet<usize> = self.open().into_iter().filter_map(other).collect();
        let mut others = Vec::with_capacity(partners.len());
        for partner in partners {
            let mut one = Asked::of(vec![partner], self.fourths);
            let work = self.work(&mut held, Some(&mut one))?;
            others.push((one.finish()?, work));
        }
        if held.nodes.is_empty() {
            return Ok(None);
        }
        Ok(Some(Block { held: held.finish()?, own, others }))
    }
}
