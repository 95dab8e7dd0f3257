//! The engines as WebAssembly, and their bindings for the browser.

use crate::shell::{Result, root, run, write};
use breakeven::calculator;
use breakeven::hardware::{Catalogue, cited, lean};
use breakeven::kernel::lean_constants;
use breakeven::port;
use std::path::PathBuf;
use std::process::Command;
use wasm_bindgen_cli_support::Bindgen;

/// What the report's engine is built with.
pub(crate) const OF_REPORT: &[&str] = &["lean-catalogue"];

/// What the calculator's is built with.
pub(crate) const OF_CALCULATOR: &[&str] = &["described-ports"];

/// Builds a crate of the engine, with these features, and its bindings; the folder holds `NAME.js` and `NAME_bg.wasm`.
pub(crate) fn build(package: &str, name: &str, features: &[&str]) -> Result<PathBuf> {
    let root = root();
    let folder = root.join("target/page");
    // What `lean-catalogue` and `described-ports` embed.
    let [gpus, cpus] = lean(Catalogue::embedded());
    let [gpus_cited, cpus_cited] = cited();
    let [cupy_costs, torch_costs] = port::lean_costs();
    let [cupy_described, torch_described] = port::described(&calculator::callables());
    for (file, text) in [
        ("gpus.txt", gpus),
        ("cpus.txt", cpus),
        ("gpus_cited.csv", gpus_cited),
        ("cpus_cited.csv", cpus_cited),
        ("cupy.txt", port::lean()),
        ("cupy_described.txt", cupy_described),
        ("torch_described.txt", torch_described),
        ("cupy_costs.txt", cupy_costs),
        ("torch_costs.txt", torch_costs),
        ("constants.txt", lean_constants()),
    ] {
        write(&folder.join(file), text.as_bytes())?;
    }
    let home =
        std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap_or_default()));
    // Panic messages hold paths; without this the file would differ from one machine to the next. Places in the source are of no
    // use to who reads a report, and take a hundredth of it; nor are the words of a panic, which with what formats them take a
    // twentieth of the code, the standard library's own among it: that is built anew without them. Stable compilers do either
    // only when told that they may.
    let flags = format!(
        "-Zlocation-detail=none -Zunstable-options -Cpanic=immediate-abort --remap-path-prefix={home}=/cargo --remap-path-prefix={}=/breakeven",
        root.display()
    );
    run(Command::new(env!("CARGO")).current_dir(&root).env("RUSTFLAGS", flags).env("RUSTC_BOOTSTRAP", "1").args([
        "build",
        "-Zbuild-std=std,panic_abort",
        "-Zbuild-std-features=optimize_for_size",
        "--quiet",
        "--package",
        package,
        "--target",
        "wasm32-unknown-unknown",
        "--profile",
        "wasm",
        "--features",
        &features.join(","),
    ]))?;
    Bindgen::new()
        .input_path(root.join(format!("target/wasm32-unknown-unknown/wasm/{}.wasm", package.replace('-', "_"))))
        .out_name(name)
        .web(true)
        .and_then(|bindgen| {
            bindgen
                .omit_default_module_path(true)
                .typescript(true)
                .remove_name_section(true)
                .remove_producers_section(true)
                .generate(&folder)
        })
        .map_err(|e| format!("cannot make the bindings: {e:#}"))?;
    Ok(folder)
}
