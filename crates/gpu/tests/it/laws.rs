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
    assert_eq!(error.code(), "gpu_ring");
}
