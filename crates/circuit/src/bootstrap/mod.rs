//! Bootstrapping of thin ciphertexts by message bypass.
//!
//! A worn-out ciphertext has, modulo q0 under a sparse key s0, the phase m + q0 I over the integers with |I| <= B. The
//! scheme hands out the overflow part u = I' - Δ I (as a polynomial); this module moves u to the slots, removes its low digit,
//! which leaves h = -I modulo p, moves h back to the coefficients and adds q0 h to the raised message m + q0 I. The message
//! itself goes through no linear map. Digit removal of type A (Δ = p) needs u modulo p^2, type B (another Δ) modulo p.
//!
//! Sources: the bypass is from Ma–Huang–Wang–Wang 2024 (ia.cr/2024/115), the linear maps from the same authors
//! (ia.cr/2024/164) and Geelen 2024 (ia.cr/2024/153), the sparse encapsulation from Bossuat et al. 2022 (ia.cr/2022/024).

mod groups;
mod observe;
mod plan;
mod planner;
mod run;

pub use observe::{Stage, StageObserver, StageReport};
pub use plan::{BootstrapCosts, BootstrapPlan};
pub use planner::{DryRun, Objective, PlanReport, Planner, TimeModel};
pub use run::Bootstrapper;
