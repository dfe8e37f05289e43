//! The ranges of lazy arithmetic: models of both arithmetics of the transforms in which a residue
//! is a bound on it. The sweeps of the transforms are generic, so they run on the models as they
//! are: every operation checks that its operands are in the range that it is documented for. What
//! the models say of an operation, `edges` checks on the operation itself. Nothing is inlined: the
//! sweeps are written out, and so much code takes minutes to compile.

mod bounds;
mod float;
mod ifma;
mod sums;

pub(crate) use float::FloatRanges;
pub(crate) use ifma::IfmaRanges;
