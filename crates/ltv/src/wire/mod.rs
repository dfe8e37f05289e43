//! LTV over powers of a prime (Doröz–Hu–Sunar 2014), **insecure**: the same objects for its own
//! parameters, in the same container.

pub mod ciphertexts;
pub mod eval_keys;
pub mod params;
pub mod public_key;
mod rows;
pub mod secret_key;

use everlevel_wire::container::Layout;
use everlevel_wire::{ObjectKind, ReadOptions, WireError};

use crate::spec::LtvParams;

fn layout(
    bytes: &[u8],
    kind: ObjectKind,
    params: &LtvParams,
    options: &ReadOptions,
) -> Result<Layout, WireError> {
    Layout::parse(bytes, options)?.expect_id(kind, params.id(), params.name())
}
