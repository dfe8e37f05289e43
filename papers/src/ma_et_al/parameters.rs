//! Ma–Huang–Wang–Wang's table 4: the parameter sets.

use everlevel::{OptIn, Params};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, table};
use serde::Serialize;

use super::choice::chosen;
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
    log_qp: f64,
    /// Of the main key at QP, of weight 120.
    main_security: f64,
    h: usize,
    /// Of the encapsulated key.
    sparse_security: f64,
    epsilon_log2: f64,
    overflow_bound: u64,
    delta: u64,
    log_q0_r: f64,
    paper: PaperColumns,
}

/// What the paper prints.
#[derive(Serialize)]
struct PaperColumns {
    d: usize,
    log_q: f64,
    main_security: f64,
    sparse_security: f64,
    log_q0_r: f64,
}

/// Table 4.
pub fn table_4(args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let sets = chosen(args, paper_sets().collect())?;
    let mut records = Vec::new();
    for set in sets {
        let params =
            Params::new(set.spec(), OptIn::InsecureAllowFailures).map_err(CliError::failure)?;
        let keys = params.security().keys();
        records.push(SetRecord {
            set: set.name(),
            p: set.p,
            r: set.r,
            m: set.index,
            n: params.degree(),
            d: params.slot_shape().degree_of_slot(),
            slots: params.slots(),
            log_q: params.modulus_bits(params.chain().top()),
            log_qp: keys[0].modulus_bits,
            main_security: keys[0].bits,
            h: set.weight,
            sparse_security: keys.get(1).map_or(0.0, |key| key.bits),
            epsilon_log2: params.noise().bound().overflow_tail(set.bound)
                + (params.degree() as f64).log2(),
            overflow_bound: set.bound,
            delta: set.delta,
            log_q0_r: keys.get(1).map_or(0.0, |key| key.modulus_bits),
            paper: PaperColumns {
                d: set.degree_of_slot,
                log_q: set.modulus_bits,
                main_security: set.main_security,
                sparse_security: set.sparse_security,
                log_q0_r: set.encapsulation_bits,
            },
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
        "Δ",
        "log q0 R: paper",
        "here",
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(records.iter().map(|r| {
        vec![
            r.set.clone(),
            if r.r == 1 { r.p.to_string() } else { format!("{}^{}", r.p, r.r) },
            r.m.to_string(),
            r.paper.d.to_string(),
            r.d.to_string(),
            format!("{:.0}", r.paper.log_q),
            format!("{:.0}", r.log_qp),
            format!("{:.1}", r.paper.main_security),
            format!("{:.1}", r.main_security),
            r.h.to_string(),
            format!("{:.1}", r.paper.sparse_security),
            if r.sparse_security > 0.0 { format!("{:.0}", r.sparse_security) } else { "-".into() },
            format!("{:.1}", r.epsilon_log2),
            r.overflow_bound.to_string(),
            r.delta.to_string(),
            format!("{:.1}", r.paper.log_q0_r),
            format!("{:.1}", r.log_q0_r),
        ]
    }));
    let foot = "\nλ', λ: of the main and of the encapsulated key, here by the library's \
                estimator, rotations counted, at the moduli here; ε: that some coefficient of an \
                overflow exceeds B (the paper: 2^-34)";
    emit(&(table(&lines) + foot))
}
