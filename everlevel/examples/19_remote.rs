//! Example 19. A service computes: keys and columns are sent, a program runs there as a job, and
//! its encrypted result comes back.
//!
//! `cargo run --release --example 19_remote`, with the token of a tenant in
//! EVERLEVEL_TOKEN, and the address of the service in EVERLEVEL_URL if it is not
//! http://127.0.0.1:8420. `everlevel serve --demo` is a service to try it with.
use std::error::Error;

use everlevel::remote::{self, Exposure, JobRequest};
use everlevel::{Client, OptIn, Params, Type, system_rng};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("EVERLEVEL_URL").unwrap_or("http://127.0.0.1:8420".into());
    compute(&url, &std::env::var("EVERLEVEL_TOKEN")?)
}

pub(crate) fn compute(url: &str, token: &str) -> Result<(), Box<dyn Error>> {
    // A toy set, which services take with --insecure-research and in a demonstration only.
    let params = Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch)?;
    let mut rng = system_rng()?;
    let client = Client::new(&params, &mut rng);
    let income = client.encrypt_integers(&[60u8, 20, 90], Type::U8, &mut rng)?;
    let debt = client.encrypt_integers(&[5u8, 9, 70], Type::U8, &mut rng)?;
    let columns =
        client.upload_columns(&[("income".into(), income.into()), ("debt".into(), debt.into())])?;

    let service = remote::Client::new(url, token, Exposure::Loopback)?;
    // What has a secret in it is refused before anything is sent.
    let keys = service.push_bytes(&client.server(&mut rng)?.to_bytes()?, |_, _| ())?;
    let columns = service.push_bytes(&columns, |_, _| ())?;

    let program = "limit = if(3*income - 2*debt >= 100, 1000, 0)";
    let request = JobRequest::program(&keys, program, &[&columns]);
    println!("{:.1} s by a model of one core", service.estimate(&request)?.seconds);
    let job = service.run(&request, |job| println!("{}", job.stage))?;
    let answer = service.fetch(job.result("limit")?, |_, _| ())?;

    let limit = &client.read_columns(&answer)?[0].1;
    assert_eq!(client.decrypt_column::<u16>(limit)?, [1000, 0, 1000]);
    println!("{} bootstraps at the service, all exact", job.refreshes);
    Ok(())
}
