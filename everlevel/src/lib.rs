//! everlevel
