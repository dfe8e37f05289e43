//! What programs of the command line share: options, output, errors, files, parameter sets, and
//! what they say of the machine. Nothing here knows a command.

pub mod args;
pub mod circumstances;
pub mod device;
pub mod errors;
pub mod files;
pub mod machine;
pub mod measured;
pub mod output;
pub mod params;
pub mod program;
