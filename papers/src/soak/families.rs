//! The sets of a soak test: one small ring for every way in which bootstrapping is done, and one of
//! full size.

use everlevel::{KeyPlanner, OptIn, Params, ParamsSpec};
use everlevel_cli::console::errors::CliError;
use everlevel_cli::console::params::{find_planner, find_spec};
use everlevel_scheme::Form;
use everlevel_scheme::spec::{BootstrapMode, BootstrapSpec};

/// A parameter set and how it is bootstrapped.
pub struct Family {
    /// The name of its record, after `soak-`.
    pub name: &'static str,
    /// What it stands for.
    pub what: &'static str,
    ring: Ring,
    mode: Option<BootstrapMode>,
    digits: Option<&'static str>,
}

/// Where the parameters come from.
enum Ring {
    /// A named set.
    Named(&'static str),
    /// A square-free odd index m, a plaintext modulus p^r and the digits to remove, under a sparse
    /// secret of weight 2: what is raised overflows by at most 12, whatever the message.
    Odd { index: u64, p: u64, r: u32, digits: u32, form: Form },
}

const fn named(name: &'static str, mode: Option<BootstrapMode>, what: &'static str) -> Family {
    Family { name, what, ring: Ring::Named(name), mode, digits: None }
}

const fn odd(
    name: &'static str,
    (index, p, r, digits): (u64, u64, u32, u32),
    form: Form,
    mode: BootstrapMode,
    what: &'static str,
) -> Family {
    let ring = Ring::Odd { index, p, r, digits, form };
    Family { name, what, ring, mode: Some(mode), digits: None }
}

/// Sets of which one bootstrapping takes milliseconds.
pub const SMALL: [Family; 13] = [
    named("insecure_bgv-257-n8", None, "BGV, power of two, integers in the slots"),
    named("insecure_bfv-257-n8", None, "BFV, power of two"),
    named("insecure_bgv-127-n8", None, "slots of degree above 1, thin"),
    Family {
        name: "insecure_bgv-127-n8-general",
        ..general("insecure_bgv-127-n8", "slots of degree above 1, whole elements")
    },
    named("insecure_bfv-127e2-n8", None, "p^2, thin"),
    Family {
        name: "insecure_bfv-127e2-n8-general",
        ..general("insecure_bfv-127e2-n8", "p^2, whole elements")
    },
    odd("odd-31-m55", (55, 31, 1, 1), Form::Bgv, BootstrapMode::Thin, "odd index, thin"),
    odd("odd-127-m91", (91, 127, 1, 1), Form::Bgv, BootstrapMode::Bypass, "odd index, bypass"),
    odd("odd-127-m91-general", (91, 127, 1, 1), Form::Bfv, BootstrapMode::Full, "odd, general"),
    odd("odd-2-m51", (51, 2, 1, 5), Form::Bgv, BootstrapMode::Bypass, "p = 2"),
    odd("odd-2e3-m31", (31, 2, 3, 5), Form::Bgv, BootstrapMode::Thin, "2^3, odd index"),
    odd("odd-17e2-m91", (91, 17, 2, 2), Form::Bgv, BootstrapMode::Thin, "17^2, two digits"),
    Family {
        digits: Some("global"),
        ..odd(
            "odd-8191-m301",
            (301, 8191, 1, 1),
            Form::Bgv,
            BootstrapMode::Thin,
            "large p, null polynomials",
        )
    },
];

/// The default set, at full size.
pub const FULL: Family = named("bgv-65537-n15", None, "the default parameters");

const fn general(name: &'static str, what: &'static str) -> Family {
    named(name, Some(BootstrapMode::Full), what)
}

/// The family of a name.
pub fn find(name: &str) -> Option<&'static Family> {
    SMALL.iter().chain([&FULL]).find(|family| family.name == name)
}

impl Family {
    /// Whether one key pair after the other is tried, each on all threads, because keys are large.
    pub fn is_large(&self) -> bool {
        self.name == FULL.name
    }

    /// The parameters and the plan. Toys are allowed: what is encrypted is made up.
    pub fn planner(&self) -> Result<(Params, KeyPlanner), CliError> {
        let params =
            Params::new(self.spec()?, OptIn::InsecureResearch).map_err(CliError::failure)?;
        let planner = find_planner(&params, self.mode)?;
        let Some(digits) = self.digits else { return Ok((params, planner)) };
        let digits = digits.parse().map_err(CliError::failure)?;
        let plan = planner.bootstrap_plan().clone().with_digits(digits);
        let planner = KeyPlanner::with_plan(&params, plan).map_err(CliError::failure)?;
        Ok((params, planner))
    }

    fn spec(&self) -> Result<ParamsSpec, CliError> {
        let (index, p, r, digits, form) = match self.ring {
            Ring::Named(name) => return find_spec(name),
            Ring::Odd { index, p, r, digits, form } => (index, p, r, digits, form),
        };
        Ok(ParamsSpec {
            plain_exponent: r,
            words: 18,
            fine_bits: vec![46, 42, 38],
            special: 4,
            digit_size: 4,
            form,
            bootstrap: Some(BootstrapSpec {
                overflow_bound: Some(12),
                digits: Some(digits),
                mode: self.mode,
                ..BootstrapSpec::encapsulated(2)
            }),
            ..ParamsSpec::new(format!("insecure_{}", self.name), index, p)
        })
    }
}
