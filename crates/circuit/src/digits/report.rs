//! The cost of each method for a problem, beside the predictions of the papers.

use super::kind::DigitKind;
use super::method::DigitMethod;
use super::problem::DigitProblem;
use super::removal::DigitRemoval;
use crate::error::CircuitError;
use crate::straight_line::CircuitCosts;

/// The costs of one method for one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodReport {
    /// The method.
    pub method: DigitMethod,
    /// The degrees of the polynomials, row by row: [`DigitRemoval::degrees`].
    pub degrees: Vec<Vec<usize>>,
    /// An upper bound on the algebraic degree of the result in the input.
    pub total_degree: u64,
    /// Depth and number of operations of the program, as counted.
    pub costs: CircuitCosts,
    /// The approximate number of bits of capacity that it consumes
    /// ([`crate::straight_line::Circuit::estimated_bits`]).
    pub bits: f64,
    /// The formula of the paper, for the methods that have one.
    pub predicted: Option<Prediction>,
}

impl MethodReport {
    /// The costs of `method` for `problem`. Milliseconds to seconds, depending on the degrees.
    ///
    /// # Errors
    /// As [`DigitRemoval::for_problem`].
    pub fn of(method: DigitMethod, problem: &DigitProblem) -> Result<Self, CircuitError> {
        let removal = DigitRemoval::for_problem(*problem, method)?;
        Ok(MethodReport {
            method,
            degrees: removal.degrees().to_vec(),
            total_degree: removal.program().degree(),
            costs: removal.costs(),
            bits: removal.program().estimated_bits(problem.p),
            predicted: Prediction::of(method, problem),
        })
    }

    /// The degrees as the papers write them: commas in a row, semicolons between rows.
    pub fn degrees_text(&self) -> String {
        let row = |row: &Vec<usize>| row.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        self.degrees.iter().map(row).collect::<Vec<_>>().join(";")
    }
}

/// An asymptotic cost from a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Multiplicative depth.
    pub depth: f64,
    /// Products of two ciphertexts.
    pub products: f64,
}

impl Prediction {
    /// Chen–Han 2018, section 1.1, table 1 and theorem 5: for Halevi–Shoup depth (e - 1) log2 p and
    /// (e^2/2) sqrt(2p) products, for Chen–Han v log2 p + log2 e and v sqrt(2 p e). They omit
    /// lower-order terms and do not depend on B.
    pub fn of(method: DigitMethod, problem: &DigitProblem) -> Option<Self> {
        let (p, e, v) = (problem.p as f64, f64::from(problem.e), f64::from(problem.v));
        match method.kind {
            DigitKind::HaleviShoup => Some(Prediction {
                depth: (e - 1.0) * p.log2(),
                products: e * e / 2.0 * (2.0 * p).sqrt(),
            }),
            DigitKind::ChenHan => Some(Prediction {
                depth: v * p.log2() + e.log2(),
                products: v * (2.0 * p * e).sqrt(),
            }),
            _ => None,
        }
    }
}

/// All candidate methods for a problem with their costs. Milliseconds to a second or so, depending
/// on the degrees.
///
/// ```
/// use everlevel_circuit::digits::{DigitProblem, compare};
///
/// // Four digits to the base 17, of which the two low ones go.
/// for report in compare(&DigitProblem::all_digits(17, 4, 2))? {
///     println!("{:16} {:8} {:?}", report.method.to_string(), report.degrees_text(), report.costs);
/// }
/// # Ok::<(), everlevel_circuit::CircuitError>(())
/// ```
///
/// # Errors
/// As [`DigitProblem::modulus`]; [`CircuitError::Ring`] if p is no prime.
pub fn compare(problem: &DigitProblem) -> Result<Vec<MethodReport>, CircuitError> {
    DigitMethod::candidates(problem)?
        .into_iter()
        .map(|method| MethodReport::of(method, problem))
        .collect()
}
