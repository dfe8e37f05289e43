//! Columns through encryption, computation and decryption: rows, names, types, signs, lengths and
//! ranges survive or are refused.

use std::fs;

use serde_json::{Value, json};

use crate::common::Place;

const SET: &str = "insecure_bgv-257-n8";

impl Place {
    /// Encrypts a file, with more arguments.
    fn encrypt(&self, file: &str, more: &str) {
        self.told(&format!("encrypt --key keys/public.key --in {file} --out x.ct --force{more}"));
    }

    /// Decrypts a file to the values and the name of its column.
    fn decrypted(&self, file: &str) -> (Value, Value) {
        let told = self.told(&format!("decrypt --key keys/secret.key --in {file}"));
        (told["values"].clone(), told["name"].clone())
    }

    /// Computes y on x.ct, and on w.ct if the program reads it.
    fn eval(&self, program: &str) {
        let inputs = if program.contains('w') { "x=x.ct w=w.ct" } else { "x=x.ct" };
        let keys = "--server-keys keys/server.keys";
        self.told(&format!("eval {keys} y={program} {inputs} --out . --force"));
    }
}

#[test]
fn columns_of_all_formats_come_back_as_they_were() {
    let place = Place::new();
    let npy = |descr: &str, count: usize, data: &[u8]| {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), format!("{header:<117}\n").as_bytes(), data]
            .concat()
    };
    for (name, bytes, more) in [
        ("a.csv", b"net change\n-3\n0\n128\n".to_vec(), " --signed"),
        ("b.csv", b"v\n256\n0\n".to_vec(), ""),
        ("c.csv", b"v\n-200\n-56\n0\n".to_vec(), " --range -200..0"),
        ("d.json", b"[-3,0,128]\n".to_vec(), " --signed"),
        ("e.npy", npy("|i1", 3, &[253, 0, 127]), " --signed"),
        ("f.npy", npy("<u2", 2, &[0, 1, 5, 0]), ""),
        ("g.npy", npy("|b1", 3, &[1, 0, 1]), ""),
        ("h.npy", npy("<i4", 1, &(-100i32).to_le_bytes()), " --range -100..100"),
    ] {
        place.write(name, &bytes);
        place.encrypt(name, more);
        let back = format!("back-{name}");
        place.told(&format!("decrypt --key keys/secret.key --in x.ct --out {back}"));
        assert_eq!(
            String::from_utf8_lossy(&place.read(&back)),
            String::from_utf8_lossy(&bytes),
            "{name}"
        );
        // In the form in which results travel, and with new noise.
        place.told("compact --in x.ct --out x.small --force");
        place.told("bootstrap --server-keys keys/server.keys --in x.ct --out fresh.ct --force");
        for (file, out) in [("x.small", "small"), ("fresh.ct", "fresh")] {
            let out = format!("{out}-{name}");
            place.told(&format!("decrypt --key keys/secret.key --in {file} --out {out}"));
            assert_eq!(place.read(&out), bytes, "{name}, {file}");
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(place.path().join("back-a.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "what was secret stays with its owner");
    }
}

#[test]
fn rows_keep_their_places() {
    let place = Place::new();
    for (name, bytes, part) in [
        ("blank.csv", "v\n3\n\n5\n", "blank.csv, line 3: a value is missing"),
        ("spaces.csv", "3\n \n5\n", "line 2: a value is missing"),
        ("first.csv", "\n3\n", "line 1: a value is missing"),
        ("quotes.csv", "v\n\"\"\n3\n", "line 2: a value is missing"),
        ("na.csv", "N/A\n3\n", "line 1: expected an integer, found \"N/A\""),
        ("inf.csv", "inf\n3\n", "line 1: expected an integer"),
        ("nan.csv", "v\n3\nnan\n", "line 3: expected an integer"),
        ("real.csv", "3.0\n", "line 1: expected an integer"),
        ("two.csv", "a\nb\n3\n", "line 2: expected an integer"),
        ("null.json", "[1,null]", "value 2: expected an integer"),
        ("nan.json", "[1,NaN]", "expected an array of integers"),
        ("large.csv", "v\n3\n257\n", "line 3: expected a value from 0 to 256, found 257"),
        ("empty.csv", "v\n", "no value"),
        ("letter.csv", "l00\n3\n", "a mistyped number"),
    ] {
        place.write(name, bytes);
        let command = format!("encrypt --key keys/public.key --in {name} --out no.ct");
        let why = place.refused(&command, "cli.usage");
        assert!(why.contains(part), "{name}: {why}");
    }
    // Blank lines at the end are none.
    place.write("end.csv", "3\r\n5\r\n\r\n");
    place.encrypt("end.csv", "");
    assert_eq!(place.decrypted("x.ct"), (json!([3, 5]), json!("x")));
}

#[test]
fn a_header_is_what_it_is_said_to_be() {
    let place = Place::new();
    place.write("year.csv", "226\n3\n");
    place.encrypt("year.csv", "");
    assert_eq!(place.decrypted("x.ct").0, json!([226, 3]));
    place.encrypt("year.csv", " --header yes");
    assert_eq!(place.decrypted("x.ct"), (json!([3]), json!("226")));
    // A name that could be a value is in quotes, and has to be said again.
    place.told("decrypt --key keys/secret.key --in x.ct --out back.csv");
    assert_eq!(place.read("back.csv"), b"\"226\"\n3\n");
    let encrypt = "encrypt --key keys/public.key --in back.csv --out no.ct";
    assert!(place.refused(encrypt, "cli.usage").contains("--header"));
    place.write("named.csv", "temp\n3\n");
    place.refused(
        "encrypt --key keys/public.key --in named.csv --header no --out no.ct",
        "cli.usage",
    );
    place.write("j.json", "[1]");
    place.refused("encrypt --key keys/public.key --in j.json --header no --out no.ct", "cli.usage");
}

#[test]
fn results_are_integers_or_refused() {
    let place = Place::new();
    place.write("v.csv", "v\n-3\n0\n5\n");
    place.encrypt("v.csv", " --range -3..5");
    for (program, expected) in [
        ("x", json!([-3, 0, 5])),
        ("x*x", json!([9, 0, 25])),
        ("x^2-30", json!([-21, -30, -5])),
        ("3*x*(1-x)", json!([-36, 0, -60])),
        ("x^3+100", json!([73, 100, 225])),
        // As integers and not as residues: 250 and not -7.
        ("250+x-x", json!([250, 250, 250])),
        ("0-200+x", json!([-203, -200, -195])),
        ("refresh(x)", json!([-3, 0, 5])),
    ] {
        place.eval(program);
        assert_eq!(place.decrypted("y.ct"), (expected, json!("y")), "{program}");
    }
    for program in ["x^4", "100*x", "sum(x)", "x*x*x*x", "(x+300)*40"] {
        place.eval(program);
        place.refused("decrypt --key keys/secret.key --in y.ct", "circuit.range");
        place.told("decrypt --key keys/secret.key --in y.ct --wrapping");
    }
    place.eval("x+200");
    let signed = "decrypt --key keys/secret.key --in y.ct --signed";
    assert!(place.refused(signed, "circuit.range").contains("197..205"));
    let told = place.told(&format!("{signed} --wrapping"));
    assert_eq!(told["values"], json!([-60, -57, -52]));
    let shown = place.told("inspect y.ct");
    assert_eq!(shown["metadata"]["ranges"], "197..205");

    // Rows that move are not cut off, and sums are of rows.
    place.eval("rotate(x,1)");
    let (moved, _) = place.decrypted("y.ct");
    let moved = moved.as_array().unwrap();
    assert_eq!(
        (moved.len(), &moved[..3], &moved[63]),
        (128, &json!([0, 5, 0]).as_array().unwrap()[..], &json!(-3))
    );
    let eval = "eval --server-keys keys/server.keys y=sum(x+1) x=x.ct --out . --force";
    assert!(place.refused(eval, "cli.usage").contains("column 3"));

    // Columns of two lengths, and what was reduced.
    place.write("w.csv", "w\n1\n2\n");
    place.told("encrypt --key keys/public.key --in w.csv --range 0..9 --out w.ct");
    let eval = "eval --server-keys keys/server.keys y=x+w x=x.ct w=w.ct --out . --force";
    assert!(place.refused(eval, "cli.usage").contains("w has 2 values and x has 3"));
    place.told(&format!("{eval} --pad"));
    assert_eq!(place.decrypted("y.ct").0, json!([-2, 2, 5]));
    place.write("r.csv", "300\n-1\n");
    place.encrypt("r.csv", " --reduce");
    place.refused("decrypt --key keys/secret.key --in x.ct", "circuit.range");
    let told = place.told("decrypt --key keys/secret.key --in x.ct --wrapping");
    assert_eq!(told["values"], json!([43, 256]));
    let told = place.told(&format!("inspect keys/public.key --params {SET}"));
    assert_eq!(told["params"], SET);
}
