//! `serve --demo`: a service to try out, with a tenant, keys, data and the commands to go on with.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use everlevel::files::Existing;
use everlevel::{Client, NamedIntegers, OptIn, Params, Type, general_keys};
use everlevel_service::{Grant, Issued, Scope, TlsFiles, Tokens};
use everlevel_wire::WireError;
use everlevel_wire::file::{write_file, write_secret_file};
use rand_core::Rng;

use crate::console::errors::{CliError, of_service};
use crate::console::files::of_output;

/// Quick, and insecure: whoever sees its keys has what they protect.
const SET: &str = "insecure_bgv-65537-n11";
const TENANT: &str = "demo";
/// The sample: three applicants for a loan.
const COLUMNS: [(&str, [u8; 3]); 2] = [("income", [60, 20, 90]), ("debt", [5, 9, 70])];
/// Which of them get one.
const PROGRAM: &str = "limit = if(3*income - 2*debt >= 100, 1000, 0)";
/// The names of what demonstrations have made in their directory, one in each line.
const MADE: &str = ".everlevel-demo";

/// A directory with all that a demonstration takes.
pub struct Demo {
    directory: PathBuf,
}

impl Demo {
    /// In a directory that is given, as an earlier demonstration left it or made now, or in a new
    /// temporary one.
    pub fn prepare(directory: Option<&Path>) -> Result<Self, CliError> {
        let demo = Demo {
            directory: match directory {
                Some(directory) => directory.into(),
                None => temporary()?,
            },
        };
        private(&demo.directory, true)?;
        // The token is written last: where it is, everything is.
        if !demo.path("token").exists() {
            demo.claim(&["keys", "data.ct"])?;
            demo.fill()?;
        }
        Ok(demo)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Where the service keeps everything.
    pub fn service(&self) -> PathBuf {
        self.path("service")
    }

    /// Refuses names of files that no demonstration has made: the directory may be anybody's, with
    /// keys that protect something.
    fn claim(&self, names: &[&str]) -> Result<(), CliError> {
        let list = self.path(MADE);
        let known = std::fs::read_to_string(&list).unwrap_or_default();
        let mut made: BTreeSet<&str> = known.lines().collect();
        for name in names {
            let path = self.path(name);
            if !made.contains(name) && path.symlink_metadata().is_ok() {
                let path = path.display().to_string();
                let told = format!(
                    "{path} is there, and no demonstration has made it: choose another directory"
                );
                return Err(CliError::usage(told).with_code(WireError::Exists { path }.code()));
            }
        }
        made.extend(names);
        let lines: String = made.iter().map(|name| format!("{name}\n")).collect();
        write_file(&list, lines.as_bytes(), Existing::Replace).map_err(of_output(&list))
    }

    fn fill(&self) -> Result<(), CliError> {
        let params = Params::named(SET, OptIn::InsecureResearch)?;
        let rng = &mut everlevel::system_rng().map_err(CliError::failure)?;
        let client = Client::new(&params, rng);
        // What an interrupted run left is replaced.
        client.save(&self.path("keys"), &general_keys(&params)?, Existing::Replace, rng)?;
        let mut columns: Vec<NamedIntegers> = Vec::new();
        for (name, values) in COLUMNS {
            let column = client.encrypt_integers(&values, Type::U8, rng)?;
            columns.push((name.into(), column.into()));
        }
        let (data, token) = (self.path("data.ct"), self.path("token"));
        let bytes = client.upload_columns(&columns)?;
        write_file(&data, &bytes, Existing::Replace).map_err(of_output(&data))?;
        let tenant = TENANT.parse().map_err(of_service)?;
        let grant = Grant { tenant, scopes: vec![Scope::Read, Scope::Write, Scope::Run] };
        private(&self.service(), true)?;
        let drawn = Tokens::in_directory(&self.service()).add(&grant).map_err(of_service)?;
        let text = drawn.reveal().as_bytes();
        write_secret_file(&token, text, Existing::Replace).map_err(of_output(&token))
    }

    /// Makes a certificate for this machine, and for the address to listen at. What an earlier
    /// demonstration left is replaced, as it expires.
    pub fn issue(&self, listen: IpAddr) -> Result<DemoCertificate, CliError> {
        let addresses = BTreeSet::from([
            std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::Ipv6Addr::LOCALHOST.into(),
            listen,
        ]);
        let addresses: Vec<IpAddr> = addresses.into_iter().collect();
        let issued = Issued::for_names(&["localhost"], &addresses).map_err(of_service)?;
        let names = ["authority.pem", "certificate.pem", "certificate.key"];
        self.claim(&names)?;
        let [authority, certificate, key] = names.map(|name| self.path(name));
        for (path, text) in [(&authority, &issued.authority), (&certificate, &issued.certificate)] {
            write_file(path, text.as_bytes(), Existing::Replace).map_err(of_output(path))?;
        }
        write_secret_file(&key, issued.key.as_bytes(), Existing::Replace)
            .map_err(of_output(&key))?;
        let files = TlsFiles::new(certificate, key);
        Ok(DemoCertificate { files, authority, fingerprint: issued.fingerprint })
    }

    /// What this is, for whoever has started it.
    pub fn introduction(&self) -> String {
        format!(
            "a demonstration with the set {SET}, which protects nothing: secret key, data and \
             service are in {}, which can be removed afterwards",
            self.directory.display()
        )
    }

    /// Where the page is opened, with the tenant's token, which a browser does not send.
    pub fn page(&self, url: &str) -> Result<String, CliError> {
        let path = self.path("token");
        let token = std::fs::read_to_string(&path).map_err(CliError::failure)?;
        Ok(format!("{url}/#token={}", token.trim()))
    }

    /// Commands to be typed in another terminal, one after the other.
    pub fn commands(&self, url: &str, authority: Option<&Path>) -> Vec<String> {
        let at = |name: &str| quoted(&self.path(name));
        let believed = authority.map(|path| format!(" --tls-ca {}", quoted(path)));
        let who =
            format!("--url {url} --token-file {}{}", at("token"), believed.unwrap_or_default());
        let job =
            format!("{who} --server-keys {} '{PROGRAM}' {}", at("keys/server.keys"), at("data.ct"));
        vec![
            format!("everlevel remote run {job} --out {} --estimate", at("out")),
            format!("everlevel remote run {job} --out {} --force", at("out")),
            format!(
                "everlevel decrypt --insecure-research --key {} --in {}",
                at("keys/secret.key"),
                at("out/limit.ct")
            ),
            format!("everlevel remote list {who}"),
        ]
    }
}

/// A certificate that was made for the demonstration.
pub struct DemoCertificate {
    /// What the service needs.
    pub files: TlsFiles,
    /// What its clients believe.
    pub authority: PathBuf,
    /// The SHA-256 of the certificate.
    pub fingerprint: String,
}

impl DemoCertificate {
    /// What it is, for whoever compares it.
    pub fn introduction(&self) -> String {
        format!(
            "its certificate has the SHA-256 fingerprint {} and was issued by the authority {}, \
             which issued no other: browsers warn of it until they trust this authority",
            self.fingerprint,
            self.authority.display()
        )
    }
}

/// As a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A new directory of nobody else's.
fn temporary() -> Result<PathBuf, CliError> {
    let name = everlevel::system_rng().map_err(CliError::failure)?.next_u64();
    let path = std::env::temp_dir().join(format!("everlevel-demo-{name:016x}"));
    private(&path, false)?;
    Ok(path)
}

/// Makes a directory that other users of the machine cannot read; one that is there is fine only if
/// that is said.
fn private(path: &Path, may_exist: bool) -> Result<(), CliError> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(may_exist).create(path).map_err(|e| {
        CliError::usage(format!("cannot create the directory {}: {e}", path.display()))
    })
}
