//! TLS of the service: its certificate, and that of a demonstration. The code that clients also use
//! is in `everlevel_remote::tls`.

mod issued;
mod server;

pub use issued::Issued;
pub(crate) use server::ServerTls;
pub use server::TlsFiles;
