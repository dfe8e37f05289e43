//! Unit vectors as small integers, whose products are exact.

use std::path::Path;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::protocol::{LARGEST_SCORE, unit_score};
use crate::error::SuiteError;
use crate::numbers::Bytes;
use crate::output::Output;

/// How far the square of a vector's norm may be from 1.
const TOLERANCE: f64 = 1e-3;
/// How often signs are changed at random and a Hadamard transform is made: after two, a vector of
/// one coordinate still has few different ones, whose rounding errors agree, and after three some
/// of it can be measured.
const ROUNDS: usize = 4;

/// A random rotation. Scalar products stay; what is rounded afterwards has errors that do not
/// depend on how the data are made.
pub(super) struct Rotation {
    dimension: usize,
    /// Whether a coordinate changes its sign, round by round.
    signs: Zeroizing<Vec<u8>>,
}

impl Rotation {
    /// A new one, of a dimension that is a power of two.
    pub fn random(dimension: usize, rng: &mut impl CryptoRng) -> Self {
        let mut signs = Zeroizing::new(vec![0; ROUNDS * dimension]);
        rng.fill_bytes(&mut signs);
        signs.iter_mut().for_each(|sign| *sign &= 1);
        Rotation { dimension, signs }
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), SuiteError> {
        let mut out = Output::create(path.into())?;
        out.write(&self.signs)?;
        out.finish()
    }

    /// What [`Rotation::write`] wrote.
    pub fn read(path: &Path, dimension: usize) -> Result<Self, SuiteError> {
        let mut file = Bytes::open(path, (ROUNDS * dimension) as u64)?;
        let signs = file.read(ROUNDS * dimension)?;
        match signs.iter().find(|sign| **sign > 1) {
            Some(found) => Err(file.unexpected("bytes 0 and 1", found.to_string())),
            None => Ok(Rotation { dimension, signs }),
        }
    }

    /// The rotated vector, times the root of [`unit_score`], in integers whose squares add up to at
    /// most [`LARGEST_SCORE`]. Each is the nearest one, but for a few of a long vector, which are
    /// the next nearest.
    ///
    /// # Errors
    /// A vector that is no unit vector: what is expected, and what there is.
    pub fn round(&self, vector: &[f32]) -> Result<Zeroizing<Vec<i8>>, (String, String)> {
        let square: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
        // What is no number fails, too.
        if !(1.0 - TOLERANCE..=1.0 + TOLERANCE).contains(&square) {
            return Err(("vectors of norm 1".into(), format!("one of norm {}", square.sqrt())));
        }
        let mut x: Zeroizing<Vec<f64>> =
            Zeroizing::new(vector.iter().map(|x| f64::from(*x)).collect());
        for signs in self.signs.chunks(self.dimension) {
            x.iter_mut().zip(signs).filter(|(_, sign)| **sign == 1).for_each(|(x, _)| *x = -*x);
            hadamard(&mut x);
        }
        let scale = (unit_score(self.dimension) as f64).sqrt();
        let scaled = Zeroizing::new(x.iter().map(|x| scale * x).collect::<Vec<_>>());
        let mut out: Zeroizing<Vec<i64>> =
            Zeroizing::new(scaled.iter().map(|x| x.round() as i64).collect());
        // Towards zero first where that was nearly as near. It ends: rounded to zero everywhere the
        // squares add up to less than they did.
        while out.iter().map(|x| x * x).sum::<i64>() > LARGEST_SCORE {
            let excess = |i: &usize| out[*i].unsigned_abs() as f64 - scaled[*i].abs();
            let most = (0..out.len()).max_by(|i, j| excess(i).total_cmp(&excess(j)));
            let most = most.expect("a vector of norm 1 has a coordinate");
            out[most] -= out[most].signum();
        }
        Ok(Zeroizing::new(out.iter().map(|x| *x as i8).collect()))
    }
}

/// The Hadamard transform that keeps norms.
fn hadamard(x: &mut [f64]) {
    let mut half = 1;
    while half < x.len() {
        for pair in x.chunks_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    let unit = 1.0 / (x.len() as f64).sqrt();
    x.iter_mut().for_each(|x| *x *= unit);
}

/// Passes integers whose scores with any others that pass are in range.
pub(super) fn check(rounded: &[i8]) -> bool {
    rounded.iter().map(|x| i64::from(*x).pow(2)).sum::<i64>() <= LARGEST_SCORE
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    fn unit(x: &[f64]) -> Vec<f32> {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter().map(|x| (x / norm) as f32).collect()
    }

    fn gaussian(dimension: usize, rng: &mut impl Rng) -> Vec<f64> {
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..dimension).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
    }

    fn dot(x: &[f32], y: &[f32]) -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    }

    /// Scores are near the cosines, for vectors of any kind: random ones, near ones, of one
    /// coordinate, of equal coordinates, a vector and itself.
    #[test]
    fn scores_are_near_to_cosines() {
        for dimension in [128, 256, 512] {
            let special = |k: usize| -> Vec<f64> {
                (0..dimension).map(|i| if k == 0 || i == k { 1.0 } else { 0.0 }).collect()
            };
            let mut rng = ChaCha20Rng::seed_from_u64(dimension as u64);
            let (mut worst, mut squares, mut count) = (0f64, 0f64, 0f64);
            for repetition in 0..300 {
                let rotation = Rotation::random(dimension, &mut rng);
                let x = match repetition % 3 {
                    0 => special(0),
                    1 => special(1 + repetition % (dimension - 1)),
                    _ => gaussian(dimension, &mut rng),
                };
                let (x, noise) = (unit(&x), unit(&gaussian(dimension, &mut rng)));
                let near: Vec<f64> =
                    x.iter().zip(&noise).map(|(x, e)| f64::from(x + 0.42 * e)).collect();
                for y in [unit(&near), noise, x.clone()] {
                    let (a, b) = (rotation.round(&x).unwrap(), rotation.round(&y).unwrap());
                    assert!(check(&a) && check(&b));
                    let score: i64 =
                        a.iter().zip(b.iter()).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
                    assert!(score.abs() <= LARGEST_SCORE);
                    let error = score as f64 / unit_score(dimension) as f64 - dot(&x, &y);
                    if y != x {
                        squares += error * error;
                        count += 1.0;
                        worst = worst.max(error.abs());
                    } else {
                        assert!(error.abs() < 0.13, "{dimension} {repetition}: {error}");
                    }
                }
            }
            let deviation = (squares / count).sqrt();
            println!("{dimension}: deviation {deviation:.4}, largest error {worst:.4}");
            assert!(deviation < 0.02, "{dimension}: {deviation}");
            assert!(worst < 6.5 * 0.02, "{dimension}: {worst}");
        }
    }

    #[test]
    fn vectors_of_another_norm() {
        let rotation = Rotation::random(16, &mut ChaCha20Rng::seed_from_u64(1));
        for wrong in [0.0, 0.9, 1.1, f32::NAN, f32::INFINITY, f32::MAX] {
            let mut vector = [0.0; 16];
            vector[3] = wrong;
            assert!(rotation.round(&vector).is_err(), "{wrong}");
        }
    }
}
