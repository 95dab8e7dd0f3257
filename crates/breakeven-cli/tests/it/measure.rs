//! `measure` with a Python that is a shell: what is said of sides that it tells of. What Python does of it is tested there.

use super::{breakeven, said, says};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// A matrix product, as a recorder would write it.
const RECORD: &str = r#"{"format": "breakeven.workload/1",
  "program": {"name": "job.py", "wall_ns": 2000000000, "recorder": "numpy-native", "cpu": "AMD EPYC 7763", "cpu_threads": 8},
  "sites": [{"file": "/home/ada/job.py", "line": 3, "text": "c = a @ b"}],
  "ops": [{"site": 0, "name": "numpy.matmul", "op": {"matmul": {"m": 4000, "n": 4000, "k": 4000}}, "dtype": "f32",
           "count": 1, "read_bytes": 128000000, "written_bytes": 64000000, "cpu_ns": 1900000000}],
  "buffers": [{"bytes": 64000000, "count": 3, "peak_live": 3}]}"#;

/// Two runs that ended well.
const RUNS: &str = r#"{"side": "cpu", "libraries": ["numpy"], "runs": [
  {"seconds": 3.0, "exit": 0}, {"seconds": 2.0, "exit": 0}, {"seconds": 2.2, "exit": 0}, {"seconds": 1.8, "exit": 0}]}"#;
const AGREE: &str = r#"{"agree": true, "differences": [], "largest_relative": 3e-12, "largest_of": "array c", "numbers": 4,
  "lines": 2, "arrays": 1, "files": 0, "compared": 7, "left_out": [], "varying": [], "varying_second": []}"#;
const DIFFER: &str = r#"{"agree": false, "differences": [
    {"what": "array c", "text": "array c[7]: 7 against 0, 12 % of the elements", "relative": 1.0},
    {"what": "file o.txt", "text": "file o.txt was written on the first side alone", "relative": null}],
  "largest_relative": 0.0, "largest_of": "", "numbers": 4, "lines": 2, "arrays": 1, "files": 0, "compared": 7,
  "left_out": ["printed text, line 2: two runs of one side differ there"], "varying": ["printed text, line 2"]}"#;

/// A folder with a shell that answers to `python3 -m breakeven.measure.run` and `… .compare` with the files in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("python3", PYTHON);
        fs::set_permissions(place.file("python3"), fs::Permissions::from_mode(0o755)).unwrap();
        place.write("record", RECORD);
        place.write("cpu.json", RUNS);
        place.write("compared", AGREE);
        place.write("job.py", "");
        place.write("other.py", "");
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    fn measure(&self, arguments: &[&str]) -> String {
        let mut command = breakeven();
        command.current_dir(self.folder.path()).args(["measure", "--python"]).arg(self.file("python3"));
        said(command.args(arguments)).replace(self.folder.path().to_str().unwrap(), "DIR")
    }
}

/// The side's name is in `--side=`; its folder's last part says which script of two.
const PYTHON: &str = r#"#!/bin/sh
here="${0%/*}"
[ "$1" = -c ] && exit 0
[ "$2" = breakeven.measure.compare ] && { cat "$here/compared"; exit 0; }
for word in "$@"; do case "$word" in --side=*) side="${word#*=}";; --out=*) out="${word#*=}";; esac; done
mkdir -p "$out"
if [ "$side" = record ]; then mkdir "$out/record"; cp "$here/record" "$out/record/$$.breakeven.json"; exit 0; fi
name="${out##*/}"
cp "$here/$name.json" "$out/result.json"
[ -e "$here/$name.err" ] && cat "$here/$name.err" >&2
[ -e "$here/$name.code" ] && exit "$(cat "$here/$name.code")"
exit 0
"#;

/// Whether tests run where there is a GPU: what they say of machines without one does not hold there.
fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/kfd"].iter().any(|path| PathBuf::from(path).exists())
}

#[test]
fn without_a_gpu_the_gpu_side_is_predicted_and_never_measured() {
    if has_gpu() {
        return;
    }
    let told = Place::new().measure(&["--gpu", "l4", "job.py"]);
    assert!(
        told.starts_with("exit 3\n--- stdout\nno GPU here: the CPU side was measured, the GPU side is predicted · ")
    );
    assert!(told.contains(" on L4"), "{told}");
    assert!(told.contains("warm (of 3 runs)  2 s") && told.contains("cold (first run)  3 s"), "{told}");
    assert!(told.contains("predicted, L4") && told.contains("job.py:3  1.9 s"), "{told}");
    assert!(!told.contains(", measured"), "{told}");
}

#[test]
fn a_checked_port_has_results_and_fallbacks_and_no_times() {
    if has_gpu() {
        return;
    }
    let place = Place::new();
    place.write(
        "port.json",
        r#"{"side": "check-port", "libraries": ["numpy", "cupy"], "runs": [{"seconds": 77.0, "exit": 0, "root": "/copy",
            "port": {"calls": 12, "copies": [{"direction": "h2d", "file": "/copy/job.py", "line": 3, "what": "argument",
              "count": 2, "bytes": 128000000, "seconds": 55.0}],
            "fallbacks": [{"function": "numpy.insert", "file": "/copy/job.py", "line": 5,
              "reason": "CuPy has no such function", "count": 4, "bytes": 6400}]}}]}"#,
    );
    let told = place.measure(&["--gpu", "l4", "--check-port", "job.py"]);
    assert!(told.starts_with("exit 3\n"), "{told}");
    assert!(told.replace('\n', " ").contains("results agree (largest relative difference 3e-12)"), "{told}");
    assert!(told.contains("calls: 16 through the port, 12 of them by the stand-in for CuPy, 4 by NumPy"), "{told}");
    assert!(told.contains("by NumPy: job.py:5 numpy.insert ×4, 6.4 kB copied: CuPy has no such function"), "{told}");
    assert!(told.contains("copies: 2 to the device (128 MB), 0 back (0 B)"), "{told}");
    assert!(!told.contains("77") && !told.contains("55 s"), "{told}");
    place.write("compared", DIFFER);
    let told = place.measure(&["--gpu", "l4", "--check-port", "job.py"]);
    assert!(
        told.starts_with("exit 1\n--- stdout\nresults differ: array c[7]: 7 against 0, 12 % of the elements · no GPU")
    );
}

#[test]
fn two_scripts_are_measured_and_disagreement_is_said_first() {
    let place = Place::new();
    place.write("against.json", &RUNS.replace("2.0", "1.0").replace("2.2", "1.1").replace("1.8", "0.9"));
    let told = place.measure(&["--against", "other.py", "job.py"]);
    assert!(
        told.starts_with(
            "exit 0\n--- stdout\nother.py is 2.0× faster, measured [1.6–2.4], both on the CPU · results agree (largest \
             relative\ndifference 3e-12)\n"
        ) || told.starts_with(
            "exit 0\n--- stdout\nother.py is 2.0× faster, measured [1.6–2.4], both on the CPU · results agree (largest \
             relative difference 3e-12)\n"
        ),
        "{told}"
    );
    place.write("compared", DIFFER);
    let told = place.measure(&["--against", "other.py", "job.py"]);
    assert!(told.starts_with("exit 1\n--- stdout\nresults differ: array c[7]: 7 against 0, 12 % of the elements · "));
    assert!(told.contains("differs too: file o.txt was written on the first side alone"), "{told}");
    assert!(told.contains("nondeterministic: two runs of one side differ (printed text, line 2)"), "{told}");
    assert!(told.contains("not compared: printed text, line 2: two runs of one side differ there"), "{told}");
}

#[test]
fn a_script_that_fails_on_one_side_is_said_first() {
    let place = Place::new();
    place.write("against.json", r#"{"side": "cpu", "libraries": [], "runs": [{"seconds": 0.1, "exit": 3}]}"#);
    let told = place.measure(&["--against", "other.py", "job.py"]);
    assert!(told.starts_with("exit 1\n--- stdout\nthe script fails on `other.py` alone (exit code 3)"), "{told}");
    place.write("cpu.json", r#"{"side": "cpu", "libraries": [], "runs": [{"seconds": 0.1, "exit": 1}]}"#);
    let told = place.measure(&["--against", "other.py", "job.py"]);
    assert!(told.contains("the script fails on both sides (exit code 1)"), "{told}");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let place = Place::new();
    place.write("cpu.code", "130");
    place.write(
        "cpu.json",
        r#"{"side": "cpu", "libraries": ["numpy"], "runs": [{"seconds": 3.0, "exit": 0},
            {"seconds": 0.2, "exit": 130, "interrupted": true}]}"#,
    );
    let told = place.measure(&["--save", "kept.json", "job.py"]);
    assert!(
        told.starts_with("exit 130\n--- stdout\ninterrupted (Ctrl-C): what had been measured until then\n"),
        "{told}"
    );
    assert!(told.contains("cold (first run)  3 s"), "{told}");
    let kept: serde_json::Value = serde_json::from_str(&fs::read_to_string(place.file("kept.json")).unwrap()).unwrap();
    assert_eq!((&kept["reached"], &kept["cpu"]["runs"][0]["seconds"]), (&"interrupted".into(), &3.0.into()));
    place.write("cpu.json", r#"{"side": "cpu", "libraries": [], "runs": []}"#);
    assert!(place.measure(&["job.py"]).contains("Interrupted (Ctrl-C): nothing had been measured yet"));
}

#[test]
fn json_holds_every_digit_and_markdown_the_tables() {
    let place = Place::new();
    place.write("against.json", RUNS);
    let told = place.measure(&["--against", "other.py", "--format", "json", "--output", "o.json", "job.py"]);
    assert_eq!(told, "exit 0\n");
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(place.file("o.json")).unwrap()).unwrap();
    assert_eq!((&json["schema"], &json["reached"]), (&"breakeven.measure/1".into(), &"two-on-cpu".into()));
    assert_eq!(json["speedup"]["p50"], 1.0);
    let told = place.measure(&["--against", "other.py", "--format", "markdown", "job.py"]);
    assert!(told.contains("**other.py is 1.0× faster") && told.contains("| warm (of 3 runs) | 2 s | 2 s |"), "{told}");
    let told = place.measure(&["--against", "other.py", "--quiet", "job.py"]);
    assert!(told.lines().count() <= 4, "{told}");
}

#[test]
fn bad_input_is_told_before_anything_runs() {
    let place = Place::new();
    for (arguments, words) in [
        (&["missing.py"][..], "cannot read the script missing.py"),
        (&["--against", "missing.py", "job.py"], "cannot read the script missing.py"),
        (&["."], "is a folder"),
        (&["--output", "no/such/o.md", "job.py"], "there is no folder no/such"),
        (&["--output", "job.py", "job.py"], "one would overwrite the other"),
        (&["--gpu", "no-such", "job.py"], "no-such"),
        (&[], "no script is named"),
    ] {
        let told = place.measure(arguments);
        assert!(told.starts_with("exit 2\n") && told.contains(words) && told.contains(" hint: "), "{told}");
    }
    place.write("cpu.json", &RUNS.replace("\"numpy\"", ""));
    assert!(place.measure(&["job.py"]).contains("uses neither NumPy nor a library that has a GPU side"));
    place.write("cpu.code", "5");
    place.write("cpu.err", "/tmp/x: No space left on device\n");
    let told = place.measure(&["job.py"]);
    assert!(
        told.starts_with("exit 2\n") && told.contains("No space left on device") && told.contains("TMPDIR"),
        "{told}"
    );
    assert!(says(&["measure", "--check-port", "--against", "a.py", "b.py"]).starts_with("exit 2\n"));
}
