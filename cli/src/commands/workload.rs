//! `everlevel params plan --max-value`: a set by what the values are.

use clap::Args;
use everlevel_tables::{
    OperationCost, Recommendation, SetCost, Way, Workload, WorkloadError, WorkloadOperation,
    WorkloadPlan, parse_largest, parse_rows,
};

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::{counted, emit, emit_json, progress, table};

/// What the values are, and what is done with them.
#[derive(Args)]
pub struct ValuesArgs {
    /// The largest magnitude of a value, such as 1000000, 1_000_000 or 1e6; the plaintext modulus
    /// is then chosen for you
    #[arg(
        long,
        value_name = "V",
        allow_hyphen_values = true,
        conflicts_with_all = [
            "name", "by", "plain_modulus", "repeat", "depth", "minimize", "measure", "max_rows"
        ]
    )]
    pub max_value: Option<String>,
    /// With --max-value: values may be negative
    #[arg(long, requires = "max_value")]
    pub signed: bool,
    /// With --max-value: the number of rows
    #[arg(long, value_name = "N", allow_hyphen_values = true, requires = "max_value")]
    pub rows: Option<String>,
    /// With --max-value: the operations, separated by commas, such as compare,sum (see --help)
    #[arg(
        long,
        value_name = "OP,..",
        allow_hyphen_values = true,
        requires = "max_value",
        conflicts_with_all = ["slots", "save"]
    )]
    pub ops: Option<String>,
}

/// The operations.
pub fn help() -> String {
    format!("Operations of --ops:\n{}", WorkloadOperation::described())
}

/// What the user stated cannot be.
fn refused(e: WorkloadError) -> CliError {
    let code = e.code();
    CliError::usage(e.to_string()).with_code(code)
}

/// Recommends a set and a way to compute.
pub fn run(largest: &str, args: &ValuesArgs, common: &Common) -> Result<(), CliError> {
    let (Some(rows), Some(ops)) = (&args.rows, &args.ops) else {
        return Err(CliError::usage("expected --rows and --ops, or --keyless, with --max-value"));
    };
    let operations = WorkloadOperation::parse_all(ops.split(',')).map_err(refused)?;
    let (largest, rows) = (parse_largest(largest), parse_rows(rows));
    let (largest, rows) = (largest.map_err(refused)?, rows.map_err(refused)?);
    let workload = Workload::new(largest, args.signed, rows, operations).map_err(refused)?;
    let bar = progress(common, "rehearsing", 1);
    let plan = workload.plan(common.opt_in()).map_err(refused)?;
    bar.finish_and_clear();
    if common.json { emit_json(&plan) } else { emit(&text(&plan, &workload)) }
}

fn bytes(bytes: u64) -> String {
    let mib = bytes as f64 / 1048576.0;
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

fn costs(operations: &[OperationCost]) -> String {
    let head = ["operation", "results", "products", "refreshes", "seconds"].map(String::from);
    let row = |cost: &OperationCost| {
        let results = match (&cost.low, &cost.high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            _ => "exact".into(),
        };
        vec![
            cost.operation.into(),
            results,
            cost.products.to_string(),
            cost.refreshes.to_string(),
            format!("{:.3}", cost.seconds),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head.to_vec()).chain(operations.iter().map(row)).collect();
    table(&rows)
}

/// The set that is recommended beside the one that uses all slots.
fn compared(costs: &[SetCost]) -> String {
    let head = [
        "set",
        "slots",
        "server keys",
        "memory",
        "s, a refresh",
        "s, operations",
        "s, exhausted operands",
    ]
    .map(String::from);
    let seconds = |seconds: f64| format!("{seconds:.3}");
    let row = |cost: &SetCost| {
        vec![
            cost.set.clone(),
            cost.slots.to_string(),
            bytes(cost.key_bytes),
            bytes(cost.memory_bytes),
            seconds(cost.refresh_seconds),
            seconds(cost.seconds),
            cost.exhausted_seconds.map_or_else(|| "-".into(), seconds),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head.to_vec()).chain(costs.iter().map(row)).collect();
    table(&rows)
}

fn text(plan: &WorkloadPlan, workload: &Workload) -> String {
    let found: &Recommendation = &plan.recommended;
    let what = match (found.way, found.kind) {
        (Way::Modular, _) => format!("arithmetic modulo {}", found.params.wide_modulus()),
        (Way::Tables, _) => "encrypted tables, asked in SQL".into(),
        (Way::Integers, Some(kind)) => format!("typed integers of {kind}"),
        (Way::Integers, None) => "typed integers".into(),
    };
    let refreshed = match found.refreshes_automatically {
        true => "ciphertexts are refreshed automatically, so programs can be of any depth",
        false => "ciphertexts are not refreshed",
    };
    let once = if found.way == Way::Tables { "the query" } else { "each operation once" };
    let mut lines = vec![
        format!("use {what}, on the set {}", found.params.name()),
        format!(
            "{:.1} bits of security; {} values in a ciphertext; {refreshed}",
            found.security_bits, found.slots
        ),
        format!(
            "{}: {} a column, {}; server keys of {}",
            counted(workload.rows(), "row"),
            counted(found.ciphertexts, "ciphertext"),
            bytes(found.ciphertext_bytes),
            bytes(found.key_bytes)
        ),
        format!("{once} takes about {:.3} s on one core, by a model", found.seconds),
        String::new(),
        costs(&found.operations),
    ];
    if !found.compared.is_empty() {
        lines.extend([String::new(), compared(&found.compared)]);
    }
    let name = |way: Way| match way {
        Way::Modular => "arithmetic modulo p^r",
        Way::Tables => "tables",
        Way::Integers => "typed integers",
    };
    lines.push(String::new());
    lines.extend(plan.others.iter().map(|o| format!("not {}: {}", name(o.way), o.reason)));
    lines.extend(found.notes.iter().map(|note| format!("note: {note}")));
    lines.push("\non the command line:".into());
    lines.extend(found.commands.iter().map(|line| format!("  {line}")));
    lines.push("\nin Python:".into());
    lines.extend(found.python.iter().map(|line| format!("  {line}")));
    lines.join("\n")
}
