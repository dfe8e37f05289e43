//! `--seeded-keys`: server keys whose halves stay seeds in memory.

use crate::common::Place;

const SET: &str = "insecure_bgv-65537-n11";

#[test]
fn results_are_the_same_files() {
    let place = Place::with_keys(SET);
    place.write("p.csv", "age\n12\n30\n255\n");
    place.told("encrypt --key keys/secret.key --in p.csv --out x.ct");
    place.told("encrypt --key keys/secret.key --in p.csv --types age=u8 --out typed.ct");
    place.write("stays.csv", "ward,cost\nnorth,3\nsouth,14\nnorth,5\n");
    place.told("table schema infer --in stays.csv --out stays.json");
    place
        .told("table encrypt --schema stays.json --in stays.csv --key keys/secret.key --out stays");
    let query = "select ward, sum(cost) as cost from stays group by ward order by ward";
    let ask = ["table", "ask", "--schema", "stays/schema.json", query, "--out", "q.plan"];
    place.told_words(&ask.map(String::from));

    let keys = "--server-keys keys/server.keys";
    for (command, [whole, seeded], file) in [
        (format!("eval y=refresh(x*x) x=x.ct {keys} --out"), ["a", "b"], "/y.ct"),
        (format!("eval young=age<25 typed.ct {keys} --out"), ["c", "d"], "/young.ct"),
        (format!("table run {keys} --table stays --plan q.plan --out"), ["e", "f"], ""),
    ] {
        place.told(&format!("{command} {whole}"));
        place.told(&format!("{command} {seeded} --seeded-keys"));
        let read = |name: &str| place.read(&format!("{name}{file}"));
        assert!(read(whole) == read(seeded), "{command}");
    }
    let found = place.told("decrypt --key keys/secret.key --in d/young.ct");
    assert_eq!(found["young"], serde_json::json!([1, 0, 0]));

    // What is explained of files is what their server takes.
    let explain = format!("explain young=age<25 typed.ct {keys}");
    let [whole, seeded] = ["", " --seeded-keys"].map(|option| {
        let found = place.told(&format!("{explain}{option}"));
        ["memory_bytes", "key_bytes"].map(|name| found[name].as_u64().unwrap())
    });
    assert_eq!((seeded[0] + seeded[1], seeded[1]), (whole[0], whole[1]));
}

#[test]
fn plans_count_the_memory() {
    let (place, columns) = (Place::empty(), format!("--types age=u8 --rows 9 --params {SET}"));
    let plan = format!("plan young=age<25 {columns}");
    let mut whole = place.told(&plan);
    let mut seeded = place.told(&format!("{plan} --seeded-keys"));
    let memory = |found: &mut serde_json::Value| {
        let taken = found.as_object_mut().unwrap().remove("memory_bytes");
        taken.and_then(|bytes| bytes.as_u64()).unwrap()
    };
    let (more, less) = (memory(&mut whole), memory(&mut seeded));
    assert_eq!(more - less, whole["key_bytes"].as_u64().unwrap());
    // Times and all else are the same; the text says what times they are.
    assert_eq!(seeded, whole);
    for (option, stated) in [("", false), (" --seeded-keys", true)] {
        let out = place.piped(&format!("{plan}{option}"), b"");
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("MiB of memory"), "{text}");
        assert_eq!(text.contains("times are those of expanded keys"), stated, "{text}");
    }
}
