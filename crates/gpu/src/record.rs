//! Work that is recorded once and launched as a whole.

use std::sync::Arc;

use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::graph::Graph;
use crate::memory::Held;

/// Recorded work, with the result that each launch computes anew, in the same memory. It keeps all
/// memory that it reads: polynomials, keys and constants, even if nobody else does any more.
pub struct Recording<T> {
    result: T,
    graph: Graph,
    /// Dropped after the graph.
    held: Arc<Held>,
}

impl<T> Recording<T> {
    /// Enqueues the work.
    ///
    /// # Errors
    /// A fault of the device, now or before.
    pub fn launch(&self) -> Result<(), GpuError> {
        self.graph.launch()?;
        self.held.pool.set_written();
        Ok(())
    }

    /// The result, which holds what the last launch computed.
    ///
    /// # Errors
    /// `gpu.unlaunched` before the first launch, when it holds nothing.
    pub fn result(&self) -> Result<&T, GpuError> {
        match self.held.pool.is_written() {
            true => Ok(&self.result),
            false => Err(GpuError::unlaunched()),
        }
    }

    /// The number of kernels and other steps.
    pub fn nodes(&self) -> usize {
        self.graph.nodes
    }
}

impl<T, E> Recording<Result<T, E>> {
    /// The recording of work that was done.
    ///
    /// # Errors
    /// That of the work.
    pub fn transpose(self) -> Result<Recording<T>, E> {
        let Recording { held, graph, result } = self;
        Ok(Recording { result: result?, graph, held })
    }
}

impl Gpu {
    /// Records all that `work` enqueues instead of running it. It runs on one thread; if another
    /// one uses the engine at the same time, the engine fails, as it does if `work` downloads
    /// something, waits, launches a recording or overwrites a polynomial. Inputs are read, where
    /// they are in memory, by each launch, and not written: [`Gpu::overwrite`] changes them.
    ///
    /// Work should be done once before it is recorded, so that its constants are there.
    ///
    /// # Errors
    /// A fault of the device.
    ///
    /// # Panics
    /// If `work` does. The engine can be used afterwards.
    pub fn record<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> Result<Recording<T>, GpuError> {
        let thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let thread = thread.map_err(|problem| GpuError::fault(problem.to_string()))?;
        let held = self.held();
        let (result, graph) = thread.install(|| self.device.record(held.clone(), work))?;
        Ok(Recording { result, graph, held })
    }

    /// Launches recordings at the same time and waits until they are done: several short kernels
    /// fill a device better than one after the other. Recordings that read or write the same
    /// polynomials must not be among them, except for those that none of them writes.
    ///
    /// # Errors
    /// A recording of another engine; a fault of the device, now or before.
    pub fn launch_together<T>(&self, recordings: &[Recording<T>]) -> Result<(), GpuError> {
        if recordings.iter().any(|recording| !recording.graph.is_of(&self.device)) {
            let problem = "a recording of another engine cannot be launched by this one";
            return Err(GpuError::fault(problem.into()));
        }
        self.device.run_graphs(recordings.iter().map(|recording| &recording.graph))?;
        recordings.iter().for_each(|recording| recording.held.pool.set_written());
        Ok(())
    }
}
