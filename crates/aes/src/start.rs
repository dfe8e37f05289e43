//! The level at which AES begins.

use everlevel_scheme::spec::ModulusChain;
use everlevel_scheme::{Level, SchemeError};

use crate::error::AesError;

/// The lowest level at which AES can begin and leave `reserve` bits of capacity, of those at which
/// key switches cost less than at all levels above; `None` if it leaves less from the top as well.
///
/// `left` begins at a level and returns the capacity that is left, as [`Aes::capacity_after`] does
/// on a no-op scheme without values. That scheme is best used for nothing else: its plan of server
/// keys has the levels of all trials. A method is prepared for the top in any case: lower levels
/// have primes that the one at which AES begins may lack.
///
/// What a computation leaves over at the end costs time at its beginning: at lower levels key
/// switches have fewer primes, and fewer digits as well.
///
/// # Errors
/// Those of `left`, except for [`SchemeError::NoiseOverflow`]: then there is no room from this
/// level.
///
/// [`Aes::capacity_after`]: crate::Aes::capacity_after
pub fn lowest_start(
    chain: &ModulusChain,
    reserve: f64,
    mut left: impl FnMut(Level) -> Result<f64, AesError>,
) -> Result<Option<Level>, AesError> {
    for level in chain.cheaper_levels().into_iter().rev() {
        match left(level) {
            Ok(capacity) if capacity >= reserve => return Ok(Some(level)),
            Ok(_) | Err(AesError::Scheme(SchemeError::NoiseOverflow { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
