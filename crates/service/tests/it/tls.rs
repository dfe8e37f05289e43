//! HTTPS: who proves what to whom, and what handshakes may take.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use everlevel_service::{Client, Connecting, Issued, Scope, Service, ServiceError, TlsFiles};

use crate::support::{Owner, Running, program, push, start};

/// A certificate, its key and their authority, as files.
struct Certified {
    files: TlsFiles,
    authority: PathBuf,
}

impl Certified {
    /// Of a machine with these names and the address 127.0.0.1, or with the names alone.
    fn new(directory: &Path, name: &str, names: &[&str], here: bool) -> Self {
        let addresses: &[_] = if here { &[[127, 0, 0, 1].into()] } else { &[] };
        let issued = Issued::for_names(names, addresses).unwrap();
        let at = |end: &str| directory.join(format!("{name}{end}"));
        let (certificate, key, authority) = (at(".pem"), at(".key"), at("-ca.pem"));
        std::fs::write(&authority, &issued.authority).unwrap();
        std::fs::write(&certificate, &issued.certificate).unwrap();
        std::fs::write(&key, &*issued.key).unwrap();
        private(&key, 0o600);
        Certified { files: TlsFiles::new(certificate, key), authority }
    }

    fn here(directory: &Path, name: &str) -> Self {
        Self::new(directory, name, &["localhost"], true)
    }

    /// What a client of this service believes.
    fn believed(&self) -> Connecting {
        Connecting::default().believing(self.authority.clone())
    }

    /// The same, with the certificate of a client.
    fn believed_by(&self, client: &Certified) -> Connecting {
        let files = &client.files;
        self.believed().identified((files.certificate.clone(), files.key.clone()))
    }
}

fn private(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// Whether the processor has the instructions that TLS needs; where it has not, this is told.
fn has_tls() -> bool {
    let refused = Issued::for_names(&["localhost"], &[]).err();
    let missing = refused.is_some_and(|e| e.code() == "service.no-tls");
    if missing {
        println!("skipped: the processor lacks instructions that TLS needs");
    }
    !missing
}

fn client(service: &Running, connecting: Connecting) -> Client {
    let token = service.token("acme", &[Scope::Read, Scope::Write, Scope::Run]);
    let url = format!("https://{}", service.address);
    Client::new(&url, &token, connecting).unwrap()
}

/// The code of a refusal that is told at once, without being tried again. The pauses between tries
/// would add up to three seconds each time; a busy machine may take as long, but not every time.
fn refusal(client: &Client) -> String {
    for _ in 0..10 {
        let started = Instant::now();
        let refused = client.usage().unwrap_err();
        if started.elapsed() < Duration::from_secs(3) {
            return refused.code().to_string();
        }
    }
    panic!("each refusal took as long as if it were tried again");
}

#[test]
fn a_job_goes_through_https() {
    if !has_tls() {
        return;
    }
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let certified = Certified::here(directory.path(), "service");
    let service = Running::start(&directory.path().join("service"), |config| {
        config.tls = Some(certified.files.clone());
    });
    let client = client(&service, certified.believed());
    let columns = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, x) = (push(&client, &owner.keys), push(&client, &columns));
    let done = client.wait(&start(&client, &program(&keys, &x, "y = x + 1")), |_| ()).unwrap();
    assert_eq!(owner.values(&client.fetch(&done.results["y"], |_, _| ()).unwrap()), [2, 3]);
    // HTTP is not answered: there is no way around the certificate.
    let answer = service.raw(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n");
    assert!(!String::from_utf8_lossy(&answer).contains("200 OK"), "{answer:?}");
}

#[test]
fn a_service_without_a_certificate_is_told_apart() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let service = Running::start(&directory.path().join("service"), |_| ());
    let refused = client(&service, certified.believed()).usage().unwrap_err();
    assert_eq!(refused.code(), "service.unreachable");
    assert!(refused.to_string().contains("http://"), "{refused}");
}

#[test]
fn only_the_service_that_was_meant_is_believed() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let other = Certified::here(directory.path(), "other");
    let start = |name: &str, files: &TlsFiles| {
        let files = files.clone();
        Running::start(&directory.path().join(name), |config| config.tls = Some(files))
    };
    let service = start("one", &certified.files);
    assert!(client(&service, certified.believed()).usage().is_ok());
    // Of an authority that is not believed, by the client or by its system.
    assert_eq!(refusal(&client(&service, other.believed())), "service.certificate");
    match Client::new(
        &format!("https://{}", service.address),
        &service.token("acme", &[Scope::Read]),
        Connecting::default(),
    ) {
        Ok(client) => assert_eq!(refusal(&client), "service.certificate"),
        // A system without any authority.
        Err(e) => assert_eq!(e.code(), "service.tls"),
    }
    // Of the authority, and for another name.
    let elsewhere = Certified::new(directory.path(), "elsewhere", &["example.org"], false);
    let service = start("two", &elsewhere.files);
    assert_eq!(refusal(&client(&service, elsewhere.believed())), "service.certificate");
}

#[test]
fn clients_prove_who_they_are_where_that_is_asked_for() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let member = Certified::new(directory.path(), "member", &["member"], false);
    let stranger = Certified::new(directory.path(), "stranger", &["member"], false);
    let service = Running::start(&directory.path().join("service"), |config| {
        let client_authority = Some(member.authority.clone());
        config.tls = Some(TlsFiles { client_authority, ..certified.files.clone() });
    });
    assert!(client(&service, certified.believed_by(&member)).usage().is_ok());
    for connecting in [certified.believed(), certified.believed_by(&stranger)] {
        assert_eq!(refusal(&client(&service, connecting)), "service.certificate");
    }
    // A certificate is no token.
    let token = format!("everlevel_{}", "0".repeat(64));
    let url = format!("https://{}", service.address);
    let nobody = Client::new(&url, &token, certified.believed_by(&member)).unwrap();
    assert_eq!(refusal(&nobody), "service.unauthorized");
}

/// Neither silence nor a byte now and then keeps a place longer than a handshake may take.
#[test]
fn handshakes_without_end_keep_nobody_out() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let service = Running::start(&directory.path().join("service"), |config| {
        config.tls = Some(certified.files.clone());
        config.connections = 2;
        config.request_time = Duration::from_secs(4);
    });
    let connect = || TcpStream::connect(service.address).unwrap();
    let _silent = connect();
    let mut slow = connect();
    // The head of a handshake message of 16 KiB.
    let dribbling = std::thread::spawn(move || {
        for byte in [0x16, 0x03, 0x01, 0x40, 0x00, 0x01].into_iter().chain([0; 200]) {
            if slow.write_all(&[byte]).is_err() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    });
    // Connections last for 40 seconds here.
    let started = Instant::now();
    assert!(client(&service, certified.believed()).usage().is_ok());
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert!(dribbling.join().unwrap(), "a slow handshake was waited for");
}

#[test]
fn what_is_no_handshake_is_refused() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let service = Running::start(&directory.path().join("service"), |config| {
        config.tls = Some(certified.files.clone());
    });
    for bytes in [&[0u8; 4096][..], &[0x16; 70_000], b"\x16\x03\x01\xff\xff\x01", b""] {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // An alert at most.
        assert!(answer.len() <= 7, "{answer:?}");
    }
    assert!(client(&service, certified.believed()).usage().is_ok());
}

fn opened(directory: &Path, files: TlsFiles) -> Result<(), ServiceError> {
    let mut config = everlevel_service::Config::new(directory.join("never"));
    config.tls = Some(files);
    Service::start(config).map(drop)
}

#[test]
fn files_that_cannot_be_used_are_told_before_anything_is_opened() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let (good, other) = (Certified::here(at, "good"), Certified::here(at, "other"));
    let secret = std::fs::read_to_string(&good.files.key).unwrap();
    let named = |name: &str, bytes: &[u8]| {
        let path = at.join(name);
        std::fs::write(&path, bytes).unwrap();
        private(&path, 0o600);
        path
    };
    let cut = named("cut.key", &secret.as_bytes()[..secret.len() / 2]);
    let junk = named("junk", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    let huge = named("huge", &vec![b'-'; 2 << 20]);
    let none = at.join("none");
    let key = |key: &Path| TlsFiles { key: key.into(), ..good.files.clone() };
    let certificate = |path: &Path| TlsFiles { certificate: path.into(), ..good.files.clone() };
    let clients =
        |path: &Path| TlsFiles { client_authority: Some(path.into()), ..good.files.clone() };
    let mut wrong = vec![
        (key(&other.files.key), other.files.key.clone()),
        (key(&good.files.certificate), good.files.certificate.clone()),
        (certificate(&good.files.key), good.files.key.clone()),
        (certificate(at), at.into()),
    ];
    for path in [&cut, &junk, &huge, &none] {
        wrong.push((key(path), path.clone()));
        wrong.push((certificate(path), path.clone()));
        wrong.push((clients(path), path.clone()));
    }
    for (files, place) in wrong {
        let refused = opened(at, files).unwrap_err();
        assert_eq!(refused.code(), "service.tls", "{refused}");
        assert!(refused.to_string().contains(place.to_str().unwrap()), "{refused}");
        assert!(secret.lines().skip(1).all(|line| !refused.to_string().contains(line)));
    }
    assert!(!at.join("never").exists());
    #[cfg(unix)]
    for mode in [0o604, 0o644, 0o602] {
        private(&good.files.key, mode);
        let refused = opened(at, good.files.clone()).unwrap_err();
        assert_eq!(refused.code(), "service.tls", "{refused}");
        assert!(refused.to_string().contains("other users"), "{refused}");
    }
    // A group that was made for keys may read them.
    private(&good.files.key, 0o640);
    opened(at, good.files.clone()).unwrap();
    // Certificates are for HTTPS, on the side of the client as well.
    let token = format!("everlevel_{}", "0".repeat(64));
    for (url, connecting, code) in [
        ("http://127.0.0.1:1", good.believed(), "service.malformed"),
        ("http://127.0.0.1:1", Connecting::default(), ""),
        ("https://example.org", good.believed(), ""),
        ("https://127.0.0.1:1", Connecting::default().believing(junk), "service.tls"),
        (
            "https://127.0.0.1:1",
            good.believed().identified((good.files.certificate.clone(), other.files.key.clone())),
            "service.tls",
        ),
    ] {
        let found = Client::new(url, &token, connecting).map_err(|e| e.code().to_string());
        assert_eq!(found.err().unwrap_or_default(), code, "{url}");
    }
}

/// A renewed certificate is used without an interruption; one that cannot be used is not.
#[test]
fn a_renewed_certificate_is_used() {
    if !has_tls() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let certified = Certified::here(directory.path(), "service");
    let service = Running::start(&directory.path().join("service"), |config| {
        let renewal = Duration::from_millis(100);
        config.tls = Some(TlsFiles { renewal, ..certified.files.clone() });
    });
    let before = certified.believed();
    let old = std::fs::read(&certified.authority).unwrap();
    client(&service, before.clone()).usage().unwrap();
    std::fs::write(&certified.files.certificate, "nothing").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    client(&service, before).usage().unwrap();
    // The files of the same names, of another authority.
    let renewed = Certified::here(directory.path(), "service");
    let until = Instant::now() + Duration::from_secs(120);
    while client(&service, renewed.believed()).usage().is_err() {
        assert!(Instant::now() < until, "the new certificate is not used");
        std::thread::sleep(Duration::from_millis(100));
    }
    std::fs::write(&renewed.authority, old).unwrap();
    assert_eq!(refusal(&client(&service, renewed.believed())), "service.certificate");
}
