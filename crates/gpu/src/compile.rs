//! The kernels, compiled for a device when the first of its kind is opened.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::GpuError;
use crate::library::{Compiler, Handle, compiler};

const SOURCE: &str = include_str!("kernels.cu");

/// A compute capability, major and minor.
type Compute = (u32, u32);

/// The machine code that was made in this process.
static MADE: Mutex<Vec<(Compute, Arc<[u8]>)>> = Mutex::new(Vec::new());

/// The machine code for a compute capability, compiled once.
pub(crate) fn binary(compute: Compute) -> Result<Arc<[u8]>, GpuError> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, binary)) = made.iter().find(|(known, _)| *known == compute) {
        return Ok(binary.clone());
    }
    let binary: Arc<[u8]> = compiled(compute)?.into();
    made.push((compute, binary.clone()));
    Ok(binary)
}

fn compiled((major, minor): Compute) -> Result<Vec<u8>, GpuError> {
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
    let mut program = Program { compiler, handle: null_mut() };
    // SAFETY: all strings end with a zero and live until the calls return; the compiler writes as
    // many bytes as it said before.
    unsafe {
        let handle = &mut program.handle;
        let status = (compiler.create)(handle, source.as_ptr(), name.as_ptr(), 0, null(), null());
        if status != 0 {
            return Err(failed("nvrtcCreateProgram", status));
        }
        let status = (compiler.compile)(program.handle, options.len() as i32, options.as_ptr());
        if status != 0 {
            let what = format!("compiling the kernels ({})", program.log());
            return Err(failed(&what, status));
        }
        let mut size = 0;
        let status = (compiler.binary_size)(program.handle, &mut size);
        if status != 0 {
            return Err(failed("nvrtcGetCUBINSize", status));
        }
        let mut binary = vec![0u8; size];
        match (compiler.binary)(program.handle, binary.as_mut_ptr().cast()) {
            0 => Ok(binary),
            status => Err(failed("nvrtcGetCUBIN", status)),
        }
    }
}

/// A program, destroyed when it is dropped.
struct Program {
    compiler: &'static Compiler,
    handle: Handle,
}

impl Program {
    /// What the compiler says of it; nothing if it does not tell how much that is.
    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the compiler writes as many bytes as it said before.
        let log = unsafe {
            if (self.compiler.log_size)(self.handle, &mut size) != 0 {
                return String::new();
            }
            let mut log = vec![0u8; size];
            (self.compiler.log)(self.handle, log.as_mut_ptr().cast());
            log
        };
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        String::from_utf8_lossy(&log[..end]).into_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the program was made by this compiler.
            unsafe { (self.compiler.destroy)(&mut self.handle) };
        }
    }
}
