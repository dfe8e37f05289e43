//! The floor of a benchmark.

use serde_json::Value;

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a finite number in {value}"))
}

/// The floor in the report of a bootstrapping over a ring of a power of two.
pub fn is_the_sum_of_its_parts(report: &Value, degree: u32) {
    let n = |key| number(report, key);
    let part = |key| number(&report["floor_parts"], key);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 + 1e-6 * b;
    let butterflies = f64::from(degree / 2 * degree.ilog2());
    assert_eq!(part("butterflies"), n("ntt_count") * butterflies);
    assert!(near(part("butterfly_seconds"), part("butterflies") * part("butterfly_ns") * 1e-9));
    assert!(near(part("term_seconds"), part("terms") * part("term_ns") * 1e-9));
    let reading = part("key_bytes_read") / (n("bandwidth_gb_s") * 1e9);
    assert!(reading > 0.0 && part("key_reading_seconds") > reading * 0.999_999);
    assert!(near(part("cache_seconds"), part("cache_bytes") / (part("cache_gb_s") * 1e9)));
    assert!(part("terms") > 0.0);
    assert!(part("cache_bytes") > 0.0 && part("cache_bytes") < n("bytes_moved"));
    let parts = ["butterfly_seconds", "term_seconds", "key_reading_seconds", "cache_seconds"];
    assert!(near(n("floor_seconds"), parts.into_iter().map(part).sum()));
    // Transforms at their limit are faster than measured ones, unless the machine is busy.
    assert!(part("butterfly_seconds") < 3.0 * n("ntt_count") * n("ntt_us") / 1e6);
}
