//! The bodies of the kernels, one module for each instruction set.

pub(crate) mod portable;
