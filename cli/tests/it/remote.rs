//! `serve` and `remote`: as users run them, and when the process is killed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Deserializer, Value};

use crate::common::{json, success, usage};

const SET: &str = "insecure_bgv-65537-n11";

/// A process that serves, killed when it is dropped.
pub struct Serving {
    process: Child,
    /// What it printed when it began.
    pub told: Value,
    /// Its address.
    pub url: String,
}

impl Serving {
    /// Starts one with its files in this directory.
    pub fn start(directory: &str) -> Self {
        let log = std::fs::File::create(format!("{directory}.log")).unwrap();
        let arguments =
            ["--insecure-research", "--dir", directory, "--listen", "127.0.0.1:0", "--verbose"];
        Self::logging(&arguments, log.into())
    }

    fn start_with(arguments: &[&str]) -> Self {
        Self::logging(arguments, Stdio::null())
    }

    fn logging(arguments: &[&str], log: Stdio) -> Self {
        Self::where_set(arguments, log, &[])
    }

    /// Starts one with these variables of its environment.
    pub fn where_set(arguments: &[&str], log: Stdio, variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_everlevel"))
            .args(["serve", "--json"])
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let mut printed = Deserializer::from_reader(process.stdout.take().unwrap()).into_iter();
        let told: Value = printed.next().expect("it tells its address").unwrap();
        let url = told["url"].as_str().unwrap().to_string();
        Serving { process, told, url }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

#[test]
fn a_job_survives_the_death_of_the_service() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).into_os_string().into_string().unwrap();
    let (service, keys, token) = (at("service"), at("keys"), at("token"));
    let research = "--insecure-research";
    let text = success(&["serve", "token", "add", "--dir", &service, "--tenant", "acme"]);
    std::fs::write(&token, &text).unwrap();
    success(&["keygen", "--params", SET, research, "--out", &keys]);
    std::fs::write(at("data.csv"), "a,b\n60,5\n20,9\n").unwrap();
    let (secret, data) = (format!("{keys}/secret.key"), at("data.ct"));
    let (csv, types) = (at("data.csv"), "a=u8,b=u8");
    success(&[
        "encrypt", research, "--key", &secret, "--in", &csv, "--types", types, "--out", &data,
    ]);
    let server_keys = format!("{keys}/server.keys");

    let first = Serving::start(&service);
    let remote = |command: &str, url: &str, rest: &[&str]| -> Vec<String> {
        let to = ["remote", command, "--url", url, "--token-file", &token];
        to.iter().chain(rest).map(|text| (*text).to_string()).collect()
    };
    let run = |all: Vec<String>| success(&words(&all));
    // The secret key does not leave.
    let all = remote("push", &first.url, &[&secret]);
    let told = usage(&words(&all));
    assert!(told.contains("nothing was sent"), "{told}");
    let pushed = run(remote("push", &first.url, &[&server_keys, &data]));
    assert_eq!(pushed.lines().count(), 2, "{pushed}");
    let statements: String =
        (2..=12).map(|i| format!("; c{i} = max(c{}, b + {})", i - 1, 2 * i)).collect();
    let program = &format!("c1 = max(a, b){statements}");
    let (results, name) = (at("results"), "the-job");
    let job =
        ["--server-keys", &server_keys, "--job-name", name, program, &data, "--out", &results];
    let estimate = run(remote("run", &first.url, &[&job[..], &["--estimate"]].concat()));
    assert!(estimate.contains("on a typical core"), "{estimate}");
    let memory = |url: &str| {
        let all = remote("run", url, &[&job[..], &["--estimate"]].concat());
        json(&words(&all))["key_memory_bytes"].as_u64().unwrap()
    };
    let whole = memory(&first.url);

    // Killed while it computes.
    let url = first.url.clone();
    let all = remote("run", &url, &job);
    let mut waiting = Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(&all)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let listed = remote("list", &url, &[]);
    let computes = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        json(&words(&listed))["jobs"][0]["stage"] == "computing"
    });
    assert!(computes, "the job did not start");
    drop(first);
    let log = std::fs::read_to_string(format!("{service}.log")).unwrap();
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    // What is logged names no token, no tenant, no object.
    assert!(log.contains("starts"), "{log}");
    let ids = pushed.split_whitespace().filter(|word| word.len() == 64);
    for secret in ids.chain([text.trim(), "acme"]) {
        assert!(!log.contains(secret), "{log}");
    }

    // The next one keeps seeds of keys in memory.
    let second = Serving::start_with(&[
        research,
        "--dir",
        &service,
        "--listen",
        "127.0.0.1:0",
        "--seeded-keys",
    ]);
    assert_eq!(memory(&second.url), whole.div_ceil(2));
    let told = run(remote("run", &second.url, &job));
    assert!(told.contains("c12: "), "{told}");
    let out = at("c12.csv");
    let result = format!("{results}/c12.ct");
    success(&["decrypt", research, "--key", &secret, "--in", &result, "--out", &out]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "c12\n60\n33\n");
    let listed = remote("list", &second.url, &[]);
    let listed = json(&words(&listed));
    let [job] = &listed["jobs"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((job["state"].as_str(), job["attempts"].as_u64()), (Some("done"), Some(2)));

    // Without its token nobody gets anything.
    let shown = success(&["serve", "token", "list", "--dir", &service]);
    let shown = shown.split_whitespace().next().unwrap();
    success(&["serve", "token", "revoke", "--dir", &service, shown]);
    let all = remote("list", &second.url, &[]);
    let told = usage(&words(&all));
    assert!(told.contains("[service.unauthorized]"), "{told}");
}

/// The commands that a demonstration prints work as they are.
#[test]
fn a_demonstration_can_be_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a demo").into_os_string().into_string().unwrap();
    let page = directory.path().join("page");
    std::fs::create_dir(&page).unwrap();
    std::fs::write(page.join("index.html"), "<!doctype html><title>page</title>").unwrap();
    let page = page.to_str().unwrap();
    let demo = ["serve", "--demo", "--dir", &path, "--listen", "127.0.0.1:0", "--page", page];
    let mut process = Command::new(env!("CARGO_BIN_EXE_everlevel"))
        .args(demo)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut out = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = out.next().unwrap().strip_prefix("serving at ").unwrap().to_string();
    let serving = Serving { process, told: Value::Null, url };
    let introduction = out.next().unwrap();
    assert!(introduction.contains("protects nothing") && introduction.contains(&path));
    assert_eq!(out.next().unwrap(), "in another terminal:");
    let commands: Vec<String> = out.by_ref().take(4).collect();
    let token = std::fs::read_to_string(format!("{path}/token")).unwrap();
    let shown = out.next().unwrap();
    assert_eq!(shown, format!("or in a browser: {}/#token={}", serving.url, token.trim()));
    let mut told = Vec::new();
    for command in &commands {
        // As a shell takes words apart, of which these have single quotes only.
        let mut words: Vec<String> = Vec::new();
        for (number, part) in command.trim().split('\'').enumerate() {
            match number % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_string)),
                _ => words.push(part.to_string()),
            }
        }
        assert_eq!(words.remove(0), "everlevel", "{command}");
        told.push(success(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    assert!(told[0].contains("on a typical core"), "{told:?}");
    assert!(told[1].contains("limit: "), "{told:?}");
    assert_eq!(told[2], "limit\n1000\n0\n1000\n");
    assert!(told[3].contains("job, done"), "{told:?}");
    // It goes on where it was, with the same keys.
    let key = std::fs::read(format!("{path}/keys/secret.key")).unwrap();
    drop(serving);
    let again = Serving::start_with(&demo[1..]);
    let token = format!("{path}/token");
    let listed = json(&["remote", "list", "--url", &again.url, "--token-file", &token]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(std::fs::read(format!("{path}/keys/secret.key")).unwrap(), key);
}

/// Neither jobs nor the service end with a log that cannot be written, as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_service_goes_on_without_its_log() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).into_os_string().into_string().unwrap();
    let path = at("demo");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let demo = ["--demo", "--dir", &path, "--listen", "127.0.0.1:0"];
    let serving = Serving::logging(&demo, full.into());
    let [token, keys, data] =
        ["token", "keys/server.keys", "data.ct"].map(|name| format!("{path}/{name}"));
    for (out, program) in [("sum", "y = income + debt"), ("rest", "y = income - debt")] {
        let out = at(out);
        let who = ["remote", "run", "--url", &serving.url, "--token-file", &token];
        let job = ["--server-keys", &keys, program, &data, "--out", &out];
        let told = success(&[who, job].concat());
        assert!(told.starts_with("y: "), "{told}");
    }
}

/// Over HTTPS nobody is believed whose authority was not named.
#[test]
fn a_demonstration_over_https() {
    let refused = everlevel_service::Issued::for_names(&["localhost"], &[]).err();
    if refused.is_some_and(|e| e.code() == "service.no-tls") {
        println!("skipped: the processor lacks instructions that TLS needs");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).into_os_string().into_string().unwrap();
    let path = at("demo");
    let tls = ["--demo", "--tls-self-signed", "--dir", &path, "--listen"];
    let serving = Serving::start_with(&[&tls[..], &["127.0.0.1:0"]].concat());
    assert!(serving.url.starts_with("https://127.0.0.1:"), "{}", serving.url);
    assert_eq!(serving.told["fingerprint"].as_str().unwrap().len(), 32 * 3 - 1);
    let authority = format!("{path}/authority.pem");
    let command = serving.told["commands"][3].as_str().unwrap();
    assert!(command.ends_with(&format!("--tls-ca {authority}")), "{command}");
    let (token, url) = (format!("{path}/token"), serving.url.as_str());
    let list = ["remote", "list", "--url", url, "--token-file", &token];
    let believed = [&list[..], &["--tls-ca", &authority]].concat();
    assert_eq!(json(&believed)["usage"]["objects"], 0);
    let told = usage(&list);
    // Or the system has no authorities at all.
    let expected = ["[service.certificate]", "[service.tls]"];
    assert!(expected.iter().any(|code| told.contains(code)), "{told}");
    // What is for HTTPS is not passed over, and a demonstration stays here.
    let plain = url.replace("https", "http");
    let refused = [
        (
            vec!["remote", "list", "--url", &plain, "--token-file", &token, "--tls-ca", &authority],
            "[service.malformed]",
        ),
        ([&["serve"], &tls[..], &["0.0.0.0:0"]].concat(), "[service.malformed]"),
        (vec!["serve", "--dir", &path, "--tls-self-signed"], "--demo"),
        (vec!["serve", "--dir", &path, "--tls-certificate", &authority], "--tls-key"),
        (vec!["serve", "--dir", &path, "--tls-client-ca", &authority], "--tls-certificate"),
        (
            vec!["serve", "--dir", &path, "--tls-certificate", &authority, "--tls-key", &token],
            "[service.tls]",
        ),
    ];
    for (arguments, part) in refused {
        let told = usage(&arguments);
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
}

/// In a directory of somebody with keys, data or certificates of their own.
#[test]
fn a_demonstration_replaces_its_own_files_only() {
    for name in ["keys/secret.key", "data.ct", "certificate.key"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine").unwrap();
        // An address where it would not be, so that it ends in any case.
        let dir = directory.path().to_str().unwrap();
        let demo = ["serve", "--demo", "--tls-self-signed", "--dir", dir, "--listen", "0.0.0.0:0"];
        let told = usage(&demo);
        assert!(told.contains("[wire.exists]"), "{name}: {told}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine", "{name}");
    }
}

#[test]
fn a_table_is_looked_up_and_shorter_columns_are_padded() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).into_os_string().into_string().unwrap();
    let path = at("demo");
    let serving = Serving::start_with(&["--demo", "--dir", &path, "--listen", "127.0.0.1:0"]);
    let (research, secret) = ("--insecure-research", format!("{path}/keys/secret.key"));
    let write = |name: &str, text: &str| {
        std::fs::write(at(name), text).unwrap();
        at(name)
    };
    let encrypt = |name: &str, text: &str, more: &[&str]| {
        let (csv, out) = (write(&format!("{name}.csv"), text), at(&format!("{name}.ct")));
        let begin = ["encrypt", research, "--key", &secret, "--in", &csv, "--out", &out];
        success(&[&begin[..], more].concat());
        out
    };
    let level = encrypt("level", "level\n3\n0\n2\n", &["--types", "level=u8:0..3"]);
    let prices = format!("PRICES={}", write("prices.csv", "7\n-1\n300\n12\n"));
    let (token, keys) = (format!("{path}/token"), format!("{path}/keys/server.keys"));
    let run = |rest: &[&str]| {
        let who = ["remote", "run", "--url", &serving.url, "--token-file", &token];
        success(&[&who[..], &["--server-keys", &keys], rest].concat())
    };
    let out = at("out");
    run(&["price = table(level, PRICES)", &level, "--lookup", &prices, "--out", &out]);
    let decrypt = |name: &str| {
        success(&["decrypt", research, "--key", &secret, "--in", &format!("{out}/{name}.ct")])
    };
    assert_eq!(decrypt("price"), "price\n12\n7\n300\n");
    let x = format!("x={}", encrypt("x", "x\n1\n2\n3\n", &["--range", "0..100"]));
    let w = format!("w={}", encrypt("w", "w\n10\n20\n", &["--range", "0..100"]));
    run(&["y = x + w", &x, &w, "--pad", "--out", &out]);
    assert_eq!(decrypt("y"), "y\n11\n22\n3\n");
}

/// A service may state what would steer a terminal.
#[test]
fn what_a_service_states_is_shown_as_text() {
    let directory = tempfile::tempdir().unwrap();
    let token = directory.path().join("token").into_os_string().into_string().unwrap();
    std::fs::write(&token, format!("everlevel_{}", "0".repeat(64))).unwrap();
    let object = format!(
        r#"{{ "id": "{}", "kind": "\u001b[31mcolumns\u0007", "params": "any", "owner": null,
            "bytes": 7, "computed": false }}"#,
        "1".repeat(64)
    );
    let usage_of_tenant = r#"{ "bytes": 7, "most_bytes": 8, "objects": 1, "most_objects": 2,
        "active_jobs": 0, "most_active_jobs": 1 }"#;
    let answers = [
        (200, format!(r#"{{ "items": [{object}] }}"#)),
        (200, r#"{ "items": [] }"#.into()),
        (200, r#"{ "items": [] }"#.into()),
        (200, usage_of_tenant.into()),
        (403, r#"{ "error": { "code": "\u001b[31mcode\u0007", "message": "no\u0007" } }"#.into()),
    ];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = std::thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            while !head.next().unwrap().unwrap().is_empty() {}
            let length = body.len();
            let head = format!("HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\n");
            let answer = format!("{head}Connection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let list = ["remote", "list", "--url", &url, "--token-file", &token];
    let (told, refused) = (success(&list), usage(&list));
    service.join().unwrap();
    assert!(told.contains("[31mcolumns, 7 bytes") && !told.contains('\u{1b}'), "{told:?}");
    assert_eq!(refused, "everlevel: no [[31mcode]\n");
}

#[test]
fn http_is_for_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).into_os_string().into_string().unwrap();
    let told = usage(&["serve", "--dir", &path("service"), "--listen", "0.0.0.0:0"]);
    assert!(told.contains("--insecure-http") && told.contains("[service.malformed]"), "{told}");
    assert!(!Path::new(&path("service")).exists());
    let token = path("token");
    std::fs::write(&token, "everlevel_0").unwrap();
    let told = usage(&["remote", "list", "--url", "http://192.0.2.1:1", "--token-file", &token]);
    assert!(told.contains("[service.malformed]"), "{told}");
}
