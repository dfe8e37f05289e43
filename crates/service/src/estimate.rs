//! What a job will cost: it is run on a scheme that does everything but the cryptography.

use std::collections::BTreeMap;
use std::sync::Arc;

use everlevel::lab::{Bootstrapper, NoOp, Session};
use everlevel::{Integers, Params, Plaintext, Program, Server, TimeModel, Type, bootstrap_plan};
use everlevel_circuit::Value;
use everlevel_integers::Encoded;
use everlevel_tables::Plan;

use crate::api::{Estimate, JobRequest};
use crate::error::ServiceError;
use crate::evaluate::{Data, Inputs, integers};
use crate::name::Tenant;

/// A session that counts, and bootstraps if the keys can.
fn rehearsal(params: &Params, bootstraps: bool) -> Result<Session<NoOp>, ServiceError> {
    let scheme = Arc::new(NoOp::blank(params));
    if !bootstraps {
        return Ok(Session::leveled(scheme));
    }
    let bootstrapper = Bootstrapper::new(&*scheme, bootstrap_plan(params)?)?;
    Ok(Session::new(scheme, Arc::new(bootstrapper)))
}

impl Data {
    /// What a job will cost. Inputs count as fresh ones.
    pub(crate) fn estimate(
        &self,
        tenant: &Tenant,
        request: &JobRequest,
    ) -> Result<Estimate, ServiceError> {
        self.check(tenant, request)?;
        let key_memory_bytes = self.keys.memory(tenant, request.server_keys())?;
        let keys = self.keys.peek(tenant, request.server_keys())?;
        let params = keys.params().clone();
        match request {
            JobRequest::Table { table, plan, .. } => {
                let plan = Plan::from_json(&plan.to_string())?;
                let cost = plan.cost(&params, self.tables.info(tenant, table)?.rows)?;
                Ok(Estimate {
                    seconds: cost.seconds,
                    products: cost.products,
                    key_switches: cost.key_switches,
                    refreshes: cost.refreshes as u64,
                    key_memory_bytes,
                })
            }
            JobRequest::Program { program, tables, .. } => {
                let (program, bootstraps) = (Program::parse(program)?, keys.plan().bootstrap);
                // Reading takes parameters and owner of the keys, and none of them.
                let inputs = self.inputs(tenant, request, &Server::leveled(keys))?;
                let session = rehearsal(&params, bootstraps)?;
                let before = session.scheme().cost();
                counted(&session, &params, &program, &inputs, tables)?;
                let cost = session.scheme().cost() - before;
                Ok(Estimate {
                    seconds: TimeModel::typical(params.degree()).seconds(&cost),
                    products: cost.products,
                    key_switches: cost.key_switches,
                    refreshes: session.bootstraps() as u64,
                    key_memory_bytes,
                })
            }
        }
    }
}

/// Runs a program on values that look like its inputs.
fn counted(
    session: &Session<NoOp>,
    params: &Params,
    program: &Program,
    inputs: &Inputs,
    tables: &BTreeMap<String, Vec<i64>>,
) -> Result<(), ServiceError> {
    let zero = Plaintext::encode(params, &[])?;
    let scheme = session.scheme();
    match inputs {
        Inputs::Columns(columns) => {
            let mut alike = BTreeMap::new();
            for (name, column) in columns {
                let interval = column.interval();
                let kind = Type::ranged(interval.low(), interval.high())?;
                let entries = vec![interval.low(); column.length().unwrap_or(1)];
                let encoded = Encoded::new(&entries, kind, params.slots())?;
                let column = encoded.encrypt(|_| scheme.encrypt(&zero))?;
                alike.insert(name.clone(), column);
            }
            let ints = Integers::new(session, params)?;
            ints.run(program, &alike, &integers(tables), &mut |_| ())?;
        }
        Inputs::Ciphertexts(values, _) => {
            let alike = values.iter().map(|(name, x)| {
                Ok((name.clone(), Value::from(scheme.encrypt(&zero)?).within(x.range())))
            });
            let alike = alike.collect::<Result<_, ServiceError>>()?;
            program.run(session, &alike, &mut |_| ())?;
        }
    }
    Ok(())
}
