//! The service as a process of its own, which can be killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use everlevel::OptIn;
use everlevel_service::{Client, Config, Exposure, Grant, Scope, Service, Tokens};
use serde_json::Value;

use crate::options::Options;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Is the service in a directory, until it is killed.
pub fn serve(directory: &Path, options: &Options) {
    let config = Config {
        opt_in: OptIn::InsecureResearch,
        threads: 1,
        request_time: Duration::from_secs(options.request_seconds),
        ..Config::new(directory)
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let service = Service::start(config).expect("the service starts");
    println!("serving at {address}");
    service.serve(listener, Exposure::Loopback, std::future::pending()).expect("it serves");
}

/// A service that runs until this is dropped, which kills it.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    directory: PathBuf,
}

impl Process {
    /// In a directory, with further arguments.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.arg("--serve").arg(directory).args(arguments);
        Self::spawn(directory, command)
    }

    /// The same, where no file may have more than `kib` KiB: a write beyond fails, as on a full
    /// disk.
    #[cfg(unix)]
    pub fn with_small_files(directory: &Path, kib: u64) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        // A shell without the limit's signal: the write itself fails then. Its unit is 512 bytes.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" --serve \"$1\"", 2 * kib);
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(program).arg(directory);
        Self::spawn(directory, command)
    }

    fn spawn(directory: &Path, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("serving at ").and_then(|text| text.parse().ok());
        let address = address.unwrap_or_else(|| panic!("the service did not start: {line:?}"));
        Process { child, address, directory: directory.into() }
    }

    /// A new token of a tenant.
    pub fn token(&self, tenant: &str) -> String {
        let scopes = vec![Scope::Read, Scope::Write, Scope::Run];
        let grant = Grant { tenant: tenant.parse().expect("a name"), scopes };
        let token = Tokens::in_directory(&self.directory).add(&grant).expect("a token");
        token.reveal().to_string()
    }

    pub fn client(&self, token: &str) -> Client {
        Client::new(&format!("http://{}", self.address), token, Exposure::Loopback)
            .expect("an address of this machine")
    }

    /// A number of bytes that the system states of the process, such as `VmRSS`; none where it does
    /// not state any.
    pub fn memory(&self, name: &str) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
    }

    /// A request as it is, and its answer: the status, and the body if it is JSON.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &[u8]) -> (u16, Value) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let answer = self.raw(&[head.as_bytes(), body].concat(), PATIENCE, false);
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// Bytes as they are, with their end if that `ends` the connection, and what comes back without
    /// a pause of `wait`.
    pub fn raw(&self, bytes: &[u8], wait: Duration, ends: bool) -> Vec<u8> {
        let mut answer = Vec::new();
        let Ok(mut stream) = TcpStream::connect(self.address) else { return answer };
        let _ = stream.set_read_timeout(Some(wait));
        // The service may have closed it already.
        let _ = stream.write_all(bytes);
        if ends {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let _ = stream.read_to_end(&mut answer);
        answer
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // As the system does it when memory is short: nothing of it goes on.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
