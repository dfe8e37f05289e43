//! Jobs on a CUDA device, where the program was built with the feature `cuda`.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod cuda;

#[cfg(not(feature = "cuda"))]
pub(crate) use absent::DeviceJobs;
#[cfg(feature = "cuda")]
pub(crate) use cuda::DeviceJobs;
