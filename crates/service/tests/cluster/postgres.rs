//! A PostgreSQL server for the tests alone, in a temporary directory, reached by a socket there.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use r2d2_postgres::postgres::{Client, NoTls};
use tempfile::TempDir;

/// Whom the server runs as where this runs as root, which it refuses.
const USER: &str = "postgres";

pub struct Instance {
    programs: PathBuf,
    directory: TempDir,
    as_other: bool,
    child: Child,
}

/// Where the programs of the server are; none if it is not installed.
fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for versions in std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        places.push(versions.path().join("bin"));
    }
    places.into_iter().find(|place| ["initdb", "postgres"].iter().all(|p| place.join(p).exists()))
}

fn output(command: &mut Command) -> String {
    let out = command.output().expect("a program of the system runs");
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// A program of the server, as a user that it accepts.
fn program(programs: &Path, name: &str, as_other: bool) -> Command {
    let program = programs.join(name);
    if !as_other {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let (user, group) = (format!("--reuid={USER}"), format!("--regid={USER}"));
    command.args([user, group, "--clear-groups".into()]).arg(program);
    command
}

impl Instance {
    /// A new one; none where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let programs = installed()?;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let as_other = output(Command::new("id").arg("-u")).trim() == "0";
        if as_other {
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.path(), open).expect("its permissions");
        }
        for name in ["data", "socket"] {
            let path = directory.path().join(name);
            std::fs::create_dir(&path).expect("a directory");
            if as_other {
                output(Command::new("chown").arg(USER).arg(&path));
            }
        }
        let mut init = program(&programs, "initdb", as_other);
        init.args(["--auth=trust", "--username=everlevel", "--no-sync", "--encoding=UTF8"]);
        output(init.arg("-D").arg(directory.path().join("data")).current_dir(directory.path()));
        let child = serve(&programs, directory.path(), as_other);
        let instance = Instance { programs, directory, as_other, child };
        instance.client("postgres");
        Some(instance)
    }

    fn connection(&self, database: &str) -> String {
        let socket = self.directory.path().join("socket");
        format!("host={} user=everlevel dbname={database}", socket.display())
    }

    /// A connection, once the server answers.
    pub fn client(&self, database: &str) -> Client {
        for _ in 0..3000 {
            match Client::connect(&self.connection(database), NoTls) {
                Ok(client) => return client,
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        panic!("the server does not answer");
    }

    /// A new database: a file with its connection string.
    pub fn database(&self, name: &str) -> PathBuf {
        let made = format!("CREATE DATABASE {name}");
        self.client("postgres").batch_execute(&made).expect("a new database");
        let file = self.directory.path().join(name);
        std::fs::write(&file, self.connection(name) + "\n").expect("a file");
        file
    }

    /// Ends the server at once and starts it again.
    #[allow(dead_code, reason = "not for the laws of the store, which also use this file")]
    pub fn restart(&mut self) {
        self.end();
        std::thread::sleep(Duration::from_secs(2));
        self.child = serve(&self.programs, self.directory.path(), self.as_other);
        self.client("postgres");
    }

    fn end(&mut self) {
        // Immediate shutdown, after which connections are gone and the directory is free.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &pid]).status();
        let _ = self.child.wait();
    }
}

fn serve(programs: &Path, directory: &Path, as_other: bool) -> Child {
    let mut command = program(programs, "postgres", as_other);
    command.arg("-D").arg(directory.join("data")).arg("-k").arg(directory.join("socket"));
    command.args(["-c", "listen_addresses=", "-c", "fsync=off"]).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the server starts")
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end();
    }
}
