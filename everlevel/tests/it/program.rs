//! Programs on real ciphertexts with general keys: rotations at levels that have no key of their
//! own, sums, bootstrapping in between.

use std::collections::BTreeMap;

use everlevel::{
    Client, OptIn, Params, Server, ServerKeys, bootstrap_plan, general_keys, general_rotations,
};
use everlevel_circuit::expression::Program;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

#[test]
fn a_program_on_general_keys() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let client = Client::new(&params, &mut rng);
    let keys =
        ServerKeys::generate(client.secret(), &general_keys(&params).unwrap(), &mut rng, |_, _| ())
            .unwrap();
    let server = Server::new(keys, bootstrap_plan(&params).unwrap()).unwrap();
    let (slots, columns) = (params.slots(), params.slot_shape().columns());
    let x: Vec<u64> = (0..slots as u64).map(|i| (i * 31 + 5) % 257).collect();
    let load =
        |v: &[u64], rng: &mut ChaCha20Rng| server.load(client.encrypt_modular(v, rng).unwrap());
    let inputs = BTreeMap::from([
        ("x".to_string(), load(&x, &mut rng)),
        ("w".to_string(), load(&[3], &mut rng)),
    ]);
    let text = "_a = x^300; y = (_a^299)^301 - 2*x + 5; z = rotate(y, -5) * rotate(x, 21); s = \
                sum(w*w); t = z^9 + swap_rows(rotate(z, 1)); u = rotate(t, 3)";
    let mut done = Vec::new();
    let out = server.run(&Program::parse(text).unwrap(), &inputs, &mut |k| done.push(k)).unwrap();
    assert_eq!(done, [1, 2, 3, 4, 5, 6]);
    assert!(server.bootstraps() > 0);

    let rotated = |v: &[u64], k: i64| -> Vec<u64> {
        let from = |i: usize| {
            i / columns * columns
                + (i as i64 % columns as i64 + k).rem_euclid(columns as i64) as usize
        };
        (0..slots).map(|i| v[from(i)]).collect()
    };
    let zip = |a: &[u64], b: &[u64], f: &dyn Fn(u64, u64) -> u64| {
        a.iter().zip(b).map(|(&a, &b)| f(a, b) % 257).collect::<Vec<_>>()
    };
    let power = |x: u64, k: u64| (0..k).fold(1, |p, _| p * x % 257);
    let y = zip(&x, &x, &|x, _| power(power(power(x, 300), 299), 301) + 255 * x + 5);
    let z = zip(&rotated(&y, -5), &rotated(&x, 21), &|a, b| a * b);
    let turned = rotated(&z, 1);
    let swapped: Vec<u64> = (0..slots).map(|i| turned[(i + columns) % slots]).collect();
    let t = zip(&z, &swapped, &|z, s| power(z, 9) + s);
    let open = |name: &str| client.decrypt_modular(&out[name].get()).unwrap();
    assert_eq!(open("y"), y);
    assert_eq!(open("z"), z);
    assert_eq!(open("s"), vec![9; slots]);
    assert_eq!(open("t"), t);
    assert_eq!(open("u"), rotated(&t, 3));
}

#[test]
fn a_leveled_server_refuses_what_does_not_fit() {
    let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let client = Client::new(&params, &mut rng);
    let top = params.chain().top();
    let plan = everlevel::KeyPlan::relinearization(&params)
        .merge(&general_rotations(&params, top).unwrap());
    let server =
        Server::leveled(ServerKeys::generate(client.secret(), &plan, &mut rng, |_, _| ()).unwrap());
    let inputs = BTreeMap::from([(
        "x".to_string(),
        server.load(client.encrypt_modular(&[7, 8], &mut rng).unwrap()),
    )]);
    let run = |text: &str| server.run(&Program::parse(text).unwrap(), &inputs, &mut |_| ());
    assert_eq!(
        client.decrypt_modular(&run("y = rotate(x^2, 1)").unwrap()["y"].get()).unwrap()[0],
        64
    );
    let error = run("y = x^4294967296").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");
    let error = run("y = refresh(x)").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("bootstrapping"), "{error}");
}
