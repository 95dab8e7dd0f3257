//! The shape of the project: who may depend on whom, what the engine may not know, what the documents must mention.

use std::path::{Path, PathBuf};

mod arrows;
mod documents;
mod python;

/// The folder that holds the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is two folders up")
}

/// Text of a file, by its path from the root.
fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every Rust source below a folder, as paths from the root, in order.
fn sources(folder: &str) -> Vec<String> {
    let found = files(folder, "rs");
    assert!(!found.is_empty(), "no source in {folder}");
    found
}

/// Every file below a folder whose name ends so, as paths from the root, in order. What is built is left out.
fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder that opens can be listed").path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                let path = path.strip_prefix(root()).expect("it was found below the root");
                found.push(path.to_str().expect("names here are ASCII").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The lines of a source that are code, with their numbers: comments, and what stands behind `//`, left out.
fn code(path: &str) -> Vec<(usize, String)> {
    let text = read(path);
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split("//").next().unwrap_or("").to_owned()));
    lines.filter(|(_, line)| !line.trim().is_empty()).collect()
}
