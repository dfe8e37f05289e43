//! Bounds, or what is typical.

/// Which norm of the noise a model estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseEstimate {
    /// What the canonical norm does not exceed, but for events of probability 2^-170.
    WorstCase,
    /// The root mean square of the embeddings, for independent operands.
    AverageCase,
}

impl NoiseEstimate {
    /// `bound` if it is to hold, else what is typical.
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
