//! The program `everlevel` as a library, for programs with the same options, output and errors.
//!
//! * [`run`]: the program itself.
//! * [`console`]: options, output, errors and exit codes, parameter sets by name or by file, and
//!   what a measurement says of its machine.
//! * [`commands::bench`]: one bootstrapping under fresh keys, measured and checked.
//! * [`mistakes`]: mistakes made on purpose, which have to be refused.
//! * [`plot`]: line plots as SVG.
//!
//! It makes no promises before 1.0: applications use the library `everlevel`.
#![forbid(unsafe_code)]

mod columns;
pub mod commands;
pub mod console;
pub mod mistakes;
pub mod plot;

pub use commands::run;
