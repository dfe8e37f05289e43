//! The kernels, compiled for a device when an engine is made.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};

use crate::error::GpuError;
use crate::library::compiler;

const SOURCE: &str = include_str!("kernels.cu");

/// The machine code for a compute capability.
pub(crate) fn binary((major, minor): (u32, u32)) -> Result<Vec<u8>, GpuError> {
    let compiler = compiler()?;
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let (source, name) = (text(SOURCE), text("kernels.cu"));
    let options = [
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".into(),
        "--device-int128".into(),
        "--fmad=false".into(),
    ]
    .map(|option| text(&option));
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let failed = |what: &str, status: i32| {
        GpuError::no_device(format!("{what} failed with status {status}"))
    };
    let mut program = null_mut();
    // SAFETY: all strings end with a zero and live until the calls return; the compiler writes as
    // many bytes as it said before.
    unsafe {
        let status =
            (compiler.create)(&mut program, source.as_ptr(), name.as_ptr(), 0, null(), null());
        if status != 0 {
            return Err(failed("nvrtcCreateProgram", status));
        }
        let status = (compiler.compile)(program, options.len() as i32, options.as_ptr());
        if status != 0 {
            let mut size = 0;
            (compiler.log_size)(program, &mut size);
            let mut log = vec![0u8; size + 1];
            (compiler.log)(program, log.as_mut_ptr().cast());
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]).into_owned();
            (compiler.destroy)(&mut program);
            return Err(failed(&format!("compiling the kernels ({log})"), status));
        }
        let mut size = 0;
        let status = (compiler.binary_size)(program, &mut size);
        if status != 0 {
            return Err(failed("nvrtcGetCUBINSize", status));
        }
        let mut binary = vec![0u8; size];
        let status = (compiler.binary)(program, binary.as_mut_ptr().cast());
        (compiler.destroy)(&mut program);
        match status {
            0 => Ok(binary),
            status => Err(failed("nvrtcGetCUBIN", status)),
        }
    }
}
