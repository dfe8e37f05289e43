//! The integration tests of this crate, in one binary so that it is linked once.

mod answers;
mod forged;
mod plans;
mod random;
mod refused;
mod roles;

use std::sync::Arc;

use everlevel_circuit::Session;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_integers::{Encoded, Integers};
use everlevel_scheme::{NoOp, OptIn, Params, Plaintext, Scheme, SchemeError};
use everlevel_tables::{Answer, Data, Layout, Query, Runner, Schema};

/// A server on the no-op scheme, which bootstraps.
pub(crate) struct Bench {
    params: Params,
    scheme: Arc<NoOp>,
    session: Session<NoOp>,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        let params = Params::named(name, OptIn::InsecureResearch).unwrap();
        let scheme = Arc::new(NoOp::new(&params, 1));
        let plan = BootstrapPlan::for_set(&params).unwrap();
        let bootstrapper = Arc::new(Bootstrapper::new(&*scheme, plan).unwrap());
        Bench { session: Session::new(scheme.clone(), bootstrapper), params, scheme }
    }

    /// The answer by way of encrypted columns, block by block of as many rows as there are slots.
    pub(crate) fn ask(&self, text: &str, schema: &Schema, data: &Data) -> Answer {
        let query = Query::parse(text, schema).unwrap_or_else(|e| panic!("{text}: {e}"));
        let ints = Integers::new(&self.session, &self.params).unwrap();
        let layout = Layout::new(&query, schema, self.scheme.slot_shape(), data.rows()).unwrap();
        let mut runner = Runner::new(&ints, schema, &layout);
        let (mut start, params) = (0, &self.params);
        for rows in layout.blocks() {
            let encrypt =
                |slots: &[u64]| self.scheme.encrypt(&Plaintext::encode_modulo(params, slots, 2)?);
            let columns: Vec<_> = (schema.fields().iter().enumerate())
                .map(|(place, field)| {
                    let values = &data.column(place)[start..start + rows];
                    let kind = field.integer_type().unwrap();
                    let encoded = Encoded::new(values, kind, params.slots()).unwrap();
                    let found: Result<_, SchemeError> = encoded.encrypt(encrypt);
                    found.unwrap()
                })
                .collect();
            runner.add(&columns).unwrap_or_else(|e| panic!("{text}: {e}"));
            start += rows;
        }
        let answer = runner.finish().unwrap_or_else(|e| panic!("{text}: {e}"));
        let open = |x| self.scheme.decrypt(x).unwrap().coefficients().to_vec();
        let sums = layout.read(&answer.iter().map(open).collect::<Vec<_>>()).unwrap();
        Answer::new(&query, schema, &sums).unwrap()
    }
}

/// Goods of a shop, with a value at every bound.
pub(crate) fn shop() -> (Schema, Data) {
    let schema = Schema::from_json(
        r#"{"columns": [
            {"name": "kind", "type": "category", "values": ["tea", "cake", "PROMO tea", "jam"]},
            {"name": "price", "type": "decimal", "scale": 2, "low": "0.05", "high": "999.99"},
            {"name": "count", "type": "integer", "low": -3, "high": 500},
            {"name": "sold", "type": "date", "low": "1992-01-01", "high": "1998-12-31"},
            {"name": "paid", "type": "boolean"},
            {"name": "discount", "type": "decimal", "scale": 2, "low": "0", "high": "0.10"}
        ]}"#,
    )
    .unwrap();
    let rows = "kind,price,count,sold,paid,discount,comment
tea,0.05,-3,1992-01-01,true,0,x
cake,999.99,500,1998-12-31,false,0.10,x
PROMO tea,12.50,7,1994-06-30,true,0.06,x
jam,3.20,0,1994-01-01,false,0.05,x
tea,4.99,16,1995-01-01,true,0.07,x
tea,250,255,1994-12-31,true,0.05,x
cake,17.77,256,1996-02-29,false,0.01,x
";
    let data = Data::from_csv(rows.as_bytes(), &schema).unwrap();
    (schema, data)
}
