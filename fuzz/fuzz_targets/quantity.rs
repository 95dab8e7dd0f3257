//! Any text as every kind of quantity: an error or a finite number from 0 on, never a panic.
#![no_main]

use breakeven::quantity::Measure;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for measure in Measure::ALL {
        match measure.parse(text) {
            Ok(value) => assert!(value.is_finite() && value >= 0.0, "{text:?} as {measure:?} is {value}"),
            Err(error) => assert!(error.hint.is_some(), "{error}"),
        }
    }
});
