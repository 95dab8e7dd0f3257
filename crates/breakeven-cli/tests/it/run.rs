//! `run` and `show` with a Python that is a shell: what the supervisor promises does not depend on the recorder.

use super::{breakeven, said};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A matrix product and its wall time, as a recorder would write it.
const RECORD: &str = r#"{"format": "breakeven.workload/1",
  "program": {"name": "job.py", "wall_ns": 2000000000, "recorder": "numpy-native", "cpu": "AMD EPYC 7763", "cpu_threads": 8},
  "sites": [{"file": "/home/ada/job.py", "line": 3, "text": "c = a @ b"}],
  "ops": [{"site": 0, "name": "numpy.matmul", "op": {"matmul": {"m": 4000, "n": 4000, "k": 4000}}, "dtype": "f32",
           "count": 1, "read_bytes": 128000000, "written_bytes": 64000000, "cpu_ns": 1900000000}],
  "buffers": [{"bytes": 64000000, "count": 3, "peak_live": 3}]}"#;

/// A folder with a shell that answers to `python3 -m breakeven._run SCRIPT ARGS…`, recording what `$RECORD` says.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(record: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        fs::write(place.file("record"), record).unwrap();
        let python = "#!/bin/sh\n\
            [ \"$1\" = -c ] && exit 0\n\
            shift 2\n\
            [ -s \"${0%/*}/record\" ] && cp \"${0%/*}/record\" \"$BREAKEVEN_RECORD_DIR/$$.breakeven.json\"\n\
            [ \"$1\" = -m ] && { echo module \"$@\"; exit 0; }\n\
            exec sh \"$@\"\n";
        place.executable("python3", python);
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn executable(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// `breakeven run OPTIONS script ARGS`, the script's text given.
    fn run(&self, options: &[&str], script: &str, arguments: &[&str]) -> String {
        fs::write(self.file("job.py"), script).unwrap();
        let mut command = breakeven();
        command.current_dir(self.folder.path()).args(["run", "--python"]).arg(self.file("python3"));
        command.args(options).arg("job.py").args(arguments);
        said(&mut command).replace(self.folder.path().to_str().unwrap(), "DIR")
    }

    /// The same, left running in a process group of its own; returns when the script has said `ready`.
    fn start(&self, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
        fs::write(self.file("job.py"), script).unwrap();
        // A shell in the background starts its jobs with interrupts ignored, and so would all be from here on.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT").arg(assert_cmd::cargo::cargo_bin!("breakeven"));
        command.current_dir(self.folder.path()).args(["run", "--python"]).arg(self.file("python3")).arg("job.py");
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        (child, out)
    }
}

#[test]
fn the_script_keeps_its_output_arguments_and_exit_code() {
    let text = Place::new(RECORD).run(&[], "echo \"$@\"; echo oops >&2; exit 7", &["-q", "--", "--top", "a b"]);
    assert!(text.starts_with("exit 7\n--- stdout\n-q -- --top a b\n--- stderr\noops\n\n"), "{text}");
    assert!(text.contains("coverage: "), "{text}");
}

#[test]
fn a_module_gets_what_follows_it() {
    let place = Place::new(RECORD);
    let mut command = breakeven();
    command.args(["run", "--python"]).arg(place.file("python3")).args(["-m", "pkg.mod", "--gpu", "x", "--", "-q"]);
    let text = said(&mut command);
    assert!(text.starts_with("exit 0\n--- stdout\nmodule -m pkg.mod --gpu x -- -q\n"), "{text}");
}

#[test]
fn the_script_reads_stdin() {
    let place = Place::new(RECORD);
    fs::write(place.file("job.py"), "read line; echo \"got $line\"").unwrap();
    let mut command = breakeven();
    command.args(["run", "--python"]).arg(place.file("python3")).arg(place.file("job.py")).write_stdin("hello\n");
    assert!(said(&mut command).contains("--- stdout\ngot hello\n"));
}

#[test]
fn what_is_wrong_before_the_start_stops_it() {
    let place = Place::new(RECORD);
    let script = "echo started";
    let cases: [&[&str]; 8] = [
        &["--trace", "-"],
        &["--format", "json"],
        &["--format", "markdown", "--report-fd", "9"],
        &["--gpu", "rtx 3081"],
        &["--fail-if", "speed<2"],
        &["--catalogue", "nowhere.csv"],
        &["--save", "nowhere/job.breakeven.json"],
        &["--price", "12abc"],
    ];
    let said: Vec<String> = cases.iter().map(|options| place.run(options, script, &[])).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stderr
    error: `-` is stdout, which belongs to the script
     hint: name a file, or for the report a descriptor: --report-fd 3 3>report.json

    exit 2
    --- stderr
    error: stdout belongs to the script: json and markdown need a place of their own
     hint: add --output FILE or --report-fd N

    exit 2
    --- stderr
    error: cannot write to descriptor 9: no such file or directory
     hint: open it for writing, as in `breakeven run … 9>report.json`

    exit 2
    --- stderr
    error: no GPU of the catalogue is called `rtx 3081`
     hint: nearest in kind to `rtx 3081` (NVIDIA GeForce, about 2020): rtx-3080-10gb (2020), rtx-3090 (2020), rtx-3080-ti (2021); `breakeven gpus` lists every name, --catalogue adds your own

    exit 2
    --- stderr
    error: `speed` is not a figure that `speed<2` can compare
     hint: write it like `speedup<2` or `any cost_usd>0.01`; keys are speedup, time_s, cost_usd, energy_wh, co2_g, coverage, wins_on

    exit 2
    --- stderr
    error: cannot read nowhere.csv: no such file or directory
     hint: check the path

    exit 2
    --- stderr
    error: there is no folder nowhere to write nowhere/job.breakeven.json in
     hint: mkdir -p nowhere

    exit 2
    --- stderr
    error: `12abc` has the unit `abc`; a price per hour has $/h, USD/h, $/min, $/s, $/d
     hint: write it like `$1.20/h`; a bare number is in $/h
    ");
    let unknown = said_of_run(&place, &["--bogus", "job.py"]);
    assert!(unknown.starts_with("exit 2\n--- stderr\nerror: unexpected argument '--bogus'"), "{unknown}");
}

fn said_of_run(place: &Place, arguments: &[&str]) -> String {
    let mut command = breakeven();
    command.current_dir(place.folder.path()).args(["run", "--python"]).arg(place.file("python3")).args(arguments);
    said(&mut command).replace(place.folder.path().to_str().unwrap(), "DIR")
}

#[test]
fn sizes_are_told_to_the_script_and_compared() {
    let place = Place::new(RECORD);
    let options = ["--scale", "0.25,1,4", "--gpu", "l4", "--save", "job.breakeven.json"];
    let text = place.run(&options, "echo \"$@\" >> sizes; cat", &["{}", "--n={1000}", "{name}"]);
    assert!(text.starts_with("exit 0\n--- stderr\nrecording at size 0.25 …\nrecording at size 4 …\n"), "{text}");
    assert!(text.contains("By the runs at sizes 0.25, 1, 4 the GPU "), "{text}");
    let told = fs::read_to_string(place.file("sizes")).unwrap();
    assert_eq!(told, "1 --n=1000 {name}\n0.25 --n=250 {name}\n4 --n=4000 {name}\n");

    let saved = ["job.0.25.breakeven.json", "job.breakeven.json", "job.4.breakeven.json"];
    let mut show = breakeven();
    show.current_dir(place.folder.path()).arg("show").args(saved).args(["--scale", "0.25,1,4", "--gpu", "l4"]);
    let again = said(&mut show);
    let line = |text: &str| text.lines().find(|line| line.starts_with("By the runs")).unwrap().to_owned();
    assert_eq!(line(&again), line(&text));
}

#[test]
fn sizes_that_cannot_be() {
    let place = Place::new(RECORD);
    let cases: [&[&str]; 5] = [
        &["--scale", "1", "job.py", "{}"],
        &["--scale", "1,x", "job.py", "{}"],
        &["--scale", "1,1.0", "job.py", "{}"],
        &["--scale", "1,2", "job.py", "1000"],
        &["--scale", "1,2", "--repeat", "2", "job.py", "{}"],
    ];
    fs::write(place.file("job.py"), "echo started").unwrap();
    let said: Vec<String> = cases.iter().map(|arguments| said_of_run(&place, arguments)).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn scripts_that_are_none() {
    let place = Place::new(RECORD);
    fs::create_dir(place.file("package")).unwrap();
    fs::write(place.file("book.ipynb"), "{}").unwrap();
    let cases = [&[][..], &["nowhere.py"], &["package"], &["-"], &["pkg.mod"], &["book.ipynb"]];
    let said: Vec<String> = cases.map(|a| said_of_run(&place, a)).into();
    insta::assert_snapshot!(said.join("\n"), @"
    exit 2
    --- stderr
    error: no script is named
     hint: as in `breakeven run heat.py`, or `breakeven run -m package.module`

    exit 2
    --- stderr
    error: cannot read the script nowhere.py: no such file or directory
     hint: options of breakeven come before the script, the script's own after it

    exit 2
    --- stderr
    error: package is a folder without __main__.py: Python cannot run it
     hint: name the script in it, or use -m for a package

    exit 2
    --- stderr
    error: `-` is no script: stdin belongs to the script itself
     hint: save the script to a file, or pass it as /dev/stdin

    exit 2
    --- stderr
    error: there is no file pkg.mod
     hint: for a module: breakeven run -m pkg.mod

    exit 2
    --- stderr
    error: book.ipynb is a notebook: Python cannot run it
     hint: `%load_ext breakeven` and `%%breakeven` record its cells, or `jupyter nbconvert --to script` makes a script of it
    ");
}

#[test]
fn a_python_without_the_package() {
    let place = Place::new(RECORD);
    place.executable("python3", "#!/bin/sh\nexit 1\n");
    insta::assert_snapshot!(place.run(&[], "echo started", &[]), @"
    exit 2
    --- stderr
    error: DIR/python3 has no package breakeven: it cannot record
     hint: DIR/python3 -m pip install breakeven
    ");
    fs::remove_file(place.file("python3")).unwrap();
    insta::assert_snapshot!(place.run(&[], "echo started", &[]), @"
    exit 2
    --- stderr
    error: there is no Python DIR/python3
     hint: name an executable, such as --python ~/venv/bin/python
    ");
}

#[test]
fn the_python_of_the_virtual_environment_goes_first() {
    let place = Place::new(RECORD);
    let bin = place.file("bin");
    fs::create_dir(&bin).unwrap();
    fs::rename(place.file("python3"), bin.join("python3")).unwrap();
    fs::write(place.file("job.py"), "echo started").unwrap();
    let mut command = breakeven();
    command.env("VIRTUAL_ENV", place.folder.path()).arg("run").arg(place.file("job.py"));
    assert!(said(&mut command).contains("--- stdout\nstarted\n"));
}

#[test]
fn a_script_killed_by_a_signal_kills_us_by_the_same() {
    for signal in [Signal::SEGV, Signal::KILL, Signal::TERM, Signal::ABORT] {
        let place = Place::new(RECORD);
        fs::write(place.file("job.py"), format!("kill -{} $$", signal.as_raw())).unwrap();
        let mut command = breakeven();
        command.args(["run", "--python"]).arg(place.file("python3")).arg(place.file("job.py"));
        let output = command.output().unwrap();
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
        let report = String::from_utf8(output.stderr).unwrap();
        assert!(report.contains("coverage: "), "{report}");
        assert_eq!(report.contains("--recorder off"), signal == Signal::SEGV, "{report}");
    }
}

#[test]
fn a_signal_to_us_alone_is_handed_on() {
    let place = Place::new(RECORD);
    let (mut child, mut out) = place.start("trap 'echo caught; exit 5' TERM\necho ready\nwhile :; do sleep 0.01; done");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let (mut rest, mut report) = (String::new(), String::new());
    out.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut report).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("caught\n", Some(5)));
    assert!(report.contains("coverage: "), "{report}");
}

#[test]
fn an_interrupt_of_the_group_ends_the_script_and_not_the_report() {
    for times in [1, 2] {
        let place = Place::new(RECORD);
        // A shell that is interrupted as it forks leaves its `sleep` behind; one that became `sleep` does not.
        let (mut child, _out) = place.start("echo ready\nexec sleep 60\n");
        for _ in 0..times {
            // What is gone already cannot be interrupted again.
            let _ = kill_process_group(Pid::from_child(&child), Signal::INT);
        }
        let mut report = String::new();
        child.stderr.take().unwrap().read_to_string(&mut report).unwrap();
        assert!(report.contains("coverage: "), "{report}");
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    }
}

/// What a script says that counts the interrupts it gets for a second after `ready`, when `interrupt` has been done.
fn interrupts_caught(interrupt: impl FnOnce(&Child)) -> String {
    let place = Place::new(RECORD);
    // As long as Python takes to start, in which we get ready for signals.
    let script =
        "trap 'echo caught' INT\nsleep 0.3\necho ready\ni=0\nwhile [ $i -lt 100 ]; do sleep 0.01; i=$((i+1)); done";
    let (mut child, mut out) = place.start(script);
    interrupt(&child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    rest
}

#[test]
fn an_interrupt_of_the_group_reaches_the_script_once() {
    let caught = interrupts_caught(|child| kill_process_group(Pid::from_child(child), Signal::INT).unwrap());
    assert_eq!(caught, "caught\n");
    // And again once the first has been dealt with; then one that is for us alone.
    let caught = interrupts_caught(|child| {
        for _ in 0..2 {
            kill_process_group(Pid::from_child(child), Signal::INT).unwrap();
            std::thread::sleep(Duration::from_millis(200));
        }
        kill_process(Pid::from_child(child), Signal::INT).unwrap();
    });
    assert_eq!(caught, "caught\ncaught\ncaught\n");
}

#[test]
fn ctrl_c_in_a_terminal_reaches_the_script_once() {
    let place = Place::new(RECORD);
    // As long as Python takes to start, in which we get ready for signals.
    let script =
        "trap 'echo caught' INT\nsleep 0.3\necho ready\ni=0\nwhile [ $i -lt 60 ]; do sleep 0.01; i=$((i+1)); done";
    fs::write(place.file("job.py"), script).unwrap();
    let command = format!(
        "{} run --python {} {}",
        assert_cmd::cargo::cargo_bin!("breakeven").display(),
        place.file("python3").display(),
        place.file("job.py").display()
    );
    // Whoever runs the tests may have them ignore interrupts.
    let python = "import os, pty, signal, sys\n\
        signal.signal(signal.SIGINT, signal.SIG_DFL)\n\
        pid, tty = pty.fork()\n\
        if pid == 0: os.execvp('sh', ['sh', '-c', 'exec ' + sys.argv[1]])\n\
        seen = b''\n\
        while b'ready' not in seen: seen += os.read(tty, 4096)\n\
        os.write(tty, b'\\x03')\n\
        try:\n\
        \x20   while True: seen += os.read(tty, 4096)\n\
        except OSError: pass\n\
        print(seen.count(b'caught'), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
    let output = Command::new("python3").args(["-c", python, &command]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 0\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn where_memory_ran_short_the_command_that_needs_none_is_told() {
    let short = RECORD.trim_end_matches('}').to_owned() + r#", "unseen": [{"reason": "memory-short", "text": "-"}]}"#;
    let told = |record: &str, script: &str, options: &[&str]| {
        Place::new(record).run(options, script, &["--epochs", "2", "it's big"]).contains("--top 3 job.py --epochs 2 ")
    };
    let text = Place::new(&short).run(&["--top", "3"], "exit 1", &["--epochs", "2", "it's big"]);
    let command = r"breakeven run --fake --python DIR/python3 --top 3 job.py --epochs 2 'it'\''s big'";
    assert!(text.contains(command), "{text}");
    assert!(!told(&short, "exit 0", &["--top", "3"]));
    assert!(!told(&short, "exit 1", &["--top", "3", "--fake"]));
    assert!(!told(RECORD, "exit 1", &["--top", "3"]));
}

#[test]
fn the_recorder_is_told_whom_to_die_with() {
    let text = Place::new(RECORD).run(&[], "[ $BREAKEVEN_PARENT = $PPID ] && echo same", &[]);
    assert!(text.starts_with("exit 0\n--- stdout\nsame\n"), "{text}");
}

#[test]
fn what_was_ignored_stays_ignored() {
    let place = Place::new(RECORD);
    fs::write(place.file("job.py"), "kill -HUP $$; echo survived").unwrap();
    let command = format!(
        "trap '' HUP; exec {} run --python {} {}",
        assert_cmd::cargo::cargo_bin!("breakeven").display(),
        place.file("python3").display(),
        place.file("job.py").display()
    );
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "survived\n");
}

#[test]
fn the_report_goes_where_it_is_sent() {
    let place = Place::new(RECORD);
    let text = place.run(&["--format", "json", "--output", "report.json"], "echo out", &[]);
    assert_eq!(text, "exit 0\n--- stdout\nout\n");
    assert_eq!(schema(&place.file("report.json")), "breakeven.estimate/1");
    let command = format!(
        "{} run --format json --report-fd 3 --python ./python3 job.py 3>fd.json",
        assert_cmd::cargo::cargo_bin!("breakeven").display()
    );
    let status = Command::new("sh").args(["-c", &command]).current_dir(place.folder.path()).output().unwrap();
    assert_eq!(status.stdout, b"out\n");
    assert_eq!(schema(&place.file("fd.json")), "breakeven.estimate/1");
}

fn schema(path: &Path) -> String {
    let report: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    report["schema"].as_str().unwrap().to_owned()
}

#[test]
fn a_saved_workload_is_shown_again() {
    let place = Place::new(RECORD);
    for name in ["job.breakeven.json", "job.breakeven.json.gz"] {
        let first = place.run(&["--save", name, "--gpu", "l4"], "exit 0", &[]);
        let (wrote, report) = first.split_once("--- stderr\n").unwrap().1.split_once("\n\n").unwrap();
        assert!(wrote.starts_with(&format!("wrote {name} (")), "{wrote}");
        let again = said(breakeven().args(["show", "--gpu", "l4"]).arg(place.file(name)));
        assert_eq!(again, format!("exit 0\n--- stdout\n{report}"));
    }
    let merged =
        said(breakeven().arg("show").args([place.file("job.breakeven.json"), place.file("job.breakeven.json.gz")]));
    assert!(merged.contains("2 ops"), "{merged}");
}

#[test]
fn the_order_of_files_is_no_matter() {
    let place = Place::new(RECORD);
    // The parent began last by name and first by the clock; two runs of one moment go by their names.
    for (name, start, wall) in [("a", 2000, 1_900_000_001), ("b", 1000, 2_000_000_000), ("c", 1000, 4_000_000_000_u64)]
    {
        let program = format!(r#""start_unix_ms": {start}, "wall_ns": {wall}"#);
        fs::write(place.file(name), RECORD.replace(r#""wall_ns": 2000000000"#, &program)).unwrap();
    }
    let shown = |names: [&str; 2]| said(breakeven().arg("show").args(names.map(|name| place.file(name))));
    for [one, other] in [["a", "b"], ["b", "c"], ["a", "c"]] {
        assert_eq!(shown([one, other]), shown([other, one]), "{one} {other}");
    }
}

#[test]
fn a_script_that_ends_for_want_of_a_gpu_gets_two_lines() {
    let torch =
        "the script asks for a GPU (job.py:3), and there is none: --pretend-gpu NAME records it as if there were";
    let cudf = "the script asks cuDF for a GPU (job.py:1), and it has none here: record it with pandas in its place";
    let told = |text: &str, options: &[&str], script: &str| {
        let unseen = format!(r#""unseen": [{{"reason": "no-gpu", "text": "{text}", "count": 1}}], "sites""#);
        Place::new(&RECORD.replace("\"sites\"", &unseen)).run(options, script, &["--epochs", "2"])
    };
    let said = [
        told(torch, &[], "exit 1"),
        told(torch, &["--gpu", "mi300x,h100-sxm,l4", "--format", "json", "--output", "report.json"], "exit 1"),
        told(torch, &["--gpu", "a100"], "exit 1"),
        told(cudf, &[], "exit 1"),
    ];
    insta::assert_snapshot!(said.join("\n"), @"
    exit 1
    --- stderr
    note: the script asks for a GPU (job.py:3), and there is none
     hint: to record it as if there were one: breakeven run --pretend-gpu l4 --python DIR/python3 job.py --epochs 2

    exit 1
    --- stderr
    note: the script asks for a GPU (job.py:3), and there is none
     hint: to record it as if there were one: breakeven run --pretend-gpu h100-sxm --python DIR/python3 --gpu mi300x,h100-sxm,l4 --format json --output report.json job.py --epochs 2

    exit 1
    --- stderr
    note: the script asks for a GPU (job.py:3), and there is none
     hint: to record it as if there were one: breakeven run --pretend-gpu a100-pcie-40gb --python DIR/python3 --gpu a100 job.py --epochs 2

    exit 1
    --- stderr
    note: the script asks cuDF for a GPU (job.py:1), and it has none here
     hint: record it with pandas in its place
    ");
    assert!(told(torch, &[], "exit 0").contains("coverage: "), "it went on without");
}

#[test]
fn an_option_behind_the_script_is_told_and_left_to_it() {
    let place = Place::new(RECORD);
    let said = |script: &str, arguments: &[&str]| place.run(&["--quiet", "--gpu", "t4"], script, arguments);
    let text = said("echo \"$@\"", &["big", "--top", "3", "--gpu=l4", "--steps", "5", "--spot"]);
    let told: Vec<&str> = text.lines().take(5).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    exit 0
    --- stdout
    big --top 3 --gpu=l4 --steps 5 --spot
    --- stderr
    note: what follows job.py is the script's, `--gpu`, `--spot`, `--top` too; for breakeven: breakeven run --top 3 --gpu=l4 --spot --python DIR/python3 --quiet --gpu t4 job.py big --steps 5
    ");
    let mut piped = breakeven();
    piped.current_dir(place.folder.path()).args(["run", "--python"]).arg(place.file("python3"));
    let text = crate::said(piped.args(["/dev/stdin", "--spot"]).write_stdin("echo whole"));
    assert!(text.contains("--- stdout\nwhole\n"), "{text}");
    assert!(!said("echo \"$@\" # knows\n: --top", &["--top", "3"]).contains("note: what follows"));
}

#[test]
fn nothing_recorded_is_said() {
    let place = Place::new("");
    assert_eq!(
        place.run(&[], "exit 3", &[]),
        "exit 3\n--- stderr\nwarning: nothing was recorded, so there is nothing to report\n"
    );
}

#[test]
fn a_record_cut_short_is_a_warning() {
    let place = Place::new(&RECORD[..RECORD.len() / 2]);
    let text = place.run(&[], "exit 0", &[]);
    assert!(text.starts_with("exit 0\n--- stderr\nwarning: what one process recorded does not read"), "{text}");
}

#[test]
fn a_policy_speaks_only_for_scripts_that_end_well() {
    let place = Place::new(RECORD);
    let options = ["--gpu", "l4", "--fail-if", "speedup<1e9", "--quiet"];
    assert!(place.run(&options, "exit 0", &[]).starts_with("exit 1\n"));
    assert!(place.run(&options, "exit 4", &[]).starts_with("exit 4\n"));
    assert!(place.run(&["--gpu", "l4", "--fail-if", "speedup<0", "--quiet"], "exit 0", &[]).starts_with("exit 0\n"));
}

#[test]
fn repeats_are_timed_in_silence() {
    let place = Place::new(RECORD);
    let text = place.run(&["--repeat", "3", "--save", "job.breakeven.json"], "echo hello; echo run >>runs", &[]);
    assert_eq!(text.matches("hello").count(), 1, "{text}");
    assert_eq!(fs::read_to_string(place.file("runs")).unwrap().lines().count(), 3);
    let saved: serde_json::Value =
        serde_json::from_slice(&fs::read(place.file("job.breakeven.json")).unwrap()).unwrap();
    assert_eq!(saved["program"]["repeat_wall_ns"].as_array().unwrap().len(), 2);
}

#[test]
fn files_that_are_no_workloads() {
    let place = Place::new(RECORD);
    let packed = {
        place.run(&["--save", "whole.gz"], "exit 0", &[]);
        fs::read(place.file("whole.gz")).unwrap()
    };
    fs::write(place.file("cut.gz"), &packed[..packed.len() / 2]).unwrap();
    fs::write(place.file("binary"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(place.file("empty"), "").unwrap();
    fs::write(place.file("cut"), &RECORD[..200]).unwrap();
    fs::write(place.file("newer"), RECORD.replace("workload/1", "workload/2")).unwrap();
    fs::write(place.file("nan"), RECORD.replace("2000000000", "NaN")).unwrap();
    fs::write(place.file("negative"), RECORD.replace("2000000000", "-1")).unwrap();
    fs::write(place.file("huge"), RECORD.replace("2000000000", "1e308")).unwrap();
    fs::write(place.file("field"), RECORD.replace("\"sites\"", "\"places\"")).unwrap();
    for name in ["cut.gz", "binary", "empty", "cut", "newer", "nan", "negative", "huge", "field", "nowhere"] {
        let text = said(breakeven().current_dir(place.folder.path()).args(["show", name]));
        assert!(text.starts_with("exit 2\n--- stderr\nerror: "), "{name}: {text}");
        assert!(text.contains(name) && text.contains("\n hint: "), "{name}: {text}");
    }
}
