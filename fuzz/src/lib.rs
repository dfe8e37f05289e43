//! What the fuzz targets do with bytes. Nothing here may panic, whatever the bytes. CONTRIBUTING.md
//! says how to run them, RESULTS.md what they found; the tests of `everlevel-wire`,
//! `everlevel-ltv`, `everlevel-circuit`, `everlevel-tables` and `everlevel` run all of it on the
//! stable compiler, over the corpora.

pub mod changes;
pub mod expression;
pub mod indexes;
pub mod ltv;
pub mod objects;
pub mod tables;

/// All work on this thread: no time is spent on handing small pieces to others.
pub fn on_this_thread() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool of the process");
}
