//! Any bytes as planes of JAX and TensorFlow: one of a GPU, with whatever stands behind its name.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAME: &[u8] = b"\x12\x0d/device:GPU:0";

fuzz_target!(|bytes: &[u8]| {
    if bytes.first() == Some(&0x0a) {
        return breakeven_fuzz::sound(bytes);
    }
    // Three bytes of length hold whatever the fuzzer makes.
    let long = NAME.len() + bytes.len();
    let varint = [long as u8 | 0x80, (long >> 7) as u8 | 0x80, (long >> 14) as u8 & 0x7f];
    breakeven_fuzz::sound(&[&[0x0a][..], &varint[..], NAME, bytes].concat());
});
