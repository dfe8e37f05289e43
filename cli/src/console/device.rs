//! The device that computes.

use std::fmt;
use std::str::FromStr;

use clap::Args;

use crate::console::errors::CliError;

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A CUDA device, by its number.
    Cuda(u32),
}

/// Where a server computes.
#[derive(Args, Clone, Copy)]
pub struct DeviceArg {
    /// Compute on the processor or on a CUDA device, by its number (default: the first), with the
    /// same results bit by bit; needs a program that was built with the feature cuda
    #[arg(long, value_name = "cpu|cuda[:N]", default_value = "cpu")]
    pub device: Device,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let device = match text.split_once(':') {
            None if text == "cpu" => Some(Device::Cpu),
            None if text == "cuda" => Some(Device::Cuda(0)),
            Some(("cuda", number)) => number.parse().ok().map(Device::Cuda),
            _ => None,
        };
        device.ok_or_else(|| "expected cpu, cuda, or cuda:N for the device of number N".into())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl Device {
    /// Refuses a device on which this program does not compute.
    pub fn check(self) -> Result<(), CliError> {
        if self == Device::Cpu || cfg!(feature = "cuda") {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "--device {self}: this program was built without the feature cuda: build it in a \
             checkout by `cargo install --path cli --features cuda`"
        ))
        .with_code("cli.no-cuda"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        for (text, device) in [("cpu", Device::Cpu), ("cuda:0", Device::Cuda(0))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        assert_eq!("cuda:7".parse(), Ok(Device::Cuda(7)));
        for text in ["", "gpu", "cpu:0", "cuda:", "cuda:-1", "cuda:one", "CUDA"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
