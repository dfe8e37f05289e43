//! The levels at which the arguments of plans are encrypted, and arguments at other levels.

use everlevel::files::Bounds;
use everlevel::{
    Client, Error, IntegersError, KeyPlanner, Level, NamedIntegers, OptIn, Params, Plan, Server,
    Type, general_keys,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const VALUES: [u8; 4] = [2, 3, 15, 0];

/// The codes of what is refused as its arguments are too low, or have no keys.
const REFUSED: [&str; 5] = [
    "integers.depth",
    "circuit.not-enough-capacity",
    "scheme.noise-overflow",
    "scheme.missing-key",
    "scheme.key-too-short",
];

fn toy() -> Params {
    Params::named("insecure_bgv-65537-n11", OptIn::InsecureResearch).unwrap()
}

fn kind() -> Type {
    Type::ranged(0, 15).unwrap()
}

/// A selection by a comparison of y, for which x is needed late; a deep one compares again.
fn plan(deep: bool) -> Plan {
    let traced = Plan::trace(|g| {
        let [x, y] = ["x", "y"].map(|name| g.input(name, kind(), 4));
        let low = y.lt(3);
        g.output("z", &if deep { low.select(&y * &y, &x).lt(10) } else { low.select(&x, 1) });
        Ok(())
    });
    traced.unwrap()
}

/// What the deep plan finds, if it is computed.
fn found(
    client: &Client,
    server: &Server,
    x: &NamedIntegers,
    y: &NamedIntegers,
) -> Result<Vec<u8>, Error> {
    let results = plan(true).run(server, &[x.clone(), y.clone()])?;
    client.decrypt_column::<u8>(&results[0].1)
}

const EXPECTED: [u8; 4] = [1, 1, 0, 1];

/// Arguments that are encrypted for the plan are smaller than others, and each has its own level.
#[test]
fn uploads_are_at_the_levels_of_the_plan() {
    let (params, plan) = (toy(), plan(true));
    let estimate = plan.explain(&params).unwrap();
    let top = params.chain().top();
    let level = |i: usize| estimate.inputs[i].level.unwrap();
    assert!(!estimate.bootstraps && level(0) < level(1) && level(1) < top, "{estimate}");
    assert!(estimate.to_string().contains(&format!("of 0 to {top}: x {} (", level(0))));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let client = Client::new(&params, &mut rng);
    let server = plan.server(&client, &mut rng).unwrap();
    let own = ["x", "y"].map(|name| client.encrypt_for(&plan, name, &VALUES, &mut rng).unwrap());
    let other = ["x", "y"].map(|name| {
        let column = client.encrypt_integers(&VALUES, kind(), &mut rng).unwrap();
        (name.to_string(), column.into())
    });
    let bytes = |columns: &[NamedIntegers]| client.upload_columns(columns).unwrap().len();
    assert!(bytes(&own) < bytes(&other), "{} {}", bytes(&own), bytes(&other));
    let sent = client.upload_columns(&own).unwrap();
    let received = server.receive_columns(&sent, &Bounds::Fresh).unwrap();
    assert_eq!(found(&client, &server, &received[0], &received[1]).unwrap(), EXPECTED);
}

/// What is used late is encrypted lower than what is compared first, and what is not used at all at
/// the lowest level.
#[test]
fn arguments_have_levels_of_their_own() {
    let params = toy();
    let plan = Plan::trace(|g| {
        let [first, late, _] = ["first", "late", "never"].map(|name| g.input(name, Type::U8, 4));
        g.output("y", &first.lt(9).select(&late, 7));
        Ok(())
    });
    let estimate = plan.unwrap().explain(&params).unwrap();
    assert!(!estimate.bootstraps);
    let level = |i: usize| estimate.inputs[i].level.unwrap();
    let [first, late, never] = [level(0), level(1), level(2)];
    assert!(never < late && late < first && first < params.chain().top(), "{estimate}");
    let bytes = |i: usize| estimate.inputs[i].bytes;
    assert!(bytes(2) < bytes(1) && bytes(1) < bytes(0), "{estimate}");
}

/// What is above the level of the plan is switched down; what is below it is refused, and so is
/// what the keys of another program do not suffice for.
#[test]
fn arguments_at_other_levels() {
    let (params, deep, shallow) = (toy(), plan(true), plan(false));
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let client = Client::new(&params, &mut rng);
    let server = deep.server(&client, &mut rng).unwrap();
    let mut own =
        |plan: &Plan, name: &str| client.encrypt_for(plan, name, &VALUES, &mut rng).unwrap();
    let [x, y] = ["x", "y"].map(|name| own(&deep, name));
    let [low_x, low_y] = ["x", "y"].map(|name| own(&shallow, name));
    let [top_x, top_y] = ["x", "y"].map(|name| -> NamedIntegers {
        let column = client.encrypt_integers(&VALUES, kind(), &mut rng).unwrap();
        (name.into(), column.into())
    });
    assert_eq!(found(&client, &server, &x, &y).unwrap(), EXPECTED);
    assert_eq!(found(&client, &server, &top_x, &top_y).unwrap(), EXPECTED);
    // Of two kinds, for which products may meet at other levels: exact, or refused.
    for (x, y) in [(&x, &top_y), (&top_x, &y), (&low_x, &y)] {
        match found(&client, &server, x, y) {
            Ok(found) => assert_eq!(found, EXPECTED),
            Err(error) => assert!(REFUSED.contains(&error.code()), "{error}"),
        }
    }
    for x in [&x, &top_x, &low_x] {
        let error = found(&client, &server, x, &low_y).unwrap_err();
        assert!(REFUSED.contains(&error.code()), "{error}");
    }
    // On servers with the keys of another program, and with general ones.
    let lacking = shallow.server(&client, &mut rng).unwrap();
    let error = found(&client, &lacking, &x, &y).unwrap_err();
    assert!(REFUSED[3..].contains(&error.code()), "{error}");
    let planner = KeyPlanner::new(&params).unwrap();
    let keys = general_keys(&params).unwrap();
    let general = client.server_for(&keys, planner.bootstrap_plan(), &mut rng, |_, _| ()).unwrap();
    // What is at the top stays there, where it needs no bootstrapping.
    let run = shallow.run(&general, &[top_x, top_y]).unwrap();
    assert_eq!(client.decrypt_column::<u8>(&run[0].1).unwrap(), [2, 1, 1, 0]);
    assert_eq!(general.bootstraps(), 0);
    assert_eq!(found(&client, &general, &x, &low_y).unwrap(), EXPECTED);
    assert!(general.bootstraps() > 0, "what is below the level of the plan is refreshed there");
}

/// A refusal is that of the first operation that does not fit.
#[test]
fn a_refusal_says_what_does_not_fit() {
    let (params, deep) = (toy(), plan(true));
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let client = Client::new(&params, &mut rng);
    let server = deep.server(&client, &mut rng).unwrap();
    let none = Plan::trace(|g| {
        let y = g.input("y", kind(), 4);
        g.output("y", &y);
        Ok(())
    });
    // At the lowest level, as nothing is computed.
    let none = none.unwrap();
    assert_eq!(none.explain(&params).unwrap().inputs[0].level, Some(Level(0)));
    let y = client.encrypt_for(&none, "y", &VALUES, &mut rng).unwrap();
    let x = client.encrypt_for(&deep, "x", &VALUES, &mut rng).unwrap();
    let error = found(&client, &server, &x, &y).unwrap_err();
    assert!(matches!(error, Error::Integers(IntegersError::Depth { .. })), "{error}");
}
