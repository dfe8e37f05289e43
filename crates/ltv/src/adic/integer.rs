//! The few large integers that conversions need, in digits to the base p.

/// The digits of the product of `factors`, each below 2^63, lowest first.
pub(super) fn product(base: u64, factors: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let mut digits = vec![1u64];
    for factor in factors {
        let mut carry = 0u128;
        for d in &mut digits {
            carry += u128::from(*d) * u128::from(factor);
            *d = (carry % u128::from(base)) as u64;
            carry /= u128::from(base);
        }
        while carry > 0 {
            digits.push((carry % u128::from(base)) as u64);
            carry /= u128::from(base);
        }
    }
    digits.into_iter().map(|d| d as u32).collect()
}

/// The digits, modulo base^(their number), of the integer with these signed digits of any size.
pub(super) fn carried(base: u64, digits: impl IntoIterator<Item = i128>) -> Vec<u32> {
    let base = i128::from(base);
    let mut carry = 0;
    let carried = digits.into_iter().map(|d| {
        carry += d;
        let digit = carry.rem_euclid(base);
        carry = (carry - digit) / base;
        digit as u32
    });
    carried.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_have_their_value() {
        let value =
            |digits: &[u32]| digits.iter().rev().fold(0u128, |v, &d| v * 97 + u128::from(d));
        assert_eq!(value(&product(97, [(1 << 50) - 27, 12345, 99])), ((1 << 50) - 27) * 12345 * 99);
        assert_eq!(carried(97, [-1, 0, 0]), [96, 96, 96]);
        assert_eq!(
            value(&carried(97, [-500, 97 * 97 * 5, 3, 0, 0])),
            97u128.pow(3) * 5 + 3 * 97 * 97 - 500
        );
    }
}
