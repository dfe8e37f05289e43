//! Factors by which noise is multiplied, embedding by embedding.

use everlevel_ring::CanonicalNorm;

/// What a plaintext diagonal multiplies noise by, at each embedding of one period.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(super) values: Vec<f64>,
    /// log2 of the root of the mean of the squares, by which estimates grow.
    pub(super) log_root_mean_square: f64,
}

impl Profile {
    /// Of absolute values at the embeddings, along a row, periodic, or along the last axes.
    pub fn new(values: Vec<f64>) -> Self {
        let square = values.iter().map(|x| x * x).sum::<f64>() / values.len().max(1) as f64;
        Profile { values, log_root_mean_square: square.max(f64::MIN_POSITIVE).log2() / 2.0 }
    }

    /// |a(ζ^(5^i))| for i below `coefficients.len() / 2`, ζ = exp(iπ / len): of a polynomial in
    /// natural order.
    pub fn of_polynomial(norm: &CanonicalNorm, coefficients: &[f64]) -> Self {
        let n = coefficients.len();
        let values = norm.embeddings(coefficients);
        let mut exponent = 1usize;
        let along_row = (0..n / 2).map(|_| {
            // The transform's entry j is the embedding at 1 - 2j; conjugates have equal absolute
            // values.
            let j = (n + n - (exponent - 1) / 2) % n;
            exponent = exponent * 5 % (2 * n);
            values[j] * (1.0 + 1e-9)
        });
        Self::new(along_row.collect())
    }
}

/// f(out_i, a_i, b_i) for all i, `a` and `b` repeated as often as it takes. The length of the
/// shorter one divides that of the longer one, and this that of `out`.
pub(super) fn combine_periodic(
    out: &mut [f64],
    a: &[f64],
    b: &[f64],
    f: impl Fn(&mut f64, f64, f64),
) {
    let flat = |values: &[f64]| values.len() == 1;
    let step = if flat(a) || flat(b) { a.len().max(b.len()) } else { a.len().min(b.len()) };
    for (k, out) in out.chunks_mut(step.max(1)).enumerate() {
        let part = |values: &'_ [f64]| k * step % values.len();
        match (a, b) {
            ([a], b) => out.iter_mut().zip(b).for_each(|(x, &b)| f(x, *a, b)),
            (a, [b]) => out.iter_mut().zip(a).for_each(|(x, &a)| f(x, a, *b)),
            (a, b) => {
                let pairs = a[part(a)..].iter().zip(&b[part(b)..]);
                out.iter_mut().zip(pairs).for_each(|(x, (&a, &b))| f(x, a, b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_ones_are_repeated() {
        let values = |n: usize, start: f64| (0..n).map(|i| start + i as f64).collect::<Vec<_>>();
        for (a, b, len) in
            [(1, 1, 1), (1, 4, 4), (4, 1, 8), (2, 6, 6), (6, 2, 12), (5, 5, 5), (1, 1, 3)]
        {
            let (a, b) = (values(a, 1.0), values(b, 10.0));
            let mut out = vec![7.0; len];
            combine_periodic(&mut out, &a, &b, |x, a, b| *x += 100.0 * a * b);
            for (i, x) in out.iter().enumerate() {
                assert_eq!(*x, 7.0 + 100.0 * a[i % a.len()] * b[i % b.len()]);
            }
        }
    }

    #[test]
    fn a_profile_is_the_absolute_values_at_powers_of_five() {
        let n = 16;
        let coefficients: Vec<f64> = (0..n).map(|i| (i * i % 11) as f64 - 4.0).collect();
        let profile = Profile::of_polynomial(&CanonicalNorm::new(n), &coefficients);
        let mut exponent = 1;
        let mut squares = 0.0;
        for found in &profile.values {
            let (mut re, mut im) = (0.0, 0.0);
            for (i, c) in coefficients.iter().enumerate() {
                let angle = std::f64::consts::PI * (exponent * i) as f64 / n as f64;
                re += c * angle.cos();
                im += c * angle.sin();
            }
            assert!((found - re.hypot(im)).abs() < 1e-6);
            squares += re * re + im * im;
            exponent = exponent * 5 % (2 * n);
        }
        let mean = (squares / (n / 2) as f64).log2() / 2.0;
        assert!((profile.log_root_mean_square - mean).abs() < 1e-6);
    }
}
