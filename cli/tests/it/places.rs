//! The types of places and counts in results of programs of typed integers.

use crate::common::Place;

/// Also where they can only be 0 and 1: an index of truth values chooses entries.
#[test]
fn places_are_integers() {
    let place = Place::with_keys("insecure_bgv-65537-n11");
    place.write("p.csv", "v\n4\n7\n");
    place.told("encrypt --key keys/public.key --in p.csv --types v=u8 --out p.ct");
    let program = "p=argmax(v);s=argsort(v);q=min(p,1);b=v>5";
    let told = place.told(&format!("eval --server-keys keys/server.keys {program} p.ct --out out"));
    let outputs = told["outputs"].as_array().unwrap();
    for (name, kind, descr) in
        [("p", "u8", "|u1"), ("s", "u8", "|u1"), ("q", "u8", "|u1"), ("b", "bool", "|b1")]
    {
        let output = outputs.iter().find(|x| x["name"] == name).unwrap();
        assert_eq!(output["type"], kind, "{name}");
        assert_eq!((&output["low"], &output["high"]), (&"0".into(), &"1".into()), "{name}");
        let seen = place.told(&format!("inspect out/{name}.ct"));
        assert_eq!(seen["columns"][0]["type"], kind, "{name}");
        place.told(&format!("decrypt --key keys/secret.key --in out/{name}.ct --out {name}.npy"));
        let array = place.read(&format!("{name}.npy"));
        assert!(String::from_utf8_lossy(&array).contains(descr), "{name}");
    }
    // And so is what a further program makes of them.
    let further = "eval --server-keys keys/server.keys r=p%2 out/p.ct --out further";
    assert_eq!(place.told(further)["outputs"][0]["type"], "u8");
}
