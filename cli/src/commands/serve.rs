//! `everlevel serve`: the service, and its tokens.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use everlevel::OptIn;
use everlevel_service::{
    Bucket, Config, Database, Exposure, Grant, Quota, Scope, Service, Tenant, TlsFiles, Tokens,
    interrupted, log_to_stderr,
};
use serde_json::json;

use super::serve_demo::Demo;
use crate::console::args::{Common, amount};
use crate::console::device::{Device, DeviceArg};
use crate::console::errors::{CliError, of_service};
use crate::console::output::{emit, emit_json, threads};

/// Arguments of `serve`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ServeArgs {
    /// Something else than to serve.
    #[command(subcommand)]
    pub other: Option<ServeCommand>,
    /// The directory in which the service keeps everything; it is created if it does not exist
    #[arg(long, value_name = "DIR", required_unless_present = "demo")]
    pub dir: Option<PathBuf>,
    /// Start a demonstration: a tenant, keys of an insecure toy set and data, in DIR or in a new
    /// temporary directory; the commands to continue with are printed
    #[arg(long, conflicts_with = "insecure_http")]
    pub demo: bool,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420")]
    pub listen: SocketAddr,
    /// Serve over HTTPS: the file of the certificate in PEM, followed by the intermediate
    /// certificates. A renewed certificate is used within a minute
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "insecure_http")]
    pub tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM; other users of the machine must not be able to
    /// read it
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Refuse clients without a certificate from these authorities, in PEM; they still need a token
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_client_ca: Option<PathBuf>,
    /// Serve the demonstration over HTTPS, with a certificate that is generated for it
    #[arg(long, requires = "demo", conflicts_with = "tls_certificate")]
    pub tls_self_signed: bool,
    /// Accept connections from other machines without encryption: only behind a proxy with TLS, or
    /// in a network where nobody else listens
    #[arg(long)]
    pub insecure_http: bool,
    /// The memory in MiB for the server keys of all tenants
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = amount())]
    pub key_memory: u64,
    /// Keep half of each server key as a seed in memory and expand it whenever it is used: keys
    /// then count as half of the memory, and jobs take longer (1.23 s instead of 0.83 s for a
    /// bootstrapping of bgv-65537-n15)
    #[arg(long)]
    pub seeded_keys: bool,
    /// What computes jobs; the processor also computes those of rings that no device computes in,
    /// and those in which the device fails.
    #[command(flatten)]
    pub on: DeviceArg,
    /// The memory in MiB of the CUDA device for copies of the server keys of all tenants (default:
    /// half of what is free there when the service starts)
    #[arg(long, value_name = "MIB", value_parser = amount())]
    pub device_memory: Option<u64>,
    /// Share DIR with other processes, and keep the records and the queue in a PostgreSQL database:
    /// a file with its connection string, such as "host=/run/postgresql user=everlevel
    /// dbname=everlevel"
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    pub database_file: Option<PathBuf>,
    /// Connect to a database on another machine without encryption: only in a network where nobody
    /// else listens
    #[arg(long, requires = "database_file")]
    pub insecure_database: bool,
    /// Keep the bytes of objects in an object store with the S3 protocol instead of DIR, which then
    /// belongs to this process alone: a JSON file with endpoint, bucket, access_key_id and
    /// secret_access_key
    #[arg(long, value_name = "FILE", requires = "database_file")]
    pub bucket_file: Option<PathBuf>,
    /// Compute jobs without answering requests, which other processes with the same database do
    #[arg(long, requires = "database_file", conflicts_with_all = ["page", "insecure_http"])]
    pub worker: bool,
    /// The number of jobs that are computed at the same time; they share the threads. With a
    /// database, 0 leaves them to other processes
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(0..=64)
    )]
    pub jobs: u16,
    /// The maximum number of connections at the same time
    #[arg(
        long,
        value_name = "K",
        default_value_t = 256,
        value_parser = clap::value_parser!(u32).range(1..=65536)
    )]
    pub connections: u32,
    /// The memory in MiB for requests that are arriving; one tenant can use a quarter of it
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 256,
        value_parser = clap::value_parser!(u64).range(4..1 << 20)
    )]
    pub request_memory: u64,
    /// What a tenant may have.
    #[command(flatten)]
    pub quota: QuotaArgs,
    /// Serve this web page to browsers, in which they encrypt, ask and decrypt: the directory that
    /// .ci/web builds
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Log every request
    #[arg(long)]
    pub verbose: bool,
}

/// What each tenant may have.
#[derive(Args)]
pub struct QuotaArgs {
    /// The maximum number of GiB that a tenant may store
    #[arg(long, value_name = "GIB", default_value_t = 64, value_parser = amount())]
    pub quota_gib: u64,
    /// The maximum number of objects, tables and jobs that a tenant may store
    #[arg(long, value_name = "K", default_value_t = 10_000)]
    pub quota_objects: u64,
    /// The maximum number of server keys that a tenant may store
    #[arg(long, value_name = "K", default_value_t = 100)]
    pub quota_keys: u64,
    /// The maximum number of jobs of a tenant that wait or are computed
    #[arg(long, value_name = "K", default_value_t = 16)]
    pub quota_jobs: u64,
    /// The maximum number of seconds that a job may take
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = amount())]
    pub job_seconds: u64,
}

/// Commands below `serve`.
#[derive(Subcommand)]
pub enum ServeCommand {
    /// Add, list and revoke the tokens of a service, whether or not it is running
    #[command(subcommand)]
    Token(TokenCommand),
}

/// What to do with tokens.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Generate a token and print it; only its hash is stored
    Add {
        /// The directory of the service
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
        /// The tenant whose objects and jobs the token gives access to
        #[arg(long, value_name = "NAME")]
        tenant: Tenant,
        /// The rights of the token: read, write, run or metrics, separated by commas
        #[arg(
            long,
            value_name = "SCOPES",
            value_delimiter = ',',
            default_value = "read,write,run"
        )]
        scopes: Vec<Scope>,
    },
    /// List the tokens, by the first digits of their hashes
    List {
        /// The directory of the service
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
    },
    /// Revoke a token: from now on it is refused
    Revoke {
        /// The directory of the service
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
        /// The name of the token: the 16 digits that `list` prints
        #[arg(value_name = "TOKEN")]
        token: String,
    },
}

impl QuotaArgs {
    fn quota(&self) -> Quota {
        Quota {
            bytes: self.quota_gib << 30,
            objects: self.quota_objects,
            keys: self.quota_keys,
            active_jobs: self.quota_jobs,
            job_seconds: self.job_seconds,
        }
    }
}

impl ServeArgs {
    /// The files for HTTPS; the parser has seen to it that both are there or none.
    fn tls_files(&self) -> Option<TlsFiles> {
        let (certificate, key) = self.tls_certificate.clone().zip(self.tls_key.clone())?;
        let client_authority = self.tls_client_ca.clone();
        Some(TlsFiles { client_authority, ..TlsFiles::new(certificate, key) })
    }

    /// The CUDA device that computes, if one does.
    fn cuda(&self) -> Result<Option<everlevel_service::Device>, CliError> {
        let key_memory = self.device_memory.map(|mib| mib << 20);
        match self.on.device {
            Device::Cuda(ordinal) => Ok(Some(everlevel_service::Device { ordinal, key_memory })),
            Device::Cpu if key_memory.is_some() => Err(CliError::usage(
                "--device-memory is that of a CUDA device: give --device cuda, too",
            )),
            Device::Cpu => Ok(None),
        }
    }
}

/// Runs the command.
pub fn run(args: &ServeArgs, common: &Common) -> Result<(), CliError> {
    args.on.device.check()?;
    match (&args.other, &args.dir) {
        (Some(ServeCommand::Token(command)), _) => token(command, common),
        (None, dir) if args.demo => {
            let demo = Demo::prepare(dir.as_deref())?;
            serve(args, demo.service(), OptIn::InsecureResearch, Some(&demo), common)
        }
        (None, Some(dir)) => serve(args, dir.clone(), common.opt_in(), None, common),
        // The parser has seen to it that one is there.
        (None, None) => Err(CliError::usage("expected --dir DIR or --demo")),
    }
}

fn serve(
    args: &ServeArgs,
    dir: PathBuf,
    opt_in: OptIn,
    demo: Option<&Demo>,
    common: &Common,
) -> Result<(), CliError> {
    log_to_stderr(args.verbose);
    let workers = usize::from(args.jobs);
    let issued = match demo {
        Some(demo) if args.tls_self_signed => Some(demo.issue(args.listen.ip())?),
        _ => None,
    };
    let tls = issued.as_ref().map(|issued| issued.files.clone()).or_else(|| args.tls_files());
    let secure = tls.is_some();
    let database = args.database_file.as_deref().map(Database::from_file).transpose();
    let database = database.map_err(of_service)?;
    let bucket = args.bucket_file.as_deref().map(Bucket::from_file).transpose();
    let config = Config {
        opt_in,
        database: match args.insecure_database {
            true => database.map(Database::unprotected),
            false => database,
        },
        bucket: bucket.map_err(of_service)?,
        key_memory: args.key_memory << 20,
        seeded_keys: args.seeded_keys,
        device: args.cuda()?,
        workers,
        threads: (threads() / workers.max(1)).max(1),
        connections: args.connections as usize,
        request_memory: args.request_memory << 20,
        quota: args.quota.quota(),
        tls,
        page: args.page.clone(),
        ..Config::new(dir)
    };
    if args.worker {
        if args.jobs == 0 {
            return Err(CliError::usage("expected a worker with --jobs 1 or more, found 0"));
        }
        let service = Service::start(config).map_err(of_service)?;
        match common.json {
            true => emit_json(&json!({ "address": null }))?,
            false => emit("computing")?,
        }
        return service.work(interrupted()).map_err(of_service);
    }
    let exposure = if args.insecure_http { Exposure::Anywhere } else { Exposure::Loopback };
    // A demonstration protects nothing, and stays on this machine.
    if !secure || demo.is_some() {
        exposure.check(args.listen).map_err(|e| {
            let way = "--tls-certificate and --tls-key, or --insecure-http";
            CliError::usage(format!("{e} ({way})")).with_code("service.malformed")
        })?;
    }
    let listener = TcpListener::bind(args.listen);
    let listener =
        listener.map_err(|e| CliError::usage(format!("cannot listen at {}: {e}", args.listen)))?;
    let address = listener.local_addr().map_err(CliError::failure)?;
    let service = Service::start(config).map_err(of_service)?;
    let url = format!("{}://{address}", if secure { "https" } else { "http" });
    let authority = issued.as_ref().map(|issued| issued.authority.as_path());
    let commands = demo.map(|demo| demo.commands(&url, authority)).unwrap_or_default();
    if common.json {
        emit_json(&match demo {
            Some(demo) => json!({
                "address": address,
                "url": url,
                "directory": demo.service(),
                "commands": commands,
                "authority": authority,
                "fingerprint": issued.as_ref().map(|issued| &issued.fingerprint),
            }),
            None => json!({ "address": address, "url": url }),
        })?;
    } else {
        emit(&format!("serving at {url}"))?;
    }
    if let (Some(demo), false) = (demo, common.json) {
        let typed = commands.join("\n  ");
        emit(&demo.introduction())?;
        if let Some(issued) = &issued {
            emit(&issued.introduction())?;
        }
        emit(&format!("in another terminal:\n  {typed}"))?;
        if args.page.is_some() {
            emit(&format!("or in a browser: {}", demo.page(&url)?))?;
        }
    }
    service.serve(listener, exposure, interrupted()).map_err(of_service)
}

fn token(command: &TokenCommand, common: &Common) -> Result<(), CliError> {
    match command {
        TokenCommand::Add { dir, tenant, scopes } => {
            let grant = Grant { tenant: tenant.clone(), scopes: scopes.clone() };
            let token = Tokens::in_directory(dir).add(&grant).map_err(of_service)?;
            if common.json {
                return emit_json(&json!({ "token": token.reveal() }));
            }
            emit(token.reveal())
        }
        TokenCommand::List { dir } => {
            let found = Tokens::in_directory(dir).list().map_err(of_service)?;
            if common.json {
                let listed = found.iter().map(|(shown, Grant { tenant, scopes })| {
                    json!({ "token": shown, "tenant": tenant, "scopes": scopes })
                });
                return emit_json(&listed.collect::<Vec<_>>());
            }
            let line = |(shown, grant): &(String, Grant)| {
                let scopes: Vec<&str> = grant.scopes.iter().map(|scope| scope.name()).collect();
                format!("{shown}  {}  {}", grant.tenant, scopes.join(","))
            };
            emit(&found.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        TokenCommand::Revoke { dir, token } => {
            Tokens::in_directory(dir).revoke(token).map_err(of_service)?;
            if common.json {
                return emit_json(&json!({ "revoked": token }));
            }
            emit(&format!("{token} is revoked"))
        }
    }
}
