//! What a server does, wherever it computes.

#[cfg(feature = "cuda")]
use std::sync::Arc;

use everlevel::{Keys, Server};
#[cfg(feature = "cuda")]
use everlevel_gpu::Gpu;
use everlevel_ring::Engine;

use crate::console::device::Device;
use crate::console::errors::CliError;

/// Of the memory of a device, the part that copies of keys may take: one half.
#[cfg(feature = "cuda")]
const KEYS_PART: u64 = 2;

/// What is done with a server, on any engine.
pub trait Work {
    /// Does it.
    fn on<E: Engine>(self, server: &Server<E>) -> Result<(), CliError>;
}

/// Does it with a server that has these keys and computes on this device.
pub fn compute(device: Device, keys: impl Into<Keys>, work: impl Work) -> Result<(), CliError> {
    match device {
        Device::Cpu => work.on(&Server::with_keys(keys)?),
        #[cfg(feature = "cuda")]
        Device::Cuda(ordinal) => {
            let keys: Keys = keys.into();
            let gpu = Gpu::new(keys.params().ring().clone(), ordinal)?;
            let key_bytes = gpu.device().memory_bytes / KEYS_PART;
            work.on(&Server::with_engine(keys, Arc::new(gpu), key_bytes)?)
        }
        #[cfg(not(feature = "cuda"))]
        Device::Cuda(_) => device.check(),
    }
}
