//! No machine file panics; what is accepted gives devices whose times are times.
#![no_main]

use breakeven::calibration::{Calibration, errors, factors, rates, read};
use breakeven::hardware::Catalogue;
use libfuzzer_sys::fuzz_target;

/// A file that is whole, of which the fuzzer changes a part.
const WHOLE: &str = r#"{"format": "breakeven.machine/1", "date": "2026-11-30", "version": "0.1.0", "machine": {"cpu": "x",
 "cpu_threads": 2}, "busy": 0.1, "gpu": {"name": "NVIDIA L4", "library": "torch", "idle_w": 20, "busy_w": 70}, "costs": [],
 "kernels": [@]}"#;

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), WHOLE.replace('@', text)] {
        let Ok(file) = read(&text) else { continue };
        let calibration = Calibration::of(file.clone(), Catalogue::embedded());
        let _ = rates(&file);
        for factor in factors(&calibration, &file) {
            assert!(factor.spread.is_finite() && factor.spread > 0.0);
        }
        for error in errors(&calibration, &file) {
            assert!(error.before >= 0.0 && error.after >= 0.0);
        }
        for (_, pace) in calibration.paces() {
            assert!(pace.is_finite() && pace > 0.0);
        }
    }
});
