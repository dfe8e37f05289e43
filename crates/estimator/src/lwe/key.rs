//! Keys to estimate.

use std::f64::consts::LN_2;

use serde::Serialize;

use crate::error::{SecurityError, in_range};

/// The largest dimension that is estimated.
pub const MAX_DIMENSION: usize = 1 << 20;

/// What the secret is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Secret {
    /// Every coefficient uniform in {−1, 0, 1}.
    Ternary,
    /// This number of coefficients ±1, the others 0.
    Sparse(usize),
    /// Every coefficient Gaussian with this standard deviation.
    Gaussian(f64),
}

/// A key to estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lwe {
    /// n.
    pub dimension: usize,
    /// log2 of the largest modulus with which anything is published under the secret: QP where keys
    /// are switched.
    pub log2_q: f64,
    /// What s is drawn from.
    pub secret: Secret,
    /// The standard deviation of the coefficients of e.
    pub error_deviation: f64,
    /// How many rotations of the secret have its shape: n in Z\[X\]/(X^n + 1), 1 for LWE without a
    /// ring.
    pub rotations: usize,
}

impl Lwe {
    /// A key of degree n in Z\[X\]/(X^n + 1) with σ = 3.2, rotations counted.
    pub fn ring(dimension: usize, log2_q: f64, secret: Secret) -> Self {
        Lwe { dimension, log2_q, secret, error_deviation: 3.2, rotations: dimension }
    }

    /// The same without the gain by rotations.
    pub fn without_rotations(self) -> Self {
        Lwe { rotations: 1, ..self }
    }

    /// The standard deviation of a coefficient of s.
    pub(super) fn secret_deviation(&self) -> f64 {
        match self.secret {
            Secret::Ternary => (2.0f64 / 3.0).sqrt(),
            Secret::Sparse(weight) => (weight as f64 / self.dimension as f64).sqrt(),
            Secret::Gaussian(deviation) => deviation,
        }
    }

    /// The nonzero coefficients to expect, where they are ±1.
    pub(super) fn weight(&self) -> Option<usize> {
        match self.secret {
            Secret::Ternary => Some(2 * self.dimension / 3),
            Secret::Sparse(weight) => Some(weight),
            Secret::Gaussian(_) => None,
        }
    }

    pub(super) fn ln_q(&self) -> f64 {
        self.log2_q * LN_2
    }

    /// ξ: what makes the coefficients of a small secret as large as those of the error
    /// (Bai–Galbraith 2014).
    pub(super) fn scale(&self) -> f64 {
        (self.error_deviation / self.secret_deviation()).max(1.0)
    }

    /// Half a Gaussian secret that is wider than the error would have to be exchanged with it;
    /// nobody draws such.
    pub(super) fn check(&self) -> Result<(), SecurityError> {
        in_range("dimension", self.dimension as f64, 16.0..=MAX_DIMENSION as f64, "16 to 2^20")?;
        in_range("log2_q", self.log2_q, 2.0..=1e5, "2 to 100000")?;
        in_range("error_deviation", self.error_deviation, 0.1..=1e6, "0.1 to 10^6")?;
        in_range(
            "rotations",
            self.rotations as f64,
            1.0..=2.0 * MAX_DIMENSION as f64,
            "1 to 2^21",
        )?;
        match self.secret {
            Secret::Ternary => Ok(()),
            Secret::Sparse(weight) => {
                in_range("weight", weight as f64, 1.0..=self.dimension as f64, "1 to the dimension")
                    .map(|_| ())
            }
            Secret::Gaussian(deviation) => {
                in_range("secret deviation", deviation, 0.1..=1e6, "0.1 to 10^6").map(|_| ())
            }
        }
    }
}
