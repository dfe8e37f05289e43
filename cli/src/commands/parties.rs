//! A client and a server in one process, as demonstrations and measurements have them.

use everlevel::{Client, Estimate, KeyPlan, KeyPlanner, Params, Server, ServerKeys, general_keys};
use rand_core::CryptoRng;

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::progress;
use crate::console::params::find_planner;

/// A server with the keys of a plan, made before a progress bar.
pub fn server_for(
    client: &Client,
    (planner, keys): (&KeyPlanner, &KeyPlan),
    rng: &mut impl CryptoRng,
    common: &Common,
) -> Result<Server, CliError> {
    let bar = progress(common, "making keys", (keys.len() + 1) as u64);
    let server = client
        .server_for(keys, planner.bootstrap_plan(), rng, |done, _| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    Ok(server)
}

/// A server with exactly the keys of an estimate, which bootstraps if the estimate does, made while
/// a progress bar shows how far it is.
pub fn planned_server(
    client: &Client,
    estimate: &Estimate,
    rng: &mut impl CryptoRng,
    common: &Common,
) -> Result<Server, CliError> {
    let keys = &estimate.keys;
    if estimate.bootstraps {
        let planner = find_planner(client.params(), None)?;
        return server_for(client, (&planner, keys), rng, common);
    }
    let bar = progress(common, "making keys", keys.len() as u64);
    let made =
        ServerKeys::generate(client.secret(), keys, rng, |done, _| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    Ok(Server::leveled(made))
}

/// A client with a new key, and a server with general keys of it.
pub fn parties(
    params: &Params,
    rng: &mut impl CryptoRng,
    common: &Common,
) -> Result<(Client, Server), CliError> {
    let planner = find_planner(params, None)?;
    let keys = general_keys(params)?;
    let client = Client::new(params, rng);
    let server = server_for(&client, (&planner, &keys), rng, common)?;
    Ok((client, server))
}
