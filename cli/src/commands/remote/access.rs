//! Which service, and who asks.

use std::path::PathBuf;

use clap::Args;
use everlevel_remote::{Client, Connecting, Exposure, IdempotencyKey};

use crate::console::errors::{CliError, of_service};
use crate::console::files::read_text;

/// The most bytes of a file with a token.
const TOKEN_BYTES: u64 = 1 << 20;

/// Who asks, and whom it believes.
#[derive(Args, Clone)]
pub struct AccessArgs {
    /// The file with the token for the service (default: the environment variable EVERLEVEL_TOKEN)
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Send the token to another machine without encryption
    #[arg(long)]
    pub insecure_http: bool,
    /// Trust only services with a certificate from these authorities, in PEM, instead of the
    /// authorities that the system trusts
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// The certificate in PEM, for a service that requires one of its clients
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
}

/// Which service, and who asks.
#[derive(Args, Clone)]
pub struct ServiceArgs {
    /// The address of the service: https://HOST:PORT, or http:// on this machine
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub url: String,
    /// Who asks.
    #[command(flatten)]
    pub access: AccessArgs,
}

/// What becomes of a job.
#[derive(Args, Clone, Default)]
pub struct Manner {
    /// Print what the job would cost, without starting it
    #[arg(long)]
    pub estimate: bool,
    /// A name for this job: the same command with the same name continues the job instead of
    /// starting another one
    #[arg(long, value_name = "NAME")]
    pub job_name: Option<IdempotencyKey>,
}

/// A service for a command that does without one otherwise.
#[derive(Args, Clone)]
pub struct RemoteArg {
    /// Use the service at this address, https://HOST:PORT, or http:// on this machine: `encrypt`
    /// also sends what it has encrypted; `eval` and `table run` compute there, on files, which are
    /// sent first, or on ids of objects
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
    /// Who asks.
    #[command(flatten)]
    pub access: AccessArgs,
}

/// A service for a command that computes here otherwise.
#[derive(Args, Clone)]
pub struct RemoteJobArgs {
    /// The service.
    #[command(flatten)]
    pub place: RemoteArg,
    /// What becomes of the job there.
    #[command(flatten)]
    pub manner: Manner,
}

impl RemoteJobArgs {
    /// The way to the service, if there is to be one.
    pub fn client(&self) -> Result<Option<Client>, CliError> {
        let client = self.place.client()?;
        match client.is_none() && (self.manner.estimate || self.manner.job_name.is_some()) {
            true => Err(CliError::usage(
                "expected --remote URL with --estimate or --job-name, which are for a job of a \
                 service, found none",
            )),
            false => Ok(client),
        }
    }
}

impl AccessArgs {
    fn connect(&self, url: &str) -> Result<Client, CliError> {
        let token = match &self.token_file {
            Some(path) => read_text(path, TOKEN_BYTES, "the token")?,
            None => {
                let found = std::env::var("EVERLEVEL_TOKEN").unwrap_or_default();
                if found.is_empty() {
                    return Err(CliError::usage(
                        "expected a token in EVERLEVEL_TOKEN, or --token-file FILE, found none",
                    ));
                }
                found
            }
        };
        let exposure = if self.insecure_http { Exposure::Anywhere } else { Exposure::Loopback };
        let connecting = Connecting::default()
            .exposed(exposure)
            .believing(self.tls_ca.clone())
            .identified(self.tls_certificate.clone().zip(self.tls_key.clone()));
        Client::new(url, token.trim(), connecting).map_err(of_service)
    }

    /// The files that are read, which no result replaces.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.token_file, &self.tls_ca, &self.tls_certificate, &self.tls_key];
        files.into_iter().flatten()
    }

    fn is_given(&self) -> bool {
        self.insecure_http || self.files().next().is_some()
    }
}

impl ServiceArgs {
    /// The way to the service.
    pub fn client(&self) -> Result<Client, CliError> {
        self.access.connect(&self.url)
    }
}

impl RemoteArg {
    /// The way to the service, if there is to be one.
    pub fn client(&self) -> Result<Option<Client>, CliError> {
        match &self.remote {
            Some(url) => self.access.connect(url).map(Some),
            None if self.access.is_given() => Err(CliError::usage(
                "expected --remote URL with --token-file, --insecure-http, --tls-ca or \
                 --tls-certificate, which are for a service, found none",
            )),
            None => Ok(None),
        }
    }
}
