//! Chen–Han's tables 1 and 2: the asymptotic formulas beside what the circuits count.

use everlevel_circuit::digits::{DigitKind, DigitMethod, DigitProblem, MethodReport, compare};
use everlevel_cli::console::args::{Common, value_name};
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, table};
use serde::Serialize;

use crate::args::{ChenHanTable, TableArgs};
use crate::{record, rows};

/// (p, e, v) of table 1: those of table 3, and those of bootstrapping.
const REMOVALS: [(u64, u32, u32); 11] = [
    (2, 11, 5),
    (2, 21, 13),
    (5, 6, 3),
    (17, 4, 2),
    (31, 3, 1),
    (127, 2, 1),
    (127, 3, 1),
    (127, 4, 1),
    (257, 2, 1),
    (257, 3, 1),
    (257, 4, 2),
];
/// (p, r, h) of table 2.
const BOOTSTRAPPINGS: [(u64, u32, u64); 9] = [
    (17, 1, 64),
    (17, 2, 64),
    (17, 3, 64),
    (127, 1, 64),
    (127, 2, 64),
    (127, 2, 128),
    (257, 2, 128),
    (2, 1, 64),
    (2, 8, 64),
];

/// How many rows tables 1 and 2 have.
pub const ROWS: [usize; 2] = [REMOVALS.len(), BOOTSTRAPPINGS.len()];

/// The most characters of the degrees that are printed; JSON has them all.
const DEGREES_SHOWN: usize = 40;

#[derive(Serialize)]
struct Line {
    row: usize,
    scheme: &'static str,
    p: u64,
    e: u32,
    v: u32,
    method: String,
    degrees: String,
    depth_formula: Option<f64>,
    depth: u32,
    products_formula: Option<f64>,
    products: usize,
    relinearizations: usize,
}

/// Prints the table.
pub fn run(which: ChenHanTable, args: &TableArgs, common: &Common) -> Result<(), CliError> {
    let lines = if which == ChenHanTable::Table1 { removals(args)? } else { bootstrappings(args)? };
    if let Some(directory) = &args.out {
        for row in lines.chunk_by(|a, b| a.row == b.row) {
            record::write(
                directory,
                &format!("chen-han-{}-row-{}", value_name(&which), row[0].row),
                &row,
            )?;
        }
    }
    if common.json {
        return emit_json(&lines);
    }
    let head = [
        "row",
        "scheme",
        "(p, e, v)",
        "method",
        "degrees",
        "depth: formula",
        "measured",
        "products: formula",
        "measured",
        "relinearizations",
    ];
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.1}"));
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(lines.iter().map(|l| {
        vec![
            l.row.to_string(),
            l.scheme.to_string(),
            format!("({}, {}, {})", l.p, l.e, l.v),
            l.method.clone(),
            shortened(&l.degrees),
            number(l.depth_formula),
            l.depth.to_string(),
            number(l.products_formula),
            l.products.to_string(),
            l.relinearizations.to_string(),
        ]
    }));
    emit(&table(&rows))
}

fn shortened(degrees: &str) -> String {
    if degrees.len() <= DEGREES_SHOWN {
        degrees.to_string()
    } else {
        format!("{}...", &degrees[..DEGREES_SHOWN - 3])
    }
}

fn removals(args: &TableArgs) -> Result<Vec<Line>, CliError> {
    let mut lines = Vec::new();
    for i in rows::rows(args, REMOVALS.len())? {
        let (p, e, v) = REMOVALS[i];
        for report in compare(&DigitProblem::all_digits(p, e, v))? {
            lines.push(Line {
                row: i + 1,
                scheme: "",
                p,
                e,
                v,
                method: report.method.to_string(),
                degrees: report.degrees_text(),
                depth_formula: report.predicted.map(|f| f.depth),
                depth: report.costs.depth,
                products_formula: report.predicted.map(|f| f.products),
                products: report.costs.products,
                relinearizations: report.costs.relinearizations,
            });
        }
    }
    Ok(lines)
}

/// The three rows of table 2 for each t = p^r and h: BGV needs e = 2r + log_p h digits in the
/// papers, BFV (and BGV in the unified form of Geelen–Vercauteren 2022, which this library runs) e
/// = r + log_p h; log_p h is rounded up for the circuit.
fn bootstrappings(args: &TableArgs) -> Result<Vec<Line>, CliError> {
    let mut lines = Vec::new();
    for i in rows::rows(args, BOOTSTRAPPINGS.len())? {
        let (p, r, h) = BOOTSTRAPPINGS[i];
        let (log_p, log_t) = ((p as f64).log2(), f64::from(r) * (p as f64).log2());
        let log_h = (h as f64).log2();
        let digits = (log_h / log_p).ceil() as u32;
        let root = (2.0 * p as f64).sqrt();
        let (halevi_shoup, chen_han) =
            (DigitMethod::new(DigitKind::HaleviShoup), DigitMethod::new(DigitKind::ChenHan));
        for (scheme, method, e, depth, products) in [
            (
                "BGV",
                halevi_shoup,
                2 * r + digits,
                2.0 * log_t + log_h,
                root / (2.0 * log_p * log_p) * (2.0 * log_t + log_h).powi(2),
            ),
            (
                "BGV",
                chen_han,
                2 * r + digits,
                log_t + log_h,
                root / log_p.powf(1.5) * (2.0 * log_t + log_h).sqrt() * (log_t + log_h),
            ),
            (
                "FV",
                chen_han,
                r + digits,
                log_t.log2() + log_h,
                root / log_p.powf(1.5) * (log_t + log_h).sqrt() * log_h,
            ),
        ] {
            let report = MethodReport::of(method, &DigitProblem::all_digits(p, e, e - r))?;
            lines.push(Line {
                row: i + 1,
                scheme,
                p,
                e,
                v: e - r,
                method: method.to_string(),
                degrees: report.degrees_text(),
                depth_formula: Some(depth),
                depth: report.costs.depth,
                products_formula: Some(products),
                products: report.costs.products,
                relinearizations: report.costs.relinearizations,
            });
        }
    }
    Ok(lines)
}
