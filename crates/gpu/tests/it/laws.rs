//! The engine obeys the laws of engines.

use everlevel_testing::engine_laws;

use crate::{device, ring};

#[test]
fn a_device_obeys_the_laws() {
    for index in [32, 256] {
        for bits in [30, 50] {
            let Some(gpu) = device(&ring(index, bits)) else { return };
            engine_laws(&gpu);
        }
    }
}

#[test]
fn other_rings_are_refused() {
    let error = everlevel_gpu::Gpu::new(ring(105, 30), 0).err().unwrap();
    assert_eq!(error.code(), "gpu.ring");
}

#[test]
fn other_devices_are_refused() {
    for ordinal in [4096, u32::MAX] {
        let error = everlevel_gpu::Gpu::new(ring(32, 30), ordinal).err().unwrap();
        assert_eq!(error.code(), "gpu.none");
    }
}

/// The codes that the source has are those of the documentation.
#[test]
fn codes_are_documented() {
    let (source, page) =
        (include_str!("../../src/error.rs"), include_str!("../../../../docs/errors.md"));
    let codes = |text: &str, start: &str| -> Vec<String> {
        let found = text.split(start).skip(1).filter_map(|rest| rest.split(['"', '`']).next());
        found.map(String::from).collect()
    };
    let documented = codes(page, "| `gpu.");
    let mut found = codes(source, "=> \"gpu.");
    assert_eq!(found.len(), 5, "{found:?}");
    found.sort();
    let mut sorted = documented.clone();
    sorted.sort();
    assert_eq!(found, sorted);
}
