//! Work that is recorded, and launched as a graph.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread;

use crate::device::{Beside, Device, Keeper, NON_BLOCKING};
use crate::error::GpuError;
use crate::library::Handle;

/// Recording does not forbid other calls.
const RELAXED: i32 = 2;

/// A graph that can be launched.
pub(crate) struct Graph {
    device: Arc<Device>,
    graph: Handle,
    executable: Handle,
    pub(crate) nodes: usize,
}

// SAFETY: handles of the driver may be used from every thread, as those of a device; a graph is
// used by one thread at a time, the one that has locked the order of the device.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Whether it is one of this device.
    pub(crate) fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    /// Enqueues all that was recorded.
    pub(crate) fn launch(&self) -> Result<(), GpuError> {
        let device = &self.device;
        let _order = device.enter_at_once("launch a recording")?;
        // SAFETY: the graph was made by this device, and its memory is kept with it.
        let status = unsafe { (device.driver.launch_graph)(self.executable, device.stream) };
        device.check("cuGraphLaunch", status)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let (device, driver) = (&self.device, self.device.driver);
        let order = device.order();
        // SAFETY: the graph is dropped, and the stream has no work left that uses it; while it is
        // recorded, nothing can wait for it, and the driver destroys the graph once it is done.
        unsafe {
            (driver.set_context)(device.context);
            if order.recorder.is_none() {
                (driver.synchronize)(device.stream);
            }
            if !self.executable.is_null() {
                (driver.destroy_executable)(self.executable);
            }
            if !self.graph.is_null() {
                (driver.destroy_graph)(self.graph);
            }
        }
    }
}

impl Device {
    /// Records what this thread enqueues in `work` instead of doing it; `keeper` keeps what it
    /// uses.
    pub(crate) fn record<T>(
        self: &Arc<Self>,
        keeper: Keeper,
        work: impl FnOnce() -> T,
    ) -> Result<(T, Graph), GpuError> {
        {
            let mut order = self.order();
            if order.recorder.is_some() {
                return Err(GpuError::fault("work on the device is being recorded already".into()));
            }
            self.enter()?;
            // SAFETY: the stream lives as long as the device.
            let status = unsafe { (self.driver.begin_capture)(self.stream, RELAXED) };
            self.check("cuStreamBeginCapture", status)?;
            order.recorder = Some((thread::current().id(), keeper));
            self.records.store(true, Ordering::Relaxed);
        }
        // The recording ends, whatever the work does; after a panic nobody sees its results.
        let made = catch_unwind(AssertUnwindSafe(work));
        let ended = self.end_recording();
        let made = match made {
            Ok(made) => made,
            Err(panic) => resume_unwind(panic),
        };
        let mut graph = ended?;
        self.status()?;
        // SAFETY: all pointers are to variables of this function.
        unsafe {
            let status = (self.driver.graph_nodes)(graph.graph, null_mut(), &mut graph.nodes);
            self.check("cuGraphGetNodes", status)?;
            let status = (self.driver.instantiate)(&mut graph.executable, graph.graph, 0);
            self.check("cuGraphInstantiate", status)?;
        }
        Ok((made, graph))
    }

    /// The graph of what was recorded; the stream does work again.
    fn end_recording(self: &Arc<Self>) -> Result<Graph, GpuError> {
        let mut graph = null_mut();
        let (recorder, given_back, status) = {
            let mut order = self.order();
            // SAFETY: the pointer is to a variable of this function.
            let status = unsafe { (self.driver.end_capture)(self.stream, &mut graph) };
            self.records.store(false, Ordering::Relaxed);
            (order.recorder.take(), std::mem::take(&mut order.given_back), status)
        };
        // Memory that these keep is given back by calls that lock the order.
        drop(recorder);
        self.free(given_back);
        let graph = Graph { device: self.clone(), graph, executable: null_mut(), nodes: 0 };
        self.check("cuStreamEndCapture", status).map(|()| graph)
    }

    /// Runs graphs at the same time, each in a stream of its own, after all that was enqueued, and
    /// waits until they are done. Nothing else is enqueued meanwhile.
    pub(crate) fn run_graphs<'a>(
        &self,
        graphs: impl ExactSizeIterator<Item = &'a Graph>,
    ) -> Result<(), GpuError> {
        let _order = self.enter_at_once("launch recordings")?;
        self.wait()?;
        let mut streams = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        while streams.len() < graphs.len() {
            let mut stream = null_mut();
            // SAFETY: the pointer is to a variable of this function.
            let status = unsafe { (self.driver.create_stream)(&mut stream, NON_BLOCKING) };
            self.check("cuStreamCreate", status)?;
            streams.push(Beside(stream));
        }
        let count = graphs.len();
        let mut outcome = Ok(());
        for (graph, stream) in graphs.zip(&*streams) {
            if outcome.is_err() {
                break;
            }
            // SAFETY: the graph was made by this device, and its memory is kept with it; no other
            // work uses that until the streams are synchronized.
            let status = unsafe { (self.driver.launch_graph)(graph.executable, stream.0) };
            outcome = self.check("cuGraphLaunch", status);
        }
        // Even if one could not be launched: the memory of the others may be given back later.
        for stream in &streams[..count] {
            // SAFETY: the stream lives as long as the device.
            let status = unsafe { (self.driver.synchronize)(stream.0) };
            outcome = outcome.and(self.check("cuStreamSynchronize", status));
        }
        outcome
    }
}
