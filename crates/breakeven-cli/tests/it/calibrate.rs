//! `calibrate` with a Python that is a shell: what becomes of what it tells. What Python measures is tested there.

use super::{breakeven, said};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with a shell that answers to `python3 -m breakeven.calibrate.run` with the lines of `told` in it.
struct Place {
    folder: TempDir,
}

/// With a file `stop` it ends as on Ctrl-C; it keeps the keys that it was given.
const PYTHON: &str = r#"#!/bin/sh
here="${0%/*}"
[ "$1" = -c ] && exit 0
for word in "$@"; do case "$word" in --done=*) cp "${word#*=}" "$here/done";; esac; done
echo "$@" > "$here/words"
cat "$here/told"
[ -e "$here/stop" ] && exit 130
[ -e "$here/fail" ] && { cat "$here/fail" >&2; exit 1; }
exit 0
"#;

/// A product that takes so many seconds.
fn product(side: u64, seconds: f64) -> String {
    let bytes = 4 * side * side;
    format!(
        r#"{{"key": "cpu {side}", "kernel": {{"on": "cpu", "library": "numpy", "dtype": "f32",
        "op": {{"matmul": {{"m": {side}, "n": {side}, "k": {side}}}}}, "read_bytes": {}, "written_bytes": {bytes},
        "seconds": {{"p10": {seconds}, "p50": {seconds}, "p90": {seconds}}}}}}}"#,
        2 * bytes
    )
    .replace('\n', " ")
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("python3", PYTHON);
        fs::set_permissions(place.file("python3"), fs::Permissions::from_mode(0o755)).unwrap();
        place.tell(&["{\"busy\": 0.01}"]);
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    fn tell(&self, last: &[&str]) {
        let products = [(256, 1e-3), (512, 8e-3), (1024, 64e-3), (2048, 512e-3)].map(|(side, s)| product(side, s));
        let mut lines = vec![r#"{"no_gpu": "none of CuPy, PyTorch and JAX is installed"}"#.to_owned()];
        lines.push(r#"{"total": 4, "known": 0}"#.to_owned());
        lines.extend(products);
        lines.extend(last.iter().map(|line| (*line).to_owned()));
        self.write("told", &(lines.join("\n") + "\n"));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = breakeven();
        command.current_dir(self.folder.path()).env("BREAKEVEN_MACHINE", self.file("machine.json"));
        command.env("BREAKEVEN_CPU", "AMD EPYC 7763").args(arguments);
        command
    }

    fn calibrate(&self, arguments: &[&str]) -> String {
        let mut command = self.command(&["calibrate", "--python"]);
        self.tidy(&said(command.arg(self.file("python3")).args(arguments)))
    }

    fn tidy(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "DIR")
    }

    fn estimate(&self, arguments: &[&str]) -> String {
        let all = [&["estimate", "--matmul", "3000", "--gpu", "l4", "--format", "json"], arguments].concat();
        self.tidy(&said(&mut self.command(&all)))
    }
}

#[test]
fn what_was_measured_becomes_the_machine_file() {
    let place = Place::new();
    let told = place.calibrate(&["--cpu-only"]);
    assert!(told.starts_with("exit 0\n--- stdout\nCPU: error "), "{told}");
    for part in [
        "the CPU alone was measured",
        "none of CuPy, PyTorch and JAX is installed",
        "matmul",
        "GFLOP/s",
        "wrote DIR/machine.json",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(fs::read_to_string(place.file("words")).unwrap().contains("--device=none"));
    assert!(!place.file("machine.json.part").exists());
    let used = place.estimate(&[]);
    assert!(used.contains("\"calibrated\"") && used.contains("\"basis\": \"measured\""), "{used}");
    assert!(!place.estimate(&["--no-config"]).contains("\"calibrated\""));
}

#[test]
fn an_interrupted_calibration_goes_on() {
    let place = Place::new();
    place.write("stop", "");
    let told = place.calibrate(&[]);
    assert_eq!(
        told,
        "exit 130\n--- stderr\nInterrupted (Ctrl-C): 4 of 4 measurements are kept; run it again to go on\n"
    );
    assert!(!place.file("machine.json").exists());
    // A line that was cut short is measured again.
    let journal = fs::read_to_string(place.file("machine.json.part")).unwrap();
    place.write("machine.json.part", &journal[..journal.len() - 20]);
    fs::remove_file(place.file("stop")).unwrap();
    let told = place.calibrate(&[]);
    assert!(told.contains("going on after 3 measurements"), "{told}");
    assert_eq!(fs::read_to_string(place.file("done")).unwrap(), "cpu 256\ncpu 512\ncpu 1024");
    place.calibrate(&["--afresh"]);
    assert_eq!(fs::read_to_string(place.file("done")).unwrap(), "");
}

#[test]
fn a_device_that_is_no_gpu_leaves_no_times() {
    let place = Place::new();
    let kernel = product(700, 1e-3).replace("\"on\": \"cpu\"", "\"on\": \"gpu\"").replace("cpu 700", "gpu 700");
    let board = r#"{"gpu": {"name": "cpu", "library": "torch 2.11", "idle_w": null, "busy_w": null}, "real": false}"#;
    place.tell(&[board, &kernel, "{\"busy\": 0.9}"]);
    let told = place.calibrate(&["--device", "cpu"]);
    assert!(told.contains("is no GPU: its times are not kept") && told.contains("other programs had 90 %"), "{told}");
    let file = fs::read_to_string(place.file("machine.json")).unwrap();
    assert!(file.contains("\"gpu\": null") && !file.contains("\"on\": \"gpu\""), "{file}");
}

#[test]
fn a_gpu_that_is_lost_is_told_and_what_was_measured_is_kept() {
    let place = Place::new();
    place.tell(&[
        r#"{"lost": "CUDA error: device lost"}"#,
        r#"{"skipped": "gpu x", "why": "lost"}"#,
        "{\"busy\": 0.0}",
    ]);
    let told = place.calibrate(&[]);
    assert!(
        told.starts_with("exit 0") && told.contains("the GPU was lost while it was measured: CUDA error"),
        "{told}"
    );
}

#[test]
fn a_python_that_fails_says_why() {
    let place = Place::new();
    place.write("told", "");
    place.write("fail", "Traceback\nModuleNotFoundError: No module named 'numpy'\n");
    insta::assert_snapshot!(place.calibrate(&[]), @r"
    exit 2
    --- stderr
    error: nothing could be measured: ModuleNotFoundError: No module named 'numpy'
     hint: `breakeven doctor` says what is missing; calibrating needs NumPy
    ");
}

#[test]
fn a_file_that_does_not_hold_is_told_and_not_used() {
    let place = Place::new();
    place.calibrate(&[]);
    let whole = fs::read_to_string(place.file("machine.json")).unwrap();
    let cases = [
        (whole[..whole.len() / 2].to_owned(), "it is cut short"),
        (whole.replace("breakeven.machine/1", "breakeven.machine/7"), "`breakeven.machine/7`"),
        (whole.replace("AMD EPYC 7763", "AMD EPYC 9654"), "it is of another machine"),
        (whole.replacen("0.001", "NaN", 1), "it does not read"),
    ];
    for (text, why) in cases {
        place.write("machine.json", &text);
        let told = place.estimate(&[]);
        assert!(
            told.starts_with("exit 0") && told.contains("machine.json is not used") && told.contains(why),
            "{told}"
        );
        assert!(!told.contains("\"calibrated\""), "{told}");
    }
    // The user's own choice is never left out in silence.
    place.write("other.json", &whole.replace("AMD EPYC 7763", "AMD EPYC 9654"));
    let told = place.estimate(&["--machine", "other.json"]);
    assert!(told.contains("AMD EPYC 9654") && told.contains("\"calibrated\""), "{told}");
    place.write("other.json", "{");
    assert!(place.estimate(&["--machine", "other.json"]).starts_with("exit 2"));
}

#[test]
fn a_full_disk_loses_nothing_that_was_there() {
    let place = Place::new();
    place.calibrate(&[]);
    let before = fs::read_to_string(place.file("machine.json")).unwrap();
    // Where files cannot be made there is no journal either: said before anything is measured.
    let told = place.calibrate(&["--output", "/dev/null/machine.json"]);
    assert!(told.starts_with("exit 2") && told.contains("cannot write"), "{told}");
    assert_eq!(fs::read_to_string(place.file("machine.json")).unwrap(), before);
}
