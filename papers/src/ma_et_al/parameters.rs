//! Ma–Huang–Wang–Wang's table 4: the parameter sets.

use everlevel::{BootstrapPlan, OptIn, Params};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, power, table};
use serde::Serialize;

use super::choice::chosen;
use super::keys::Keys;
use super::sets::paper_sets;
use crate::args::TableArgs;
use crate::record;

/// One row of table 4.
#[derive(Serialize)]
struct SetRecord {
    set: String,
    p: u64,
    r: u32,
    m: u64,
    n: usize,
    d: usize,
    slots: usize,
    log_q: f64,
    epsilon_log2: f64,
    #[serde(flatten)]
    keys: Keys,
}

/// Table 4.
pub fn table_4(args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let sets = chosen(args, paper_sets().collect())?;
    let mut records = Vec::new();
    for set in sets {
        let params =
            Params::new(set.spec(), OptIn::InsecureAllowFailures).map_err(CliError::failure)?;
        let plan = BootstrapPlan::for_set(&params)?;
        records.push(SetRecord {
            set: set.name(),
            p: set.p,
            r: set.r,
            m: set.index,
            n: params.degree(),
            d: params.slot_shape().degree_of_slot(),
            slots: params.slots(),
            log_q: params.modulus_bits(params.chain().top()),
            epsilon_log2: params.noise().bound().overflow_tail(set.bound)
                + (params.degree() as f64).log2(),
            keys: Keys::of(&set, &params, &plan)?,
        });
    }
    if let Some(directory) = &args.out {
        record::write(directory, "ma-et-al-table-4", &records)?;
    }
    if common.json {
        return emit_json(&records);
    }
    let head = [
        "set",
        "p^r",
        "m",
        "d: paper",
        "here",
        "log Q: paper",
        "log QP here",
        "λ': paper",
        "here",
        "h",
        "λ: paper",
        "here",
        "log ε",
        "B",
        "Δ: paper",
        "here",
        "log q0 R: paper",
        "here",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(records.iter().map(|r| {
        let (keys, paper) = (&r.keys, &r.keys.paper);
        vec![
            r.set.clone(),
            power(r.p, r.r),
            r.m.to_string(),
            paper.d.to_string(),
            r.d.to_string(),
            format!("{:.0}", paper.log_q),
            keys.log_qp_text(),
            format!("{:.1}", paper.main_security),
            format!("{:.1}", keys.main_security),
            keys.h.to_string(),
            format!("{:.1}", paper.sparse_security),
            format!("{:.1}", keys.sparse_security),
            format!("{:.1}", r.epsilon_log2),
            keys.overflow_bound.to_string(),
            paper.delta.to_string(),
            keys.delta_text(),
            format!("{:.1}", paper.log_q0_r),
            keys.log_q0_r_text(),
        ]
    }));
    let foot = "\nλ', λ: of the main and of the encapsulated key, here by the library's \
                estimator, rotations counted, at the moduli here; ε: that some coefficient of an \
                overflow exceeds B (the paper: 2^-34); Δ here: of the plan that runs, a root of -1 \
                modulo p for type B where there is one, whose polynomial has a quarter of the \
                coefficients";
    emit(&(table(&lines) + foot))
}
