//! What instruction sets offer: tokens for them, vectors of words and residues, and the bodies of
//! the kernels, portable ones and vector ones written once over [`lanes::Lanes`].

pub(crate) mod portable;
mod portable_bits;
pub(crate) mod residues;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod bits;
#[cfg(target_arch = "x86_64")]
pub(crate) mod butterfly;
#[cfg(target_arch = "x86_64")]
pub(crate) mod chacha;
#[cfg(target_arch = "x86_64")]
pub(crate) mod digits;
#[cfg(target_arch = "x86_64")]
mod float;
#[cfg(target_arch = "x86_64")]
pub(crate) mod inner;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lanes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod matrix;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vector;

#[cfg(all(test, target_arch = "x86_64"))]
mod edges;
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) mod ranges;
