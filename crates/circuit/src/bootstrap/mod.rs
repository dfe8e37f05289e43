//! Bootstrapping of BGV and BFV ciphertexts in three modes
//! ([`BootstrapMode`](everlevel_scheme::spec::BootstrapMode); docs/adr/0003 and 0012).
//!
//! An exhausted ciphertext has, modulo q0 under a sparse key s0, the phase m + p^r ε + q0 I over
//! the integers with |I| <= B (in BFV form once it is multiplied by p^r).
//!
//! * *Bypass*: the scheme hands out the overflow part u = I' - Δ I (as a polynomial), which is
//!   moved to the slots; its low digits are removed, which leaves h = -I modulo p^r; h is moved
//!   back to the coefficients, and q0 h added to the raised message m + q0 I. The message itself
//!   goes through no linear map. Digit removal of type A (Δ = p^v) needs u modulo p^(r+v), type B
//!   (another Δ) modulo p^r. Where the index is a power of two, r = v = 1 and plaintexts are thin;
//!   over indices with axes h has d parts, as in the full mode.
//! * *Thin*, integers in slots: slots are moved to the coefficients of a polynomial at the lowest
//!   level (one in X^d, or, over an index with axes, one with a coefficient for each slot),
//!   p^v m + I is raised, projected, moved to the slots, and its v low digits are removed.
//! * *Full*, any plaintext: p^v m + I is raised and taken apart into d thin ciphertexts: where the
//!   index is a power of two as polynomials in X^d, each of which goes to the slots, through the
//!   digit removal and back; over indices with axes as the coordinates of slots, which go back
//!   together.
//!
//! Sources: the bypass is from Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), thin (there: slim) and
//! full mode from Chen–Han 2018 (ia.cr/2018/067) in the form of Geelen–Vercauteren 2022
//! (ia.cr/2022/1363), the linear maps from Ma–Huang–Wang–Wang (ia.cr/2024/164) and Geelen 2024
//! (ia.cr/2024/153), the sparse encapsulation from Bossuat et al. 2022 (ia.cr/2022/024).

mod bootstrapper;
mod groups;
mod observe;
mod path;
mod plan;
mod planner;
mod run;
mod sets;

pub use bootstrapper::Bootstrapper;
pub use observe::{Stage, StageObserver, StageReport};
pub use plan::{BootstrapCosts, BootstrapPlan};
pub use planner::{DryRun, Objective, PlanReport, Planner, TimeModel};
