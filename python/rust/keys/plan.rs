//! Which server keys are made, and how a server bootstraps.

use everlevel::{
    BootstrapMode, BootstrapPlan, KeyPlan, KeyPlanner, bootstrap_plan, general_keys, program_keys,
};
use everlevel_circuit::expression::Program;
use pyo3::prelude::*;

use crate::errors::{Result, refusal};
use crate::params::Params;
use crate::runtime::detached;

/// Which server keys are made.
#[pyclass(frozen, module = "everlevel._everlevel")]
pub struct Plan(pub KeyPlan);

#[pymethods]
impl Plan {
    /// For any program, or for one; in full mode for slots that hold whole elements.
    #[new]
    fn new(
        py: Python<'_>,
        params: &Params,
        program: Option<String>,
        elements: bool,
    ) -> Result<Self> {
        let program = program.map(|text| Program::parse(&text)).transpose()?;
        let params = &params.0;
        detached(py, || match &program {
            Some(_) if elements => Err(refusal(
                "ParameterError",
                "python.elements",
                "keys for one program are for integers",
            )),
            Some(program) => Ok(Plan(program_keys(params, program)?)),
            None if elements && params.spec().bootstrap.is_some() => {
                let planner = KeyPlanner::with_plan(params, plan_for(params, true)?)?;
                Ok(Plan(planner.general_rotations()?.keys()))
            }
            None => Ok(Plan(general_keys(params)?)),
        })
    }

    fn __len__(&self) -> usize {
        self.0.len() + usize::from(self.0.bootstrap)
    }

    /// The keys of both.
    fn merge(&self, other: &Plan) -> Self {
        Plan(self.0.clone().merge(&other.0))
    }

    /// Fewer keys for products; none where that would save less than a tenth of their bytes.
    fn smaller(&self, params: &Params) -> Option<Self> {
        let smaller = self.0.smaller(&params.0);
        (smaller != self.0).then_some(Plan(smaller))
    }

    /// What the keys take in a file.
    fn bytes(&self, params: &Params) -> u64 {
        self.0.seeded_bytes(&params.0)
    }

    /// What they take in memory.
    fn memory_bytes(&self, params: &Params) -> u64 {
        self.0.memory_bytes(&params.0)
    }
}

/// How a server bootstraps: as the set says, or in full mode.
pub fn plan_for(params: &everlevel::Params, elements: bool) -> Result<BootstrapPlan> {
    if elements {
        return Ok(BootstrapPlan::for_mode(params, BootstrapMode::Full)?);
    }
    Ok(bootstrap_plan(params)?)
}
