//! How a client gets to a service: over what, and whom it believes to be the service.

use std::path::PathBuf;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;

use crate::error::RemoteError;
use crate::exposure::Exposure;
use crate::tls::configured;

/// How long an answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(90);

/// How a client gets to a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connecting {
    /// Whether a token is sent to another machine over HTTP, which shows it to whoever is on the
    /// way.
    pub exposure: Exposure,
    /// For HTTPS: the authorities that are believed, in PEM; without them those of the system.
    pub authority: Option<PathBuf>,
    /// For HTTPS: a certificate and its private key, in PEM, for a service that asks for one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl From<Exposure> for Connecting {
    fn from(exposure: Exposure) -> Self {
        Connecting { exposure, ..Connecting::default() }
    }
}

impl Connecting {
    /// Sets whether a token is sent to another machine over HTTP.
    #[must_use]
    pub fn exposed(self, exposure: Exposure) -> Self {
        Connecting { exposure, ..self }
    }

    /// Sets the file of the authorities that are believed; `None` for those of the system.
    #[must_use]
    pub fn believing(self, authority: impl Into<Option<PathBuf>>) -> Self {
        Connecting { authority: authority.into(), ..self }
    }

    /// Sets the files of a certificate and of its private key; `None` to have no certificate.
    #[must_use]
    pub fn identified(self, identity: impl Into<Option<(PathBuf, PathBuf)>>) -> Self {
        Connecting { identity: identity.into(), ..self }
    }

    /// What makes the connections to an address.
    ///
    /// # Errors
    /// As [`crate::Client::new`].
    pub fn agent(&self, url: &str) -> Result<Agent, RemoteError> {
        let wrong = |problem: String| RemoteError::malformed("the address of the service", problem);
        let uri: Uri = url.parse().map_err(|e| wrong(format!("{url:?}: {e}")))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong(format!("expected https://HOST:PORT, found {url:?}"))),
        };
        if host.is_empty() || !["", "/"].contains(&uri.path()) {
            return Err(wrong(format!("expected https://HOST:PORT without a path, found {url:?}")));
        }
        let near = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if !tls && !near && self.exposure == Exposure::Loopback {
            let problem = format!(
                "{host} is another machine, and HTTP would reveal the token on the way: use \
                 https://, or an encrypted tunnel that ends at 127.0.0.1"
            );
            return Err(wrong(problem));
        }
        if !tls && (self.authority.is_some() || self.identity.is_some()) {
            let problem = format!(
                "expected https://HOST:PORT with certificates, found {url:?}, which uses none"
            );
            return Err(wrong(problem));
        }
        // Neither a proxy nor another address gets to see the token.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(ANSWER_TIME));
        Ok(match tls {
            true => {
                let tls = configured(self.authority.as_deref(), self.identity.as_ref())?;
                config.https_only(true).tls_config(tls).build().into()
            }
            false => config.build().into(),
        })
    }
}
