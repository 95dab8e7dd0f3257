//! Which way dependencies point, between crates and between the folders of the engine.

use std::collections::BTreeSet;
use std::process::Command;

use super::{code, read, root, sources};

/// Every crate of the workspace, and the other crates of it that may be in its tree. No face knows another face,
/// but the command starts the server; `breakeven-page` is a leaf that carries bytes.
const MAY_USE: [(&str, &[&str]); 13] = [
    ("breakeven", &[]),
    ("breakeven-batch", &["breakeven"]),
    ("breakeven-fleet", &["breakeven"]),
    ("breakeven-import", &["breakeven"]),
    ("breakeven-page", &[]),
    ("breakeven-plan", &["breakeven"]),
    ("breakeven-server", &["breakeven", "breakeven-page"]),
    ("breakeven-watch", &["breakeven"]),
    (
        "breakeven-cli",
        &[
            "breakeven",
            "breakeven-batch",
            "breakeven-import",
            "breakeven-page",
            "breakeven-plan",
            "breakeven-fleet",
            "breakeven-server",
            "breakeven-watch",
        ],
    ),
    ("breakeven-python", &["breakeven", "breakeven-fleet", "breakeven-page"]),
    ("breakeven-wasm", &["breakeven"]),
    ("breakeven-report-wasm", &["breakeven"]),
    ("xtask", &["breakeven"]),
];

/// All that the engine uses itself. What is added here needs a reason, and no file, clock, thread or network in it.
const ENGINE_USES: [&str; 5] = ["csv", "libm", "serde", "serde_json", "strsim"];

/// What may be nowhere below the engine.
const NEVER_BELOW_ENGINE: [&str; 14] = [
    "arrow",
    "axum",
    "clap",
    "getrandom",
    "hyper",
    "js-sys",
    "libc",
    "numpy",
    "parquet",
    "pyo3",
    "rayon",
    "reqwest",
    "tokio",
    "wasm-bindgen",
];

/// Crates below `package`, itself left out, as cargo resolves them for this machine; tests' own needs do not count.
fn below(package: &str, depth: Option<u32>) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args([
        "tree",
        "--offline",
        "--edges",
        "no-dev",
        "--prefix",
        "none",
        "--package",
        package,
    ]);
    if let Some(depth) = depth {
        cargo.args(["--depth", &depth.to_string()]);
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != package).map(str::to_owned).collect()
}

/// Connections are opened in one file, for one command.
#[test]
fn nothing_but_the_update_of_prices_opens_a_connection() {
    let files = ["crates", "xtask/src"].into_iter().flat_map(sources).filter(|path| !path.contains("/tests/"));
    let has = |path: &String, call: &str| code(path).iter().any(|(_, line)| line.contains(call));
    let (mut opening, mut fetching) = (Vec::new(), Vec::new());
    for path in files {
        if ["ureq::", "TcpStream::connect", "UdpSocket"].iter().any(|call| has(&path, call)) {
            opening.push(path.clone());
        }
        if has(&path, "fetch::text(") {
            fetching.push(path);
        }
    }
    assert_eq!(opening, ["crates/breakeven-cli/src/fetch.rs", "xtask/src/catalogue.rs"]);
    assert_eq!(fetching, ["crates/breakeven-cli/src/commands/update.rs"]);
}

#[test]
fn crates_use_only_what_the_picture_allows() {
    let members: BTreeSet<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    for (package, allowed) in MAY_USE {
        for used in below(package, None) {
            let known = !members.contains(used.as_str()) && !used.starts_with("breakeven");
            assert!(known || allowed.contains(&used.as_str()), "{package} must not use {used}");
        }
    }
}

#[test]
fn every_crate_is_in_the_picture() {
    let folders = std::fs::read_dir(root().join("crates")).expect("there are crates");
    for folder in folders {
        let name = folder.expect("a folder that opens can be listed").file_name().into_string().expect("ASCII");
        assert!(MAY_USE.iter().any(|(package, _)| *package == name), "{name} has no line in MAY_USE");
    }
}

#[test]
fn the_engine_uses_these_crates_and_no_other() {
    assert_eq!(below("breakeven", Some(1)), ENGINE_USES.map(str::to_owned).into());
    let tree = below("breakeven", None);
    for never in NEVER_BELOW_ENGINE {
        let found = tree.iter().find(|name| *name == never || name.starts_with(&format!("{never}-")));
        assert_eq!(found, None, "below the engine");
    }
}

/// Words of `line`: runs of letters, digits and `_`.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn the_engine_knows_no_file_clock_environment_thread_or_network() {
    const OUTSIDE: [&str; 7] = ["fs", "net", "env", "thread", "process", "os", "time"];
    for path in sources("crates/breakeven/src") {
        for (number, line) in code(&path) {
            let of_std = line.contains("std::") && words(&line).any(|word| OUTSIDE.contains(&word));
            let clock = words(&line).any(|word| word == "SystemTime" || word == "Instant");
            assert!(!of_std && !clock, "{path}:{number} reaches outside: {line}");
        }
    }
}

/// Fails where a source of `folder` uses something of the engine's `module` other than the `allowed` items.
fn uses_only(folder: &str, module: &str, allowed: &[&str]) {
    for path in sources(&format!("crates/breakeven/src/{folder}")) {
        let lines: Vec<String> = code(&path).into_iter().map(|(number, line)| format!("{number}\u{1}{line}")).collect();
        let text = lines.join("\n");
        for (at, found) in text.match_indices(&format!("{module}::")) {
            // `super::module` below the folder is its own, and `my_module` is another.
            let before = &text[..at];
            if before.ends_with("super::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let number = before.rsplit('\n').next().and_then(|line| line.split('\u{1}').next()).unwrap_or("?");
            let rest = &text[at + found.len()..];
            let items: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => words(list.split('}').next().unwrap_or(list)).collect(),
                None => words(rest).take(1).collect(),
            };
            for item in items.into_iter().filter(|item| item.starts_with(char::is_alphabetic)) {
                assert!(allowed.contains(&item), "{path}:{number} uses {module}::{item}");
            }
        }
    }
}

#[test]
fn workloads_know_no_hardware_and_hardware_knows_element_types_only() {
    uses_only("workload", "hardware", &[]);
    uses_only("hardware", "workload", &["Dtype"]);
    for model in ["kernel", "timeline", "port", "estimate", "report", "calculator"] {
        uses_only("workload", model, &[]);
        uses_only("hardware", model, &[]);
    }
}

#[test]
fn kernel_models_are_handed_their_device() {
    uses_only("kernel", "hardware", &["Device", "DeviceKind", "Peaks", "Vendor", "device"]);
    for above in ["port", "estimate", "report", "calculator", "choice"] {
        uses_only("kernel", above, &[]);
    }
}

#[test]
fn reports_show_and_do_not_model() {
    uses_only("report", "kernel", &["Bound"]);
    for model in ["timeline", "hardware", "port", "lower", "crossover", "spend", "calculator"] {
        uses_only("report", model, &[]);
    }
}

#[test]
fn versions_are_pinned() {
    assert!(read("rust-toolchain.toml").contains("channel = \"1."), "a toolchain is pinned");
    assert!(read("Cargo.lock").contains("name = \"breakeven\""), "Cargo.lock is of this workspace");
}
