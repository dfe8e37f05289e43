//! The integration tests of this crate, in one binary so that it is linked once.

mod codes;
mod fetch;
mod fetch_hostile;
#[cfg(unix)]
mod fetch_resident;
mod ml;
mod ml_hostile;
mod pins;
mod places;
mod stand_in;
mod transciphering;
mod transciphering_hostile;
mod zn;
mod zn_hostile;
mod zn_whole;
