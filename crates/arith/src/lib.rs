//! Modular arithmetic on words, number-theoretic transforms and vector kernels: the lowest layer of
//! everlevel.
//!
//! All other crates work with residues modulo odd numbers below 2^50, which are stored in slices of
//! `u64`. This crate can
//!
//! * reduce, add, multiply and invert one residue ([`Modulus`]);
//! * find primes and roots of unity ([`primes`]);
//! * evaluate a polynomial modulo X^n + 1 at all primitive 2n-th roots of unity and interpolate it
//!   from these values ([`NttTable`]), in the storage orders described in [`order`];
//! * do the same modulo the cyclotomic polynomial of an index that is not a power of two
//!   ([`TensorTable`]), in the orders described in [`axes`];
//! * run the element-wise loops of homomorphic encryption ([`kernels`]);
//! * transform complex numbers, where only magnitudes are needed ([`ComplexTransform`]);
//! * measure what the ports of the processor allow, and how fast memory is read ([`Ports`],
//!   [`read_through`]).
//!
//! Transforms and kernels exist in a portable version and in versions for AVX2 and AVX-512, which
//! return the same bits. A value of type [`Backend`] selects the version when a table is
//! constructed or a kernel is obtained; there is no global state. This is the only crate of
//! everlevel that contains `unsafe` code for the processor: vector loads, vector stores and calls
//! into code compiled for an instruction set.
//!
//! ```
//! use everlevel_arith::{Backend, NttTable, kernels};
//!
//! // (1 + X) * X^3 = X^3 + X^4 modulo X^16 + 1 and 97.
//! let backend = Backend::detect();
//! let table = NttTable::for_prime(97, 4, backend)?;
//! let mut a = vec![0; 16];
//! let mut b = vec![0; 16];
//! a[table.coefficient_position(0)] = 1;
//! a[table.coefficient_position(1)] = 1;
//! b[table.coefficient_position(3)] = 1;
//! table.forward(&mut a);
//! table.forward(&mut b);
//! kernels::on(backend)?.mul_assign(table.modulus(), &mut a, &b);
//! table.inverse(&mut a);
//! let product = everlevel_arith::order::gather_natural(4, &a);
//! assert_eq!(product[..6], [0, 0, 0, 1, 1, 0]);
//! # Ok::<(), everlevel_arith::ArithError>(())
//! ```
#![allow(unsafe_code)]

mod arch;
pub mod axes;
mod backend;
mod bits;
#[cfg(target_arch = "x86_64")]
mod compiled;
mod complex;
mod error;
pub mod kernels;
mod memory;
mod modulus;
mod ntt;
mod operations;
pub mod order;
mod packed;
mod ports;
pub mod primes;

pub use axes::{Axes, Axis, Cycle};
pub use backend::{Backend, Selection};
pub use bits::residue_bytes;
pub use complex::{Complex64, ComplexTransform};
pub use error::ArithError;
pub use memory::Block;
pub use modulus::{Modulus, ShoupFactor};
pub use ntt::{NttTable, Powers, TensorTable};
pub use operations::Operations;
pub use order::{
    NaturalOrder, coefficient_position, evaluation_exponent, evaluation_index, gather_natural,
    scatter_natural,
};
pub use packed::{PACKED_BITS, pack, packed_words, unpack};
pub use ports::{Ports, read_through};
