//! Any bytes as an ONNX model: a graph of one node before whatever stands there.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Version 8, and operators of version 17.
const VERSIONS: &[u8] = b"\x08\x08\x42\x04\x0a\x00\x10\x11";

fuzz_target!(|bytes: &[u8]| {
    if bytes.first() == Some(&0x08) {
        return breakeven_fuzz::sound_model(bytes);
    }
    // Three bytes of length hold whatever the fuzzer makes.
    let long = bytes.len();
    let varint = [long as u8 | 0x80, (long >> 7) as u8 | 0x80, (long >> 14) as u8 & 0x7f];
    breakeven_fuzz::sound_model(&[VERSIONS, &[0x3a], &varint[..], bytes].concat());
});
