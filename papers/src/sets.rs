//! `papers sets`, and the parameter sets of the papers by name.

use everlevel::{Params, ParamsSpec};
use everlevel_cli::console::args::Common;
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::output::{emit, emit_json, power, table};
use everlevel_cli::console::params::{find_spec, params_of};
use serde::Serialize;

use crate::ma_et_al::sets::{PaperSet, paper_sets};
use crate::{chen_han, ltv};

/// Every set that has a name.
fn all() -> impl Iterator<Item = ParamsSpec> {
    let ma_et_al = paper_sets().map(|set: PaperSet| set.spec());
    chen_han::sets::all().chain(ma_et_al).chain(ltv::sets::ntru_sets())
}

/// The parameter set by name, one of a paper or of the library, or from a JSON file; sets below 128
/// bits only if `common` allows them.
pub fn find_params(name: &str, common: &Common) -> Result<Params, CliError> {
    let spec = match all().find(|spec| spec.name == name) {
        Some(spec) => spec,
        None => find_spec(name)?,
    };
    params_of(spec, common)
}

/// A line of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    m: u64,
    p: u64,
    r: u32,
}

/// Prints the names of the sets, or one set as a file that `--params` takes.
pub fn run(name: Option<&str>, common: &Common) -> Result<(), CliError> {
    if let Some(name) = name {
        let spec = all().find(|spec| spec.name == name).ok_or_else(|| {
            CliError::usage(format!("no paper has a set {name}: `papers sets` lists what there is"))
        })?;
        return emit_json(&spec);
    }
    let listed = |spec: ParamsSpec| Listed {
        name: spec.name,
        m: spec.index,
        p: spec.plain_prime,
        r: spec.plain_exponent,
    };
    let sets: Vec<Listed> = all().map(listed).collect();
    if common.json {
        return emit_json(&sets);
    }
    let head = ["name", "m", "p^r"].map(String::from).to_vec();
    let row = |set: &Listed| vec![set.name.clone(), set.m.to_string(), power(set.p, set.r)];
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(sets.iter().map(row)).collect();
    emit(&table(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_need_the_opt_in() {
        let names: std::collections::BTreeSet<String> = all().map(|spec| spec.name).collect();
        assert_eq!(names.len(), all().count());
        for spec in all() {
            assert!(spec.is_insecure_by_name(), "{}", spec.name);
            assert!(everlevel_scheme::params::spec(&spec.name).is_err(), "{}", spec.name);
        }
    }
}
