//! The parameter set and the plan that a command asks for.

use std::path::Path;

use everlevel::files::parse_spec;
use everlevel::lab::SchemeError;
use everlevel::{BootstrapPlan, Error, KeyPlanner, Params, ParamsSpec, bootstrap_plan};
use everlevel_circuit::CircuitError;
use everlevel_scheme::spec::BootstrapMode;
use everlevel_tables::did_you_mean;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::files::{MAX_PARAMS_BYTES, read_text};
use crate::console::output::remark;

/// The specification by name, or from a JSON file.
pub fn find_spec(name: &str) -> Result<ParamsSpec, CliError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let text = read_text(path, MAX_PARAMS_BYTES, "the parameter file")?;
        parse_spec(&text).map_err(|e| {
            CliError::usage(format!(
                "{} is not a parameter file: {e}; `everlevel params show bgv-65537-n15 --json` \
                 prints an example",
                path.display()
            ))
        })
    } else {
        everlevel_scheme::params::spec(name).map_err(|e| match e {
            SchemeError::UnknownParams { .. } => {
                let known = everlevel_scheme::params::names();
                let meant = did_you_mean(name, known.chain(everlevel_scheme::params::ntru_names()));
                CliError::usage(format!("{e}; or give a file that ends in .json{meant}"))
                    .with_code(e.code())
            }
            e => CliError::usage(e),
        })
    }
}

/// The parameter set by name, or from a JSON file; sets below 128 bits only if `common` allows
/// them.
pub fn find_params(name: &str, common: &Common) -> Result<Params, CliError> {
    params_of(find_spec(name)?, common)
}

/// The parameter set of a specification, if `common` allows it.
pub fn params_of(spec: ParamsSpec, common: &Common) -> Result<Params, CliError> {
    Params::new(spec, common.opt_in()).map_err(refused_set)
}

/// Why a parameter set is refused, and the option that asks for it all the same.
pub fn refused_set(e: SchemeError) -> CliError {
    match e {
        SchemeError::Insecure { .. } => {
            CliError::usage(format!("{e}; --insecure-research allows this set")).with_code(e.code())
        }
        SchemeError::FrequentFailures { .. } => {
            CliError::usage(format!("{e}; here --allow-failures")).with_code(e.code())
        }
        e => CliError::usage(e),
    }
}

/// Tells whoever makes keys or decrypts that values may be wrong, where the set says so.
pub fn tell_failures(params: &Params) {
    if let Some(notice) = params.failure_notice() {
        remark(format_args!("note: {notice}"));
    }
}

/// Plans the keys and the bootstrapping of a set, in the mode that the set names or in another.
/// What does not fit is the parameter set's fault, hence a usage error.
pub fn find_planner(params: &Params, mode: Option<BootstrapMode>) -> Result<KeyPlanner, CliError> {
    let plan = bootstrap_plan(params).and_then(|plan| match mode {
        Some(mode) => Ok(BootstrapPlan::for_mode(params, mode)?),
        None => Ok(plan),
    });
    plan.and_then(|plan| KeyPlanner::with_plan(params, plan)).map_err(|e| refused_plan(params, e))
}

/// Why a set cannot bootstrap, with advice.
pub fn refused_plan(params: &Params, e: Error) -> CliError {
    match e {
        Error::Scheme(SchemeError::NoiseOverflow { .. })
        | Error::Circuit(CircuitError::Scheme(SchemeError::NoiseOverflow { .. })) => {
            CliError::usage(format!(
                "parameter set {}: too little room to bootstrap: raise words ({e})",
                params.name()
            ))
            .with_code(e.code())
        }
        Error::Circuit(e) => {
            CliError::usage(format!("parameter set {}: {e}", params.name())).with_code(e.code())
        }
        e => CliError::usage(e),
    }
}
