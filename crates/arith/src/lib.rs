//! Words, transforms and vector kernels: the arithmetic floor of everlevel.
//!
//! Everything above this crate works with residues modulo odd numbers below 2^50, kept in slices of
//! `u64`. This crate knows how to
//!
//! * reduce, add, multiply and invert one residue ([`Modulus`]);
//! * find primes and roots of unity ([`primes`]);
//! * evaluate a polynomial modulo X^n + 1 at all primitive 2n-th roots of unity and come back
//!   ([`NttTable`]), in the storage orders described in [`order`];
//! * do the same modulo the cyclotomic polynomial of an index that is no power of two
//!   ([`TensorTable`]), in the orders described in [`axes`];
//! * run the element-wise loops of homomorphic encryption ([`kernels`]).
//!
//! Transforms and kernels exist in a portable body and in bodies for AVX2 and AVX-512. Which one
//! runs is a value, [`Backend`], that tables are made for and that kernels are taken from; nothing
//! is global to the process. All bodies return the same bits.
//! This is the only crate of everlevel that contains `unsafe` code: vector loads, vector stores and
//! calls into code compiled for an instruction set.
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
#[cfg(target_arch = "x86_64")]
mod compiled;
mod error;
pub mod kernels;
mod memory;
mod modulus;
mod ntt;
pub mod order;
pub mod primes;

pub use axes::{Axes, Axis, Cycle};
pub use backend::{Backend, Selection};
pub use error::ArithError;
pub use memory::Block;
pub use modulus::{Modulus, ShoupFactor};
pub use ntt::{NttTable, TensorTable};
pub use order::{
    coefficient_position, evaluation_exponent, evaluation_index, gather_natural, scatter_natural,
};
