//! The vector kernels and transforms, compiled for each instruction set.

/// Compiles functions that are generic over [`Lanes`](crate::arch::lanes::Lanes) for one
/// instruction set. The generic bodies are always inlined into a function with the target features,
/// which is what makes their instructions available.
macro_rules! compile_for {
    (
        $features:literal, $token:ident, $path:path;
        $($visibility:vis fn $name:ident($($argument:ident: $kind:ty),*);)*
    ) => {
        $(
            #[allow(clippy::too_many_arguments)]
            $visibility fn $name($($argument: $kind),*) {
                #[target_feature(enable = $features)]
                #[allow(clippy::too_many_arguments)]
                fn body($($argument: $kind),*) {
                    use $path as generic;
                    // SAFETY: this function runs only on processors with its target features.
                    let token = unsafe { $token::new() };
                    generic::$name(token, $($argument),*);
                }
                // SAFETY: tables and kernels hand this function out only where the backend is
                // available.
                unsafe { body($($argument),*) }
            }
        )*
    };
}

/// Compiles the kernels and the transform for one instruction set.
macro_rules! compile_kernels {
    ($features:literal, $token:ident) => {
        compile_for! { $features, $token, crate::arch::vector;
            pub(crate) fn add_assign(q: Modulus, a: &mut [u64], b: &[u64]);

            pub(crate) fn sub_assign(q: Modulus, a: &mut [u64], b: &[u64]);

            pub(crate) fn neg_assign(q: Modulus, a: &mut [u64]);

            pub(crate) fn add(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]);

            pub(crate) fn sub(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]);

            pub(crate) fn mul(q: Modulus, out: &mut [u64], a: &[u64], b: &[u64]);

            pub(crate) fn mul_assign(q: Modulus, a: &mut [u64], b: &[u64]);

            pub(crate) fn mul_add_assign(q: Modulus, acc: &mut [u64], a: &[u64], b: &[u64]);

            pub(crate) fn scalar_mul(q: Modulus, out: &mut [u64], a: &[u64], c: u64);

            pub(crate) fn scalar_mul_assign(q: Modulus, a: &mut [u64], c: u64);

            pub(crate) fn scalar_mul_add_assign(q: Modulus, out: &mut [u64], a: &[u64], c: u64);

            pub(crate) fn weighted_sum(q: Modulus, out: &mut [u64], xs: &[&[u64]], weights: &[u64]);

            pub(crate) fn rounded_quotient(out: &mut [u64], ys: &[&[u64]], inverses: &[f64]);

            pub(crate) fn sub_scale(q: Modulus, x: &mut [u64], v: &[u64], c: u64);

            pub(crate) fn scale_sub(
                q: Modulus, out: &mut [u64], x: &[u64], cx: u64, v: &[u64], cv: u64
            );

            pub(crate) fn reduce_assign(q: Modulus, a: &mut [u64]);

            pub(crate) fn from_signed(q: Modulus, out: &mut [u64], a: &[i64]);
        }
        compile_for! { $features, $token, crate::arch::inner;
            pub(crate) fn inner_product(q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]);

            pub(crate) fn inner_product_scale_add(
                q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], c: u64
            );

            pub(crate) fn inner_product2(
                q: Modulus, out0: &mut [u64], out1: &mut [u64],
                a: &[&[u64]], b0: &[&[u64]], b1: &[&[u64]]
            );

            pub(crate) fn packed_product(
                q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], place: usize
            );

            pub(crate) fn packed_product2(
                q: Modulus, out0: &mut [u64], out1: &mut [u64],
                a: &[&[u64]], b0: &[&[u64]], b1: &[&[u64]], place: usize
            );

            pub(crate) fn packed_product_scale_add(
                q: Modulus, out: &mut [u64], a: &[&[u64]], b: &[&[u64]], place: usize, c: u64
            );
        }
        compile_for! { $features, $token, crate::arch::chacha;
            pub(crate) fn chacha20(key: &[u32; 8], stream: u64, block: u64, out: &mut [u64]);
        }
        compile_for! { $features, $token, crate::arch::bits;
            pub(crate) fn unpack_residues(
                q: Modulus, out: &mut [u64], bytes: &[u8], below: &mut bool
            );
        }
        compile_for! { $features, $token, crate::arch::matrix;
            pub(crate) fn matrix_product(
                q: Modulus, outs: &mut [&mut [u64]], xs: &[&[u64]], weights: &[i64]
            );
        }
        compile_for! { $features, $token, crate::arch::digits;
            pub(crate) fn digit_residues(
                q: Modulus, out: &mut [u64], digits: &[&[u32]], weights: &[u64], constant: u64
            );

            pub(crate) fn multiply_add_halves(acc: &mut [u64], xs: &[&[u64]], weights: &[u32]);

            pub(crate) fn carry_digits(
                base: u32, out: &mut [u32], acc: &[u64], carry: &mut [u64], constant: u32
            );
        }
        compile_for! { $features, $token, crate::ntt::vector;
            pub(crate) fn forward(
                twiddles: &crate::ntt::twiddles::TwiddlesOf<$token>, a: &mut [u64]
            );

            pub(crate) fn inverse(
                twiddles: &crate::ntt::twiddles::TwiddlesOf<$token>, a: &mut [u64]
            );
        }
        compile_for! { $features, $token, crate::ntt::registers;
            pub(crate) fn forward_butterflies(q: Modulus, w: u64, rounds: usize, words: &mut [u64]);

            pub(crate) fn inverse_butterflies(q: Modulus, w: u64, rounds: usize, words: &mut [u64]);

            pub(crate) fn products(q: Modulus, b: u64, rounds: usize, words: &mut [u64]);

            pub(crate) fn exclusive_or(words: &[u64], out: &mut u64);
        }
        compile_for! { $features, $token, crate::ntt::tensor::sweep;
            pub(crate) fn tensor(
                plan: &crate::ntt::tensor::sweep::Plan<<$token as Lanes>::Transform>,
                direction: usize,
                scratch: &mut [crate::memory::CacheLine],
                a: &mut [u64]
            );
        }
    };
}

/// AVX2 with FMA.
pub(crate) mod avx2 {
    use crate::arch::avx2::Avx2;
    use crate::arch::lanes::Lanes;
    use crate::modulus::Modulus;

    compile_kernels!("avx2,fma", Avx2);
}

/// AVX-512 with IFMA.
pub(crate) mod avx512 {
    use crate::arch::avx512::Avx512;
    use crate::arch::lanes::Lanes;
    use crate::modulus::Modulus;

    compile_kernels!("avx512f,avx512dq,avx512vl,avx512bw,avx512ifma", Avx512);
}
