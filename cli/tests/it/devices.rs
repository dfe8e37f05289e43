//! `--device`: what a CUDA device computes, or an emulated one, is in the same files.

use serde_json::{Value, json};

use crate::common::Place;

/// The exit code of a command, and the code of its error, if it fails.
pub fn ended(place: &Place, command: &str) -> (Option<i32>, String) {
    let out = place.piped(&format!("{command} --json"), b"");
    let told: Value = serde_json::from_slice(&out.stderr).unwrap_or_default();
    (out.status.code(), told["error"]["code"].as_str().unwrap_or_default().into())
}

/// Keys of the smallest set of this index, and a ciphertext.
fn place_of(index: u64) -> Place {
    let place = Place::empty();
    let mut set = place.told("params show insecure_bgv-257-n8");
    if index != 512 {
        let bootstrap = json!({"sparse_weight": 2, "overflow_bound": 8, "digits": 1,
                               "mode": "thin"});
        for (field, value) in [
            ("name", json!(format!("insecure_any-19-m{index}"))),
            ("index", json!(index)),
            ("plain_prime", json!(19)),
            ("base_bits", json!(50)),
            ("words", json!(26)),
            ("special", json!(4)),
            ("digit_size", json!(4)),
            ("bootstrap", bootstrap),
        ] {
            set[field] = value;
        }
    }
    place.write("set.json", set.to_string());
    place.told("keygen --params set.json --allow-failures --out keys");
    place.write("x.csv", "3\n4\n");
    place.told("encrypt --key keys/secret.key --in x.csv --out x.ct");
    place
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let place = place_of(512);
    let eval = "eval y=x*x x=x.ct --server-keys keys/server.keys --out out --device";
    place.refused(&format!("{eval} gpu"), "cli.usage");
    let run = "table run --server-keys no.keys --table none --plan no.plan --out r --device";
    if cfg!(feature = "cuda") {
        let none = (Some(1), "gpu.none".to_string());
        assert_eq!(ended(&place, &format!("{eval} cuda:99")), none);
        // No device is asked for what its kernels do not compute.
        let place = place_of(45);
        let ring = (Some(1), "gpu.ring".to_string());
        assert_eq!(ended(&place, &format!("{eval} cuda --allow-failures")), ring);
        if cfg!(feature = "service") {
            let serve = "serve --dir s --listen 127.0.0.1:0 --device cuda:99";
            assert_eq!(ended(&place, serve), none);
            assert!(!place.path().join("s").exists());
        }
    } else {
        // Before any file is looked for.
        for command in [format!("{eval} cuda"), format!("{run} cuda:1")] {
            let told = place.refused(&command, "cli.no-cuda");
            assert!(told.contains("--features cuda"), "{told}");
        }
        if cfg!(feature = "service") {
            place.refused("serve --dir s --device cuda", "cli.no-cuda");
        }
    }
    if cfg!(feature = "service") {
        // Memory of a device that does not compute.
        place.refused("serve --dir s --listen 127.0.0.1:0 --device-memory 64", "cli.usage");
        assert!(!place.path().join("s").exists());
    }
    assert!(!place.path().join("out").exists());
    place.told(&format!("{eval} cpu"));
    let found = place.told("decrypt --key keys/secret.key --in out/y.ct --wrapping");
    assert_eq!(found["values"], json!([9, 16]));
}

#[test]
#[cfg(feature = "cuda")]
fn results_of_devices_are_the_same_files() {
    let place = Place::with_keys("insecure_bgv-65537-n11");
    place.write("p.csv", "age,pay\n12,300\n30,7\n255,41\n");
    let encrypt = "encrypt --key keys/secret.key --in p.csv";
    place.told(&format!("{encrypt} --column age --column pay --range 0..300 --out modular"));
    place.told(&format!("{encrypt} --types age=u8,pay=u16 --out typed.ct"));
    place.write("stays.csv", "ward,cost\nnorth,3\nsouth,14\nnorth,5\n");
    place.told("table schema infer --in stays.csv --out stays.json");
    let stays = "--schema stays.json --in stays.csv --key keys/public.key --out stays";
    place.told(&format!("table encrypt {stays}"));
    let query = "select ward, sum(cost) as cost from stays group by ward order by ward";
    let ask = ["table", "ask", "--schema", "stays/schema.json", query, "--out", "q.plan"];
    place.told_words(&ask.map(String::from));

    let keys = "--server-keys keys/server.keys";
    let modular = "age=modular/age.ct pay=modular/pay.ct";
    let first = format!("eval y=age+1 age=modular/age.ct {keys} --out first --device cuda");
    if ended(&place, &first).1 == "gpu.none" {
        return println!("skipped: there is no CUDA device, nor an emulated one");
    }
    for (command, [here, there], files) in [
        (
            format!("eval y=refresh(age*pay)+age;s=sum(age);same=pay {modular} {keys} --out"),
            ["a", "b"],
            &["/y.ct", "/s.ct", "/same.ct"][..],
        ),
        (
            format!("eval big=age<pay;n=count(big);d=pay-age;same=age typed.ct {keys} --out"),
            ["c", "d"],
            &["/big.ct", "/n.ct", "/d.ct", "/same.ct"][..],
        ),
        (format!("table run {keys} --table stays --plan q.plan --out"), ["e", "f"], &[""][..]),
    ] {
        place.told(&format!("{command} {here}"));
        place.told(&format!("{command} {there} --device cuda"));
        for file in files {
            let [here, there] = [here, there].map(|name| place.read(&format!("{name}{file}")));
            assert!(here == there, "{command}: {file}");
        }
    }
    let found = place.told("decrypt --key keys/secret.key --in d/d.ct");
    assert_eq!(found["d"], json!([288, -23, -214]));
    let answer = place.piped("table read --key keys/secret.key --in f", b"").stdout;
    assert_eq!(String::from_utf8(answer).unwrap(), "ward,cost\nnorth,8\nsouth,14\n");
}
