//! Any bytes as a workload file: an error or a workload that is written and read again the same, never a panic.
#![no_main]

use breakeven::estimate::coverage::coverage;
use breakeven::estimate::hosttime::host_time;
use breakeven::workload::Workload;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(workload) = Workload::from_json(bytes) else { return };
    let text = workload.to_json().expect("what was read can be written");
    assert_eq!(Workload::from_json(text.as_bytes()).as_ref(), Ok(&workload));
    assert!((0.0..=1.0).contains(&coverage(&workload, &host_time(&workload)).share()));
    assert!(workload.flop().get() >= 0.0 && workload.bytes().get() >= 0.0);
});
