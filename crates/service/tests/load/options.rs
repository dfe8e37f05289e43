//! How much of everything.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Small numbers, unless others are given.
pub struct Options {
    /// To be the service in a directory, for a harness that has started this process.
    pub serve: Option<PathBuf>,
    /// How many clients at the same time.
    pub clients: usize,
    /// Of how many tenants.
    pub tenants: usize,
    /// For how many seconds.
    pub seconds: u64,
    /// How many times the process is killed.
    pub kills: usize,
    /// How many requests of garbage.
    pub garbage: usize,
    /// How many uploads with parts at random.
    pub uploads: usize,
    /// How many slow clients.
    pub slow: usize,
    /// The most seconds of a request.
    pub request_seconds: u64,
    /// The only phase that runs.
    pub only: Option<String>,
    /// The file for the record.
    pub out: Option<PathBuf>,
}

impl Options {
    pub fn of_arguments() -> Self {
        let mut options = Options {
            serve: None,
            clients: 8,
            tenants: 2,
            seconds: 4,
            kills: 3,
            garbage: 2000,
            uploads: 3,
            slow: 8,
            request_seconds: 60,
            only: None,
            out: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            // Others are those of `cargo test`, such as a filter.
            let Some(name) = name.strip_prefix("--") else { continue };
            let mut number = || {
                let value = arguments.next().and_then(|text| text.parse::<u64>().ok());
                value.unwrap_or_else(|| panic!("expected a number after --{name}"))
            };
            match name {
                "clients" => options.clients = number() as usize,
                "tenants" => options.tenants = number() as usize,
                "seconds" => options.seconds = number(),
                "kills" => options.kills = number() as usize,
                "garbage" => options.garbage = number() as usize,
                "uploads" => options.uploads = number() as usize,
                "slow" => options.slow = number() as usize,
                "request-seconds" => options.request_seconds = number(),
                "serve" => options.serve = arguments.next().map(PathBuf::from),
                "only" => options.only = arguments.next(),
                "out" => options.out = arguments.next().map(PathBuf::from),
                _ => {}
            }
        }
        assert!(options.clients >= options.tenants && options.tenants >= 2, "two tenants or more");
        options
    }

    pub fn runs(&self, phase: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == phase)
    }

    /// What a record tells of them, and of where it was made.
    pub fn record(&self) -> Value {
        json!({
            "clients": self.clients, "tenants": self.tenants, "seconds": self.seconds,
            "kills": self.kills, "garbage": self.garbage, "uploads": self.uploads,
            "slow": self.slow, "debug": cfg!(debug_assertions),
            "cores": std::thread::available_parallelism().map_or(1, usize::from),
        })
    }
}
