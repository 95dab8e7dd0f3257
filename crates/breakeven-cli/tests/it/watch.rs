//! `watch`: a command's exit code and output, reports, samples, saved sessions, machines without a GPU.

use super::{breakeven, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A machine below a folder: two cores and a board of AMD that stands still.
fn machine(root: &Path) {
    let card = "sys/class/drm/card0/device";
    for (path, text) in [
        (format!("{card}/vendor"), "0x1002\n"),
        (format!("{card}/device"), "0x740f\n"),
        (format!("{card}/gpu_busy_percent"), "50\n"),
        (format!("{card}/mem_info_vram_total"), "68702699520\n"),
        (format!("{card}/mem_info_vram_used"), "2147483648\n"),
        (format!("{card}/hwmon/hwmon0/power1_average"), "100000000\n"),
        (format!("{card}/hwmon/hwmon0/power1_cap"), "300000000\n"),
        ("proc/stat".to_owned(), "cpu  1 0 1 1 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0\n"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// `breakeven watch --root ROOT` with arguments, in words.
fn watch(root: &Path, arguments: &[&str]) -> String {
    said(breakeven().args(["watch", "--root"]).arg(root).args(arguments))
}

/// A folder with such a machine and room for files.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    machine(&root);
    (folder, root)
}

#[test]
fn a_command_keeps_its_output_and_its_exit_code() {
    let (_folder, root) = place();
    let text = watch(&root, &["--", "sh", "-c", "echo mine; echo too >&2; exit 7"]);
    assert!(text.starts_with("exit 7\n--- stdout\nmine\n--- stderr\ntoo\n"), "{text}");
    assert!(text.contains("GPU busy 50 % of the time, 100 W of 300 W, 2.0 of 64 GiB: not enough evidence"), "{text}");
    let text = watch(&root, &["--", "sh", "-c", "kill -TERM $$"]);
    assert!(text.starts_with("signal: 15"), "{text}");
    let text = watch(&root, &["--", "no-such-command"]);
    assert!(
        text.starts_with("exit 2\n--- stderr\nerror: cannot start no-such-command: ") && text.contains("hint"),
        "{text}"
    );
    let text = watch(&root, &["--format", "csv", "--", "true"]);
    assert!(text.starts_with("exit 2\n--- stderr\nerror: stdout belongs to the command"), "{text}");
}

#[test]
fn samples_come_as_lines_json_or_csv_and_the_sentence_beside_them() {
    let (folder, root) = place();
    let text = watch(&root, &["--for", "0.35s"]);
    assert!(text.starts_with("exit 0\n--- stdout\n0.0 s | 0: 50 %, 100 W, 2.0 of 64 GiB\n0."), "{text}");
    assert!(text.lines().filter(|line| line.contains(" s | 0: ")).count() >= 3, "{text}");
    let text = watch(&root, &["--for", "0.25s", "--format", "csv"]);
    assert!(text.starts_with("exit 0\n--- stdout\nat_s,gpu,busy,memory_busy,memory,"), "{text}");
    assert!(text.contains(",0,0.5,,2147483648,,,100,,,,,,,") && text.contains("--- stderr\nGPU busy 50 %"), "{text}");
    let file = folder.path().join("samples.jsonl");
    let text = watch(&root, &["--format", "jsonl", "--output", file.to_str().unwrap(), "--", "sleep", "0.3"]);
    assert!(text.starts_with("exit 0\n--- stderr\n"), "{text}");
    let lines = fs::read_to_string(file).unwrap();
    let row: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((row["gpus"][0]["watts"].as_f64(), row["gpus"][0]["celsius"].is_null()), (Some(100.0), true));
}

#[test]
fn a_saved_session_is_shown_again_as_report_samples_and_page() {
    let (folder, root) = place();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (saved, page) = (path("night.watch"), path("night.html"));
    let text = watch(&root, &["--save", &saved, "--html", &page, "--format", "json", "--for", "2.5s"]);
    let json = text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{text}"));
    let (json, notes) = json.split_once("--- stderr\n").unwrap();
    assert!(notes.contains("wrote ") && notes.contains("night.watch"), "{notes}");
    let all: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(
        (&all["schema"], &all["gpus"][0]["name"]),
        (&"breakeven.watch-totals/1".into(), &"AMD Instinct MI210".into())
    );
    assert_eq!(all["gpus"][0]["held_back_by"], "neither");
    let joules = all["gpus"][0]["energy"]["joules"].as_f64().unwrap();
    assert!((joules - 100.0 * all["seconds"].as_f64().unwrap()).abs() < 0.5, "{joules}");
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("<polyline") && !html.contains("<script"), "{html}");
    let again = said(breakeven().args(["watch", "--show", &saved, "--format", "json"]));
    let again: serde_json::Value = serde_json::from_str(again.strip_prefix("exit 0\n--- stdout\n").unwrap()).unwrap();
    assert_eq!(
        (&again["gpus"][0]["held_back_by"], &again["samples"]),
        (&all["gpus"][0]["held_back_by"], &all["samples"])
    );
    let text = said(breakeven().args(["watch", "--show", &saved]));
    assert!(text.starts_with("exit 0\n--- stdout\nGPU busy 50 % of the time, 100 W of 300 W"), "{text}");
    let rows = said(breakeven().args(["watch", "--show", &saved, "--format", "csv"]));
    assert_eq!(rows.lines().count() as u64, 3 + all["samples"].as_u64().unwrap());
    let text = said(breakeven().args(["watch", "--show", &page]));
    assert!(text.starts_with("exit 2\n--- stderr\nerror: cannot show ") && text.contains("no session"), "{text}");
}

#[test]
fn no_gpu_is_a_note_and_the_command_runs_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let text = watch(folder.path(), &["--", "sh", "-c", "exit 3"]);
    assert!(text.starts_with("exit 3\n--- stderr\n\nNo GPU was watched."), "{text}");
    assert!(text.contains("no GPU was found") && text.contains(" hint: "), "{text}");
    let text = watch(folder.path(), &["--for", "0.1s", "--format", "json"]);
    assert!(text.starts_with("exit 0\n") && text.contains("\"no-gpu\""), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_the_next_step() {
    let (folder, root) = place();
    let taken = folder.path().join("x").to_str().unwrap().to_owned();
    for (arguments, part) in [
        (&["--interval", "1ms"][..], "10 ms to an hour"),
        (&["--interval", "soon"], "soon"),
        (&["--for", "0s"], "above 0"),
        (&["--pid", "4194399"], "no process 4194399"),
        (&["--html", &taken, "--save", &taken], "overwrite"),
        (&["--save", "/no/such/folder/x"], "cannot write"),
        (&["--show", "/no/such/file"], "cannot read"),
        (&["--pid", "1", "--", "true"], "cannot be used with"),
    ] {
        let text = watch(&root, arguments);
        assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains(part), "{arguments:?}: {text}");
        assert!(text.contains("\n hint: "), "{text}");
    }
}

/// `breakeven watch` beside us, whose signals and output are ours to see.
fn beside(root: &Path, arguments: &[&str]) -> std::process::Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("breakeven"));
    command.args(["watch", "--root"]).arg(root).args(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &std::process::Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

#[test]
fn ctrl_c_ends_a_session_and_what_was_seen_is_reported() {
    let (_folder, root) = place();
    let child = beside(&root, &["--interval", "1h", "--format", "json"]);
    std::thread::sleep(Duration::from_millis(600));
    interrupt(&child);
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20) && output.status.code() == Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"watts\": 100"), "{output:?}");
}

#[test]
fn ctrl_c_that_a_command_dies_of_is_passed_on_after_the_report() {
    let (_folder, root) = place();
    let child = beside(&root, &["--", "sleep", "60"]);
    std::thread::sleep(Duration::from_millis(600));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("GPU busy 50 %"), "{output:?}");
}

#[test]
fn a_reader_that_has_had_enough_ends_it() {
    let (_folder, root) = place();
    let mut child = beside(&root, &["--format", "csv"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("error"), "{output:?}");
}

#[test]
fn a_process_is_watched_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Command::new("sleep").arg("1").spawn().unwrap();
    let pid = other.id().to_string();
    let child = beside(
        Path::new("/"),
        &["--pid", &pid, "--format", "json", "--html", folder.path().join("p.html").to_str().unwrap()],
    );
    other.wait().unwrap();
    let output = child.wait_with_output().unwrap();
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let seconds = all["seconds"].as_f64().unwrap();
    assert!(output.status.success() && (0.3..10.0).contains(&seconds), "{all}");
    assert_eq!(all["what"], format!("process {pid}"));
}
