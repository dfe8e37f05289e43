//! Processes that share an object store, and no directory.

use std::time::Duration;

use everlevel::files::Existing;
use everlevel_service::api::JobRequest;
use everlevel_service::{Bucket, Client, Config, Service};
use everlevel_tables::{Answer, Data, EncryptedTable, Plan, Schema, TableKey, TableResult};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::postgres::Instance;
use crate::process::{Owner, Place, config, push, start, wait_until_it_computes};
use crate::s3::ObjectStore;
use crate::scenes::{Scene, are_killed_at_random, are_one_service, loses_its_job};

/// Passes a store that has what the tenant `acme` has, and nothing else of it.
fn is_whole(store: &ObjectStore, name: &str, client: &Client) {
    let mut expected: Vec<String> = (client.objects().expect("objects").iter())
        .map(|object| format!("{name}/objects/acme/{}", object.id))
        .collect();
    expected.sort();
    let objects = store.objects();
    let of_tenant = |key: &&String| key.starts_with(name) && key.contains("/acme/");
    let found: Vec<String> = objects.keys().filter(of_tenant).cloned().collect();
    assert_eq!(found, expected);
    assert_eq!(store.incomplete(), 0);
}

pub fn processes_are_one_service(server: &mut Instance) {
    let store = ObjectStore::start();
    are_one_service(&Place::in_bucket(server, "together_s3", &store));
    assert!(store.objects().keys().any(|key| key.contains("/objects/rival/")));
    assert!(!store.objects().keys().any(|key| key.contains("/uploads/")));
}

pub fn a_killed_worker_loses_its_job(server: &mut Instance) {
    let store = ObjectStore::start();
    let scene = Scene::at(Place::in_bucket(server, "killed_s3", &store), 6);
    loses_its_job(&scene);
    is_whole(&store, "killed_s3", &scene.client);
}

pub fn workers_are_killed_at_random(server: &mut Instance) {
    let store = ObjectStore::start();
    let scene = Scene::at(Place::in_bucket(server, "random_s3", &store), 2);
    are_killed_at_random(&scene);
    // What a killed worker left goes when a process starts.
    drop(scene.place.worker());
    is_whole(&store, "random_s3", &scene.client);
}

pub fn a_table_is_read_by_another_process(server: &mut Instance) {
    let (store, owner) = (ObjectStore::start(), Owner::new());
    let place = Place::in_bucket(server, "table_s3", &store);
    let token = place.token("acme");
    let answers = [place.answers(), place.answers()];
    let [one, other] = answers.each_ref().map(|process| process.client(&token));
    let schema = Schema::from_json(include_str!("../../../../cli/data/orders.json")).unwrap();
    let csv = &include_bytes!("../../../../cli/data/orders.csv")[..];
    let data = Data::from_csv(csv, &schema).unwrap();
    let path = owner.files.path().join("orders");
    let key = TableKey::Secret(owner.client.secret());
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let nothing = |_, _| Ok::<_, everlevel_tables::TablesError>(());
    let of = (&schema, &data);
    EncryptedTable::create(&path, Existing::Keep, key, of, &mut rng, nothing).unwrap();
    let table = one.push_table(&path, |_, _| ()).unwrap();
    // The same table made at another process is the same.
    assert_eq!(other.push_table(&path, |_, _| ()).unwrap(), table);
    let plan = Plan::new("select count(*), sum(amount) from orders where paid", &schema).unwrap();
    let request = JobRequest::Table {
        server_keys: push(&other, &owner.keys),
        table: table.id.clone(),
        plan: serde_json::from_str(&plan.to_json().unwrap()).unwrap(),
        constants: None,
    };
    assert!(other.estimate(&request).unwrap().seconds > 0.0);
    let job = start(&one, &request);
    let _worker = place.worker();
    let done = one.wait(&job, |_| ()).unwrap();
    let result = TableResult::from_bytes(other.fetch(&done.results["result"], |_, _| ()).unwrap());
    let answer = result.unwrap().read(owner.client.secret()).unwrap();
    assert_eq!(answer, Answer::plain_with(plan.query(), &schema, &data, &[]).unwrap());
    // A byte that changes in the store is found by a process that has no copy.
    let block = table.blocks.values().next().unwrap();
    drop(_worker);
    let name = format!("table_s3/objects/acme/{block}");
    store.objects().get_mut(&name).expect("a block")[1000] ^= 1;
    let _fresh = place.worker();
    let refused = one.wait(&start(&one, &request), |_| ()).unwrap_err();
    assert!(refused.code() == "service.damaged" && refused.to_string().contains(block.as_ref()));
    other.delete_table(&table.id).unwrap();
    other.delete_object(block).unwrap();
    assert!(!store.objects().contains_key(&name) && one.tables().unwrap().is_empty());
}

pub fn the_store_is_away(server: &mut Instance) {
    let store = ObjectStore::start();
    let scene = Scene::at(Place::in_bucket(server, "away_s3", &store), 6);
    let _worker = scene.place.worker();
    wait_until_it_computes(&scene.client, &scene.job);
    store.is_away(true);
    // What is not at hand is unavailable, and told so.
    let path = scene.owner.column("later", &[1, 2]);
    let refused = scene.client.push(&path, |_, _| ()).unwrap_err();
    assert_eq!(refused.code(), "service.unavailable");
    // The job computes, cannot store its result, and is not lost.
    std::thread::sleep(Duration::from_secs(3));
    assert!(!scene.client.job(&scene.job).unwrap().state.is_final());
    store.is_away(false);
    scene.done();
    push(&scene.client, &path);
    scene.is_whole();
    is_whole(&store, "away_s3", &scene.client);
}

pub fn what_does_not_go_together(server: &mut Instance) {
    let store = ObjectStore::start();
    let (first, second) = (
        Place::in_bucket(server, "first_s3", &store),
        Place::in_bucket(server, "second_s3", &store),
    );
    let directories = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let [here, there] = directories.each_ref().map(|directory| directory.path());
    let with = |directory: &std::path::Path, place: &Place, bucket: &Place| {
        let bucket = bucket.bucket.as_deref().map(|path| Bucket::from_file(path).unwrap());
        Config { bucket, ..config(directory, &place.database) }
    };
    let refused = |config: Config| {
        let refused = Service::start(config).err().expect("it is refused");
        assert_eq!(refused.code(), "service.state", "{refused}");
        refused.to_string()
    };
    let running = Service::start(with(here, &first, &first)).unwrap();
    // A directory is for one process.
    assert!(refused(with(here, &first, &first)).contains("directory of its own"));
    drop(running);
    drop(Service::start(with(here, &first, &first)).unwrap());
    // The database of another bucket, the bucket of another database, and no bucket.
    assert!(refused(with(there, &first, &second)).contains("found nothing"));
    assert!(refused(with(there, &second, &first)).contains("another database"));
    assert!(refused(config(there, &first.database)).contains("mounted"));
    // A bucket needs a database.
    let alone = Config { database: None, ..with(there, &first, &first) };
    assert!(refused(alone).contains("database"));
    // Other secrets than those of the bucket are not told.
    let path = first.bucket.clone().unwrap();
    let text = std::fs::read_to_string(&path).unwrap().replace("a-secret", "do-not-tell");
    std::fs::write(&path, text).unwrap();
    let told = Service::start(with(here, &first, &first)).err().unwrap();
    assert_eq!(told.code(), "service.unavailable");
    assert!(!format!("{told} {told:?}").contains("do-not-tell"));
    // An endpoint of another machine without TLS.
    let text = std::fs::read_to_string(&path).unwrap();
    let far = text.replace(&store.endpoint, "http://s3.example.org");
    std::fs::write(&path, far).unwrap();
    assert!(refused(with(here, &first, &first)).contains("another machine"));
}
