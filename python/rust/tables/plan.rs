//! Plans of queries: what they do, take and tell, their encrypted constants, and their answers
//! in the clear.

use everlevel::KeyPlan;
use everlevel_tables::{Answer, Constants, OrderedBy, Plan, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::clear::{Clear, data_of};
use super::convert::{json, one_key};
use crate::errors::Result;
use crate::keys::{PublicKey, SecretKey};
use crate::params::Params;
use crate::runtime::{detached, rng};
use crate::values::shown;

/// The plan of a query, whose rows are put in order by the server or the reader.
#[pyfunction]
#[pyo3(signature = (query, schema, by_server = false))]
pub fn table_plan(query: &str, schema: &str, by_server: bool) -> Result<String> {
    let by = if by_server { OrderedBy::Server } else { OrderedBy::Reader };
    Ok(Plan::ordered(query, &Schema::from_json(schema)?, by)?.to_json()?)
}

/// Query, schema and id of a plan, and whether the server puts rows in order.
#[pyfunction]
pub fn table_plan_facts(plan: &str) -> Result<(String, String, String, bool)> {
    let plan = Plan::from_json(plan)?;
    let by_server = plan.query().ordered_by == OrderedBy::Server;
    Ok((plan.sql().into(), plan.schema().to_json()?, plan.id()?, by_server))
}

/// The encrypted constants of a plan: of each its name and the column that it is compared with.
#[pyfunction]
pub fn table_plan_parameters(plan: &str) -> Result<Vec<(String, String)>> {
    let plan = Plan::from_json(plan)?;
    let name = |place: usize| plan.schema().fields()[place].name().to_string();
    Ok(plan.query().constants().map(|p| (p.name.clone(), name(p.column))).collect())
}

/// Notes on comparisons of a plan that hold for no row.
#[pyfunction]
pub fn table_plan_notes(plan: &str) -> Result<Vec<String>> {
    Ok(Plan::from_json(plan)?.notes().to_vec())
}

/// The constants of a plan, encrypted under one of two keys: name and text of each.
#[pyfunction]
#[pyo3(signature = (plan, constants, secret = None, public = None))]
pub fn encrypt_table_constants<'py>(
    py: Python<'py>,
    plan: &str,
    constants: Vec<(String, String)>,
    secret: Option<&SecretKey>,
    public: Option<&PublicKey>,
) -> Result<Bound<'py, PyBytes>> {
    let key = one_key(secret, public)?;
    let found = detached(py, || {
        Ok(Constants::encrypt(key, &Plan::from_json(plan)?, &constants, &mut rng()?)?)
    })?;
    Ok(PyBytes::new(py, found.as_bytes()))
}

/// Id, id of the plan, and owner of encrypted constants.
#[pyfunction]
pub fn table_constants_facts(data: &[u8]) -> Result<(String, String, Option<String>)> {
    let found = Constants::from_bytes(data.to_vec())?;
    Ok((found.id().to_string(), found.plan().into(), shown(found.owner())))
}

/// The server keys that plans take for a table of a given number of rows; with `small`, fewer of
/// them for products.
#[pyfunction]
pub fn table_plan_keys(
    py: Python<'_>,
    plans: Vec<String>,
    params: &Params,
    rows: usize,
    small: bool,
) -> Result<crate::keys::Plan> {
    let keys = detached(py, || {
        let plans: Result<Vec<Plan>> = plans.iter().map(|x| Ok(Plan::from_json(x)?)).collect();
        let plans = plans?;
        let mut keys = KeyPlan::default();
        for plan in &plans {
            keys = keys.merge(&plan.keys(&params.0, rows)?);
        }
        Ok(if small { Plan::smaller_keys(&plans, &params.0, rows, &keys) } else { keys })
    })?;
    Ok(crate::keys::Plan(keys))
}

/// What a plan takes for a given number of rows, as JSON.
#[pyfunction]
pub fn table_plan_cost(py: Python<'_>, plan: &str, params: &Params, rows: usize) -> Result<String> {
    let cost = detached(py, || Ok(Plan::from_json(plan)?.cost(&params.0, rows)?))?;
    json(&cost)
}

/// What a plan does, costs and tells for a given number of rows, as JSON, and in words.
#[pyfunction]
pub fn table_plan_explain(
    py: Python<'_>,
    plan: &str,
    params: &Params,
    rows: usize,
) -> Result<(String, String)> {
    let found = detached(py, || Ok(Plan::from_json(plan)?.explain(&params.0, rows)?))?;
    Ok((json(&found)?, found.to_string()))
}

/// The answer to a plan about a table in the clear, as JSON: computed in the clear, or by the
/// computation of a server on the no-op scheme of a parameter set.
#[pyfunction]
#[pyo3(signature = (plan, clear, constants, params = None))]
pub fn table_plan_answer(
    py: Python<'_>,
    plan: &str,
    clear: Clear,
    constants: Vec<(String, String)>,
    params: Option<&Params>,
) -> Result<String> {
    let answer = detached(py, || {
        let plan = Plan::from_json(plan)?;
        let (query, schema) = (plan.query(), plan.schema());
        let (data, codes) = (data_of(&clear, schema)?, plan.codes(&constants)?);
        let answer = match params {
            None => Answer::plain_with(query, schema, &data, &codes)?,
            Some(params) => plan.rehearse(&params.0, &data, &codes)?,
        };
        Ok(answer.to_json(&query.output_types(schema)))
    })?;
    json(&answer)
}
