//! everlevel-circuit
