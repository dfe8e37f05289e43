//! Load and faults: many clients of many tenants, a process that is killed, files that change,
//! disks that are full, clients that are slow or talk nonsense. The service runs in processes of
//! their own, and everything stays on this machine.
//!
//! `cargo test` runs it with small numbers, and phases that wait beside others; docs/service.md has
//! the command for full ones, which writes a record.

mod faults;
mod garbage;
mod kills;
mod options;
mod process;
mod slow;
mod tenant;
mod traffic;

use std::sync::Mutex;
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
        ("uploads", faults::uploads),
        ("faults", faults::run),
        ("garbage", garbage::run),
        ("kills", kills::run),
        ("slow", slow::run),
    ];
    let mut record = Map::new();
    record.insert("options".into(), options.record());
    let record = Mutex::new(record);
    let run = |row: &[(&str, Phase)]| {
        for (name, phase) in row.iter().filter(|(name, _)| options.runs(name)) {
            let begun = Instant::now();
            let own = directory.path().join(name);
            std::fs::create_dir(&own).expect("a directory for a phase");
            let mut found = phase(&options, &tenants, &own);
            found["phase_seconds"] = json!(begun.elapsed().as_secs());
            println!("{name}: {found}");
            record.lock().expect("no panic").insert((*name).into(), found);
        }
    };
    if options.out.is_some() {
        // What is recorded is how long calls take on a machine that does nothing else.
        run(&phases);
    } else {
        // The last two mostly wait: for a process that is gone, and for what is slow.
        std::thread::scope(|scope| {
            for row in [&phases[..4], &phases[4..5], &phases[5..]] {
                let run = &run;
                scope.spawn(move || run(row));
            }
        });
    }
    let mut record = record.into_inner().expect("no panic");
    record.insert("seconds".into(), json!(started.elapsed().as_secs()));
    if let Some(path) = &options.out {
        let text = serde_json::to_string_pretty(&Value::Object(record)).expect("a record is JSON");
        std::fs::write(path, text + "\n").expect("the record is written");
    }
}
