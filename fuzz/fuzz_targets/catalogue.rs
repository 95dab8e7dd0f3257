//! No override of the catalogue and no name of a device or place panics; what is accepted can be estimated.
#![no_main]

use breakeven::hardware::catalogue::GPU_HEADER;
use breakeven::hardware::{Catalogue, find_cpu, grid};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // With and without the header, which random bytes seldom hit.
    for text in [text.to_owned(), format!("{}\n{text}", GPU_HEADER.join(","))] {
        if let Ok(catalogue) = Catalogue::embedded().with_override("fuzz.csv", &text) {
            for gpu in catalogue.gpus() {
                let device = &gpu.device;
                assert!(device.memory.get().is_finite() && device.memory.get() > 0.0);
                assert!(device.bandwidth.get().is_finite() && device.bandwidth.get() > 0.0);
                assert!(device.peaks.f32_vector.is_some_and(|rate| rate.get().is_finite() && rate.get() > 0.0));
            }
        }
    }
    if let Ok(found) = Catalogue::embedded().find_gpu(text) {
        assert!(!found.gpus.is_empty());
    }
    let _ = find_cpu(text);
    let _ = grid::find_region(text);
});
