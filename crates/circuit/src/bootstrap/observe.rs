//! Reports on a bootstrapping: time, level and noise after every stage.

use std::time::{Duration, Instant};

use everlevel_scheme::{ExactScheme, Level};

/// The stages of a bootstrapping, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Switching to the lowest modulus and to the sparse key.
    Encapsulate,
    /// The overflow part at the top level.
    ModRaise,
    /// Summing the conjugates, which leaves the thin part (slots of degree 1 need none); or one
    /// coordinate of whole slots.
    Trace,
    /// One merged group of coefficient-to-slot.
    CoeffToSlot,
    /// Digit removal.
    DigitRemoval,
    /// One merged group of slot-to-coefficient.
    SlotToCoeff,
    /// Raising the message and adding the digit to it.
    Assemble,
}

impl Stage {
    /// The name of the stage in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Encapsulate => "encapsulate",
            Stage::ModRaise => "raise",
            Stage::Trace => "trace",
            Stage::CoeffToSlot => "coeff_to_slot",
            Stage::DigitRemoval => "digit_removal",
            Stage::SlotToCoeff => "slot_to_coeff",
            Stage::Assemble => "assemble",
        }
    }
}

/// The report on one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageReport {
    /// Which stage.
    pub stage: Stage,
    /// Which one of the groups of a linear map, from 0.
    pub group: usize,
    /// Wall-clock time; zero where there is no clock.
    pub elapsed: Duration,
    /// The level that the stage began with (absent for the encapsulation, which begins with the
    /// input's).
    pub level_before: Option<Level>,
    /// The level of the result (absent for the encapsulation).
    pub level_after: Option<Level>,
    /// The plaintext exponent of the result.
    pub exponent: u32,
    /// log2 of the noise bound of the result.
    pub noise_bits: f64,
    /// The capacity of the result in bits.
    pub capacity_bits: f64,
}

/// A receiver of reports on stages.
pub trait StageObserver {
    /// Called when a stage is finished.
    fn stage_done(&mut self, report: &StageReport);
}

/// No observer.
impl StageObserver for () {
    fn stage_done(&mut self, _: &StageReport) {}
}

/// Collects all reports.
impl StageObserver for Vec<StageReport> {
    fn stage_done(&mut self, report: &StageReport) {
        self.push(*report);
    }
}

/// Reports stages as they are done.
pub(super) struct Watch<'a, S: ExactScheme> {
    scheme: &'a S,
    observer: &'a mut dyn StageObserver,
    since: Option<Instant>,
}

/// The time, where the system has a clock: WebAssembly in a browser has none, and asking ends it.
fn now() -> Option<Instant> {
    (!cfg!(all(target_arch = "wasm32", target_os = "unknown"))).then(Instant::now)
}

impl<'a, S: ExactScheme> Watch<'a, S> {
    pub(super) fn new(scheme: &'a S, observer: &'a mut dyn StageObserver) -> Self {
        Watch { scheme, observer, since: now() }
    }

    /// A stage of several ciphertexts, which have the same levels and bounds: reported once.
    pub(super) fn all_done(
        &mut self,
        stage: Stage,
        before: Option<&[S::Ciphertext]>,
        after: &[S::Ciphertext],
    ) {
        if let Some(after) = after.first() {
            self.done(stage, 0, before.and_then(<[_]>::first), after);
        }
    }

    pub(super) fn done(
        &mut self,
        stage: Stage,
        group: usize,
        before: Option<&S::Ciphertext>,
        after: &S::Ciphertext,
    ) {
        let s = self.scheme;
        self.observer.stage_done(&StageReport {
            stage,
            group,
            elapsed: self.since.map_or(Duration::ZERO, |since| since.elapsed()),
            level_before: before.map(|x| s.level(x)),
            level_after: (stage != Stage::Encapsulate).then(|| s.level(after)),
            exponent: s.plain_exponent(after),
            noise_bits: s.noise_bound_bits(after),
            capacity_bits: s.capacity_bits(after),
        });
        self.since = now();
    }
}
