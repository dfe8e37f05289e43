//! What Ma–Huang–Wang–Wang's table 4 says of a set, and what holds of the set that runs here.

use everlevel::{BootstrapPlan, Params};
use everlevel_cli::console::errors::CliError;
use serde::Serialize;

use super::sets::PaperSet;
use crate::rows::{marked, marked_number};

/// The keys of a set and its Δ, here and in the paper.
#[derive(Clone, Serialize)]
pub struct Keys {
    pub log_qp: f64,
    /// Of the main key at QP, of weight 120, by the library's estimator.
    pub main_security: f64,
    pub h: usize,
    /// Of the encapsulated key, likewise.
    pub sparse_security: f64,
    pub overflow_bound: u64,
    /// Of the plan that runs: another one than the paper's where that has fewer coefficients.
    pub delta: u64,
    pub log_q0_r: f64,
    /// What the paper prints.
    pub paper: PaperColumns,
}

/// What the paper prints.
#[derive(Clone, Serialize)]
pub struct PaperColumns {
    pub d: usize,
    pub log_q: f64,
    pub main_security: f64,
    pub sparse_security: f64,
    pub delta: u64,
    pub log_q0_r: f64,
}

impl Keys {
    /// Of the parameters that a set is run with, by a plan for them.
    pub fn of(set: &PaperSet, params: &Params, plan: &BootstrapPlan) -> Result<Self, CliError> {
        let keys = params.security().keys();
        Ok(Keys {
            log_qp: keys[0].modulus_bits,
            main_security: keys[0].bits,
            h: params.spec().bootstrap.as_ref().map_or(0, |b| b.sparse_weight),
            sparse_security: keys.get(1).map_or(0.0, |key| key.bits),
            overflow_bound: params.spec().overflow_bound(),
            delta: plan.multiplier(params)?,
            log_q0_r: keys.get(1).map_or(0.0, |key| key.modulus_bits),
            paper: PaperColumns {
                d: set.degree_of_slot,
                log_q: set.modulus_bits,
                main_security: set.main_security,
                sparse_security: set.sparse_security,
                delta: set.delta,
                log_q0_r: set.encapsulation_bits,
            },
        })
    }

    /// Δ as a table shows it.
    pub fn delta_text(&self) -> String {
        marked(self.delta.to_string(), self.delta == self.paper.delta)
    }

    /// log2 QP as a table shows it.
    pub fn log_qp_text(&self) -> String {
        marked_number(self.log_qp, self.paper.log_q, 0)
    }

    /// log2(q0 R) as a table shows it.
    pub fn log_q0_r_text(&self) -> String {
        marked_number(self.log_q0_r, self.paper.log_q0_r, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ma_et_al::sets::paper_sets;
    use everlevel::OptIn;

    #[test]
    fn what_is_not_the_papers_is_marked() {
        for set in paper_sets() {
            let params = Params::new(set.spec(), OptIn::InsecureAllowFailures).unwrap();
            let plan = BootstrapPlan::for_set(&params).unwrap();
            let keys = Keys::of(&set, &params, &plan).unwrap();
            // 256^2 = -1 modulo 65537.
            let expected = if set.name().starts_with("ma-V-B") { 256 } else { set.delta };
            assert_eq!(keys.delta, expected, "{}", set.name());
            assert_eq!(
                keys.delta_text().contains("not the paper's"),
                set.name().starts_with("ma-V-B")
            );
            assert_eq!((keys.h, keys.overflow_bound), (set.weight, set.bound));
            // Whole primes make up the size of ring I alone, and R is a prime of 50 bits.
            assert_eq!(keys.log_qp_text().contains("not the paper's"), set.ring != "I");
            assert!(keys.log_q0_r_text().ends_with(", not the paper's"), "{}", set.name());
        }
    }
}
