//! Work that is recorded, and launched as a graph.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::PoisonError;
use std::thread;

use crate::device::{Beside, Device, NON_BLOCKING};
use crate::error::GpuError;
use crate::library::Handle;

/// Recording does not forbid other calls.
const RELAXED: i32 = 2;

/// A graph that can be launched.
pub(crate) struct Graph {
    graph: Handle,
    executable: Handle,
    pub(crate) nodes: usize,
}

// SAFETY: handles of the driver may be used from every thread, as those of a device.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Device {
    /// Records what this thread enqueues in `work` instead of doing it.
    pub(crate) fn record<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Graph), GpuError> {
        let recorder = || self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut recorder = recorder();
            if recorder.is_some() {
                return Err(GpuError::fault("work on the device is being recorded already".into()));
            }
            self.enter()?;
            // SAFETY: the stream lives as long as the device.
            let status = unsafe { (self.driver.begin_capture)(self.stream, RELAXED) };
            self.check("cuStreamBeginCapture", status)?;
            *recorder = Some(thread::current().id());
        }
        let made = work();
        *recorder() = None;
        let (mut graph, mut executable, mut nodes) = (null_mut(), null_mut(), 0);
        // SAFETY: all pointers are to variables of this function.
        unsafe {
            let status = (self.driver.end_capture)(self.stream, &mut graph);
            self.check("cuStreamEndCapture", status)?;
            self.status()?;
            let status = (self.driver.graph_nodes)(graph, null_mut(), &mut nodes);
            self.check("cuGraphGetNodes", status)?;
            let status = (self.driver.instantiate)(&mut executable, graph, 0);
            self.check("cuGraphInstantiate", status)?;
        }
        Ok((made, Graph { graph, executable, nodes }))
    }

    /// Enqueues all that was recorded.
    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<(), GpuError> {
        self.enter_stream()?;
        // SAFETY: the graph was made by this device, and its memory is kept with it.
        let status = unsafe { (self.driver.launch_graph)(graph.executable, self.stream) };
        self.check("cuGraphLaunch", status)
    }

    /// Runs graphs at the same time, each in a stream of its own, after all that was enqueued, and
    /// waits until they are done.
    pub(crate) fn run_graphs<'a>(
        &self,
        graphs: impl ExactSizeIterator<Item = &'a Graph>,
    ) -> Result<(), GpuError> {
        self.synchronize()?;
        let mut streams = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        while streams.len() < graphs.len() {
            let mut stream = null_mut();
            // SAFETY: the pointer is to a variable of this function.
            let status = unsafe { (self.driver.create_stream)(&mut stream, NON_BLOCKING) };
            self.check("cuStreamCreate", status)?;
            streams.push(Beside(stream));
        }
        let count = graphs.len();
        for (graph, stream) in graphs.zip(&*streams) {
            // SAFETY: the graph was made by this device, and its memory is kept with it; no other
            // work uses that until the streams are synchronized.
            let status = unsafe { (self.driver.launch_graph)(graph.executable, stream.0) };
            self.check("cuGraphLaunch", status)?;
        }
        for stream in &streams[..count] {
            // SAFETY: the stream lives as long as the device.
            let status = unsafe { (self.driver.synchronize)(stream.0) };
            self.check("cuStreamSynchronize", status)?;
        }
        Ok(())
    }

    /// Destroys a graph, once it does not run.
    pub(crate) fn destroy_graph(&self, graph: &Graph) {
        // SAFETY: the graph is dropped, and the stream has no work left that uses it.
        unsafe {
            (self.driver.set_context)(self.context);
            (self.driver.synchronize)(self.stream);
            (self.driver.destroy_executable)(graph.executable);
            (self.driver.destroy_graph)(graph.graph);
        }
    }
}
