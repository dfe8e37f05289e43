//! Parameter sets as plain data: the specification, the modulus chain that follows from it, levels,
//! forms, and the tables of the named sets. Noise and keys are built on these.

pub(crate) mod chain;
pub(crate) mod form;
pub(crate) mod level;
pub(crate) mod next_use;
pub(crate) mod ntru_sets;
pub(crate) mod params;
pub(crate) mod set_id;
pub(crate) mod sets;
mod usual;

pub use chain::{GadgetId, ModulusChain};
pub use form::Form;
pub use level::Level;
pub use next_use::NextUse;
pub use params::{Assumption, BootstrapMode, BootstrapSpec, ParamsSpec, SecretKind};
pub use set_id::SetId;
