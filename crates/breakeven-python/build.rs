//! Makes the interpreter's version known to `cfg`, and lets unit tests link without an interpreter.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The module takes Python's symbols from the process that loads it. A test binary has no such process, and
        // the tested parts never call them.
        println!("cargo:rustc-link-arg=-Wl,--unresolved-symbols=ignore-all");
    }
}
