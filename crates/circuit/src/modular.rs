//! Arithmetic modulo a prime power, which is the ring's.

pub use everlevel_ring::PrimePower;
