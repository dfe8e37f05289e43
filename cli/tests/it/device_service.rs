//! `serve --device`: what a CUDA device computes for tenants, or an emulated one, are the objects
//! that the processor computes, also where their keys do not fit together, and where it fails.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::common::Place;
use crate::devices::ended;
use crate::remote::Serving;

const SET: &str = "insecure_bgv-65537-n11";
const OWNERS: [&str; 2] = ["one", "two"];
/// A program on columns of typed integers.
const TYPED: &str = "big=age<pay;n=count(big);d=pay-age";

/// Keys and columns of two owners; none if there is no device, nor an emulated one.
fn owners() -> Option<Place> {
    let place = Place::empty();
    place.write("p.csv", "age,pay\n12,300\n30,7\n255,41\n");
    for owner in OWNERS {
        place.told(&format!("keygen --params {SET} --out {owner}"));
        let encrypt = format!("encrypt --key {owner}/secret.key --in p.csv");
        place.told(&format!("{encrypt} --types age=u8,pay=u16 --out {owner}.ct"));
    }
    let here = "eval d=pay-age one.ct --server-keys one/server.keys --out here --device cuda";
    let told = ended(&place, here);
    if told.1 == "gpu.none" {
        println!("skipped: there is no CUDA device, nor an emulated one");
        return None;
    }
    assert_eq!(told.0, Some(0), "{told:?}");
    Some(place)
}

/// A service with tokens of both owners.
struct Service<'a> {
    place: &'a Place,
    /// The name of its directory.
    name: &'a str,
    serving: Serving,
}

impl<'a> Service<'a> {
    fn start(place: &'a Place, name: &'a str, options: &[&str], set: &[(&str, &str)]) -> Self {
        for (tenant, scopes) in [("one", ""), ("two", ""), ("operator", " --scopes metrics")] {
            let add = format!("serve token add --dir {name} --tenant {tenant}{scopes}");
            let token = place.told(&add);
            place.write(&format!("{name}.{tenant}"), token["token"].as_str().unwrap());
        }
        let dir = place.path().join(name).display().to_string();
        let own = ["--insecure-research", "--dir", &dir, "--listen", "127.0.0.1:0"];
        let serving = Serving::where_set(&[&own[..], options].concat(), Stdio::null(), set);
        Service { place, name, serving }
    }

    /// The options with which an owner asks it.
    fn to(&self, owner: &str) -> String {
        let Service { name, serving, .. } = self;
        let keys = format!("--server-keys {owner}/server.keys");
        format!("--remote {} --token-file {name}.{owner} {keys}", serving.url)
    }

    /// The ids of the results of a program, which are hashes of their bytes.
    fn eval(&self, owner: &str, program: &str, inputs: &str) -> Value {
        let out = format!("{}-{owner}", self.name);
        let eval = format!("eval {} {program} {inputs} --out {out} --force", self.to(owner));
        self.place.told(&eval)["results"].clone()
    }

    /// The ids of the results of the program on typed integers.
    fn typed(&self, owner: &str) -> Value {
        self.eval(owner, TYPED, &format!("{owner}.ct"))
    }

    /// The numbers about the device that an operator is shown.
    fn metrics(&self) -> BTreeMap<String, u64> {
        let token = self.place.read(&format!("{}.operator", self.name));
        let token = String::from_utf8(token).unwrap();
        let mut stream = TcpStream::connect(&self.serving.url["http://".len()..]).unwrap();
        let head = format!(
            "GET /metrics HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let number = |line: &str| {
            let (name, value) = line.strip_prefix("everlevel_device_")?.split_once(' ')?;
            Some((name.to_string(), value.parse::<f64>().unwrap() as u64))
        };
        text.lines().filter_map(number).collect()
    }

    /// Some of them.
    fn counts<const N: usize>(&self, names: [&str; N]) -> [u64; N] {
        let metrics = self.metrics();
        names.map(|name| *metrics.get(name).unwrap_or_else(|| panic!("{name}: {metrics:?}")))
    }
}

const BY_DEVICE: &str = "jobs_total{by=\"device\"}";
const BY_PROCESSOR: &str = "jobs_total{by=\"processor\"}";
const FAULTS: &str = "faults_total";
const COPIES: &str = "key_copies";
const DROPPED: &str = "key_copies_dropped_total";
const BYTES: &str = "key_memory_bytes";
const BUDGET: &str = "key_memory_budget_bytes";

#[test]
fn tenants_get_the_objects_of_the_processor() {
    let Some(place) = owners() else { return };
    let encrypt = "encrypt --key one/secret.key --in p.csv --column age --column pay";
    place.told(&format!("{encrypt} --range 0..300 --out modular"));
    place.write("stays.csv", "ward,cost\nnorth,3\nsouth,14\nnorth,5\n");
    place.told("table schema infer --in stays.csv --out stays.json");
    let stays = "--schema stays.json --in stays.csv --key one/secret.key --out stays";
    place.told(&format!("table encrypt {stays}"));
    let query = "select ward, sum(cost) as cost from stays group by ward order by ward";
    let ask = ["table", "ask", "--schema", "stays/schema.json", query, "--out", "q.plan"];
    place.told_words(&ask.map(String::from));

    // A bootstrapping is that of the service, which refreshes by itself.
    let program = "y=refresh(age*pay)+age;same=pay";
    let (none, cuda): (&[&str], &[&str]) = (&[], &["--device", "cuda"]);
    let found = [("cpu", none), ("gpu", cuda)].map(|(name, options)| {
        let service = Service::start(&place, name, options, &[]);
        let modular = service.eval("one", program, "age=modular/age.ct pay=modular/pay.ct");
        let typed = OWNERS.map(|owner| service.typed(owner));
        let run = "--table stays --plan q.plan --out";
        place.told(&format!("table run {} {run} {name}.result", service.to("one")));
        let counted = service.metrics();
        if name == "cpu" {
            assert!(counted.is_empty(), "{counted:?}");
        } else {
            let counts = service.counts([BY_DEVICE, BY_PROCESSOR, COPIES, DROPPED, FAULTS]);
            assert_eq!(counts, [4, 0, 2, 0, 0], "{counted:?}");
            let [bytes, budget] = service.counts([BYTES, BUDGET]);
            assert!(0 < bytes && bytes <= budget, "{counted:?}");
        }
        (modular, typed, place.read(&format!("{name}.result")))
    });
    assert!(found[0] == found[1], "{:?} {:?}", found[0].1, found[1].1);
    let answer = place.piped("table read --key one/secret.key --in gpu.result", b"").stdout;
    assert_eq!(String::from_utf8(answer).unwrap(), "ward,cost\nnorth,8\nsouth,14\n");
    let found = place.told("decrypt --key two/secret.key --in gpu-two/d.ct");
    assert_eq!(found["d"], serde_json::json!([288, -23, -214]));
}

#[test]
fn keys_that_do_not_fit_beside_others_take_their_place() {
    let Some(place) = owners() else { return };
    let service = Service::start(&place, "whole", &["--device", "cuda"], &[]);
    let expected = service.typed("one");
    let [bytes] = service.counts([BYTES]);
    drop(service);

    // Room for the keys of one of them.
    let memory = bytes.div_ceil(1 << 20).to_string();
    let options = ["--device", "cuda:0", "--device-memory", &memory];
    let service = Service::start(&place, "half", &options, &[]);
    assert_eq!(service.typed("one"), expected);
    assert_eq!(service.counts([COPIES, DROPPED]), [1, 0]);
    let other = service.typed("two");
    assert_ne!(other, expected);
    assert_eq!(service.counts([COPIES, DROPPED]), [1, 1]);
    // Copied again, and used again where they are.
    for _ in 0..2 {
        assert_eq!(service.typed("one"), expected);
        assert_eq!(service.counts([COPIES, DROPPED]), [1, 2]);
    }
    let [bytes, budget] = service.counts([BYTES, BUDGET]);
    assert!(bytes <= budget && budget == memory.parse::<u64>().unwrap() << 20);
    assert_eq!(service.counts([BY_DEVICE, BY_PROCESSOR]), [4, 0]);

    // Keys that are deleted have no copies.
    let list = |what: &str| format!("remote {what} --url {} --token-file", service.serving.url);
    let listed = place.told(&format!("{} half.one", list("list")));
    let objects = listed["objects"].as_array().unwrap().iter();
    let mut keys = objects.filter(|object| object["kind"] == "server keys");
    let keys = keys.next().unwrap_or_else(|| panic!("{listed}"))["id"].as_str().unwrap();
    place.told(&format!("{} half.one {keys}", list("delete")));
    assert_eq!(service.counts([COPIES, BYTES]), [0, 0]);

    // Room for the keys of none.
    let options = ["--device", "cuda", "--device-memory", "1"];
    let service = Service::start(&place, "none", &options, &[]);
    let eval = format!("eval {} {TYPED} one.ct --out none", service.to("one"));
    let told = place.refused(&eval, "service.device-memory");
    assert!(told.contains(&(1 << 20).to_string()), "{told}");
}

#[test]
fn the_processor_computes_what_the_device_fails_at() {
    let Some(place) = owners() else { return };
    if !std::env::var("EVERLEVEL_CUDA_LIBRARY").is_ok_and(|path| path.contains("emulated")) {
        return println!("skipped: a device does not fail when it is asked to");
    }
    let expected = Service::start(&place, "cpu", &[], &[]).typed("one");
    // After one of them the next job gets a new engine; the other one lasts as long as the process.
    for (variable, name, by, faults) in [
        ("EVERLEVEL_EMULATED_REFUSAL", "refusal", [1, 1], 1),
        ("EVERLEVEL_EMULATED_FAULT", "fault", [0, 2], 2),
    ] {
        let service = Service::start(&place, name, &["--device", "cuda"], &[(variable, "20")]);
        assert_eq!(service.typed("one"), expected, "{name}");
        let counts = service.counts([BY_DEVICE, BY_PROCESSOR, FAULTS, COPIES, BYTES]);
        assert_eq!(counts, [0, 1, 1, 0, 0], "{name}");
        assert_eq!(service.typed("one"), expected, "{name}");
        let counts = service.counts([BY_DEVICE, BY_PROCESSOR, FAULTS]);
        assert_eq!(counts, [by[0], by[1], faults], "{name}");
    }
}
