//! Where reports go, and what is said when they cannot.

use super::{breakeven, said, says};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

const WORK: [&str; 5] = ["estimate", "--flops", "1e13", "--cpu-rate", "4e11"];

#[test]
fn a_file_appears_whole_and_keeps_its_rights() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let text = said(breakeven().args(WORK).args(["--format", "json", "--output"]).arg(&file));
    assert_eq!(text, "exit 0\n");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(report["schema"], "breakeven.estimate/1");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("report.md"), folder.path().join("latest.md"));
    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    said(breakeven().args(WORK).args(["--format", "markdown", "--output"]).arg(&link));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&file).unwrap().starts_with("**"));
    fs::remove_file(&file).unwrap();
    said(breakeven().args(WORK).args(["--format", "markdown", "--output"]).arg(&link));
    assert!(link.is_symlink() && file.is_file(), "what it points to is made");
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let text = says(&[&WORK[..], &["--output", "/nowhere/report.txt"]].concat());
    insta::assert_snapshot!(text, @"
    exit 2
    --- stderr
    error: cannot write /nowhere/report.txt: no such file or directory
     hint: check the path
    ");
}

#[test]
fn nothing_is_written_when_the_input_is_bad() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.txt");
    let text = said(breakeven().args(["estimate", "--flops", "12abc", "--output"]).arg(&file));
    assert!(text.starts_with("exit 2"));
    assert!(!file.exists());
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("breakeven"))
        .args(["gpus", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn colour_is_for_terminals_or_on_request() {
    let colour = |arguments: &[&str]| says(&[&WORK[..], arguments].concat()).contains('\u{1b}');
    assert!(!colour(&[]));
    assert!(colour(&["--color", "always"]));
    assert!(!colour(&["--color", "never"]));
}

#[test]
fn completions_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = says(&["completions", shell]);
        assert!(text.starts_with("exit 0") && text.contains("python-overhead"), "{shell}");
    }
}

#[test]
fn ctrl_c_is_told_once() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("breakeven"))
        .args(["kernels", "-", "--gpu", "l4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    // It waits for its input once it handles the signal.
    let waits = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
        u64::from_str_radix(caught, 16).unwrap() & 0b10 != 0
    };
    for _ in 0..1000 {
        if waits() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "Interrupted (Ctrl-C)\n");
    assert_eq!(output.status.code(), Some(130));
}
