//! Work on one thread, one part after the other.

use rayon::ThreadPoolBuilder;

/// As much as the first thread of a program has: programs nest.
const STACK: usize = 8 << 20;

/// The result of `work`, in which nothing is computed at the same time as anything else. Where
/// there can be no further thread it is done as it would be otherwise.
pub(crate) fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == 1 {
        return work();
    }
    match ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build() {
        Ok(thread) => thread.install(work),
        Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn nothing_is_done_at_the_same_time() {
        let found = alone(|| {
            let inner = alone(rayon::current_num_threads);
            let threads: Vec<_> =
                (0..64).into_par_iter().map(|_| rayon::current_thread_index()).collect();
            (inner, threads)
        });
        assert_eq!(found, (1, vec![Some(0); 64]));
    }
}
