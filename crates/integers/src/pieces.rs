//! Polynomials of high degree in pieces, each of which fits a bootstrapped ciphertext.

use std::collections::BTreeMap;

use everlevel_circuit::CircuitError;
use everlevel_circuit::straight_line::{Circuit, CircuitBuilder, NodeId};
use everlevel_ring::PrimePower;

use crate::bilinear::{Sum, Terms, Variable, terms};
use crate::plan::Symmetric;

/// y^8 has depth 3, so that a multiple of a lower power enters a product at the level below its
/// own.
const INNER: usize = 8;

/// How a polynomial Σ_j P_j(y) y^(m j) of degree up to 511 is divided into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// m: y^m is bootstrapped. Above [`INNER`], P_j may be P + y^8 Q.
    step: usize,
    /// Whether P_j is P + y^8 Q.
    inner: bool,
    /// The exponent n for which z^n, with z = y^m, is bootstrapped too, if a higher power of z is
    /// needed than those of depth 4.
    base: usize,
}

impl Shape {
    /// Whether the base is needed for a degree.
    fn is_long(self, degree: usize) -> bool {
        degree / self.step > 16
    }
}

/// A polynomial in pieces of depth at most 5: powers that are to be bootstrapped, and the
/// polynomial as a function of x and these powers.
pub(crate) struct Pieces {
    /// y^m from x, and a power of y^m from that, where y is x plus a constant.
    pub(crate) giants: Vec<Circuit>,
    /// The value from x and those.
    pub(crate) last: Circuit,
}

impl Pieces {
    /// The shapes for a degree, cheapest first.
    ///
    /// The cost is dominated by bootstrappings. In the first shape, multiples of y^15, of depth 4,
    /// enter a product, which takes 11 bits more than a bootstrapped ciphertext of `bgv-65537-n15`
    /// has. In the other shapes, no power above y^7 is multiplied by a constant before a product,
    /// at the price of more powers of y^8, of an additional product for each power of y^12, or of a
    /// third bootstrapping.
    pub(crate) fn shapes(degree: usize) -> Vec<Shape> {
        let mut shapes = Vec::with_capacity(4);
        if degree >= 80 {
            shapes.push(Shape { step: 16, inner: false, base: 16 });
        }
        if degree < 17 * INNER {
            shapes.push(Shape { step: INNER, inner: false, base: INNER });
            return shapes;
        }
        if degree < 17 * 12 {
            shapes.push(Shape { step: 12, inner: true, base: INNER });
        }
        shapes.push(Shape { step: INNER, inner: false, base: INNER });
        shapes
    }

    pub(crate) fn new(form: &Symmetric, shape: Shape) -> Result<Self, CircuitError> {
        let (f, m) = (&form.polynomial, shape.step);
        let t = f.modulus();
        let mut giants = vec![Self::power(form.shift, m)?];
        if shape.is_long(f.degree()) {
            giants.push(Self::power(0, shape.base)?);
        }
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let z = (0..giants.len()).map(|_| builder.input(1)).collect::<Vec<_>>();
        let mut y = Variable::new(builder.add_scalar(x, form.shift)?);
        let mut z = Giants {
            inputs: z.into_iter().map(Variable::new).collect(),
            base: shape.base,
            known: BTreeMap::new(),
        };
        let mut sum = Sum::default();
        for (block, coefficients) in f.coefficients().chunks(m).enumerate() {
            let (parts, constant) = terms(t, coefficients);
            if block == 0 {
                Self::add_factor(&mut sum, &mut builder, &mut y, (&parts, constant), (shape, t))?;
                continue;
            }
            match (parts.is_empty(), constant) {
                (true, 0) => {}
                (true, constant) => {
                    let giant = z.power(&mut builder, block)?;
                    sum.add_multiple(giant, constant);
                }
                (false, constant) => {
                    let giant = z.power(&mut builder, block)?;
                    let mut factor = Sum::default();
                    let parts = (&parts, constant);
                    Self::add_factor(&mut factor, &mut builder, &mut y, parts, (shape, t))?;
                    sum.pairs.push((giant, factor.finish(&mut builder, t)?));
                }
            }
        }
        sum.add_constant(form.offset);
        let value = sum.finish(&mut builder, t)?;
        Ok(Pieces { giants, last: builder.finish(&[value])? })
    }

    /// Adds Σ c y^n + constant, as P(y) + y^8 Q(y) if the shape says so.
    fn add_factor(
        sum: &mut Sum,
        builder: &mut CircuitBuilder,
        y: &mut Variable,
        (parts, constant): (&Terms, i64),
        (shape, t): (Shape, PrimePower),
    ) -> Result<(), CircuitError> {
        let (low, high): (Terms, Terms) =
            parts.iter().partition(|(n, _)| !shape.inner || *n < INNER);
        sum.add(builder, y, (&low, constant))?;
        if high.is_empty() {
            return Ok(());
        }
        let middle = y.power(builder, INNER)?;
        let mut upper = Sum::default();
        for (n, c) in high {
            match n - INNER {
                0 => upper.add_constant(c),
                n => upper.add_multiple(y.power(builder, n)?, c),
            }
        }
        match upper.is_constant() {
            true => sum.add_multiple(middle, upper.constant()),
            false => sum.pairs.push((middle, upper.finish(builder, t)?)),
        }
        Ok(())
    }

    /// (x + shift)^n.
    fn power(shift: i64, n: usize) -> Result<Circuit, CircuitError> {
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let y = builder.add_scalar(x, shift)?;
        let power = Variable::new(y).power(&mut builder, n)?;
        builder.finish(&[power])
    }
}

/// Powers of z, from z and, if there is one, from w = z^base.
struct Giants {
    inputs: Vec<Variable>,
    base: usize,
    known: BTreeMap<usize, NodeId>,
}

impl Giants {
    /// z^n, at depth 4 if quotient and remainder of n by the base are at most 8 each, or 16
    /// together and the quotient 1.
    fn power(&mut self, builder: &mut CircuitBuilder, n: usize) -> Result<NodeId, CircuitError> {
        let [z, w] = &mut self.inputs[..] else {
            let z = self.inputs.first_mut().ok_or(CircuitError::Empty { what: "a power" })?;
            return z.power(builder, n);
        };
        if let Some(x) = self.known.get(&n) {
            return Ok(*x);
        }
        let (whole, rest) = (n / self.base, n % self.base);
        let node = match (whole, rest) {
            (0, _) => z.power(builder, n)?,
            (_, 0) => w.power(builder, whole)?,
            _ => {
                // Depth 3 and depth 3, or half of the inputs last.
                let last = match whole.max(rest) {
                    ..=8 => rest,
                    _ => (whole + rest - (whole + rest).next_power_of_two() / 2).min(rest),
                };
                let low = z.power(builder, last)?;
                let high = self.power(builder, n - last)?;
                builder.mul(high, low)?
            }
        };
        self.known.insert(n, node);
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everlevel_circuit::Session;
    use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
    use everlevel_scheme::noop::NoOpCiphertext;
    use everlevel_scheme::{NextUse, NoOp, OptIn, Params, Plaintext, Scheme};

    use super::*;
    use crate::plan::symmetric_form;

    /// The value for x after all pieces; x and the powers are replaced by `refreshed` if it is
    /// given.
    fn run(
        scheme: &NoOp,
        pieces: &Pieces,
        x: &NoOpCiphertext,
        refreshed: Option<&NoOpCiphertext>,
    ) -> Result<NoOpCiphertext, CircuitError> {
        let mut inputs = vec![x.clone()];
        for giant in &pieces.giants {
            let from = inputs.last().unwrap();
            let power = giant.run(scheme, &[from], NextUse::Keep)?.remove(0);
            inputs.push(refreshed.cloned().unwrap_or(power));
        }
        let inputs: Vec<_> = inputs.iter().collect();
        Ok(pieces.last.run(scheme, &inputs, NextUse::Keep)?.remove(0))
    }

    fn quotient(low: i64, points: i64) -> (Vec<i64>, Symmetric) {
        let t = PrimePower::new(65537, 1).unwrap();
        let entries: Vec<i64> = (low..low + points).map(|x| x.div_euclid(16)).collect();
        let form = symmetric_form(t, low, low + points - 1, &entries).unwrap();
        (entries, form)
    }

    #[test]
    fn every_shape_gives_every_value() {
        // Deeper than what is evaluated here without bootstrapping.
        let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap();
        let scheme = NoOp::new(&params, 1);
        for (low, points) in
            [(0, 33), (-20, 81), (0, 102), (-3, 136), (7, 190), (0, 219), (-5, 450)]
        {
            let (entries, form) = quotient(low, points);
            let slots: Vec<u64> =
                (low..low + points).map(|x| form.polynomial.modulus().reduce_i64(x)).collect();
            let x = scheme.encrypt(&Plaintext::encode(&params, &slots).unwrap()).unwrap();
            let mut shapes = Pieces::shapes(form.polynomial.degree());
            // Those of other degrees as well.
            shapes.push(Shape { step: 12, inner: true, base: INNER });
            for shape in shapes {
                let pieces = Pieces::new(&form, shape).unwrap();
                let y = run(&scheme, &pieces, &x, None).unwrap();
                let found = scheme.decrypt(&y).unwrap().decode(&params).unwrap();
                for (i, entry) in entries.iter().enumerate() {
                    let expected = form.polynomial.modulus().reduce_i64(*entry);
                    assert_eq!(found[i], expected, "{} of {shape:?}", low + i as i64);
                }
            }
        }
    }

    /// On the default set, for which these shapes are made: all shapes but the first fit.
    #[test]
    fn pieces_fit_bootstrapped_ciphertexts() {
        let params = Params::named("bgv-65537-n15", OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::blank(&params));
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
        let session = Session::new(scheme.clone(), bootstrapper);
        let fresh = scheme.encrypt(&Plaintext::encode(&params, &[]).unwrap()).unwrap();
        let x = session.refresh(&session.share(fresh)).unwrap().get();
        for points in (33..=512).step_by(19).chain([80, 102, 219, 450, 512]) {
            let (_, form) = quotient(0, points);
            let shapes = Pieces::shapes(form.polynomial.degree());
            let first = shapes.len().min(2) - 1;
            for shape in &shapes[first..] {
                let pieces = Pieces::new(&form, *shape).unwrap();
                let all = pieces.giants.iter().chain([&pieces.last]);
                assert!(all.clone().all(|c| c.costs().depth <= 5), "{points} {shape:?}");
                let left = scheme.capacity_bits(&run(&scheme, &pieces, &x, Some(&x)).unwrap());
                assert!(left >= session.minimum_capacity(), "{points} {shape:?}: {left}");
            }
        }
    }
}
