//! A device: its context, its stream, the compiled kernels. All calls of the driver are here.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use crate::arguments::{Arguments, Kernel};
use crate::compile::binary;
use crate::error::GpuError;
use crate::library::{Address, Driver, Handle, Status, driver};

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name.
    pub name: String,
    /// The version of CUDA that the driver supports.
    pub driver: String,
    /// The compute capability, major and minor.
    pub compute: (u32, u32),
    /// The bytes of its memory.
    pub memory_bytes: u64,
    /// Those that nobody used when it was opened.
    pub free_bytes: u64,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
}

/// A device with its kernels. All work is in one stream, so what is enqueued later may use the
/// memory of what was enqueued before.
pub(crate) struct Device {
    pub(crate) driver: &'static Driver,
    ordinal: i32,
    pub(crate) context: Handle,
    pub(crate) stream: Handle,
    /// For words that kernels only read, which may be needed while the stream is recorded.
    constants: Handle,
    /// For graphs that are launched together.
    pub(crate) beside: Mutex<Vec<Beside>>,
    module: Handle,
    functions: Vec<Handle>,
    info: DeviceInfo,
    /// The first fault.
    fault: OnceLock<GpuError>,
    order: Mutex<Order>,
    /// Whether work is recorded, for a quick look.
    pub(crate) records: AtomicBool,
}

/// What keeps the memory that recorded work uses, of which a device knows nothing else.
pub(crate) type Keeper = Arc<dyn Any + Send + Sync>;

/// What must not change while a call of the driver enqueues work, for which it is locked.
#[derive(Default)]
pub(crate) struct Order {
    /// The thread whose work is recorded, and what keeps the memory that this uses.
    pub(crate) recorder: Option<(ThreadId, Keeper)>,
    /// Memory that was given back while work was recorded, which nothing can wait for.
    pub(crate) given_back: Vec<Address>,
}

/// A stream.
#[derive(Clone, Copy)]
pub(crate) struct Beside(pub(crate) Handle);

// SAFETY: handles of the driver may be used from every thread whose current context is the one they
// belong to, which `enter` sees to.
unsafe impl Send for Device {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for Device {}

/// Streams that do not wait for the default one.
pub(crate) const NON_BLOCKING: u32 = 1;
const OUT_OF_MEMORY: Status = 2;

/// Attributes of a device.
const MULTIPROCESSORS: i32 = 16;
const MAJOR: i32 = 75;
const MINOR: i32 = 76;

impl Device {
    /// Opens the device with this number and compiles the kernels for it.
    pub(crate) fn open(ordinal: u32) -> Result<Self, GpuError> {
        let driver = driver()?;
        let none = |what: &str, status: Status| match status {
            0 => Ok(()),
            status => {
                let name = name_of(driver, status);
                Err(GpuError::no_device(format!("no CUDA device {ordinal}: {what} failed: {name}")))
            }
        };
        let (mut device, mut version, mut memory) = (0, 0, 0usize);
        let mut name = [0u8; 128];
        let ordinal_value = i32::try_from(ordinal).unwrap_or(i32::MAX);
        let mut attributes = [(MULTIPROCESSORS, 0), (MAJOR, 0), (MINOR, 0)];
        // SAFETY: all pointers are to variables of the size that the driver writes, and handles are
        // used as the driver returned them.
        unsafe {
            none("cuInit", (driver.init)(0))?;
            none("cuDriverGetVersion", (driver.driver_version)(&mut version))?;
            none("cuDeviceGet", (driver.device)(&mut device, ordinal_value))?;
            let length = name.len() as i32 - 1;
            let status = (driver.device_name)(name.as_mut_ptr().cast(), length, device);
            none("cuDeviceGetName", status)?;
            none("cuDeviceTotalMem", (driver.device_memory)(&mut memory, device))?;
            for (attribute, value) in &mut attributes {
                let status = (driver.device_attribute)(value, *attribute, device);
                none("cuDeviceGetAttribute", status)?;
            }
        }
        let [(_, multiprocessors), (_, major), (_, minor)] = attributes;
        let text = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        let info = DeviceInfo {
            name: text.to_string_lossy().into_owned(),
            driver: format!("{}.{}", version / 1000, version % 1000 / 10),
            compute: (major as u32, minor as u32),
            memory_bytes: memory as u64,
            free_bytes: 0,
            multiprocessors: multiprocessors as u32,
        };
        let binary = binary(info.compute)?;
        let mut context = null_mut();
        // SAFETY: as above.
        none("cuDevicePrimaryCtxRetain", unsafe { (driver.retain_context)(&mut context, device) })?;
        // From here on, what was made is given back if anything fails.
        let mut made = Device {
            driver,
            ordinal: device,
            context,
            stream: null_mut(),
            constants: null_mut(),
            beside: Mutex::default(),
            module: null_mut(),
            functions: Vec::new(),
            info,
            fault: OnceLock::new(),
            order: Mutex::default(),
            records: AtomicBool::new(false),
        };
        // SAFETY: as above; the binary was made for this device and outlives the call.
        unsafe {
            none("cuCtxSetCurrent", (driver.set_context)(context))?;
            let mut free = 0;
            none("cuMemGetInfo", (driver.free_memory)(&mut free, &mut memory))?;
            made.info.free_bytes = free as u64;
            none("cuStreamCreate", (driver.create_stream)(&mut made.stream, NON_BLOCKING))?;
            none("cuStreamCreate", (driver.create_stream)(&mut made.constants, NON_BLOCKING))?;
            let status = (driver.load_module)(&mut made.module, binary.as_ptr().cast());
            none("cuModuleLoadData", status)?;
        }
        let module = made.module;
        let function = |kernel: &Kernel| {
            let (mut function, name) =
                (null_mut(), CString::new(kernel.name()).unwrap_or_default());
            // SAFETY: the name ends with a zero, and the module is loaded.
            let status = unsafe { (driver.function)(&mut function, module, name.as_ptr()) };
            none("cuModuleGetFunction", status).map(|()| function)
        };
        made.functions = Kernel::ALL.iter().map(function).collect::<Result<_, _>>()?;
        Ok(made)
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The first fault, if there was one.
    pub(crate) fn status(&self) -> Result<(), GpuError> {
        self.fault.get().map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Notes a fault, of which the first one stays.
    pub(crate) fn fail(&self, error: GpuError) -> GpuError {
        self.fault.get_or_init(|| error).clone()
    }

    pub(crate) fn check(&self, what: &str, status: Status) -> Result<(), GpuError> {
        match status {
            0 => Ok(()),
            status => {
                let name = name_of(self.driver, status);
                Err(self.fail(GpuError::fault(format!("{what} failed: {name}"))))
            }
        }
    }

    /// Makes the context current for this thread; fails after a fault.
    pub(crate) fn enter(&self) -> Result<(), GpuError> {
        self.status()?;
        // SAFETY: the context is retained as long as the device lives.
        self.check("cuCtxSetCurrent", unsafe { (self.driver.set_context)(self.context) })
    }

    pub(crate) fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Device::enter`], for work of the stream, in which nothing else is enqueued and no
    /// recording begins until the guard is dropped. While one thread's work is recorded, that of
    /// another one would be recorded instead of done.
    fn enter_stream(&self) -> Result<MutexGuard<'_, Order>, GpuError> {
        self.enter()?;
        let order = self.order();
        let recorder = order.recorder.as_ref().map(|(thread, _)| *thread);
        if recorder.is_some_and(|thread| thread != thread::current().id()) {
            return Err(self.fail(GpuError::fault(
                "another thread used the device while work on it was recorded".into(),
            )));
        }
        Ok(order)
    }

    /// As [`Device::enter_stream`], for what has to be done at once: a recording would have the
    /// addresses of memory of the processor, which may be gone when it is launched.
    pub(crate) fn enter_at_once(&self, what: &str) -> Result<MutexGuard<'_, Order>, GpuError> {
        let order = self.enter_stream()?;
        if order.recorder.is_some() {
            let problem = format!("work that is recorded cannot {what}");
            return Err(self.fail(GpuError::fault(problem)));
        }
        Ok(order)
    }

    /// What keeps the memory that this thread's work uses, if that is recorded.
    pub(crate) fn recorded(&self) -> Option<Keeper> {
        // This thread sees what it has written itself, and other threads record nothing.
        if !self.records.load(Ordering::Relaxed) {
            return None;
        }
        let order = self.order();
        let (thread, keeper) = order.recorder.as_ref()?;
        (*thread == thread::current().id()).then(|| keeper.clone())
    }

    /// New memory; none if the device has no more.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Option<Address>, GpuError> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the pointer is to a variable of this function.
        match unsafe { (self.driver.allocate)(&mut address, bytes) } {
            OUT_OF_MEMORY => Ok(None),
            status => self.check("cuMemAlloc", status).map(|()| Some(address)),
        }
    }

    /// Gives memory back, once what was enqueued is done; if work is recorded, at its end.
    pub(crate) fn free(&self, addresses: Vec<Address>) {
        if addresses.is_empty() {
            return;
        }
        let mut order = self.order();
        if order.recorder.is_some() {
            order.given_back.extend(addresses);
            return;
        }
        // SAFETY: the context is retained; the driver refuses addresses that it does not know, and
        // the stream has no work left that uses them. Other streams have work only while `order` is
        // locked by who launched it.
        unsafe {
            (self.driver.set_context)(self.context);
            (self.driver.synchronize)(self.stream);
            addresses.into_iter().for_each(|address| {
                (self.driver.free)(address);
            });
        }
    }

    /// Copies words to the device, after all that was enqueued. They may be dropped afterwards.
    pub(crate) fn copy_in(&self, to: Address, words: &[u64]) -> Result<(), GpuError> {
        let _order = self.enter_at_once("copy from the memory of the processor")?;
        let (source, bytes) = (words.as_ptr().cast::<c_void>(), size_of_val(words));
        // SAFETY: the stream is not recorded, so that the driver copies pageable memory before it
        // returns.
        let status = unsafe { (self.driver.copy_in)(to, source, bytes, self.stream) };
        self.check("cuMemcpyHtoD", status)
    }

    /// Copies words to memory that nothing enqueued uses; they are there when this returns.
    pub(crate) fn copy_constants(&self, to: Address, bytes: &[u8]) -> Result<(), GpuError> {
        self.enter()?;
        // SAFETY: the source outlives the copy, which has ended when the stream is synchronized.
        unsafe {
            let source = bytes.as_ptr().cast::<c_void>();
            let status = (self.driver.copy_in)(to, source, bytes.len(), self.constants);
            self.check("cuMemcpyHtoD", status)?;
            self.check("cuStreamSynchronize", (self.driver.synchronize)(self.constants))
        }
    }

    /// Copies words from the device, once all that was enqueued is done.
    pub(crate) fn copy_out(&self, words: &mut [u64], from: Address) -> Result<(), GpuError> {
        let _order = self.enter_at_once("be downloaded")?;
        let (target, bytes) = (words.as_mut_ptr().cast::<c_void>(), size_of_val(words));
        // SAFETY: the slice is as long as what is copied, and is borrowed until the stream is
        // synchronized.
        unsafe {
            self.check("cuMemcpyDtoH", (self.driver.copy_out)(target, from, bytes, self.stream))?;
        }
        self.wait()
    }

    /// Writes zeros.
    pub(crate) fn clear(&self, at: Address, bytes: usize) -> Result<(), GpuError> {
        let _order = self.enter_stream()?;
        // SAFETY: the memory was allocated by this device, which checks the range.
        self.check("cuMemset", unsafe { (self.driver.fill)(at, 0, bytes, self.stream) })
    }

    /// Waits until all that was enqueued is done, while others may enqueue more.
    pub(crate) fn synchronize(&self) -> Result<(), GpuError> {
        drop(self.enter_at_once("be waited for")?);
        self.wait()
    }

    /// Waits until all that was enqueued is done.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream lives as long as the device.
        self.check("cuStreamSynchronize", unsafe { (self.driver.synchronize)(self.stream) })
    }

    /// Enqueues the kernel of these arguments.
    pub(crate) fn launch<A: Arguments>(
        &self,
        arguments: &A,
        grid: [u32; 3],
        threads: u32,
        shared: u32,
    ) -> Result<(), GpuError> {
        let _order = self.enter_stream()?;
        let function = self.functions[A::KERNEL as usize];
        let mut parameters = [std::ptr::from_ref(arguments).cast_mut().cast::<c_void>()];
        let [x, y, z] = grid;
        // SAFETY: the kernel takes one structure with the layout of the arguments, which the driver
        // copies before it returns. What the kernel reads and writes is memory of the device: an
        // error there is reported as a fault.
        let status = unsafe {
            let (parameters, stream) = (parameters.as_mut_ptr(), self.stream);
            (self.driver.launch)(
                function,
                x,
                y,
                z,
                threads,
                1,
                1,
                shared,
                stream,
                parameters,
                null_mut(),
            )
        };
        self.check("cuLaunchKernel", status)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing that belongs to the context is used afterwards; handles that are null
        // were not made.
        unsafe {
            (self.driver.set_context)(self.context);
            if !self.stream.is_null() {
                (self.driver.synchronize)(self.stream);
            }
            if !self.module.is_null() {
                (self.driver.unload_module)(self.module);
            }
            let beside = self.beside.get_mut().unwrap_or_else(PoisonError::into_inner);
            let streams = beside.iter().map(|stream| stream.0);
            for stream in streams.chain([self.stream, self.constants]) {
                if !stream.is_null() {
                    (self.driver.destroy_stream)(stream);
                }
            }
            (self.driver.release_context)(self.ordinal);
        }
    }
}

/// The driver's name of a status.
fn name_of(driver: &Driver, status: Status) -> String {
    let mut name = std::ptr::null();
    // SAFETY: the driver returns a constant string, or leaves the pointer null.
    unsafe {
        (driver.error_name)(status, &mut name);
        match name.is_null() {
            true => format!("status {status}"),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    }
}
