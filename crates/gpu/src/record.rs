//! Work that is recorded once and launched as a whole.

use std::sync::{Arc, PoisonError};

use crate::device::Device;
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::graph::Graph;
use crate::memory::{Pool, Recorder};

/// Recorded work, with the result that each launch computes anew, in the same memory.
pub struct Recording<T> {
    graph: Graph,
    result: T,
    device: Arc<Device>,
    _memory: Recorder,
}

impl<T> Recording<T> {
    /// Enqueues the work.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    pub fn launch(&self) -> Result<(), GpuError> {
        self.device.launch_graph(&self.graph)
    }

    /// The result, which holds what the last launch computed: nothing before the first one.
    pub fn result(&self) -> &T {
        &self.result
    }

    /// The number of kernels and other steps.
    pub fn nodes(&self) -> usize {
        self.graph.nodes
    }
}

impl<T> Drop for Recording<T> {
    fn drop(&mut self) {
        self.device.destroy_graph(&self.graph);
    }
}

impl Gpu {
    /// Records all that `work` enqueues instead of running it. It runs on one thread; if another
    /// one uses the engine at the same time, the engine fails. What `work` downloads makes it fail,
    /// too. Its inputs are read, where they are in memory, by each launch:
    /// [`Gpu::overwrite`] changes them.
    ///
    /// Work should be done once before it is recorded, so that its constants are there.
    ///
    /// # Errors
    /// A fault of the device.
    pub fn record<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> Result<Recording<T>, GpuError> {
        let thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let thread = thread.map_err(|problem| GpuError::fault(problem.to_string()))?;
        let recorder = Recorder { pool: Pool::new(self.device.clone()), lasting: Arc::default() };
        let recorded = thread.install(|| {
            self.device.record(|| {
                *self.recorder.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(recorder.clone());
                let made = work();
                *self.recorder.lock().unwrap_or_else(PoisonError::into_inner) = None;
                made
            })
        });
        let (result, graph) = recorded?;
        Ok(Recording { graph, result, device: self.device.clone(), _memory: recorder })
    }

    /// Launches recordings at the same time and waits until they are done: several short kernels
    /// fill a device better than one after the other. Recordings that read or write the same
    /// polynomials must not be among them, except for those that none of them writes.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    pub fn launch_together<T>(&self, recordings: &[Recording<T>]) -> Result<(), GpuError> {
        self.device.run_graphs(recordings.iter().map(|recording| &recording.graph))
    }
}
