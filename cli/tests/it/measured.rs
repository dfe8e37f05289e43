//! Recorded times of bootstrapping, and datasheets that show them.

use crate::common::{Place, json, success};

#[test]
fn datasheets_show_what_was_recorded() {
    const SET: &str = "insecure_bgv-257-n8";
    let place = Place::empty();
    let path = place.path().join("times.json");
    let path = path.to_str().expect("UTF-8");
    let bench = ["bench", "bootstrap", "--params", SET, "--runs", "2", "--threads", "1"];
    let report = json(&[&bench[..], &["--insecure-research", "--record", path]].concat());
    let args = ["params", "datasheet", SET, "--measured", path];
    let sheet = json(&args);
    let measured = &sheet["bootstrap"]["measured"];
    let seconds = measured["seconds"].as_f64().expect("seconds");
    assert!((seconds - report["seconds_median"].as_f64().unwrap()).abs() < 1e-9, "{measured}");
    assert_eq!((measured["runs"].as_u64(), measured["threads"].as_u64()), (Some(2), Some(1)));
    assert!(success(&args).contains("s, one thread of "), "{}", success(&args));
    // Without the file there is no time of this set.
    assert!(json(&["params", "datasheet", SET])["bootstrap"].get("measured").is_none());
    // A set that is not in the file has the time that comes with the library.
    let other = ["params", "datasheet", "bfv-127-n14"];
    let with_file = json(&[&other[..], &["--measured", path]].concat());
    assert!(with_file["bootstrap"]["measured"].is_object());
    assert_eq!(with_file, json(&other));
}
