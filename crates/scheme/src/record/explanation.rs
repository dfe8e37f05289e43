//! The history of a ciphertext as a table of operations.

use std::fmt;

use serde::Serialize;

use crate::noise::NEVER;
use crate::params::Params;

/// One operation, with its operands and its result. Figures are log2 ("bits").
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub row: usize,
    /// What was done.
    pub operation: &'static str,
    /// A detail: a name, a constant, an automorphism.
    pub detail: String,
    /// The stage of the circuit, if it was named.
    pub stage: Option<String>,
    /// The rows of the operands.
    pub inputs: Vec<usize>,
    /// The level of the result.
    pub level: usize,
    /// The exponent e of its plaintext modulus p^e.
    pub exponent: u32,
    /// The modulus of the level.
    pub modulus_bits: f64,
    /// The consumed modulus: by how many bits it is shorter than the modulus of the lowest operand;
    /// negative if a bootstrapping raised it.
    pub modulus_consumed_bits: f64,
    /// The bound on the canonical norm of the phase.
    pub bound_bits: f64,
    /// Its average-case estimate, if the scheme has a model of it, for information: no decision
    /// depends on it.
    pub estimate_bits: Option<f64>,
    /// The measured norm, if a key was available. It depends on the secret key and must not be
    /// shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_bits: Option<f64>,
    /// log2(modulus / (2 · noise bound)).
    pub capacity_bits: f64,
    /// The consumed capacity: by how many bits it is less than the least capacity of the operands.
    pub capacity_consumed_bits: f64,
    /// log2 of the probability that the result exceeds its bound by a random event of this
    /// operation; -1024 stands for probability 0.
    pub failure_log2: f64,
}

/// The operations that led to a ciphertext, each after its operands; the last one has the
/// ciphertext as its result.
///
/// Everything but `measured_bits` is public: it follows from the circuit and the parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The parameter set.
    pub params: String,
    /// The rows.
    pub steps: Vec<Step>,
    /// The rows of the ciphertexts that were asked about.
    pub results: Vec<usize>,
    /// log2 of the probability that any of the bounds fails.
    pub failure_log2: f64,
}

impl Explanation {
    pub(super) fn new(
        params: &Params,
        steps: Vec<Step>,
        results: Vec<usize>,
        failure_log2: f64,
    ) -> Self {
        Explanation { params: params.name().into(), steps, results, failure_log2 }
    }

    /// The least log2(bound / measured noise) over all measured rows; a negative value would mean
    /// that a bound is wrong.
    pub fn least_slack_bits(&self) -> Option<f64> {
        let slacks =
            self.steps.iter().filter_map(|step| Some(step.bound_bits - step.measured_bits?));
        slacks.min_by(f64::total_cmp)
    }

    /// Heads and cells of the table.
    fn cells(&self) -> Vec<Vec<String>> {
        let measured = self.steps.iter().any(|step| step.measured_bits.is_some());
        let estimated = self.steps.iter().any(|step| step.estimate_bits.is_some());
        let mut head = vec!["#", "of", "operation", "level", "log Q", "consumed", "bound"];
        head.extend(estimated.then_some("average"));
        head.extend(measured.then_some("measured"));
        head.extend(["capacity", "failure"]);
        let number = |x: f64| format!("{x:.1}");
        let maybe = |x: Option<f64>| x.map_or_else(|| "-".into(), number);
        let row = |step: &Step| {
            let inputs: Vec<String> = step.inputs.iter().map(usize::to_string).collect();
            let operation = [step.operation, &step.detail].join(" ").trim_end().to_string();
            let mut row =
                vec![step.row.to_string(), shortened(&inputs), operation, step.level.to_string()];
            row.extend(
                [step.modulus_bits, step.modulus_consumed_bits, step.bound_bits].map(number),
            );
            row.extend(estimated.then(|| maybe(step.estimate_bits)));
            row.extend(measured.then(|| maybe(step.measured_bits)));
            row.push(number(step.capacity_bits));
            row.push(if step.failure_log2 > NEVER {
                format!("2^{:.0}", step.failure_log2)
            } else {
                "0".into()
            });
            row
        };
        std::iter::once(head.iter().map(|h| (*h).to_string()).collect())
            .chain(self.steps.iter().map(row))
            .collect()
    }
}

/// A list of rows, its middle left out where it is long.
fn shortened(rows: &[String]) -> String {
    match rows {
        [first, second, .., last] if rows.len() > 4 => format!("{first},{second}..{last}"),
        _ => rows.join(","),
    }
}

impl fmt::Display for Explanation {
    /// A table, with a line before each stage.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.cells();
        let columns = cells.first().map_or(0, Vec::len);
        let width = |c: usize| cells.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut stage = None;
        for (i, row) in cells.iter().enumerate() {
            let now = i.checked_sub(1).and_then(|i| self.steps[i].stage.as_deref());
            if i > 0 && now != stage {
                writeln!(f, "-- {}", now.unwrap_or("other"))?;
                stage = now;
            }
            // The operation to the left, the others to the right.
            let cell = |(c, text): (usize, &String)| match c {
                2 => format!("{text:<w$}", w = widths[c]),
                _ => format!("{text:>w$}", w = widths[c]),
            };
            let line: Vec<String> = row.iter().enumerate().map(cell).collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        write!(
            f,
            "{}: {} operations, failure 2^{:.1}",
            self.params,
            self.steps.len(),
            self.failure_log2
        )
    }
}
