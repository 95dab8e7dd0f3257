//! Any bytes as a trace: events in Chrome's format above all.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| breakeven_fuzz::sound(bytes));
