//! The jobs of a report: every row of every table, and what is measured beside them for the plots.

use std::collections::BTreeMap;

use clap::ValueEnum;
use everlevel_cli::console::args::value_name;
use everlevel_scheme::params::names;

use super::job::{Job, PAPERS, Program};
use crate::args::{ChenHanTable, LtvTable, MaEtAlTable, Variant};
use crate::chen_han::{formulas, tables as chen_han};
use crate::ma_et_al::choice;
use crate::ma_et_al::tables as ma_et_al;
use crate::soak;

/// All jobs of a report.
pub struct Plan {
    /// Whether with small rings.
    pub quick: bool,
    /// The jobs, in the order in which they are run.
    pub jobs: Vec<Job>,
    commands: BTreeMap<String, String>,
}

/// Groups of jobs beside tables.
pub const AES: &str = "aes";
/// Measured bootstrappings of sets.
pub const BOOTSTRAP: &str = "bootstrap";
/// Noise and capacity along a bootstrapping.
pub const EXPLAIN: &str = "explain";
/// What follows from sets.
pub const DATASHEET: &str = "datasheet";
/// Many bootstrappings under many keys.
pub const SOAK: &str = "soak";
/// The keys of the papers.
pub const SECURITY: &str = "security-papers";

/// The number of threads that a measurement is repeated with: all.
pub const ALL_THREADS: &str = "all";
/// The set whose bootstrapping is measured with one thread and with all.
pub const fn scaled_set(quick: bool) -> &'static str {
    if quick { "insecure_bgv-65537-n11" } else { "bgv-65537-n15" }
}

/// Sets whose bootstrapping is measured.
const BOOTSTRAPPED: [&str; 11] = [
    "bgv-65537-n15",
    "bgv-65537-n16",
    "bgv-786433-n16",
    "bfv-127-n14",
    "bfv-257-n14",
    "bfv-257-n15",
    "bfv-127e2-n15",
    "bfv-257e2-n15",
    "bfv-127e3-n15",
    "bgv-2-m42799",
    "bgv-8191-m45193",
];
const BOOTSTRAPPED_QUICK: [&str; 7] = [
    "insecure_bgv-65537-n11",
    "insecure_bfv-65537-n11",
    "insecure_bgv-786433-n11",
    "insecure_bgv-127-n8",
    "insecure_bgv-257-n8",
    "insecure_bfv-257-n8",
    "insecure_bfv-127e2-n8",
];
const EXPLAINED: [&str; 2] = ["bgv-65537-n15", "bfv-127-n14"];
const EXPLAINED_QUICK: [&str; 2] = ["insecure_bgv-65537-n11", "insecure_bfv-127e2-n8"];

/// Table 3 of Chen and Han at the paper's own moduli.
pub const OWN_MODULUS: &str = "chen-han-table-3-own-modulus";
/// The digit removal of Chen and Han, and what their tables 4 and 5 took it with.
pub const CHEN_HAN: &str = "chen_han";
const BY_CHEN_HAN: [&str; 6] =
    ["--secret", "main-128", "--arithmetic", "bfv", "--digit-removal", CHEN_HAN];
/// Sets of Ma et al. that are run by a second digit removal: by the paper's local null polynomials
/// where a closed form is planned, and by a closed form the set whose moduli no other set has.
const BY_ANOTHER: [(&str, &str); 5] = [
    ("II-A", "local"),
    ("III-A", "local"),
    ("IV-A", "local"),
    ("V-A", "local"),
    ("IV-B", "paterson_stockmeyer"),
];

/// Runs of AES: set, chain (of LTV; else BGV), method, threads.
const AES_RUNS: [(&str, Option<&str>, &str, &str); 19] = [
    ("aes-bgv-leveled", None, "packed", "1"),
    ("aes-bgv-leveled", None, "byte-sliced", "1"),
    ("aes-bgv-leveled", None, "byte-sliced", "2"),
    ("aes-bgv-refreshed", None, "packed", "1"),
    ("aes-bgv-bits", None, "bit-sliced", "2"),
    ("ltv-32768", Some("rns"), "bit-sliced", "1"),
    ("ltv-32768", Some("rns"), "bit-sliced", "2"),
    ("ltv-32768", Some("rns"), "byte-sliced", "2"),
    ("ltv-32768", Some("prime-power"), "bit-sliced", "1"),
    ("ltv-32768", Some("prime-power"), "bit-sliced", "2"),
    ("ltv-32768", Some("prime-power"), "byte-sliced", "2"),
    ("ltv-32768-windows-16", Some("prime-power"), "bit-sliced", "2"),
    ("ltv-32768-binary", Some("prime-power"), "bit-sliced", "2"),
    ("ltv-27000", Some("rns"), "bit-sliced", "1"),
    ("ltv-27000", Some("rns"), "bit-sliced", "2"),
    ("ltv-27000", Some("prime-power"), "bit-sliced", "1"),
    ("ltv-27000", Some("prime-power"), "bit-sliced", "2"),
    ("ltv-27000-windows-16", Some("prime-power"), "bit-sliced", "2"),
    ("ltv-27000-binary", Some("prime-power"), "bit-sliced", "2"),
];
const AES_RUNS_QUICK: [(&str, Option<&str>, &str); 4] = [
    ("insecure_aes-m4947", None, "packed"),
    ("insecure_aes-m4947", None, "byte-sliced"),
    ("insecure_ltv-2-m255", Some("rns"), "bit-sliced"),
    ("insecure_ltv-2-m255", Some("rns"), "byte-sliced"),
];

impl Plan {
    /// All jobs; `threads` are asked of those that do not have a number of their own.
    pub fn new(quick: bool, threads: Option<u16>) -> Self {
        let mut plan = Plan { quick, jobs: Vec::new(), commands: BTreeMap::new() };
        plan.chen_han();
        plan.ma_et_al();
        // Tables 5 and 6 of LTV show the times of AES that are recorded before.
        plan.aes();
        for table in LtvTable::value_variants() {
            let name = value_name(table);
            let group = group_of("ltv", &name);
            plan.add(&group, &["ltv", &name, "--threads", "1"], group.clone(), &[]);
        }
        plan.add(SECURITY, &["security"], SECURITY.into(), &[]);
        plan.bootstraps();
        // These show the times that are measured before.
        for name in names().filter(|name| !name.starts_with("insecure_")) {
            plan.add(DATASHEET, &["params", "datasheet"], format!("datasheet-{name}"), &[name]);
        }
        plan.soak();
        if let Some(threads) = threads {
            for job in plan.jobs.iter_mut().filter(|job| !job.args.iter().any(|a| a == "--threads"))
            {
                job.args.extend(["--threads".into(), threads.to_string()]);
            }
        }
        plan
    }

    /// The jobs of a group.
    pub fn of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a Job> {
        self.jobs.iter().filter(move |job| job.group == group)
    }

    /// The command that runs a whole group.
    pub fn command(&self, group: &str) -> String {
        self.commands.get(group).cloned().unwrap_or_default()
    }

    fn add(&mut self, group: &str, base: &[&str], name: String, own: &[&str]) {
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_string()).collect::<Vec<_>>();
        let program = Program::of(base[0]);
        self.commands.entry(group.into()).or_insert_with(|| {
            let own = general(own);
            let mut parts = vec![program.name()];
            parts.extend(base);
            if PAPERS.contains(&base[0]) {
                parts.push("--out papers/results");
            } else {
                parts.extend([own.as_str(), "--json"]);
            }
            parts.retain(|part| !part.is_empty());
            parts.join(" ")
        });
        let args = [words(base), words(own)].concat();
        self.jobs.push(Job { name, group: group.into(), program, args });
    }

    /// The options of a size: small rings, or one thread and `runs` runs.
    fn sized(&self, runs: &'static str) -> Vec<&'static str> {
        if self.quick { vec!["--quick"] } else { vec!["--threads", "1", "--runs", runs] }
    }

    fn suffix(&self) -> &'static str {
        if self.quick { "-quick" } else { "" }
    }

    fn chen_han(&mut self) {
        for table in ChenHanTable::value_variants() {
            let name = value_name(table);
            let group = group_of("chen-han", &name);
            let base = ["chen-han", &name];
            let rows = match table {
                ChenHanTable::Table1 => formulas::ROWS[0],
                ChenHanTable::Table2 => formulas::ROWS[1],
                ChenHanTable::Table3 => chen_han::TABLE_3.len(),
                ChenHanTable::Table4 => chen_han::TABLE_4.len(),
                ChenHanTable::Table5 => chen_han::TABLE_5.len(),
            };
            let runs = if *table == ChenHanTable::Table4 { "1" } else { "3" };
            let options = match table {
                ChenHanTable::Table1 | ChenHanTable::Table2 => vec![],
                _ => self.sized(runs),
            };
            let (base, suffix) = ([&base[..], &options].concat(), self.suffix());
            for row in 1..=rows {
                let (stem, row) = (format!("{group}-row-{row}"), row.to_string());
                let own = ["--row", &row];
                match table {
                    ChenHanTable::Table1 | ChenHanTable::Table2 => {
                        self.add(&group, &base, stem, &own)
                    }
                    ChenHanTable::Table3 => {
                        self.add(&group, &base, format!("{stem}{suffix}"), &own)
                    }
                    ChenHanTable::Table4 | ChenHanTable::Table5 => {
                        // Scale-invariant products throughout are what the paper had. Its text has
                        // a weight of 64, too; its captions 128.
                        let (arithmetics, secrets): (&[&str], &[Variant]) = if self.quick {
                            (&["mixed"], &[Variant::Main128, Variant::Encapsulated])
                        } else {
                            (&["mixed", "bfv"], Variant::value_variants())
                        };
                        for secret in secrets {
                            let secret = value_name(secret);
                            for arithmetic in arithmetics {
                                let own =
                                    [&own[..], &["--secret", &secret, "--arithmetic", arithmetic]]
                                        .concat();
                                self.add(
                                    &group,
                                    &base,
                                    format!("{stem}-{secret}-{arithmetic}{suffix}"),
                                    &own,
                                );
                            }
                        }
                        if !self.quick {
                            let own = [&own[..], &BY_CHEN_HAN].concat();
                            let name = format!("{stem}-main-128-bfv-{CHEN_HAN}");
                            self.add(&group, &base, name, &own);
                        }
                    }
                }
            }
            if *table == ChenHanTable::Table3 && !self.quick {
                let base = [&base[..], &["--own-modulus"]].concat();
                for row in 1..=rows {
                    let name = format!("{group}-row-{row}-own-modulus");
                    self.add(OWN_MODULUS, &base, name, &["--row", &row.to_string()]);
                }
            }
        }
    }

    fn ma_et_al(&mut self) {
        for table in MaEtAlTable::value_variants() {
            let name = value_name(table);
            let group = group_of("ma-et-al", &name);
            let base = ["ma-et-al", &name];
            match table {
                MaEtAlTable::Degrees => {
                    for row in 1..=ma_et_al::sets().len() {
                        self.add(
                            &group,
                            &base,
                            format!("{group}-row-{row}"),
                            &["--row", &row.to_string()],
                        );
                    }
                }
                MaEtAlTable::Table4 => self.add(&group, &base, group.clone(), &[]),
                MaEtAlTable::Table6 | MaEtAlTable::Thin => {
                    let base = [&base[..], &self.sized("1")].concat();
                    for set in choice::usual() {
                        let (name, suffix) = (set.name(), self.suffix());
                        self.add(
                            &group,
                            &base,
                            format!("{group}-{name}{suffix}"),
                            &["--set", name.trim_start_matches("ma-")],
                        );
                    }
                    if *table == MaEtAlTable::Table6 && !self.quick {
                        for (set, method) in BY_ANOTHER {
                            let own = ["--set", set, "--digit-removal", method];
                            self.add(&group, &base, format!("{group}-ma-{set}-{method}"), &own);
                        }
                    }
                }
            }
        }
    }

    fn aes(&mut self) {
        let base = ["aes"];
        let options = |chain: Option<&'static str>| match chain {
            Some(chain) => vec!["--scheme", "ltv", "--chain", chain, "--insecure-research"],
            None => vec!["--scheme", "bgv", "--insecure-research"],
        };
        if self.quick {
            for (set, chain, method) in AES_RUNS_QUICK {
                let own = [&options(chain)[..], &["--params", set, "--method", method]].concat();
                self.add(AES, &base, format!("aes-{set}-{method}-quick"), &own);
            }
            return;
        }
        for (set, chain, method, threads) in AES_RUNS {
            let own =
                [&options(chain)[..], &["--params", set, "--method", method, "--threads", threads]]
                    .concat();
            let short = set.trim_start_matches("aes-");
            let way = chain.map_or_else(String::new, |chain| format!("{chain}-"));
            let name = format!("aes-{short}-{way}{method}-{threads}");
            self.add(AES, &base, name.clone(), &own);
            // Both rows of LTV's table 6.
            let hybrid = !set.contains("windows") && !set.contains("binary");
            if (chain, method, threads, hybrid) == (Some("prime-power"), "bit-sliced", "2", true) {
                let own = [&own[..], &["--keys", "polynomials"]].concat();
                self.add(AES, &base, format!("{name}-polynomials"), &own);
            }
        }
    }

    fn bootstraps(&mut self) {
        let (sets, explained): (&[&str], _) = if self.quick {
            (&BOOTSTRAPPED_QUICK, EXPLAINED_QUICK)
        } else {
            (&BOOTSTRAPPED, EXPLAINED)
        };
        let base = ["bench", "bootstrap", "--runs", "3", "--insecure-research"];
        for set in sets {
            self.add(
                BOOTSTRAP,
                &base,
                format!("bootstrap-{set}-threads-1"),
                &["--params", set, "--threads", "1"],
            );
        }
        let scaled = scaled_set(self.quick);
        self.add(
            BOOTSTRAP,
            &base,
            format!("bootstrap-{scaled}-threads-{ALL_THREADS}"),
            &["--params", scaled],
        );
        for set in explained {
            self.add(
                EXPLAIN,
                &["explain", "bootstrap", "--insecure-research"],
                format!("explain-bootstrap-{set}"),
                &["--params", set],
            );
        }
    }

    fn soak(&mut self) {
        let quick = if self.quick { &["--quick"][..] } else { &[] };
        let full = (!self.quick).then(soak::full);
        for family in soak::small().chain(full) {
            let name = format!("soak-{family}{}", self.suffix());
            self.add(SOAK, &[&["soak"], quick].concat(), name, &[family]);
        }
    }
}

/// Options with names for their values.
fn general(own: &[&str]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut option = "set";
    for word in own {
        match word.strip_prefix("--") {
            Some(name) => {
                option = name;
                words.push((*word).into());
            }
            None => words.push(match option {
                "params" => "SET".into(),
                "threads" => "K".into(),
                other => other.to_uppercase(),
            }),
        }
    }
    words.join(" ")
}

/// The group of a table: its name for records and for the page.
fn group_of(paper: &str, table: &str) -> String {
    format!("{paper}-{table}")
}
