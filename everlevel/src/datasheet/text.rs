//! A datasheet as text.

use everlevel_scheme::Form;
use everlevel_scheme::noise::EVENT_LOG2;
use everlevel_scheme::params::KeySecurity;
use everlevel_scheme::spec::Assumption;

use super::{Datasheet, PrimeSupply, power};

impl Datasheet {
    /// The weight of a sparse secret that is used in addition to the main one.
    fn encapsulated(&self) -> Option<usize> {
        self.sparse_weight.filter(|_| !self.under_main_key)
    }

    /// The datasheet as text, for people.
    pub fn text(&self) -> String {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut line = |k: &str, v: String| lines.push((k.into(), v));
        line("set", self.name.clone());
        line("ring", format!("n = {}, m = {}", self.n, self.m));
        let through =
            if self.form == Form::Bfv && self.through_bgv { ", products through BGV" } else { "" };
        let assumption = match (self.assumption, self.form) {
            (Assumption::Rlwe, _) => "",
            (Assumption::Ntru, Form::Bgv) => " over NTRU (LTV)",
            (Assumption::Ntru, Form::Bfv) => " over NTRU (YASHE')",
        };
        line("form", format!("{}{assumption}{through}", self.form.name().to_uppercase()));
        line(
            "plaintexts",
            format!(
                "{} slots modulo {}, slot degree d = {}",
                self.slots,
                power(self.p, self.r),
                self.d
            ),
        );
        line(
            "modulus",
            format!(
                "log2 Q = {:.1}, log2 P = {:.1}, log2 QP = {:.1}",
                self.log_q, self.log_p, self.log_qp
            ),
        );
        line("key switching", format!("{} digits", self.digits));
        let supply: Vec<String> = self.transform_primes.iter().map(PrimeSupply::text).collect();
        line("primes", format!("its transforms can use {}", supply.join(", ")));
        line(
            "relinearization",
            format!(
                "keys of {:.1} MiB when seeded",
                self.relinearization_key_bytes as f64 / 1048576.0
            ),
        );
        line("levels", format!("{} in the modulus chain", self.levels));
        let sparse = self
            .encapsulated()
            .map_or(String::new(), |h| format!("; encapsulated: ternary of weight {h}"));
        line("secrets", format!("{}{sparse}", self.secret));
        for key in &self.security_by_key {
            line("security", key.to_string());
            let others: Vec<String> =
                key.attacks.iter().map(|a| format!("{} {:.1}", a.name.as_str(), a.bits)).collect();
            line("  by attack", others.join(", "));
        }
        line("security model", self.security_model.into());
        line(
            "fresh ciphertext",
            format!(
                "capacity {:.1} bits, {} multiplications",
                self.fresh_capacity_bits, self.fresh_multiplications
            ),
        );
        match &self.bootstrap {
            None => line("bootstrapping", "none".into()),
            Some(b) => {
                let (mode, v) = (b.mode, b.removed_digits);
                line(
                    "bootstrapping",
                    format!("{mode:?} mode; from {:.1} bits of capacity", b.minimum_capacity_bits)
                        .to_lowercase(),
                );
                let tail = b
                    .overflow_log2
                    .map_or("always".into(), |x| format!("but for 2^{x:.1} in each coefficient"));
                line(
                    "overflow",
                    format!("at most {} {tail}; digits removed: {v}", b.overflow_bound),
                );
                line(
                    "its plan",
                    format!(
                        "coeff-to-slot {:?}, slot-to-coeff {:?}, {}",
                        b.coeff_to_slot, b.slot_to_coeff, b.digit_removal
                    ),
                );
                line(
                    "its cost",
                    format!(
                        "{} key switches, {} products, depth {}",
                        b.key_switches, b.non_scalar_products, b.depth
                    ),
                );
                line(
                    "after it",
                    format!(
                        "capacity {:.1} bits, {} multiplications",
                        b.capacity_bits_after, b.multiplications_after
                    ),
                );
                line(
                    "server keys",
                    format!(
                        "{} keys, {:.1} MiB when seeded",
                        b.server_keys,
                        b.server_key_bytes as f64 / 1048576.0
                    ),
                );
                let overflow =
                    b.failure_of_overflow_log2.map_or("never".into(), |x| format!("2^{x:.1}"));
                line(
                    "failure",
                    format!(
                        "2^{:.1} for one bootstrapping: 2^{:.1} by its random polynomials \
                         (2^{EVENT_LOG2:.0} each and embedding), overflow {overflow}",
                        b.failure_log2, b.failure_of_events_log2
                    ),
                );
                if let Some(m) = &b.measured {
                    let threads = if m.threads == 1 {
                        "one thread".into()
                    } else {
                        format!("{} threads", m.threads)
                    };
                    line(
                        "measured",
                        format!(
                            "{:.2} s, {threads} of {}, {}, {}, commit {}",
                            m.seconds,
                            m.cpu,
                            m.backend,
                            &m.date[..10.min(m.date.len())],
                            m.commit
                        ),
                    );
                }
            }
        }
        let width = lines.iter().map(|l| l.0.len()).max().unwrap_or(0);
        lines.iter().map(|(k, v)| format!("{k:<width$}  {v}")).collect::<Vec<_>>().join("\n")
    }

    /// The head of the table of docs/parameters.md.
    pub const MARKDOWN_HEAD: &'static str = concat!(
        "| set | n | m | p^r | slots | d | log Q | log P | digits | secrets ",
        "| security of the main / sparse key | capacity fresh / after a bootstrap ",
        "| multiplications after a bootstrap | server keys, seeded |\n",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    );

    /// A row of that table.
    pub fn markdown_row(&self) -> String {
        let bits =
            |k: &KeySecurity| if k.bits > 0.0 { format!("{:.1}", k.bits) } else { "none".into() };
        let security: Vec<String> = self.security_by_key.iter().map(bits).collect();
        let secrets = match self.encapsulated() {
            Some(h) => format!("ternary; weight {h}"),
            None => self.secret.trim_start_matches("uniform ").into(),
        };
        let (capacity, multiplications, keys) = match &self.bootstrap {
            None => ("–".into(), "–".into(), "–".into()),
            Some(b) => (
                format!("{:.0}", b.capacity_bits_after),
                b.multiplications_after.to_string(),
                format!("{:.0} MiB", b.server_key_bytes as f64 / 1048576.0),
            ),
        };
        format!(
            "| `{}` | {} | {} | {} | {} | {} | {:.1} | {:.1} | {} | {secrets} | {} | {:.0} / \
             {capacity} | {multiplications} | {keys} |",
            self.name,
            self.n,
            self.m,
            power(self.p, self.r),
            self.slots,
            self.d,
            self.log_q,
            self.log_p,
            self.digits,
            security.join(" / "),
            self.fresh_capacity_bits
        )
    }
}
