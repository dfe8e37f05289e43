//! Estimates as text.

use std::fmt;

use everlevel_scheme::Level;

use crate::counted::Counted;
use crate::estimate::{Estimate, EstimatedInput};

/// The most arguments whose levels are printed one by one.
const LISTED: usize = 8;

fn seconds(seconds: f64) -> String {
    if seconds < 60.0 { format!("{seconds:.2} s") } else { format!("{:.0} min", seconds / 60.0) }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The levels of the arguments: of few of them one by one, with their sizes.
fn levels(inputs: &[EstimatedInput]) -> String {
    let known: Vec<(&EstimatedInput, Level)> =
        inputs.iter().filter_map(|x| Some((x, x.level?))).collect();
    if known.len() > LISTED {
        let all = || known.iter().map(|(_, level)| level.0);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        return if least == most { format!("all {least}") } else { format!("{least} to {most}") };
    }
    let one = |(x, level): &(&EstimatedInput, Level)| {
        let index = x.index_level.map_or(String::new(), |level| format!(", its index {level}"));
        format!("{} {level}{index} ({})", x.name, mebibytes(x.bytes))
    };
    known.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Prints a line for the whole program, one for the levels of its arguments, and one for each step.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted { products, key_switches, refreshes, seconds: s } = self.total();
        let layout = match (self.side_by_side, self.in_blocks) {
            (false, false) => "",
            (true, false) => ", digits side by side",
            (false, true) => ", products in blocks",
            (true, true) => ", digits side by side, products in blocks",
        };
        let bootstraps = if self.bootstraps { "bootstrapping" } else { "without bootstrapping" };
        writeln!(
            f,
            "{}, {bootstraps}{layout}: {products} products, {key_switches} key switches, \
             {refreshes} refreshes, about {} on one core",
            self.params.name(),
            seconds(s)
        )?;
        writeln!(
            f,
            "keys {}, arguments {} in {} ciphertexts, results {} in {}; {} of memory, of which {} \
             for ciphertexts while it computes",
            mebibytes(self.key_bytes()),
            mebibytes(self.input_bytes),
            self.input_ciphertexts,
            mebibytes(self.result_bytes),
            self.result_ciphertexts,
            mebibytes(self.memory_bytes()),
            mebibytes(self.working_bytes())
        )?;
        if self.inputs.iter().any(|x| x.level.is_some()) {
            let top = self.params.chain().top();
            writeln!(f, "levels of the arguments, of 0 to {top}: {}", levels(&self.inputs))?;
        }
        if self.seeded_keys {
            writeln!(
                f,
                "halves of the keys stay seeds in memory: the times are those of expanded keys, \
                 and it takes longer"
            )?;
        }
        write!(
            f,
            "{:14}{:>28}{:>10}{:>10}{:>11}{:>10}",
            "step", "values", "products", "switches", "refreshes", "time"
        )?;
        for step in &self.steps {
            let values =
                step.interval.map_or(String::new(), |i| format!("{} to {}", i.low(), i.high()));
            let Counted { products, key_switches, refreshes, seconds: s } = step.counted;
            let time = seconds(s);
            write!(
                f,
                "\n{:14}{values:>28}{products:>10}{key_switches:>10}{refreshes:>11}{time:>10}",
                step.name
            )?;
        }
        Ok(())
    }
}
