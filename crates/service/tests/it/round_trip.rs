//! From a file to a result, and what is told on the way.

use everlevel::files::Existing;
use everlevel_service::api::{JobRequest, JobState, NewTable};
use everlevel_service::{Client, IdempotencyKey, ObjectId, Scope};
use everlevel_tables::{Data, EncryptedTable, Plan, Schema, TableKey, TableResult};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::support::{Owner, Running, program, program_of, push, start};

#[test]
fn a_program_on_columns() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let file = owner.columns("ab", &[("a", &[1, 2, 200]), ("b", &[9, 2, 100])]);
    let (keys, columns) = (push(&client, &owner.keys), push(&client, &file));
    let request = program(&keys, &columns, "total = a + b; most = max(a, b)");

    let estimate = client.estimate(&request).unwrap();
    assert!(estimate.seconds > 0.0 && estimate.key_switches > 0, "{estimate:?}");
    let key = IdempotencyKey::random().unwrap();
    let job = client.start(&request, &key).unwrap();
    let done = client.wait(&job.id, |_| ()).unwrap();
    assert_eq!((done.state, done.attempts), (JobState::Done, 1));
    for (name, expected) in [("total", [10, 4, 300]), ("most", [9, 2, 200])] {
        let bytes = client.fetch(&done.results[name], |_, _| ()).unwrap();
        assert_eq!(owner.values(&bytes), expected, "{name}");
    }
    // Asked again, it is the same job; another request of this name is refused.
    assert_eq!(client.start(&request, &key).unwrap().id, job.id);
    let other = program(&keys, &columns, "total = a");
    assert_eq!(client.start(&other, &key).unwrap_err().code(), "service.conflict");
    assert_eq!(client.jobs().unwrap().len(), 1);

    // A result is computed on: its bounds are known to be true. The keys are opened already.
    let again = program(&keys, &done.results["total"], "twice = total * 2");
    let done = client.wait(&start(&client, &again), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["twice"], |_, _| ()).unwrap();
    assert_eq!(owner.values(&bytes), [20, 8, 600]);

    // The end of a job may be told just before it is counted.
    let ended = "everlevel_jobs_ended_total{state=\"done\"} 2";
    let mut text = service.metrics();
    for _ in 0..600 {
        if text.contains(ended) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        text = service.metrics();
    }
    assert!(text.contains(ended), "{text}");
    assert!(!text.contains("acme") && !text.contains(keys.as_ref()), "{text}");
}

/// The numbered example, with this service for that of its environment.
#[test]
fn the_example_in_rust() {
    let directory = tempfile::tempdir().unwrap();
    let service = Running::start(directory.path(), |_| ());
    let token = service.token("acme", &[Scope::Read, Scope::Write, Scope::Run]);
    crate::example::compute(&service.url(), &token).unwrap();
    // Its environment has no token.
    assert!(crate::example::main().is_err());
    assert_eq!(service.client("acme").jobs().unwrap().len(), 1);
}

#[test]
fn a_program_on_ciphertexts() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let x = owner.client.encrypt_modular(&[2, 3, 65536], &mut rng).unwrap();
    let path = owner.file("modular", &owner.client.upload(&[x]).unwrap());
    let (keys, x) = (push(&client, &owner.keys), push(&client, &path));
    let request = program_of(&keys, &[("x", &x)], "y = x^4 + 1");
    assert!(client.estimate(&request).unwrap().products >= 2);
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["y"], |_, _| ()).unwrap();
    assert_eq!(&owner.residues(&bytes)[..4], [17, 82, 2, 1]);
}

/// Slots without a value are not added up, also not in a result of an earlier job.
#[test]
fn sums_are_of_values() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let path = owner.modular("sums", &[2, 3, 4]);
    let (keys, x) = (push(&client, &owner.keys), push(&client, &path));
    let run = |text: &str, x: &ObjectId| {
        client.wait(&start(&client, &program_of(&keys, &[("x", x)], text)), |_| ())
    };
    let done = run("plus = x + 1; twice = 2*x", &x).unwrap();
    let refused = run("s = sum(x)", &done.results["plus"]).unwrap_err();
    assert_eq!(refused.code(), "service.malformed");
    let summed = run("s = sum(x)", &done.results["twice"]).unwrap();
    let bytes = client.fetch(&summed.results["s"], |_, _| ()).unwrap();
    assert_eq!(owner.residues(&bytes)[0], 18);
}

#[test]
fn a_query_on_a_table() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let schema = Schema::from_json(include_str!("../../../../cli/data/orders.json")).unwrap();
    let csv = &include_bytes!("../../../../cli/data/orders.csv")[..];
    let data = Data::from_csv(csv, &schema).unwrap();
    let path = directory.path().join("orders");
    let key = TableKey::Secret(owner.client.secret());
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let nothing = |_, _| Ok::<_, everlevel_tables::TablesError>(());
    let of = (&schema, &data);
    EncryptedTable::create(&path, Existing::Keep, key, of, &mut rng, nothing).unwrap();

    let table = client.push_table(&path, |_, _| ()).unwrap();
    assert_eq!((table.rows, table.columns), (data.rows(), schema.fields().len()));
    // Its schema is what queries are bound to.
    let token = service.token("acme", &[Scope::Read]);
    let (status, told) =
        service.call("GET", &format!("/v1/tables/{}/schema", table.id), &token, b"");
    assert_eq!((status, Schema::from_json(&told.to_string()).unwrap()), (200, schema.clone()));
    // Sent again, it is the same.
    assert_eq!(client.push_table(&path, |_, _| ()).unwrap(), table);
    // What is stored of it counts, once.
    let stored = |client: &Client| {
        let used = client.usage().unwrap();
        let objects = client.objects().unwrap();
        let bytes: u64 = objects.iter().map(|object| object.bytes).sum();
        (used.bytes - bytes, used.objects - objects.len() as u64)
    };
    let text = |name: &str| {
        let text = std::fs::read_to_string(path.join(name)).ok()?;
        Some((name.to_string(), text))
    };
    let texts = ["schema.json", "files.json"].into_iter().filter_map(text).collect();
    let request = NewTable { texts, blocks: table.blocks.clone() };
    let request = serde_json::to_vec(&request).unwrap().len() as u64;
    assert_eq!(stored(&client), (request, 1));
    let plan = Plan::new("select count(*), sum(amount) from orders where paid", &schema).unwrap();
    let request = JobRequest::Table {
        server_keys: push(&client, &owner.keys),
        table: table.id.clone(),
        plan: serde_json::from_str(&plan.to_json().unwrap()).unwrap(),
        constants: None,
    };
    assert!(client.estimate(&request).unwrap().seconds > 0.0);
    let done = client.wait(&start(&client, &request), |_| ()).unwrap();
    let bytes = client.fetch(&done.results["result"], |_, _| ()).unwrap();
    let result = TableResult::from_bytes(bytes).unwrap();
    result.check(Some(&plan), table.table.parse().ok(), None).unwrap();
    let answer = result.read(owner.client.secret()).unwrap();
    let expected = everlevel_tables::Answer::plain_with(plan.query(), &schema, &data, &[]).unwrap();
    assert_eq!(answer, expected);

    // An object is not taken away from its table.
    let block = table.blocks.values().next().unwrap();
    assert_eq!(client.delete_object(block).unwrap_err().code(), "service.conflict");
    client.delete_table(&table.id).unwrap();
    client.delete_object(block).unwrap();
    assert!(client.tables().unwrap().is_empty());
    client.delete_job(&done.id).unwrap();
    assert_eq!(stored(&client), (0, 0));
}

#[test]
fn jobs_that_cannot_be_are_refused_with_the_code_of_the_mistake() {
    let (directory, owner) = (tempfile::tempdir().unwrap(), Owner::shared());
    let service = Running::start(directory.path(), |_| ());
    let client = service.client("acme");
    let file = owner.columns("x", &[("x", &[1, 2])]);
    let (keys, columns) = (push(&client, &owner.keys), push(&client, &file));
    let refused = |request: &JobRequest| {
        let key = IdempotencyKey::random().unwrap();
        client.start(request, &key).unwrap_err().code().to_string()
    };
    assert_eq!(refused(&program(&keys, &columns, "y = ")), "expression.syntax");
    assert_eq!(refused(&program(&columns, &columns, "y = x")), "service.malformed");
    assert_eq!(refused(&program(&keys, &keys, "y = x")), "service.malformed");
    // What only the computation finds ends the job, not the service.
    let fails = start(&client, &program(&keys, &columns, "y = x * z"));
    assert_eq!(client.wait(&fails, |_| ()).unwrap_err().code(), "circuit.missing-input");
    // Keys of another owner.
    let other = push(&client, &Owner::other().keys);
    assert_eq!(refused(&program(&other, &columns, "y = x")), "scheme.wrong-key");
}
