//! The canonical embedding norm.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use everlevel_arith::{Axes, Complex64, ComplexTransform};
use zeroize::{Zeroize, Zeroizing};

/// Computes ‖a‖ = max over the primitive m-th complex roots of unity ζ of |a(ζ)|, for real
/// coefficients.
///
/// The norm is sub-additive and sub-multiplicative, invariant under automorphisms, and bounds every
/// coefficient, up to the small factor of
/// [`Ring::coefficient_bits`](crate::Ring::coefficient_bits).
pub struct CanonicalNorm {
    degree: usize,
    kind: Kind,
}

enum Kind {
    /// Computed at the first use: norms are those of keys and plaintexts, not of ciphertexts.
    PowerOfTwo(OnceLock<Twisted>),
    Odd(Vec<ComplexAxis>),
}

/// The complex transform of a power of two, and what coefficients are multiplied by before it.
struct Twisted {
    fft: ComplexTransform,
    twist: Vec<Complex64>,
}

impl Twisted {
    fn new(degree: usize) -> Self {
        let twist = (0..degree)
            .map(|k| Complex64::from_polar(1.0, std::f64::consts::PI * k as f64 / degree as f64))
            .collect();
        Twisted { fft: ComplexTransform::new(degree), twist }
    }
}

/// The complex transform along one axis of index N: the places of a full transform that
/// coefficients come from and values go to.
struct ComplexAxis {
    fft: ComplexTransform,
    exponents: Vec<usize>,
    values: Vec<usize>,
}

impl CanonicalNorm {
    /// For polynomials of degree below `degree`, a power of two, in the ring of index 2 `degree`.
    pub fn new(degree: usize) -> Self {
        CanonicalNorm { degree, kind: Kind::PowerOfTwo(OnceLock::new()) }
    }

    /// For polynomials over an index with axes.
    pub fn of_axes(axes: &Axes) -> Self {
        let axis = |(a, axis): (usize, &everlevel_arith::Axis)| {
            let n = axis.index as usize;
            // ζ_a = ζ^e is exp(2πi c / N) for c = e N / m; a transform takes its powers to minus
            // the frequency.
            let turn = (axis.exponent / (axes.index() / axis.index)) as usize;
            let values =
                axes.units_along(a).iter().map(|&u| (n - u as usize * turn % n) % n).collect();
            let exponents =
                (0..axis.degree).map(|i| axes.coefficient_exponent(a, i) as usize).collect();
            ComplexAxis { fft: ComplexTransform::new(n), exponents, values }
        };
        CanonicalNorm {
            degree: axes.degree(),
            kind: Kind::Odd(axes.all().iter().enumerate().map(axis).collect()),
        }
    }

    /// The moduli |a(ζ)| at all n embeddings, for at most n coefficients in natural order. For an
    /// index with axes they come in evaluation order.
    pub fn embeddings(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut buffer;
        match &self.kind {
            Kind::PowerOfTwo(table) => {
                let Twisted { fft, twist } = table.get_or_init(|| Twisted::new(self.degree));
                let twisted = coefficients.iter().zip(twist).map(|(&c, w)| w * c).collect();
                buffer = wiped(twisted, self.degree);
                process(fft, &mut buffer);
            }
            Kind::Odd(axes) => {
                buffer = wiped(coefficients.iter().map(|&c| c.into()).collect(), self.degree);
                transform(axes, &mut buffer);
            }
        }
        buffer.iter().map(|z| z.norm()).collect()
    }

    /// The same for a polynomial in the X_a of the last axes alone, in evaluation order along
    /// these; it has the same values at all places of the other axes. `None` for an index that is a
    /// power of two, and for another number of coefficients than such a polynomial has.
    pub fn last_embeddings(&self, coefficients: &[f64]) -> Option<Vec<f64>> {
        let Kind::Odd(axes) = &self.kind else { return None };
        let count =
            |axes: &[ComplexAxis]| axes.iter().map(|axis| axis.values.len()).product::<usize>();
        let last = (0..axes.len())
            .rev()
            .map(|start| &axes[start..])
            .find(|last| count(last) == coefficients.len())?;
        let mut buffer =
            wiped(coefficients.iter().map(|&c| c.into()).collect(), coefficients.len());
        transform(last, &mut buffer);
        Some(buffer.iter().map(|z| z.norm()).collect())
    }

    /// max |a(ζ)|, for coefficients in natural order.
    pub fn max(&self, coefficients: &[f64]) -> f64 {
        Zeroizing::new(self.embeddings(coefficients)).iter().copied().fold(0.0, f64::max)
    }
}

/// Numbers that are overwritten when dropped: norms of secrets are computed, too.
struct Wiped(Vec<Complex64>);

impl Drop for Wiped {
    fn drop(&mut self) {
        for z in &mut self.0 {
            z.re.zeroize();
            z.im.zeroize();
        }
    }
}

impl Deref for Wiped {
    type Target = [Complex64];
    fn deref(&self) -> &[Complex64] {
        &self.0
    }
}

impl DerefMut for Wiped {
    fn deref_mut(&mut self) -> &mut [Complex64] {
        &mut self.0
    }
}

/// The numbers, followed by zeros up to `length`.
fn wiped(numbers: Vec<Complex64>, length: usize) -> Wiped {
    let numbers = Wiped(numbers);
    let mut out = Wiped(vec![Complex64::default(); length]);
    let filled = numbers.len().min(length);
    out[..filled].copy_from_slice(&numbers[..filled]);
    out
}

/// The transform in place, with a scratch of its own that is wiped.
fn process(fft: &ComplexTransform, buffer: &mut [Complex64]) {
    let mut scratch = Wiped(vec![Complex64::default(); fft.scratch()]);
    fft.apply(buffer, &mut scratch);
}

/// The transform along all of `axes`, in place.
fn transform(axes: &[ComplexAxis], buffer: &mut [Complex64]) {
    let mut inner = buffer.len();
    for axis in axes {
        let length = axis.values.len();
        inner /= length;
        let mut line = Wiped(vec![Complex64::default(); axis.fft.length()]);
        for start in (0..buffer.len()).filter(|x| (x / inner).is_multiple_of(length)) {
            line.fill(Complex64::default());
            axis.exponents
                .iter()
                .enumerate()
                .for_each(|(j, &e)| line[e] = buffer[start + j * inner]);
            process(&axis.fft, &mut line);
            axis.values.iter().enumerate().for_each(|(j, &v)| buffer[start + j * inner] = line[v]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition() {
        let n = 16;
        let a: Vec<f64> = (0..n).map(|i| ((i * i * 7 + 3) % 11) as f64 - 5.0).collect();
        let naive = (0..n).map(|j| {
            let angle = std::f64::consts::PI * (2 * j + 1) as f64 / n as f64;
            let z: Complex64 = (0..n).map(|k| Complex64::from_polar(a[k], angle * k as f64)).sum();
            z.norm()
        });
        let want = naive.fold(0.0, f64::max);
        assert!((CanonicalNorm::new(n).max(&a) - want).abs() < 1e-9 * want);
        assert_eq!(CanonicalNorm::new(n).last_embeddings(&a), None);
    }

    #[test]
    fn indices_with_axes_agree_with_the_definition() {
        for index in [7, 9, 15, 45, 105, 12, 40, 16 * 15] {
            let axes = Axes::new(index).unwrap();
            let a: Vec<f64> =
                (0..axes.degree()).map(|i| ((i * i * 7 + 3) % 11) as f64 - 5.0).collect();
            let norm = CanonicalNorm::of_axes(&axes);
            // From every axis on: a polynomial in the X_a of the last ones alone has the same
            // values at all places of the others.
            for start in 0..axes.all().len() {
                let mut exponents = vec![0];
                for (i, axis) in axes.all().iter().enumerate().skip(start) {
                    let own: Vec<u64> = (0..axis.degree)
                        .map(|j| axes.coefficient_exponent(i, j) * axis.exponent)
                        .collect();
                    exponents = exponents
                        .iter()
                        .flat_map(|x| own.iter().map(move |e| (x + e) % index))
                        .collect();
                }
                let own = &a[..exponents.len()];
                let found = norm.last_embeddings(own).unwrap();
                for (place, u) in axes.units().into_iter().enumerate() {
                    let angle =
                        |e: u64| std::f64::consts::TAU * (u * e % index) as f64 / index as f64;
                    let z: Complex64 = own
                        .iter()
                        .zip(&exponents)
                        .map(|(&c, &e)| Complex64::from_polar(c, angle(e)))
                        .sum();
                    let got = found[place % own.len()];
                    assert!(
                        (z.norm() - got).abs() < 1e-9 * (1.0 + got),
                        "index {index}, from axis {start}, unit {u}"
                    );
                }
            }
            assert_eq!(norm.last_embeddings(&a), Some(norm.embeddings(&a)));
            assert_eq!(norm.last_embeddings(&[]), None);
        }
    }
}
