//! Recorded runs of AES over the paper's two rings, and which of them are by the paper's method.

use std::collections::BTreeMap;
use std::path::Path;

use everlevel_cli::console::errors::CliError;
use everlevel_ltv::{Gadget, LtvSpec};
use serde::Deserialize;

use crate::record::{self, COMMITTED};

/// The digits of the paper's key switching.
pub const BITS: Gadget = Gadget::Windows { bits: 1 };
/// Those of Öztürk, Doröz, Savaş and Sunar (2015).
pub const WINDOWS: Gadget = Gadget::Windows { bits: 16 };

/// What is read of a run of `papers aes`.
#[derive(Deserialize)]
pub struct Run {
    scheme: String,
    params: String,
    chain: String,
    method: String,
    /// None if transformed.
    keys: Option<String>,
    threads: usize,
    rounds: u32,
    /// For a whole state.
    pub seconds_total: f64,
    /// The same for each of its blocks.
    pub seconds_per_block: f64,
    wrong_blocks: u64,
}

impl Run {
    /// The digits of key switching over prime powers; over distinct primes they follow the level.
    fn digits(&self) -> Option<Gadget> {
        let spec = LtvSpec::named(&self.params).ok()?;
        (self.chain == "prime-power").then_some(spec.gadget)
    }

    /// By bits over prime powers, like the paper, but with these digits.
    fn is_bit_sliced(&self, digits: Gadget) -> bool {
        self.method == "bit-sliced" && self.digits() == Some(digits)
    }

    /// How it was run.
    pub fn name(&self) -> String {
        let digits =
            self.digits().map_or_else(String::new, |digits| format!(", {}", name_of(digits)));
        let keys = self.keys.as_ref().map_or_else(String::new, |keys| format!(", keys as {keys}"));
        let (chain, method, threads) = (&self.chain, &self.method, self.threads);
        let plural = if threads == 1 { "" } else { "s" };
        format!("{chain}, {method}{digits}{keys}, {threads} thread{plural}")
    }
}

/// Digits as tables call them.
pub fn name_of(digits: Gadget) -> String {
    match digits {
        Gadget::Windows { bits: 1 } => "a digit for each bit".into(),
        Gadget::Windows { bits } => format!("windows of {bits} bits"),
        Gadget::Hybrid { rows } => format!("digits to base p^{rows}"),
    }
}

/// The degree of a set over one of the paper's rings, with whatever digits.
pub fn degree(set: &str) -> Option<usize> {
    set.strip_prefix("ltv-")?.split('-').next()?.parse().ok()
}

/// The recorded runs of all ten rounds on a ring, the fastest first: those of the source tree in
/// which the program runs, or in their place those of the same names in a directory of new records.
pub fn recorded(n: usize, new: Option<&Path>) -> Result<Vec<Run>, CliError> {
    // Records of other things, and of other schemes, may have another form.
    let mut runs: BTreeMap<String, Run> = record::read_all(Path::new(COMMITTED))?;
    if let Some(new) = new {
        runs.extend(record::read_all::<Run>(new)?);
    }
    let mut runs: Vec<Run> = runs.into_values().collect();
    runs.retain(|run| {
        run.scheme == "ltv"
            && degree(&run.params) == Some(n)
            && run.rounds == 10
            && run.wrong_blocks == 0
    });
    runs.sort_by(|a, b| a.seconds_total.total_cmp(&b.seconds_total));
    Ok(runs)
}

/// The fastest run by the paper's method with these digits, with transformed keys as in its timed
/// runs; by its own method if they are [`BITS`].
pub fn fastest(runs: &[Run], digits: Gadget) -> Option<&Run> {
    runs.iter().find(|run| run.is_bit_sliced(digits) && run.keys.is_none())
}

/// How many times faster AES was with transformed keys than with polynomials, by these digits and
/// with equally many threads; none if there are no such runs.
pub fn speed_up_of_transformed_keys(runs: &[Run], digits: Gadget) -> Option<f64> {
    let of = |polynomials: bool| {
        runs.iter()
            .filter(move |run| run.is_bit_sliced(digits) && run.keys.is_some() == polynomials)
    };
    of(true).find_map(|slow| {
        let fast = of(false).find(|run| run.threads == slow.threads)?;
        Some(slow.seconds_total / fast.seconds_total)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(params: &str, chain: &str, keys: Option<&str>, seconds: f64) -> Run {
        serde_json::from_value(json!({
            "scheme": "ltv",
            "params": params,
            "chain": chain,
            "method": "bit-sliced",
            "keys": keys,
            "threads": 2,
            "rounds": 10,
            "seconds_total": seconds,
            "seconds_per_block": seconds / 2048.0,
            "wrong_blocks": 0,
        }))
        .unwrap()
    }

    /// The fastest first, and the digits of the sets here faster than the paper's.
    fn runs() -> [Run; 5] {
        [
            run("ltv-32768", "rns", None, 33.0),
            run("ltv-32768", "prime-power", None, 90.0),
            run("ltv-32768", "prime-power", Some("polynomials"), 135.0),
            run("ltv-32768-windows-16", "prime-power", None, 189.0),
            run("ltv-32768-binary", "prime-power", None, 1278.0),
        ]
    }

    #[test]
    fn the_papers_method_has_a_digit_for_each_bit() {
        let runs = runs();
        let seconds = |digits| fastest(&runs, digits).map(|run| run.seconds_total);
        assert_eq!(seconds(BITS), Some(1278.0));
        assert_eq!(seconds(WINDOWS), Some(189.0));
        assert_eq!(seconds(Gadget::Hybrid { rows: 6 }), Some(90.0));
        assert_eq!(seconds(Gadget::Windows { bits: 8 }), None);
        assert!(fastest(&runs[..4], BITS).is_none());
    }

    #[test]
    fn keys_are_compared_with_those_for_the_same_digits() {
        let runs = runs();
        assert_eq!(speed_up_of_transformed_keys(&runs, Gadget::Hybrid { rows: 6 }), Some(1.5));
        assert_eq!(speed_up_of_transformed_keys(&runs, BITS), None);
    }

    #[test]
    fn names_say_what_the_digits_are() {
        let names = runs().map(|run| run.name());
        let expected = [
            "rns, bit-sliced, 2 threads",
            "prime-power, bit-sliced, digits to base p^6, 2 threads",
            "prime-power, bit-sliced, digits to base p^6, keys as polynomials, 2 threads",
            "prime-power, bit-sliced, windows of 16 bits, 2 threads",
            "prime-power, bit-sliced, a digit for each bit, 2 threads",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn sets_of_a_ring_are_found_with_all_their_digits() {
        for set in ["ltv-32768", "ltv-32768-binary", "ltv-32768-windows-16"] {
            assert_eq!(degree(set), Some(32768), "{set}");
        }
        for set in ["insecure_ltv-m255", "insecure_ltv-2-m255", "aes-bgv-bits", "ltv-", "ltv-x"] {
            assert_eq!(degree(set), None, "{set}");
        }
    }
}
