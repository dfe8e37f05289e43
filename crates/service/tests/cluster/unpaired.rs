//! Directories, databases and connection strings that do not go together.

use std::path::Path;

use everlevel_service::{Config, Database, Service, ServiceError};

use crate::postgres::Instance;
use crate::process::config;

fn refused(config: Config) -> ServiceError {
    let refused = Service::start(config).err().expect("it is refused");
    assert_eq!(refused.code(), "service.state", "{refused}");
    refused
}

pub fn directories_and_databases(server: &mut Instance) {
    let (one, other) = (server.database("one"), server.database("other"));
    let directories = [(); 3].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let [first, second, embedded] = directories.each_ref().map(|directory| directory.path());
    let start = |directory: &Path, database: &Path| Service::start(config(directory, database));
    drop(start(first, &one).unwrap());
    drop(start(first, &one).unwrap());
    // A directory that is not mounted, one that is another's, a database that is.
    for (directory, database, says) in
        [(second, &one, "mounted"), (first, &other, "another database")]
    {
        let told = refused(config(directory, database));
        assert!(told.to_string().contains(says), "{told}");
    }
    // Records are in one place.
    let told = refused(Config::new(first));
    assert!(told.to_string().contains("are in a database"), "{told}");
    drop(Service::start(Config::new(embedded)).unwrap());
    let told = refused(config(embedded, &other));
    assert!(told.to_string().contains("records of its own"), "{told}");
    // Bytes without records are not taken over by a new database, nor removed.
    let left = second.join("objects/acme").join("0".repeat(64));
    std::fs::create_dir_all(left.parent().unwrap()).unwrap();
    std::fs::write(&left, b"left").unwrap();
    let told = refused(config(second, &other));
    assert!(told.to_string().contains("objects") && left.exists(), "{told}");
    // Records that are lost.
    let left = first.join("objects/acme").join("0".repeat(64));
    std::fs::create_dir_all(left.parent().unwrap()).unwrap();
    std::fs::write(&left, b"left").unwrap();
    let told = refused(config(first, &one));
    assert!(told.to_string().contains("restore") && left.exists(), "{told}");
    std::fs::remove_file(&left).unwrap();
    // Tables of a version that this program does not know.
    let mut client = server.client("one");
    client.batch_execute("UPDATE everlevel_store SET version = version + 1").unwrap();
    let told = refused(config(first, &one));
    assert!(told.to_string().contains("update this program"), "{told}");
    client.batch_execute("UPDATE everlevel_store SET version = version - 1").unwrap();
    drop(start(first, &one).unwrap());
}

pub fn connections(server: &mut Instance) {
    let _ = server;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("connection");
    let secret = "do-not-tell";
    for (text, says) in [
        (format!("host=127.0.0.1 port=1 user=a password={secret}"), "cannot connect"),
        (format!("host=db.example.org user=a password={secret}"), "another machine"),
        (format!("host=localhost hostaddr=192.0.2.1 user=a password={secret}"), "another machine"),
        (format!("postgresql://a:{secret}@db.example.org/a"), "another machine"),
        (format!("host=127.0.0.1 password={secret} {secret}"), "found something else"),
        (format!("-----BEGIN KEY----- {secret}"), "found something else"),
        (String::new(), "cannot connect"),
    ] {
        std::fs::write(&file, text).unwrap();
        let database = Database::from_file(&file).unwrap();
        assert_eq!(format!("{database:?}"), "Database(..)");
        let own = directory.path().join("own");
        let told = refused(Config { database: Some(database), ..Config::new(&own) });
        let shown = format!("{told} {told:?}");
        assert!(shown.contains(says) && !shown.contains(secret), "{shown}");
    }
    let missing = Database::from_file(&directory.path().join("missing")).unwrap_err();
    assert!(missing.to_string().contains("missing"), "{missing}");
    std::fs::write(&file, "x".repeat(5000)).unwrap();
    Database::from_file(&file).unwrap_err();
}
