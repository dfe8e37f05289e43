//! Functions on up to 16 points as squares of polynomials, with fewer relinearizations than blocks
//! of coefficients take.
//!
//! On its points a function f is λ (V + f/λ), where the monic V of degree 2m vanishes on them, for
//! any λ other than 0. That is λ (G² + R) with a monic G of degree m, the square root of the upper
//! half of the coefficients, and an R of lower degree. In a variable y = x + s in which V + f/λ has
//! no term of degree 2m - 1, G has none of degree m - 1.
//!
//! For up to 16 points m is 8: y², y⁴ and G = y⁴ (y⁴ + ..) + y² (..) + .. take a relinearization
//! each, and so does G² + y⁴ (..), if R has no term y⁷. Its coefficient is a polynomial in 1/λ of
//! degree 9 at most, which has a root modulo p for most functions; for the others y³ is computed,
//! too. Blocks take 7 products and 6 relinearizations, and squares 6 and 4, or 6 and 5, at the same
//! depth; in both a multiple of y⁴ is the deepest one that enters a product. For up to 8 points m
//! is 4: 4 products and 3 relinearizations instead of 4 and 4.

use std::ops::RangeInclusive;

use super::plan::PolynomialPlan;
use super::polynomial::Polynomial;
use crate::error::CircuitError;
use crate::modular::PrimePower;
use crate::straight_line::{Circuit, CircuitBuilder, NodeId};

/// The numbers of points for which there are squares: fewer take no more products otherwise.
const POINTS: RangeInclusive<usize> = 5..=16;
/// Above this prime no root is looked for among all residues.
const LARGEST_PRIME: u64 = 1 << 17;
/// The roots of which the best is taken.
const ROOTS: usize = 8;
/// In how many ways zeros of V beside the points are chosen, where there are fewer points than 2m.
const CHOICES: u64 = 4;

impl PolynomialPlan {
    /// Plans for a function that has these values at these points modulo p, and any values
    /// elsewhere. If `squared`, they are points of x² for the variable x. The first plan takes the
    /// fewest relinearizations; there is none for fewer than 5 points or more than 16, nor modulo
    /// p^e with e > 1. It takes a few milliseconds.
    ///
    /// ```
    /// use everlevel_circuit::PrimePower;
    /// use everlevel_circuit::poly::PolynomialPlan;
    ///
    /// let t = PrimePower::new(65537, 1)?;
    /// let points: Vec<u64> = (0..16).collect();
    /// let is_seven: Vec<u64> = points.iter().map(|x| u64::from(*x == 7)).collect();
    /// let costs = PolynomialPlan::by_squares(t, &points, &is_seven, false)?[0].costs();
    /// assert_eq!((costs.depth, costs.products, costs.relinearizations), (4, 6, 4));
    /// # Ok::<(), everlevel_circuit::CircuitError>(())
    /// ```
    ///
    /// # Errors
    /// [`CircuitError::Ring`] if two points agree modulo p; [`CircuitError::SlotCount`] if there
    /// are not as many values as points.
    pub fn by_squares(
        modulus: PrimePower,
        points: &[u64],
        values: &[u64],
        squared: bool,
    ) -> Result<Vec<Self>, CircuitError> {
        let f = Polynomial::interpolate(modulus, points, values)?;
        let small = modulus.prime() <= 2 * *POINTS.end() as u64;
        if small || modulus.exponent() > 1 || !POINTS.contains(&points.len()) {
            return Ok(Vec::new());
        }
        let mut forms = Vec::with_capacity(2);
        let half = if points.len() > 8 { 8 } else { 4 };
        if half == 8 {
            forms.extend(Form::without_cube(modulus, points, &f)?);
        }
        forms.push(Form::new(modulus, &vanishing(modulus, points, 2 * half, 1), &f, 1)?);
        let plan = |form: &Form| {
            let program = form.program(modulus, squared)?;
            Ok(PolynomialPlan { prime: modulus.prime(), program })
        };
        forms.iter().map(plan).collect()
    }
}

/// λ (G² + R) in y = x + `shift`.
struct Form {
    shift: u64,
    /// The coefficients of G, lowest first.
    root: Vec<u64>,
    /// Those of R.
    rest: Vec<u64>,
    lambda: u64,
}

impl Form {
    /// The form of f plus a multiple of V, with 1/λ = `weight`, which is not 0.
    fn new(
        t: PrimePower,
        vanishing: &[u64],
        f: &Polynomial,
        weight: u64,
    ) -> Result<Self, CircuitError> {
        let (shift, root, rest) = root_and_rest(t, vanishing, f, weight)?;
        Ok(Form { shift, root, rest, lambda: t.inv(weight)? })
    }

    /// A form with m = 8 whose R has no term y⁷, and no y³ if that can be: of several the one with
    /// the smallest factor ([`Form::factor`]). `None` if there is none, or p is large.
    fn without_cube(
        t: PrimePower,
        points: &[u64],
        f: &Polynomial,
    ) -> Result<Option<Self>, CircuitError> {
        if t.prime() > LARGEST_PRIME {
            return Ok(None);
        }
        let choices = if points.len() == 16 { 1 } else { CHOICES };
        for choice in 1..=choices {
            let vanishing = vanishing(t, points, 16, choice);
            // The coefficient of y^(16 - k) has degree k in the weight.
            let last = (0..=9).map(|weight| Ok(root_and_rest(t, &vanishing, f, weight)?.2[7]));
            let last = last.collect::<Result<Vec<u64>, CircuitError>>()?;
            let mut best: Option<(i64, Form)> = None;
            for weight in zeros(t, last) {
                let form = Form::new(t, &vanishing, f, weight)?.with_less_rest(t)?;
                let Some((factor, _)) = form.factor(t) else { continue };
                if best.as_ref().is_none_or(|(least, _)| factor < *least) {
                    best = Some((factor, form));
                }
            }
            if let Some((_, form)) = best {
                return Ok(Some(form));
            }
        }
        Ok(None)
    }

    /// The same with G + κ for the κ with which R has no y³, but a multiple of y⁸.
    fn with_less_rest(mut self, t: PrimePower) -> Result<Self, CircuitError> {
        if self.root[3] == 0 {
            return Ok(self);
        }
        let twice = t.mul(self.rest[3], t.inv(self.root[3])?);
        let kappa = t.mul(twice, t.inv(2)?);
        self.rest.resize(self.root.len(), 0);
        for (x, g) in self.rest.iter_mut().zip(&self.root) {
            *x = t.sub(*x, t.mul(twice, *g));
        }
        self.rest[0] = t.sub(self.rest[0], t.mul(kappa, kappa));
        self.root[0] = t.add(self.root[0], kappa);
        Ok(self)
    }

    /// A small ν and some σ with λ = ν σ²: then λ G² is ν (σ G)², where no large constant
    /// multiplies what was computed last.
    fn factor(&self, t: PrimePower) -> Option<(i64, u64)> {
        [1, 2, 3, 5, 7, 11, 13].into_iter().find_map(|nu| {
            let square = t.mul(self.lambda, t.inv(t.reduce_i64(nu)).ok()?);
            Some((nu, square_root(t, square)?))
        })
    }

    /// The program in x.
    fn program(&self, t: PrimePower, squared: bool) -> Result<Circuit, CircuitError> {
        let (factor, sigma) = self.factor(t).ok_or(CircuitError::Empty { what: "a square" })?;
        let times = |by: u64, f: &[u64]| -> Vec<i64> {
            f.iter().map(|c| t.centered(t.mul(by, *c))).collect()
        };
        let (root, rest) = (times(sigma, &self.root), times(self.lambda, &self.rest));
        let mut builder = CircuitBuilder::new();
        let x = builder.input(1);
        let y = match (squared, t.centered(self.shift)) {
            (true, shift) => builder.combine(vec![(x, x)], vec![], shift)?,
            (false, 0) => x,
            (false, shift) => builder.add_scalar(x, shift)?,
        };
        let second = builder.mul(y, y)?;
        let mut powers = Powers { y, second, third: None, fourth: None };
        if self.root.len() > 5 {
            if [&root, &rest].iter().any(|f| f.get(7).is_some_and(|c| *c != 0)) {
                powers.third = Some(builder.mul(second, y)?);
            }
            powers.fourth = Some(builder.mul(second, second)?);
        }
        let g = powers.sum(&mut builder, &root)?;
        let g = builder.combine(g.pairs, g.terms, g.constant)?;
        let multiple = match factor {
            1 => g,
            factor => builder.combine(vec![], vec![(g, factor)], 0)?,
        };
        let mut sum = powers.sum(&mut builder, &rest)?;
        sum.pairs.insert(0, (multiple, g));
        let value = builder.combine(sum.pairs, sum.terms, sum.constant)?;
        builder.finish(&[value])
    }
}

/// A sum that is no node yet.
struct Open {
    pairs: Vec<(NodeId, NodeId)>,
    terms: Vec<(NodeId, i64)>,
    constant: i64,
}

impl Open {
    /// Adds a node times a sum of multiples and a constant.
    fn add_product(
        &mut self,
        builder: &mut CircuitBuilder,
        node: NodeId,
        mut terms: Vec<(NodeId, i64)>,
        constant: i64,
    ) -> Result<(), CircuitError> {
        terms.retain(|(_, c)| *c != 0);
        match (terms.is_empty(), constant) {
            (true, 0) => {}
            (true, constant) => self.terms.push((node, constant)),
            (false, constant) => {
                self.pairs.push((node, builder.combine(vec![], terms, constant)?));
            }
        }
        Ok(())
    }
}

/// The powers of y: y⁴ for m = 8, and y³ where it is needed.
struct Powers {
    y: NodeId,
    second: NodeId,
    third: Option<NodeId>,
    fourth: Option<NodeId>,
}

impl Powers {
    /// Σ c_i y^i, of degree m at most.
    fn sum(&self, builder: &mut CircuitBuilder, c: &[i64]) -> Result<Open, CircuitError> {
        let at = |i: usize| c.get(i).copied().unwrap_or(0);
        let Powers { y, second, third, fourth } = *self;
        let mut sum = Open { pairs: Vec::new(), terms: vec![(y, at(1))], constant: at(0) };
        match (fourth, third) {
            (None, _) => {
                sum.add_product(builder, second, vec![(y, at(3)), (second, at(4))], at(2))?;
            }
            (Some(fourth), Some(third)) => {
                sum.terms.extend([(second, at(2)), (third, at(3))]);
                let upper = vec![(fourth, at(8)), (third, at(7)), (second, at(6)), (y, at(5))];
                sum.add_product(builder, fourth, upper, at(4))?;
            }
            (Some(fourth), None) => {
                sum.add_product(builder, second, vec![(y, at(3))], at(2))?;
                let upper = vec![(fourth, at(8)), (second, at(6)), (y, at(5))];
                sum.add_product(builder, fourth, upper, at(4))?;
            }
        }
        sum.terms.retain(|(_, c)| *c != 0);
        Ok(sum)
    }
}

/// The coefficients of a monic polynomial of this degree that vanishes on the points, and where
/// there are fewer of them on some numbers beside them.
fn vanishing(t: PrimePower, points: &[u64], degree: usize, choice: u64) -> Vec<u64> {
    let last = points.last().copied().unwrap_or(0);
    let beside = (choice..).map(|i| t.add(last, i));
    let zeros = points.iter().copied().chain(beside).take(degree);
    Polynomial::from_roots(t, zeros).coefficients().to_vec()
}

/// The s, G and R with V + `weight` f = G² + R in y = x + s.
fn root_and_rest(
    t: PrimePower,
    vanishing: &[u64],
    f: &Polynomial,
    weight: u64,
) -> Result<(u64, Vec<u64>, Vec<u64>), CircuitError> {
    let degree = vanishing.len() - 1;
    let mut sum = vanishing.to_vec();
    for (x, c) in sum.iter_mut().zip(f.coefficients()) {
        *x = t.add(*x, t.mul(weight, *c));
    }
    let shift = t.mul(sum[degree - 1], t.inv(degree as u64)?);
    // In x = y - s, by Horner's rule for each coefficient.
    for i in 0..degree {
        for j in (i..degree).rev() {
            sum[j] = t.sub(sum[j], t.mul(shift, sum[j + 1]));
        }
    }
    let (half, two) = (degree / 2, t.inv(2)?);
    let mut root = vec![0; half + 1];
    root[half] = 1;
    for i in (0..half).rev() {
        // What the square of the upper coefficients lacks at y^(m + i) is twice the next one.
        let lacks = t.sub(sum[half + i], of_square(t, &root, half + i));
        root[i] = t.mul(lacks, two);
    }
    let rest = (0..half).map(|i| t.sub(sum[i], of_square(t, &root, i))).collect();
    Ok((shift, root, rest))
}

/// The coefficient of y^n in the square of a polynomial.
fn of_square(t: PrimePower, f: &[u64], n: usize) -> u64 {
    let last = f.len() - 1;
    (n.saturating_sub(last)..=n.min(last)).fold(0, |sum, i| t.add(sum, t.mul(f[i], f[n - i])))
}

/// The first few of 1 .. p - 1 at which a polynomial vanishes that has these values at 0, 1, ..,
/// as many as its degree and one more: its differences give the next value without products.
fn zeros(t: PrimePower, values: Vec<u64>) -> Vec<u64> {
    let (mut differences, mut found) = (values, Vec::new());
    for k in 1..differences.len() {
        for i in (k..differences.len()).rev() {
            differences[i] = t.sub(differences[i], differences[i - 1]);
        }
    }
    for x in 0..t.prime() {
        if x > 0 && differences[0] == 0 {
            found.push(x);
        }
        if found.len() == ROOTS {
            break;
        }
        for i in 1..differences.len() {
            differences[i - 1] = t.add(differences[i - 1], differences[i]);
        }
    }
    found
}

/// A square root modulo p, found among all residues.
fn square_root(t: PrimePower, x: u64) -> Option<u64> {
    let half = t.prime() / 2;
    let is_square = t.pow(x, half) == 1;
    is_square.then(|| (1..=half).find(|root| t.mul(*root, *root) == x)).flatten()
}
