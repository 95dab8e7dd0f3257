//! Any bytes as the body of a function of StableHLO.
#![no_main]

use libfuzzer_sys::fuzz_target;

const BEFORE: &[u8] = b"module @m {\n func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>) -> tensor<4x4xf32> {\n";

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"module") {
        return breakeven_fuzz::sound_model(bytes);
    }
    breakeven_fuzz::sound_model(&[BEFORE, bytes, b"\n }\n}\n"].concat());
});
