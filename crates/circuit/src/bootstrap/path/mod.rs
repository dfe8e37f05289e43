//! How coefficients reach the slots and come back: all of bootstrapping that depends on the kind
//! of index.
//!
//! A path combines the linear maps of a plan with the other steps that the ring needs:
//!
//! * [`Projected`]: power-of-two indices, polynomials in X^d; the thin mode and the bypass.
//! * [`Unpacked`]: power-of-two indices, any polynomial as d polynomials in X^d; the full mode.
//! * [`AxisPath`]: indices with axes, odd or 2^k times an odd number, in every mode.
//!
//! [`PathKind`] tells the indices apart, and nothing else in bootstrapping does: the modes
//! (`run.rs`) see [`SlotPath`], the plans of sets (`sets.rs`) see
//! [`PathPlans`](plans::PathPlans).

mod axes;
pub(super) mod plans;
mod projected;
pub(super) mod slot_path;
mod unpacked;

use everlevel_scheme::Bootstrappable;
use everlevel_scheme::spec::BootstrapMode;

use self::axes::AxisPath;
use self::plans::PathKind;
use self::projected::Projected;
use self::slot_path::SlotPath;
use self::unpacked::Unpacked;
use super::groups::{Setting, Shelf};
use crate::error::CircuitError;

/// The path of a plan.
///
/// # Errors
/// [`CircuitError::PlanMismatch`] if the plan asks for what the path does not have,
/// [`CircuitError::BadSplits`], [`CircuitError::BadSizes`], [`CircuitError::TooManyKeys`],
/// [`CircuitError::UnsupportedIndex`].
pub(super) fn slot_path<S: Bootstrappable>(
    setting: &Setting<'_>,
    shelf: &mut Shelf<S>,
) -> Result<Box<dyn SlotPath<S>>, CircuitError> {
    Ok(match (PathKind::of(setting.shape), setting.plan.mode) {
        (PathKind::Columns, BootstrapMode::Bypass | BootstrapMode::Thin) => {
            Box::new(Projected::new(setting, shelf)?)
        }
        (PathKind::Columns, BootstrapMode::Full) => Box::new(Unpacked::new(setting, shelf)?),
        (PathKind::Axes, _) => Box::new(AxisPath::new(setting, shelf)?),
    })
}
