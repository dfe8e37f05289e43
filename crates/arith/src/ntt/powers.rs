//! The powers of a root of unity.

use crate::modulus::Modulus;

/// The twiddles of a transform as residues, before a backend, or another device, gives them its own
/// form.
pub struct Powers {
    /// The modulus.
    pub modulus: Modulus,
    /// rows[r][d + j] = zeta_{8d}^((-1)^r 5^j) for d = 1, 2, 4, ..., n/4 and j < d; place 0 is
    /// unused.
    pub rows: [Vec<u64>; 2],
    /// zeta_4, the constant between the rows.
    pub quarter: u64,
    /// 1/n and 1/(n zeta_4): the last stage of the inverse transform.
    pub last: [u64; 2],
}

impl Powers {
    /// Those of transforms of length n = 2^log_n with zeta = `root`, where root^n = -1 modulo q.
    pub fn new(modulus: Modulus, log_n: u32, root: u64) -> Self {
        let (n, q) = (1u64 << log_n, modulus.value());
        let inverse_root = modulus.neg(modulus.pow(root, n - 1));
        let (quarter_length, half_length) = (n as usize / 4, n as usize / 2);
        let mut rows = [vec![0; half_length], vec![0; half_length]];
        // The last stage by fifth powers, every other stage by squaring the next one. Each power
        // waits for the one before, so that both rows are made at the same time.
        let mut powers = [root, inverse_root];
        for place in quarter_length..half_length {
            for (row, power) in rows.iter_mut().zip(&mut powers) {
                row[place] = *power;
                let square = modulus.mul(*power, *power);
                *power = modulus.mul(modulus.mul(square, square), *power);
            }
        }
        for row in &mut rows {
            let mut d = quarter_length / 2;
            while d >= 1 {
                for j in 0..d {
                    row[d + j] = modulus.mul(row[2 * d + j], row[2 * d + j]);
                }
                d /= 2;
            }
        }
        let quarter = modulus.pow(root, n / 2);
        // 1/n = -((q - 1)/n) only when n divides q - 1; halving works for every odd q.
        let half = q.div_ceil(2);
        let inverse_n = modulus.pow(half % q, u64::from(log_n));
        Self {
            modulus,
            rows,
            quarter,
            last: [inverse_n, modulus.mul(inverse_n, modulus.neg(quarter))],
        }
    }
}
