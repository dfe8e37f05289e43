//! Time measurements of the engine by kind of work, for programs that enable them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Kinds of work of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Number-theoretic transforms, in both directions.
    Transforms,
    /// Digits of key switches modulo all primes of the extended basis.
    ModUp,
    /// Sums of digits times switching keys, with the automorphisms and the additions that are made
    /// in the same pass.
    KeyProducts,
    /// Divisions with rounding, by the special primes and by dropped ones: remainders modulo the
    /// primes that stay, scalings and differences.
    ModDown,
    /// Other lifts from one basis to another.
    Conversions,
    /// Sums of ciphertexts times plaintext diagonals.
    Diagonals,
    /// Automorphisms that are passes of their own.
    Automorphisms,
    /// Sums of products of polynomials: products of ciphertexts.
    Tensor,
    /// Other products of polynomials: those by plaintexts above all.
    Products,
    /// Additions, products with constants, and whatever else is done limb by limb.
    Elementwise,
    /// Blocks of memory taken and given back, zeros and copies.
    Memory,
}

impl Work {
    /// All kinds.
    pub const ALL: [Work; 11] = [
        Work::Transforms,
        Work::ModUp,
        Work::KeyProducts,
        Work::ModDown,
        Work::Conversions,
        Work::Diagonals,
        Work::Automorphisms,
        Work::Tensor,
        Work::Products,
        Work::Elementwise,
        Work::Memory,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Work::Transforms => "transforms",
            Work::ModUp => "mod-up",
            Work::KeyProducts => "key products",
            Work::ModDown => "mod-down",
            Work::Conversions => "conversions",
            Work::Diagonals => "diagonals",
            Work::Automorphisms => "automorphisms",
            Work::Tensor => "tensor products",
            Work::Products => "products",
            Work::Elementwise => "element-wise",
            Work::Memory => "memory",
        }
    }
}

/// The time of each kind of work, of all threads together. Off until it is started: then work costs
/// one load of a flag more, for each limb.
#[derive(Debug, Default)]
pub struct Timings {
    on: AtomicBool,
    nanoseconds: [AtomicU64; Work::ALL.len()],
}

thread_local! {
    /// Nanoseconds of the timers that ended inside of the innermost one that runs; outside of all
    /// of them, of all that ended so far.
    static INNER: Cell<u64> = const { Cell::new(0) };
}

impl Timings {
    /// Starts to time what begins from now on.
    pub fn start(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// The time of each kind of work so far, each thread's counted: in the order of [`Work::ALL`].
    pub fn spent(&self) -> [Duration; Work::ALL.len()] {
        std::array::from_fn(|k| Duration::from_nanos(self.nanoseconds[k].load(Ordering::Relaxed)))
    }

    /// What the calling thread has timed so far, of whatever kind and by any timings.
    ///
    /// Meant for threads that are not within timed work.
    pub fn of_this_thread() -> Duration {
        Duration::from_nanos(INNER.get())
    }

    /// Times what happens until the timer is dropped, without what other timers of this thread
    /// time meanwhile.
    pub(super) fn time(&self, work: Work) -> Option<Timer<'_>> {
        let on = self.on.load(Ordering::Relaxed);
        on.then(|| Timer { timings: self, work, outer: INNER.replace(0), start: Instant::now() })
    }
}

/// Work that is being timed.
pub(super) struct Timer<'a> {
    timings: &'a Timings,
    work: Work,
    /// [`INNER`] of the timer around this one.
    outer: u64,
    start: Instant,
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let elapsed = self.start.elapsed().as_nanos() as u64;
        let own = elapsed.saturating_sub(INNER.replace(self.outer + elapsed));
        self.timings.nanoseconds[self.work as usize].fetch_add(own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(milliseconds: u64) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(milliseconds) {}
    }

    #[test]
    fn times_exclude_what_is_timed_inside() {
        let timings = Timings::default();
        assert!(timings.time(Work::Memory).is_none());
        timings.start();
        let (start, before) = (Instant::now(), Timings::of_this_thread());
        let outer = timings.time(Work::ModDown);
        spin(4);
        for _ in 0..3 {
            let _inner = timings.time(Work::Transforms);
            spin(2);
            let _innermost = timings.time(Work::Memory);
            spin(1);
        }
        drop(outer);
        let whole = start.elapsed();
        let spent = timings.spent();
        let of = |work: Work| spent[work as usize].as_secs_f64() * 1e3;
        assert!(of(Work::ModDown) >= 4.0 && of(Work::Transforms) >= 6.0);
        assert!(of(Work::Memory) >= 3.0);
        assert!(spent.iter().sum::<Duration>() <= whole);
        // All of it was this thread's, and none of it is another's.
        assert_eq!(Timings::of_this_thread() - before, spent.iter().sum::<Duration>());
        assert!(std::thread::spawn(Timings::of_this_thread).join().unwrap().is_zero());
        assert_eq!(spent.iter().filter(|time| time.is_zero()).count(), Work::ALL.len() - 3);
    }
}
