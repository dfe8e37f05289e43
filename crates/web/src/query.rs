//! A query on a table, and the server keys that it takes.

use everlevel::{KeyPlan, Params};
use everlevel_tables::Plan;
use everlevel_wire::server_keys::SizeReport;
use serde_json::{Value, json};

use crate::error::Refused;
use crate::tables::schema_of;

/// A query that can be answered for tables of a number of rows.
pub struct Query {
    plan: Plan,
    keys: KeyPlan,
    params: Params,
}

impl Query {
    /// Binds a query in SQL to the schema of a table of `rows` rows, and finds which keys it
    /// takes, on a scheme that does everything but the cryptography.
    ///
    /// # Errors
    /// A query that cannot be answered exactly.
    pub fn new(params: &Params, sql: &str, schema: &str, rows: usize) -> Result<Self, Refused> {
        let plan = Plan::new(sql, &schema_of(schema)?)?;
        let keys = plan.keys(params, rows)?;
        Ok(Query { plan, keys, params: params.clone() })
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn keys(&self) -> &KeyPlan {
        &self.keys
    }

    /// The plan for the server, as JSON. All of it is public.
    ///
    /// # Errors
    /// None but those of memory.
    pub fn plan_json(&self) -> Result<String, Refused> {
        Ok(self.plan.to_json()?)
    }

    /// What the query takes, as JSON: the bytes of its server keys, whether it is bootstrapped,
    /// and the constants that it calls by name, each with what its column holds.
    pub fn told(&self) -> Value {
        let fields = self.plan.schema().fields();
        let parameters = self.plan.query().constants().map(|parameter| {
            json!({
                "name": parameter.name,
                "column": fields[parameter.column].name(),
                "expected": parameter.expected(self.plan.schema()),
            })
        });
        json!({
            "keyBytes": SizeReport::of_plan(&self.params, &self.keys).total_bytes(),
            "bootstraps": self.keys.bootstrap,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    }

    /// Whether a server with the keys of `other` can answer it.
    pub fn is_covered_by(&self, other: &Query) -> bool {
        self.params.same(&other.params) && other.keys.clone().merge(&self.keys) == other.keys
    }
}
