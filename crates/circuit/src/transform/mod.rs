//! Slot-to-coefficient and coefficient-to-slot: the transform of the slots as a few merged linear
//! maps, [`SlotTransform`] for power-of-two indices and [`AxisTransform`] for those with axes.

mod axes;
mod block;
mod columns;

pub use axes::{AxisTransform, Packing};
pub use columns::SlotTransform;
pub(crate) use columns::check_splits;
