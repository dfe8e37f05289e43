//! From where a service is reached without TLS.

use std::net::SocketAddr;

use crate::error::RemoteError;

/// Whether connections from other machines are accepted, although HTTP does not protect them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exposure {
    /// From this machine only.
    #[default]
    Loopback,
    /// From wherever the address is reached: something else protects the way.
    Anywhere,
}

impl Exposure {
    /// Passes an address to listen at.
    ///
    /// # Errors
    /// One that other machines reach, unless that was asked for.
    pub fn check(self, address: SocketAddr) -> Result<(), RemoteError> {
        if self == Exposure::Anywhere || address.ip().is_loopback() {
            return Ok(());
        }
        let problem = format!(
            "expected one of this machine, such as 127.0.0.1, found {address}: HTTP would reveal \
             tokens on the way; give the service a certificate for TLS, or put a proxy with TLS \
             before it"
        );
        Err(RemoteError::malformed("the address to listen at", problem))
    }
}
