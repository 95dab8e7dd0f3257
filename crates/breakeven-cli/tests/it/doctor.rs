//! `doctor`: what it says of the Python that it finds.

use super::{breakeven, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A Python that answers every question as it is told to.
fn python(folder: &Path, answer: &str) -> std::path::PathBuf {
    let path = folder.join("python3");
    fs::write(&path, format!("#!/bin/sh\ncat <<'EOF'\n{answer}\nEOF\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What `doctor` says of that Python.
fn of(answer: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let python = python(folder.path(), answer);
    said(breakeven().args(["doctor", "--python"]).arg(&python)).replace(folder.path().to_str().unwrap(), "DIR")
}

#[test]
fn a_python_with_every_hook() {
    let text = of(r#"{"python": "3.12.1", "packages": {"numpy": "2.5.0", "torch": null}, "hooks": {"ufunc": "on"}}"#);
    assert!(text.contains("python      DIR/python3 (--python)\n"), "{text}");
    assert!(text.contains("packages    python 3.12.1, numpy 2.5.0\n"), "{text}");
    assert!(text.contains("recorder    native: all 1 hooks work"), "{text}");
    for line in ["cpu ", "gpu driver ", "catalogue ", "prices "] {
        assert!(text.contains(&format!("\n{line}")), "{line} in {text}");
    }
}

#[test]
fn hooks_that_are_off_are_named() {
    let some = of(r#"{"python": "3.12.1", "packages": {}, "hooks": {"ufunc": "on", "alloc": "did not fire"}}"#);
    assert!(some.contains("recorder    native, but off: alloc (did not fire)\n"), "{some}");
    let none = of(r#"{"python": "3.9.1", "packages": {}, "hooks": "CPython 3.9 is not known"}"#);
    assert!(none.contains("recorder    ast (slower): CPython 3.9 is not known\n"), "{none}");
}

#[test]
fn a_python_that_talks_nonsense_is_told() {
    let text = of("\u{1b}[2Jnot json");
    assert!(text.starts_with("exit 0") && text.contains("it does not answer; to mend:"), "{text}");
}

#[test]
fn a_python_that_is_named_must_be_there() {
    let text = said(breakeven().args(["doctor", "--python", "/nowhere/python"]));
    insta::assert_snapshot!(text, @"
    exit 2
    --- stderr
    error: there is no Python /nowhere/python
     hint: name an executable, such as --python ~/venv/bin/python
    ");
}
