//! The integration tests of this crate, in one binary so that it is linked once.

mod codes;
mod hostile;
mod stand_in;
mod zn;
