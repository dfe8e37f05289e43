//! Element-wise loops over slices of residues.
//!
//! Conventions: `q` is the modulus; all slices of a call have the same length, any length; residues
//! are canonical, that is in [0, q), on input and output unless a kernel states otherwise. [`on`]
//! returns the kernels of a [`Backend`]. All backends return the same bits, and no branch and no
//! memory address depends on the data.
//!
//! Most kernels are memory-bound: a cost of k streams means that k words are read or written per
//! element.

use crate::arch;
use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::compiled;
use crate::error::ArithError;
use crate::modulus::Modulus;
use crate::packed::check;

/// The largest number of pairs or terms that the inner products, [`Kernels::weighted_sum`] and
/// [`Kernels::matrix_product`] take.
pub const MAX_TERMS: usize = 1 << 11;
/// The largest number of digits in [`Kernels::digit_residues`].
pub const MAX_DIGITS: usize = 1 << 6;

type Assign = fn(Modulus, &mut [u64], &[u64]);
type Binary = fn(Modulus, &mut [u64], &[u64], &[u64]);
type Unary = fn(Modulus, &mut [u64]);
type Weighted = fn(Modulus, &mut [u64], &[&[u64]], &[u64]);
type Matrix = fn(Modulus, &mut [&mut [u64]], &[&[u64]], &[i64]);
type DigitSums = fn(Modulus, &mut [u64], &[&[u32]], &[u64], u64);
type TwoScalars = fn(Modulus, &mut [u64], &[u64], u64, &[u64], u64);
type Products = fn(Modulus, &mut [u64], &[&[u64]], &[&[u64]]);
type ScaledProducts = fn(Modulus, &mut [u64], &[&[u64]], &[&[u64]], u64);
type PackedProducts = fn(Modulus, &mut [u64], &[&[u64]], &[&[u64]], usize);
type PackedScaledProducts = fn(Modulus, &mut [u64], &[&[u64]], &[&[u64]], usize, u64);
type PackedProducts2 = fn(Modulus, &mut [u64], &mut [u64], &[&[u64]], &[&[u64]], &[&[u64]], usize);
type Unpack = fn(Modulus, &mut [u64], &[u8], &mut bool);
type Products2 = fn(Modulus, &mut [u64], &mut [u64], &[&[u64]], &[&[u64]], &[&[u64]]);

/// The kernels of one backend; see [`on`]. A reference to them proves that this
/// processor has the backend.
pub struct Kernels {
    backend: Backend,
    pub(crate) add_assign: Assign,
    pub(crate) sub_assign: Assign,
    pub(crate) neg_assign: Unary,
    pub(crate) add: Binary,
    pub(crate) sub: Binary,
    pub(crate) mul: Binary,
    pub(crate) mul_assign: Assign,
    pub(crate) mul_add_assign: Binary,
    pub(crate) scalar_mul: fn(Modulus, &mut [u64], &[u64], u64),
    pub(crate) scalar_mul_assign: fn(Modulus, &mut [u64], u64),
    pub(crate) scalar_mul_add_assign: fn(Modulus, &mut [u64], &[u64], u64),
    pub(crate) inner_product: Products,
    pub(crate) inner_product_scale_add: ScaledProducts,
    pub(crate) inner_product2: Products2,
    pub(crate) packed_product: PackedProducts,
    pub(crate) packed_product2: PackedProducts2,
    pub(crate) packed_product_scale_add: PackedScaledProducts,
    pub(crate) weighted_sum: Weighted,
    pub(crate) matrix_product: Matrix,
    pub(crate) rounded_quotient: fn(&mut [u64], &[&[u64]], &[f64]),
    pub(crate) sub_scale: fn(Modulus, &mut [u64], &[u64], u64),
    pub(crate) scale_sub: TwoScalars,
    pub(crate) reduce_assign: Unary,
    pub(crate) from_signed: fn(Modulus, &mut [u64], &[i64]),
    pub(crate) digit_residues: DigitSums,
    pub(crate) multiply_add_halves: fn(&mut [u64], &[&[u64]], &[u32]),
    pub(crate) carry_digits: fn(u32, &mut [u32], &[u64], &mut [u64], u32),
    pub(crate) chacha20: fn(&[u32; 8], u64, u64, &mut [u64]),
    pub(crate) unpack_residues: Unpack,
}

/// Builds the table of a module that defines every kernel under its own name.
macro_rules! kernel_table {
    ($backend:ident, $($module:ident)::+) => {{
        use $($module)::+ as bodies;
        $crate::kernels::Kernels {
            backend: Backend::$backend,
            add_assign: bodies::add_assign,
            sub_assign: bodies::sub_assign,
            neg_assign: bodies::neg_assign,
            add: bodies::add,
            sub: bodies::sub,
            mul: bodies::mul,
            mul_assign: bodies::mul_assign,
            mul_add_assign: bodies::mul_add_assign,
            scalar_mul: bodies::scalar_mul,
            scalar_mul_assign: bodies::scalar_mul_assign,
            scalar_mul_add_assign: bodies::scalar_mul_add_assign,
            inner_product: bodies::inner_product,
            inner_product_scale_add: bodies::inner_product_scale_add,
            inner_product2: bodies::inner_product2,
            packed_product: bodies::packed_product,
            packed_product2: bodies::packed_product2,
            packed_product_scale_add: bodies::packed_product_scale_add,
            weighted_sum: bodies::weighted_sum,
            matrix_product: bodies::matrix_product,
            rounded_quotient: bodies::rounded_quotient,
            sub_scale: bodies::sub_scale,
            scale_sub: bodies::scale_sub,
            reduce_assign: bodies::reduce_assign,
            from_signed: bodies::from_signed,
            digit_residues: bodies::digit_residues,
            multiply_add_halves: bodies::multiply_add_halves,
            carry_digits: bodies::carry_digits,
            chacha20: bodies::chacha20,
            unpack_residues: bodies::unpack_residues,
        }
    }};
}

static PORTABLE: Kernels = kernel_table!(Portable, arch::portable);
#[cfg(target_arch = "x86_64")]
static AVX2: Kernels = kernel_table!(Avx2, compiled::avx2);
#[cfg(target_arch = "x86_64")]
static AVX512: Kernels = kernel_table!(Avx512, compiled::avx512);

/// The kernels of a backend.
///
/// # Errors
/// [`ArithError::MissingBackend`] if this processor lacks it.
pub fn on(backend: Backend) -> Result<&'static Kernels, ArithError> {
    backend.check()?;
    Ok(match backend {
        Backend::Portable => &PORTABLE,
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2 => &AVX2,
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512 => &AVX512,
        #[cfg(not(target_arch = "x86_64"))]
        _ => unreachable!("just checked"),
    })
}

impl Kernels {
    /// The backend of these kernels.
    pub fn backend(&self) -> Backend {
        self.backend
    }
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernels({})", self.backend)
    }
}

/// Checks lengths: the bodies read all slices up to the length of the first.
#[inline(always)]
fn same_length<T>(expected: usize, slice: &[T]) {
    assert_eq!(slice.len(), expected, "the slices of a kernel must have equal lengths");
}

fn same_lengths(expected: usize, slices: &[&[u64]]) {
    slices.iter().for_each(|slice| same_length(expected, slice));
}

fn hold(packed: &[&[u64]], count: usize) {
    packed.iter().for_each(|packed| check(packed, count));
}

fn check_terms(left: usize, right: usize) {
    assert_eq!(left, right, "a sum of products needs as many left as right factors");
    assert!(left <= MAX_TERMS, "a sum of products takes at most {MAX_TERMS} terms, found {left}");
}

/// Defines each kernel as a checked method of [`Kernels`].
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),*) { $($check:stmt;)* })*) => {
        impl Kernels {
            $($(#[$doc])*
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub fn $name(&self, $($argument: $kind),*) {
                $($check)*
                (self.$name)($($argument),*);
            })*
        }
    };
}

kernels! {
    /// a += b. Three streams.
    fn add_assign(q: Modulus, a: &mut [u64], b: &[u64]) { same_length(a.len(), b); }

    /// a -= b. Three streams.
    fn sub_assign(q: Modulus, a: &mut [u64], b: &[u64]) { same_length(a.len(), b); }

    /// a = -a. Two streams.
    fn neg_assign(q: Modulus, a: &mut [u64]) { }

    /// out = a + b. Three streams.
    fn add(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
        same_length(out.len(), a);
        same_length(out.len(), b);
    }

    /// out = a - b. Three streams.
    fn sub(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
        same_length(out.len(), a);
        same_length(out.len(), b);
    }

    /// out = a b. Three streams and a modular multiplication.
    fn mul(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
        same_length(out.len(), a);
        same_length(out.len(), b);
    }

    /// a *= b. Three streams and a modular multiplication.
    fn mul_assign(q: Modulus, a: &mut [u64], b: &[u64]) { same_length(a.len(), b); }

    /// acc += a b. Four streams and a modular multiplication.
    fn mul_add_assign(q: Modulus, acc: &mut [u64], a: &[u64], b: &[u64]) {
        same_length(acc.len(), a);
        same_length(acc.len(), b);
    }

    /// out = c a, for c < q. Two streams and a multiplication by a constant.
    fn scalar_mul(q: Modulus, out: &mut [u64], a: &[u64], c: u64) {
        same_length(out.len(), a);
        check_scalar(q, c);
    }

    /// a *= c, for c < q. Two streams and a multiplication by a constant.
    fn scalar_mul_assign(q: Modulus, a: &mut [u64], c: u64) { check_scalar(q, c); }

    /// out += c a, for c < q. Three streams and a multiplication by a constant.
    fn scalar_mul_add_assign(q: Modulus, out: &mut [u64], a: &[u64], c: u64) {
        same_length(out.len(), a);
        check_scalar(q, c);
    }

    /// out = sum_j a_j b_j over at most [`MAX_TERMS`] pairs; no pair gives 0.
    ///
    /// 2 pairs + 1 streams; the products are added unreduced, with one reduction at the end.
    fn inner_product(q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) {
        check_terms(a.len(), b.len());
        same_lengths(out.len(), a);
        same_lengths(out.len(), b);
    }

    /// out += c sum_j a_j b_j over at most [`MAX_TERMS`] pairs, for c < q.
    ///
    /// 2 pairs + 2 streams; as [`Kernels::inner_product`], and a multiplication by a constant.
    fn inner_product_scale_add(q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], c: u64) {
        check_terms(a.len(), b.len());
        same_lengths(out.len(), a);
        same_lengths(out.len(), b);
        check_scalar(q, c);
    }

    /// out0 = sum_j a_j b0_j and out1 = sum_j a_j b1_j: the two components of a key switch, where
    /// each a_j is read once.
    ///
    /// As [`Kernels::inner_product`], with 3 pairs + 2 streams.
    fn inner_product2(
        q: Modulus, out0: &mut [u64], out1: &mut [u64],
        a: &[&[u64]], b0: &[&[u64]], b1: &[&[u64]]
    ) {
        check_terms(a.len(), b0.len());
        check_terms(a.len(), b1.len());
        same_length(out0.len(), out1);
        same_lengths(out0.len(), a);
        same_lengths(out0.len(), b0);
        same_lengths(out0.len(), b1);
    }

    /// [`Kernels::inner_product`] where b_j are the residues from `place` on of slices that
    /// [`pack`](crate::pack) has made.
    fn packed_product(q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], place: usize) {
        check_terms(a.len(), b.len());
        same_lengths(out.len(), a);
        hold(b, place + out.len());
    }

    /// [`Kernels::inner_product2`] for packed slices, as [`Kernels::packed_product`].
    fn packed_product2(
        q: Modulus, out0: &mut [u64], out1: &mut [u64],
        a: &[&[u64]], b0: &[&[u64]], b1: &[&[u64]], place: usize
    ) {
        check_terms(a.len(), b0.len());
        check_terms(a.len(), b1.len());
        same_length(out0.len(), out1);
        same_lengths(out0.len(), a);
        hold(b0, place + out0.len());
        hold(b1, place + out0.len());
    }

    /// [`Kernels::inner_product_scale_add`] for packed slices, as [`Kernels::packed_product`].
    fn packed_product_scale_add(
        q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], place: usize, c: u64
    ) {
        check_terms(a.len(), b.len());
        same_lengths(out.len(), a);
        hold(b, place + out.len());
        check_scalar(q, c);
    }

    /// out = sum_j w_j x_j over at most [`MAX_TERMS`] terms, for x_j < 2^50 (not necessarily below
    /// q) and w_j < q.
    ///
    /// Terms + 1 streams: the inner loop of base conversion.
    fn weighted_sum(q: Modulus, out: &mut [u64], xs: &[&[u64]], weights: &[u64]) {
        check_terms(xs.len(), weights.len());
        same_lengths(out.len(), xs);
        weights.iter().for_each(|&w| check_scalar(q, w));
    }

    /// outs_i = sum_j w_ij x_j over at most [`MAX_TERMS`] terms, for any constants w, row by row:
    /// the product of a matrix of constants, which are public, with a column of slices.
    ///
    /// Small constants take a multiplication and an addition of doubles for each constant and each
    /// word, with a reduction only before the sum of a row could reach 2^53; the words are read
    /// once for all rows. Other constants, and a single row, take [`Kernels::weighted_sum`] row by
    /// row.
    fn matrix_product(q: Modulus, outs: &mut [&mut [u64]], xs: &[&[u64]], weights: &[i64]) {
        assert_eq!(weights.len(), outs.len() * xs.len(), "a constant for each row and term");
        check_terms(xs.len(), xs.len());
        let length = match (outs.first(), xs.first()) {
            (Some(out), _) => out.len(),
            (None, x) => x.map_or(0, |x| x.len())
        };
        outs.iter().for_each(|out| same_length(length, out));
        same_lengths(length, xs);
    }

    /// out = round(sum_j y_j inverse_j), for y_j < 2^50 and a result in [0, 2^51).
    ///
    /// The sum is computed in double precision, with every product and every sum rounded (ties to
    /// even), in the order of the terms, so that the bits are the same on every machine.
    fn rounded_quotient(out: &mut [u64], ys: &[&[u64]], inverses: &[f64]) {
        assert_eq!(ys.len(), inverses.len(), "a rounded quotient needs as many inverses as terms");
        same_lengths(out.len(), ys);
    }

    /// x = (x - v) c, for c < q. Three streams.
    fn sub_scale(q: Modulus, x: &mut [u64], v: &[u64], c: u64) {
        same_length(x.len(), v);
        check_scalar(q, c);
    }

    /// out = cx x - cv v, for cx, cv < q. Three streams.
    fn scale_sub(q: Modulus, out: &mut [u64], x: &[u64], cx: u64, v: &[u64], cv: u64) {
        same_length(out.len(), x);
        same_length(out.len(), v);
        check_scalar(q, cx);
        check_scalar(q, cv);
    }

    /// a mod q, for a < 2^52. Two streams.
    fn reduce_assign(q: Modulus, a: &mut [u64]) { }

    /// The residues of signed words of any size. Two streams.
    fn from_signed(q: Modulus, out: &mut [u64], a: &[i64]) { same_length(out.len(), a); }

    /// out = constant + sum_j w_j digit_j over at most [`MAX_DIGITS`] rows of half words, for w_j,
    /// constant < q: from digits to residues.
    ///
    /// Half a stream a row, and one.
    fn digit_residues(
        q: Modulus, out: &mut [u64], digits: &[&[u32]], weights: &[u64], constant: u64
    ) {
        assert!(
            digits.len() == weights.len() && digits.len() <= MAX_DIGITS,
            "at most {MAX_DIGITS} digits, one weight each"
        );
        digits.iter().for_each(|row| same_length(out.len(), row));
        weights.iter().for_each(|&w| check_scalar(q, w));
        check_scalar(q, constant);
    }

    /// acc += sum_j w_j (x_j mod 2^32), modulo 2^64. Terms + 2 streams.
    fn multiply_add_halves(acc: &mut [u64], xs: &[&[u64]], weights: &[u32]) {
        assert_eq!(xs.len(), weights.len(), "a weighted sum needs as many weights as terms");
        same_lengths(acc.len(), xs);
    }

    /// out = s mod base and carry = floor(s / base) for s = acc + carry + constant, which must be
    /// below (2^32 - 1) base < 2^63: one row of a sum is brought to digits. Three and a half
    /// streams.
    fn carry_digits(base: u32, out: &mut [u32], acc: &[u64], carry: &mut [u64], constant: u32) {
        assert!(base > 2 && constant < base, "a base above 2 and a digit to it");
        same_length(acc.len(), out);
        same_length(acc.len(), carry);
    }

    /// A stream of ChaCha20 from a block on, which has 8 words: block and stream are numbers of 64
    /// bits, as its author has them.
    fn chacha20(key: &[u32; 8], stream: u64, block: u64, out: &mut [u64]) { }
}

/// A constant factor outside [0, q) is a programming error, and a public one: constants come from
/// parameters.
#[inline(always)]
fn check_scalar(q: Modulus, c: u64) {
    assert!(c < q.value(), "a scalar factor must be reduced modulo q");
}
