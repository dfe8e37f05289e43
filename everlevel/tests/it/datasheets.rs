//! The measurements that come with the library.

use everlevel::Measured;
use everlevel_scheme::params::spec;

#[test]
fn recorded_measurements_are_of_sets_that_bootstrap() {
    let recorded = Measured::recorded().unwrap();
    assert!(!recorded.is_empty());
    for (name, measured) in recorded {
        assert!(
            spec(&name).unwrap().bootstrap.is_some()
                && measured.seconds > 0.0
                && measured.date.len() >= 10,
            "{name}"
        );
    }
}
