//! The functions of the CUDA driver and of its run-time compiler, loaded when they are first
//! needed: nothing is linked.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::error::GpuError;

/// A pointer into the memory of the device.
pub(crate) type Address = u64;
/// A status: 0 for success.
pub(crate) type Status = c_int;
/// An opaque handle.
pub(crate) type Handle = *mut c_void;

/// The libraries of the driver, by the variable that names another one.
const DRIVER: (&str, &[&str]) =
    ("EVERLEVEL_CUDA_LIBRARY", &["libcuda.so.1", "libcuda.so", "nvcuda.dll"]);
/// Those of the compiler.
const COMPILER: (&str, &[&str]) = (
    "EVERLEVEL_NVRTC_LIBRARY",
    &[
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so",
        "nvrtc64_130_0.dll",
        "nvrtc64_120_0.dll",
    ],
);

/// Declares a table of functions and how it is loaded.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident: $($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        $(#[$doc])*
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> Status,)*
        }

        impl $table {
            fn load(library: &'static Library) -> Result<Self, GpuError> {
                Ok($table {
                    $($field: {
                        // SAFETY: the symbol is documented to have this signature.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> Status>(
                                $symbol.as_bytes(),
                            )
                        };
                        *symbol.map_err(|e| GpuError::missing($symbol, &e))?
                    },)*
                })
            }
        }
    };
}

functions! {
    /// The driver.
    Driver:
    init = "cuInit" (c_uint);
    driver_version = "cuDriverGetVersion" (*mut c_int);
    device = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    device_memory = "cuDeviceTotalMem_v2" (*mut usize, c_int);
    free_memory = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    retain_context = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    release_context = "cuDevicePrimaryCtxRelease_v2" (c_int);
    set_context = "cuCtxSetCurrent" (Handle);
    load_module = "cuModuleLoadData" (*mut Handle, *const c_void);
    unload_module = "cuModuleUnload" (Handle);
    function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    allocate = "cuMemAlloc_v2" (*mut Address, usize);
    free = "cuMemFree_v2" (Address);
    copy_in = "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Handle);
    copy_out = "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Handle);
    fill = "cuMemsetD8Async" (Address, u8, usize, Handle);
    create_stream = "cuStreamCreate" (*mut Handle, c_uint);
    destroy_stream = "cuStreamDestroy_v2" (Handle);
    synchronize = "cuStreamSynchronize" (Handle);
    begin_capture = "cuStreamBeginCapture_v2" (Handle, c_int);
    end_capture = "cuStreamEndCapture" (Handle, *mut Handle);
    instantiate = "cuGraphInstantiateWithFlags" (*mut Handle, Handle, u64);
    graph_nodes = "cuGraphGetNodes" (Handle, *mut Handle, *mut usize);
    launch_graph = "cuGraphLaunch" (Handle, Handle);
    destroy_executable = "cuGraphExecDestroy" (Handle);
    destroy_graph = "cuGraphDestroy" (Handle);
    launch = "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void,
        *mut *mut c_void
    );
    error_name = "cuGetErrorName" (Status, *mut *const c_char);
}

functions! {
    /// The run-time compiler.
    Compiler:
    create = "nvrtcCreateProgram" (
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char,
        *const *const c_char
    );
    compile = "nvrtcCompileProgram" (Handle, c_int, *const *const c_char);
    binary_size = "nvrtcGetCUBINSize" (Handle, *mut usize);
    binary = "nvrtcGetCUBIN" (Handle, *mut c_char);
    log_size = "nvrtcGetProgramLogSize" (Handle, *mut usize);
    log = "nvrtcGetProgramLog" (Handle, *mut c_char);
    destroy = "nvrtcDestroyProgram" (*mut Handle);
}

/// The first library that is there. It is never unloaded, as its functions are kept.
fn open((variable, names): (&str, &[&str])) -> Result<&'static Library, GpuError> {
    let chosen = std::env::var(variable).ok();
    let candidates: Vec<&str> = match &chosen {
        Some(path) => vec![path],
        None => names.to_vec(),
    };
    let mut problem = String::new();
    for name in candidates {
        // SAFETY: loading a library runs its initialization; these are the vendor's own ones, or
        // the one that whoever runs the program has named.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) if problem.is_empty() => problem = error.to_string(),
            Err(_) => {}
        }
    }
    Err(GpuError::no_library(variable, &problem))
}

/// Both libraries, loaded once.
pub(crate) fn driver() -> Result<&'static Driver, GpuError> {
    static DRIVER_TABLE: OnceLock<Result<Driver, GpuError>> = OnceLock::new();
    let table = DRIVER_TABLE.get_or_init(|| open(DRIVER).and_then(Driver::load));
    table.as_ref().map_err(Clone::clone)
}

/// The compiler.
pub(crate) fn compiler() -> Result<&'static Compiler, GpuError> {
    static COMPILER_TABLE: OnceLock<Result<Compiler, GpuError>> = OnceLock::new();
    let table = COMPILER_TABLE.get_or_init(|| open(COMPILER).and_then(Compiler::load));
    table.as_ref().map_err(Clone::clone)
}
