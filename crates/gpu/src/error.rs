//! What can go wrong on a device.

use std::fmt;

/// What went wrong, with a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuError {
    kind: Kind,
    problem: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    NoDevice,
    Fault,
    Memory,
    Ring,
    Unlaunched,
}

impl GpuError {
    fn new(kind: Kind, problem: String) -> Self {
        GpuError { kind, problem }
    }

    /// A stable code: `gpu.none`, `gpu.fault`, `gpu.memory`, `gpu.ring` or `gpu.unlaunched`.
    pub fn code(&self) -> &'static str {
        match self.kind {
            Kind::NoDevice => "gpu.none",
            Kind::Fault => "gpu.fault",
            Kind::Memory => "gpu.memory",
            Kind::Ring => "gpu.ring",
            Kind::Unlaunched => "gpu.unlaunched",
        }
    }

    pub(crate) fn no_library(variable: &str, problem: &str) -> Self {
        Self::new(
            Kind::NoDevice,
            format!(
                "a library of CUDA is missing ({problem}): install NVIDIA's driver and NVRTC 12.1 \
                 or later, or set {variable} to the library's path"
            ),
        )
    }

    pub(crate) fn missing(symbol: &str, problem: &dyn fmt::Display) -> Self {
        let problem = format!(
            "the library of CUDA is too old: it lacks {symbol} ({problem}); version 12.1 or later \
             is needed"
        );
        Self::new(Kind::NoDevice, problem)
    }

    pub(crate) fn no_device(problem: String) -> Self {
        Self::new(Kind::NoDevice, problem)
    }

    pub(crate) fn fault(problem: String) -> Self {
        Self::new(Kind::Fault, problem)
    }

    pub(crate) fn memory(bytes: u64) -> Self {
        let problem = format!(
            "the device has no {bytes} bytes left: use a smaller budget for keys, or fewer \
             ciphertexts at a time"
        );
        Self::new(Kind::Memory, problem)
    }

    pub(crate) fn ring(index: u64) -> Self {
        let problem = format!(
            "the index {index} is no power of two, or below 32: the device has transforms for \
             powers of two only; use the processor"
        );
        Self::new(Kind::Ring, problem)
    }

    pub(crate) fn unwritten() -> Self {
        let problem = "work reads what a recording computes that was never launched, so that it \
                       holds nothing yet: launch the recording before";
        Self::fault(problem.into())
    }

    pub(crate) fn unlaunched() -> Self {
        let problem = "the recording that computes this was never launched, so that it holds \
                       nothing yet: launch it before";
        Self::new(Kind::Unlaunched, problem.into())
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for GpuError {}
