//! Load and faults: many clients of many tenants, a process that is killed, files that change,
//! disks that are full, clients that are slow or talk nonsense. The service runs in processes of
//! their own, and everything stays on this machine.
//!
//! `cargo test` runs it with small numbers; docs/service.md has the command for full ones, which
//! writes a record.

mod faults;
mod garbage;
mod kills;
mod options;
mod process;
mod slow;
mod tenant;
mod traffic;

use std::time::Instant;

use serde_json::{Map, Value, json};

use options::Options;

fn main() {
    let options = Options::of_arguments();
    if let Some(directory) = &options.serve {
        return process::serve(directory, &options);
    }
    let started = Instant::now();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let tenants = tenant::Tenant::several(options.tenants, directory.path());
    type Phase = fn(&Options, &[tenant::Tenant], &std::path::Path) -> Value;
    let phases: [(&str, Phase); 6] = [
        ("traffic", traffic::run),
        ("kills", kills::run),
        ("uploads", faults::uploads),
        ("faults", faults::run),
        ("slow", slow::run),
        ("garbage", garbage::run),
    ];
    let mut record = Map::new();
    record.insert("options".into(), options.record());
    for (name, phase) in phases.iter().filter(|(name, _)| options.runs(name)) {
        let begun = Instant::now();
        let own = directory.path().join(name);
        std::fs::create_dir(&own).expect("a directory for a phase");
        let mut found = phase(&options, &tenants, &own);
        found["phase_seconds"] = json!(begun.elapsed().as_secs());
        println!("{name}: {found}");
        record.insert((*name).into(), found);
    }
    record.insert("seconds".into(), json!(started.elapsed().as_secs()));
    if let Some(path) = &options.out {
        let text = serde_json::to_string_pretty(&Value::Object(record)).expect("a record is JSON");
        std::fs::write(path, text + "\n").expect("the record is written");
    }
}
