//! `everlevel params plan --keyless`: the parameter set of a server without keys.

use everlevel::{Depth, KeylessSet, ParamsSpec, SumOfProducts};
use everlevel_tables::parse_largest;
use serde::Serialize;

use crate::commands::plan::{PlanArgs, save};
use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::check_file;
use crate::console::output::{counted, emit, emit_json, progress, table};

#[derive(Serialize)]
struct Keyless {
    name: String,
    n: usize,
    slots: usize,
    plain_modulus: u128,
    terms: u64,
    weight: u64,
    /// All of it: there is no P.
    log_q: f64,
    security_bits: f64,
    failure_log2: f64,
    /// Of the largest sum.
    capacity_bits: f64,
    /// Files of one ciphertext.
    fresh_bytes: usize,
    result_bytes: usize,
    compact_bytes: Option<usize>,
    /// A file that --params takes.
    spec: ParamsSpec,
}

/// Prints the set.
pub fn run(args: &PlanArgs, common: &Common) -> Result<(), CliError> {
    let (values, sums) = (&args.values, &args.sums);
    if values.ops.is_some() || values.rows.is_some() {
        return Err(CliError::usage(
            "--keyless with --rows and --ops: a server without keys multiplies once and adds, slot \
             by slot, and has no keys for rotations, comparisons or other operations: state \
             --terms and --slots in their place, or leave out --keyless",
        )
        .with_code("workload.unsupported"));
    }
    if args.depth.is_some_and(|depth| depth != Depth::Levels(1)) {
        return Err(CliError::usage(
            "--keyless with --depth: the product of a server without keys cannot be multiplied or \
             bootstrapped, as both need keys: choose depth 1, or leave out --keyless",
        )
        .with_code("scheme.bad-params"));
    }
    args.save.as_deref().map_or(Ok(()), |path| check_file(path, args.force))?;
    let wanted = SumOfProducts::new(sums.terms).weight(sums.weight).slots(args.slots);
    let bar = progress(common, "parameter sets", 1);
    let found = match (args.plain_modulus, &values.max_value) {
        (Some(modulus), _) => wanted.modulo(modulus),
        (None, Some(largest)) => {
            let largest = parse_largest(largest)
                .map_err(|e| CliError::usage(e.to_string()).with_code(e.code()))?;
            wanted.of_values(largest, values.signed)
        }
        // The parser requires one of them.
        (None, None) => return Err(CliError::usage("expected --plain-modulus or --max-value")),
    };
    let found = found.map_err(|e| CliError::usage(e.to_string()).with_code(e.code()))?;
    bar.finish_and_clear();
    if let Some(path) = &args.save {
        save(path, found.params.spec(), args.force)?;
    }
    let set = described(&found, &wanted);
    if common.json { emit_json(&set) } else { emit(&text(&set, args)) }
}

fn described(found: &KeylessSet, wanted: &SumOfProducts) -> Keyless {
    let params = &found.params;
    Keyless {
        name: params.name().into(),
        n: params.degree(),
        slots: params.slots(),
        plain_modulus: params.wide_modulus(),
        terms: wanted.terms,
        weight: wanted.weight,
        log_q: params.modulus_bits(params.chain().top()),
        security_bits: params.security().bits(),
        failure_log2: found.failure_log2,
        capacity_bits: found.capacity_bits,
        fresh_bytes: found.fresh_bytes,
        result_bytes: found.result_bytes,
        compact_bytes: found.compact_bytes,
        spec: params.spec().clone(),
    }
}

fn text(set: &Keyless, args: &PlanArgs) -> String {
    let head = [
        "set",
        "n",
        "slots",
        "modulus",
        "log2 Q",
        "security",
        "failure",
        "bits left",
        "fresh KiB",
        "result KiB",
        "cut KiB",
    ]
    .map(String::from);
    let kib = |bytes: usize| format!("{:.1}", bytes as f64 / 1024.0);
    let row = vec![
        set.name.clone(),
        set.n.to_string(),
        set.slots.to_string(),
        set.plain_modulus.to_string(),
        format!("{:.1}", set.log_q),
        format!("{:.1}", set.security_bits),
        format!("2^{:.0}", set.failure_log2),
        format!("{:.1}", set.capacity_bits),
        kib(set.fresh_bytes),
        kib(set.result_bytes),
        set.compact_bytes.map_or_else(|| "-".into(), kib),
    ];
    let saved = args.save.as_ref().map_or_else(
        || "--out FILE.json writes it as a file that --params reads".to_owned(),
        |path| format!("it is in {}", path.display()),
    );
    let weighted = match set.weight {
        1 => String::new(),
        weight => format!(", each times a constant of up to {weight}"),
    };
    format!(
        "{}\n\nfor sums of up to {} of fresh ciphertexts under the secret key{weighted}, which \
         can only be decrypted; KiB: files of a fresh ciphertext with its seed, of a result, and \
         of one that is cut to what decryption needs\n{saved}",
        table(&[head.to_vec(), row]),
        counted(set.terms, "product"),
    )
}
