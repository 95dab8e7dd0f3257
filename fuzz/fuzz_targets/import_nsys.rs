//! Any bytes as a SQLite database, as Nsight Systems exports one: pages that lie, tables that are none.
#![no_main]

use libfuzzer_sys::fuzz_target;

const MAGIC: &[u8] = b"SQLite format 3\0";

fuzz_target!(|bytes: &[u8]| {
    let rest = bytes.get(MAGIC.len()..).unwrap_or_default();
    breakeven_fuzz::sound(&[MAGIC, rest].concat());
});
