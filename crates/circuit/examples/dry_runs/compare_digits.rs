//! Every method of digit removal for a problem: degrees, costs and what the papers predict.
//!
//! `compare-digits 127 3 1 20` for p, e, v and, if not all, the bound B on the low part.

use std::error::Error;
use std::time::Instant;

use everlevel_circuit::digits::{DigitProblem, DigitRemoval, compare};

pub fn run(args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let numbers = args.map(|s| s.parse()).collect::<Result<Vec<u64>, _>>()?;
    let problem = match numbers[..] {
        [p, e, v] => DigitProblem::all_digits(p, u32::try_from(e)?, u32::try_from(v)?),
        [p, e, v, bound] => DigitProblem { p, e: u32::try_from(e)?, v: u32::try_from(v)?, bound },
        _ => DigitProblem::all_digits(127, 3, 1),
    };
    println!(
        "{:22} {:18} {:>7} {:>6} {:>8} {:>7} {:>8}  {:>15}",
        "", "degrees", "depth", "prod.", "relin.", "bits", "planned", "paper"
    );
    for report in compare(&problem)? {
        let start = Instant::now();
        DigitRemoval::for_problem(problem, report.method)?;
        let planned = start.elapsed();
        let c = report.costs;
        println!(
            "{:22} {:18} {:7} {:6} {:8} {:7.0} {planned:>8.1?}  {}",
            report.method.to_string(),
            report.degrees_text(),
            c.depth,
            c.products,
            c.relinearizations,
            report.bits,
            report
                .predicted
                .map_or(String::new(), |f| format!("{:.1}, {:.1}", f.depth, f.products))
        );
    }
    Ok(())
}
