//! everlevel-testing
