//! Computation on the polynomials of everlevel on a CUDA device.
//!
//! [`Gpu`] is an [`Engine`](everlevel_ring::Engine): whatever is generic over engines, such as an
//! evaluator of BGV and BFV and its bootstrapping, runs on it without a change, and returns the
//! same bits as on the processor. The driver and the run-time compiler are loaded when a device is
//! first opened, so that nothing of CUDA is needed to build this crate.
//!
//! Polynomials, switching keys and plaintexts are in the memory of the device; secrets never get
//! there. All work is enqueued in one stream; [`Gpu::record`] makes one graph of a long
//! computation, which is launched as a whole.
//!
//! Only rings of an index that is a power of two have transforms on the device.

mod arguments;
mod combine;
mod compile;
mod constants;
mod convert;
mod device;
mod divide;
mod elements;
mod engine;
mod error;
mod gpu;
mod graph;
mod hoist;
mod integers;
mod library;
mod memory;
mod plan;
mod record;
mod sums;
mod tables;
mod transform;

pub use combine::Diagonal;
pub use device::DeviceInfo;
pub use error::GpuError;
pub use gpu::Gpu;
pub use memory::Limbs;
pub use record::Recording;
pub use sums::{Digits, Key};
