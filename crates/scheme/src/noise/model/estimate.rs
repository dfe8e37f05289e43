//! Proved bounds or typical values.

/// Which norm of the noise a model estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseEstimate {
    /// A bound that the canonical norm exceeds with probability at most 2^-170.
    WorstCase,
    /// The root mean square of the embeddings, for independent operands.
    AverageCase,
}

impl NoiseEstimate {
    /// `bound` in the worst case, else `typical`.
    pub(super) fn of(self, bound: f64, typical: f64) -> f64 {
        match self {
            NoiseEstimate::WorstCase => bound,
            NoiseEstimate::AverageCase => typical,
        }
    }

    /// The norm of a sum of polynomials of these norms.
    pub(super) fn total<const K: usize>(self, norms: [f64; K]) -> f64 {
        match self {
            NoiseEstimate::WorstCase => norms.iter().sum(),
            NoiseEstimate::AverageCase => norms.iter().map(|x| x * x).sum::<f64>().sqrt(),
        }
    }
}
