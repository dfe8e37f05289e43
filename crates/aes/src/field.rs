//! AES in plain: its field GF(2)\[x\]/(x^8 + x^4 + x^3 + x + 1), SubBytes and the constants of its
//! linear layer (FIPS-197), of which every way of evaluation is made.
//!
//! For the owner of the key: no branch and no address depends on a value.

/// The low coefficients of x^8 + x^4 + x^3 + x + 1.
pub(crate) const REDUCTION: u8 = 0x1b;

/// SubBytes is [`AFFINE_CONSTANT`] + Σ `AFFINE[j]` y^(2^j), y = x^254: the affine map of FIPS-197
/// as a linearized polynomial.
pub const AFFINE: [u8; 8] = [0x05, 0x09, 0xf9, 0x25, 0xf4, 0x01, 0xb5, 0x8f];
/// SubBytes of 0.
pub const AFFINE_CONSTANT: u8 = 0x63;

/// The inverse of the affine map: [`INVERSE_AFFINE_CONSTANT`] + Σ `INVERSE_AFFINE[j]` z^(2^j);
/// x^254 of its result is InvSubBytes of z.
pub const INVERSE_AFFINE: [u8; 8] = [0x05, 0xfe, 0x7f, 0x5a, 0x78, 0x59, 0xdb, 0x6e];
/// What it makes of 0.
pub const INVERSE_AFFINE_CONSTANT: u8 = 0x05;

/// MixColumns: byte r of a column becomes Σ `MIX[(k - r) mod 4]` times byte k.
pub const MIX: [u8; 4] = [2, 3, 1, 1];
/// InvMixColumns, in the same way.
pub const INVERSE_MIX: [u8; 4] = [0xe, 0xb, 0xd, 0x9];

/// The product in the field.
pub fn mul(a: u8, b: u8) -> u8 {
    let step = |(sum, power): (u8, u8), i: u32| {
        let wraps = (power >> 7).wrapping_neg() & REDUCTION;
        (sum ^ power & (b >> i & 1).wrapping_neg(), power << 1 ^ wraps)
    };
    (0..8).fold((0, a), step).0
}

/// SubBytes of one byte.
pub(crate) fn sub_byte(x: u8) -> u8 {
    // 254 = 2 + 4 + .. + 128.
    let squares = std::iter::successors(Some(mul(x, x)), |s| Some(mul(*s, *s)));
    let inverse = squares.take(7).fold(1, mul);
    linearized(AFFINE, inverse) ^ AFFINE_CONSTANT
}

/// Σ `factors[j]` x^(2^j).
pub fn linearized(factors: [u8; 8], x: u8) -> u8 {
    let images = std::iter::successors(Some(x), |y| Some(mul(*y, *y)));
    factors.iter().zip(images).fold(0, |sum, (&c, y)| sum ^ mul(c, y))
}

/// The coefficients of Σ `factors[j]` (k x)^(2^j) as a polynomial in x.
pub(crate) fn scaled(factors: [u8; 8], k: u8) -> [u8; 8] {
    let mut power = k;
    factors.map(|factor| {
        let product = mul(factor, power);
        power = mul(power, power);
        product
    })
}

/// Where ShiftRows takes the byte at `position` from; byte r + 4c is in row r and column c.
pub fn shifted(position: usize) -> usize {
    let (row, column) = (position % 4, position / 4);
    row + 4 * ((column + row) % 4)
}

/// Where InvShiftRows takes the byte at `position` from.
pub fn unshifted(position: usize) -> usize {
    let (row, column) = (position % 4, position / 4);
    row + 4 * ((column + 4 - row) % 4)
}
