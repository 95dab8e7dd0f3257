//! Any bytes as rocprof's tables or the JSON of its version 3.
#![no_main]

use libfuzzer_sys::fuzz_target;

const TABLE: &[u8] = b"\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";

fuzz_target!(|bytes: &[u8]| {
    match bytes.split_first() {
        Some((b'{', _)) => breakeven_fuzz::sound(&[b"{\"rocprofiler-sdk-tool\": [", bytes].concat()),
        _ => breakeven_fuzz::sound(&[TABLE, bytes].concat()),
    }
});
