//! Bootstrapping of BGV and BFV ciphertexts in three modes
//! ([`BootstrapMode`](everlevel_scheme::spec::BootstrapMode); docs/adr/0003 and 0012).
//!
//! An exhausted ciphertext has, modulo q0 under a sparse key s0, the phase m + p^r ε + q0 I over
//! the integers with |I| <= B (in BFV form once it is multiplied by p^r).
//!
//! * *Bypass*: the scheme returns an encryption of u = I' - Δ I as a polynomial, where I' is the
//!   overflow of Δ times the ciphertext. Coefficient-to-slot moves it to the slots, digit removal
//!   leaves h = -I modulo p^r, slot-to-coefficient moves h back, and q0 h is added to the raised
//!   message m + q0 I. The message itself passes through no linear map. Digit removal of type A
//!   (Δ = p^v) needs u modulo p^(r+v), type B (another Δ) modulo p^r. If the index is a power of
//!   two, r = v = 1 and plaintexts must be thin; over indices with axes h has d parts, as in the
//!   full mode.
//! * *Thin*, for integers in slots: slot-to-coefficient, at a low level, moves the slots to the
//!   coefficients of a polynomial (in X^d, or, over an index with axes, with one coefficient for
//!   each slot); then p^v m + I is raised, projected onto these coefficients and moved to the
//!   slots, and its v low digits are removed.
//! * *Full*, for any plaintext: p^v m + I is raised and split into d thin ciphertexts. If the index
//!   is a power of two, these are polynomials in X^d, each of which is moved to the slots, passes
//!   through the digit removal and is moved back; over indices with axes they are the coordinates
//!   of the slots, which are moved back together.
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
