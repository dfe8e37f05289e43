//! The integration tests of this crate, in one binary so that it is linked once.

mod bits;
mod edges;
mod kernels;
mod matrices;
mod modulus;
mod tensor;
mod transform;
