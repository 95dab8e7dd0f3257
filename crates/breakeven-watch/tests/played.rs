//! Sessions of NVIDIA's library, played back by a library that the tests build; boards of AMD and Intel as folder trees.
//!
//! The dynamic loader reads `LD_LIBRARY_PATH` when a process starts: each session is watched by a process of its own, this
//! very test again.

use breakeven_watch::{Field, Machine, Plan, Sample, Sink, Totals, report, watch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

/// Which library and session the child watches, and for how long, ms: `new two 1000`.
const CHILD: &str = "WATCH_TEST_SESSION";

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Builds the library that plays sessions; `old` is that of a driver before 510.
fn library(folder: &Path, old: bool) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-type", "cdylib", "-O", "-o"]).arg(folder.join("libnvidia-ml.so.1"));
    command.arg(tests().join("nvml/library.rs"));
    if old {
        command.args(["--cfg", "old"]);
    }
    assert!(command.status().expect("rustc starts").success());
}

/// The totals of a session as a process of its own saw them, JSON.
fn seen(session: &str, milliseconds: u64, old: bool) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    library(folder.path(), old);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child", "--nocapture", "--ignored"])
        .env(CHILD, milliseconds.to_string())
        .env("LD_LIBRARY_PATH", folder.path())
        .env("NVML_SESSION", tests().join(format!("nvml/sessions/{session}.txt")))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json = text.find('{').zip(text.rfind('}')).map(|(from, to)| &text[from..=to]);
    let json = json.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

struct Adder(Totals);

impl Sink for Adder {
    fn sample(&mut self, sample: &Sample) {
        self.0.take(sample);
    }

    fn note(&mut self, note: &breakeven_watch::Note) {
        self.0.notes.push(note.clone());
    }
}

/// What is watched for so many ms.
fn watched(mut machine: Machine, milliseconds: u64) -> Totals {
    let mut adder = Adder(Totals::new(machine.gpus(), machine.cores(), None));
    let (_go_on, stop) = mpsc::channel();
    let (interval, length) = (Duration::from_millis(50), Some(Duration::from_millis(milliseconds)));
    let plan = Plan { interval, length, with_own: false };
    adder.0.missed = watch(&mut machine, plan, &stop, &mut [&mut adder]);
    adder.0
}

#[test]
#[ignore = "the process that the other tests start"]
fn the_child() {
    let Ok(milliseconds) = std::env::var(CHILD) else { return };
    let none = tempfile::tempdir().unwrap();
    println!("{}", report::json(&watched(Machine::find(none.path()), milliseconds.parse().unwrap())));
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn two_boards_with_their_energy_within_half_a_percent() {
    let all = seen("two", 6000, false);
    let (loaded, idle) = (&all["gpus"][0], &all["gpus"][1]);
    assert_eq!((&loaded["name"], &idle["name"]), (&"NVIDIA H200".into(), &"NVIDIA L40S".into()));
    // 77.7 W all the time, and from 1 s on 77.7 → 628 → 640 → 77.7 W in straight lines, a second each.
    let above = |from: f64, to: f64| (from + to) / 2.0 - 77.7;
    let exact = |seconds: f64| 77.7 * seconds + above(77.7, 628.0) + above(628.0, 640.0) + above(640.0, 77.7);
    let energy = &loaded["energy"];
    assert_eq!(energy["by"], "counter");
    let (joules, seconds) = (number(&energy["joules"]), number(&energy["known_s"]));
    assert!((joules / exact(seconds) - 1.0).abs() < 0.005, "{joules} J for {} J", exact(seconds));
    assert!((number(&idle["energy"]["joules"]) / (61.0 * seconds) - 1.0).abs() < 0.005);
    assert_eq!(loaded["held_back_by"], "power-limit");
    assert!((number(&idle["mean"]["busy"]) - 0.23).abs() < 1e-6 && number(&idle["mean"]["to_gpu"]) > 1e8);
    assert_eq!(idle["lacks"], "what the CPU did is unknown");
    let process = &all["processes"][0];
    assert_eq!(
        (process["pid"].as_u64(), process["most_memory_bytes"].as_f64()),
        (Some(10309), Some(28234.0 * 1048576.0))
    );
    assert!((number(&process["busy"]) - 0.96).abs() < 1e-6);
}

#[test]
fn mig_instances_have_memory_and_no_utilisation_which_is_not_zero() {
    let all = seen("mig", 1500, false);
    let labels: Vec<&str> = all["gpus"].as_array().unwrap().iter().map(|gpu| gpu["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["0", "0.0", "0.1"]);
    for gpu in all["gpus"].as_array().unwrap() {
        assert!(gpu["mean"]["busy"].is_null() && gpu["held_back_by"] == "not-enough-evidence", "{gpu}");
    }
    assert!((number(&all["gpus"][2]["mean"]["memory"]) / (2000.0 * 1048576.0) - 1.0).abs() < 1e-9);
    assert_eq!(all["gpus"][0]["energy"]["by"], "counter");
    assert!(all["gpus"][1]["energy"]["by"].is_null() && all["gpus"][1]["mig_instance"] == true);
}

#[test]
fn a_board_that_falls_off_the_bus_is_told_once_and_the_other_goes_on() {
    let all = seen("lost", 3000, false);
    let notes = all["notes"].as_array().unwrap();
    assert_eq!(notes.iter().filter(|note| note["code"] == "gpu-lost").count(), 1, "{notes:?}");
    let lost = number(&all["gpus"][0]["lost_at_s"]);
    assert!((0.3..2.0).contains(&lost), "{lost}");
    let energy = &all["gpus"][0]["energy"];
    assert!((number(&energy["joules"]) / (100.0 * number(&energy["known_s"])) - 1.0).abs() < 0.005);
    assert!(number(&energy["known_s"]) <= lost);
    // The counter of the other started over and was bridged.
    let energy = &all["gpus"][1]["energy"];
    assert_eq!((energy["by"].as_str(), energy["counter_resets"].as_u64()), (Some("counter"), Some(1)));
    assert!((number(&energy["joules"]) / (200.0 * number(&energy["known_s"])) - 1.0).abs() < 0.005);
    assert_eq!(all["gpus"][1]["held_back_by"], "memory-bandwidth");
}

#[test]
fn an_old_driver_and_one_that_denies_leave_values_unknown_and_say_so() {
    let all = seen("two", 1000, true);
    let note = all["notes"].as_array().unwrap().iter().find(|note| note["code"] == "driver-old").unwrap();
    assert!(note["text"].as_str().unwrap().contains("the energy counter, throttle reasons"), "{note}");
    assert_eq!(all["gpus"][0]["energy"]["by"], "watts");
    assert!(all["gpus"][0]["throttled"]["heat"].is_null() && all["gpus"][0]["mean"]["memory"].is_null());
    let all = seen("denied", 2500, false);
    assert!(all["notes"].as_array().unwrap().iter().any(|note| note["code"] == "no-permission"), "{all}");
    assert!(all["gpus"][0]["watts"].is_null() && all["gpus"][0]["energy"]["joules"].is_null());
    assert!((number(&all["gpus"][0]["mean"]["busy"]) - 0.4).abs() < 1e-6);
}

/// Writes a folder tree: a path and what the file says.
fn tree(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn boards_of_amd_and_intel_and_the_cpu_are_read_below_a_root() {
    let root = tempfile::tempdir().unwrap();
    let amd = "sys/class/drm/card1/device";
    let intel = "sys/class/drm/card0/device";
    let files = [
        (format!("{amd}/vendor"), "0x1002\n"),
        (format!("{amd}/device"), "0x74a1\n"),
        (format!("{amd}/uevent"), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\n"),
        (format!("{amd}/gpu_busy_percent"), "42\n"),
        (format!("{amd}/mem_info_vram_total"), "206141652992\n"),
        (format!("{amd}/mem_info_vram_used"), "1073741824\n"),
        (format!("{amd}/pp_dpm_sclk"), "0: 132Mhz\n1: 2100Mhz *\n"),
        (format!("{amd}/max_link_speed"), "32.0 GT/s PCIe\n"),
        (format!("{amd}/max_link_width"), "16\n"),
        (format!("{amd}/hwmon/hwmon4/power1_average"), "250000000\n"),
        (format!("{amd}/hwmon/hwmon4/power1_cap"), "750000000\n"),
        (format!("{amd}/hwmon/hwmon4/temp1_input"), "61000\n"),
        (format!("{intel}/vendor"), "0x8086\n"),
        (format!("{intel}/device"), "0x0bda\n"),
        (format!("{intel}/tile0/gt0/freq0/act_freq"), "1550\n"),
        (format!("{intel}/tile0/gt0/gtidle/idle_residency_ms"), "1000\n"),
        (format!("{intel}/hwmon/hwmon2/energy1_input"), "5000000\n"),
        (format!("{intel}/hwmon/hwmon2/power1_max"), "300000000\n"),
        ("sys/class/powercap/intel-rapl:0/name".to_owned(), "package-0\n"),
        ("sys/class/powercap/intel-rapl:0/energy_uj".to_owned(), "1000000\n"),
        ("sys/class/powercap/intel-rapl:0/max_energy_range_uj".to_owned(), "262143328850\n"),
        ("proc/stat".to_owned(), "cpu  100 0 50 1000 0 0 0 0 0 0\ncpu0 100 0 50 1000 0 0 0 0 0 0\n"),
        ("proc/77/comm".to_owned(), "python\n"),
        (
            "proc/77/fdinfo/5".to_owned(),
            "drm-pdev:\t0000:c1:00.0\ndrm-client-id:\t9\ndrm-memory-vram:\t512 MiB\ndrm-engine-compute:\t100 ns\n",
        ),
    ];
    tree(root.path(), &files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>());
    std::fs::create_dir_all(root.path().join("proc/77/fd")).unwrap();
    std::os::unix::fs::symlink("/dev/dri/renderD128", root.path().join("proc/77/fd/5")).unwrap();
    let totals = watched(Machine::find(root.path()), 1200);
    let names: Vec<&str> = totals.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    assert_eq!(names, ["AMD Instinct MI300X", "Intel Data Center GPU Max 1100"]);
    let (mi300x, max) = (&totals.seen[0], &totals.seen[1]);
    let mean = |field| mi300x.stat(field).mean();
    assert!((mean(Field::Busy).unwrap() - 0.42).abs() < 1e-9 && (mean(Field::CoreMhz).unwrap() - 2100.0).abs() < 1e-6);
    assert!((mi300x.watts().unwrap() - 250.0).abs() < 1e-6 && mean(Field::MemoryBusy).is_none());
    assert_eq!((totals.gpus[0].limit_w, totals.gpus[1].limit_w, totals.cores), (Some(750.0), Some(300.0), Some(1)));
    assert!((totals.gpus[0].link.unwrap() / 1e9 - 63.0).abs() < 0.1);
    // Its sleep counter stands still: awake all the time. Its energy counter does, too: no energy.
    assert_eq!((max.stat(Field::Busy).mean(), max.meter.energy().map(|energy| energy.0)), (Some(1.0), Some(0.0)));
    assert_eq!(totals.host.meter.energy().map(|energy| energy.0), Some(0.0));
    let (gpu, pid, user) = totals.users.all()[0];
    assert_eq!((gpu, pid, user.name.as_str(), user.memory), (0, 77, "python", Some(536_870_912.0)));
    let notes: Vec<&str> = totals.notes.iter().map(|note| note.code.as_str()).collect();
    assert_eq!(notes, [] as [&str; 0]);
}

#[test]
fn a_machine_without_a_gpu_says_so_and_what_can_be_read_is_read() {
    let root = tempfile::tempdir().unwrap();
    tree(root.path(), &[("proc/stat", "cpu  1 0 1 1 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0\n")]);
    let totals = watched(Machine::find(root.path()), 100);
    assert_eq!((totals.gpus.len(), totals.notes.len()), (0, 1));
    assert!(totals.notes[0].code == "no-gpu" && totals.notes[0].hint.is_some());
    assert!(report::text(&totals, None).starts_with("No GPU was watched."));
    tree(
        root.path(),
        &[
            ("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n"),
        ],
    );
    let totals = watched(Machine::find(root.path()), 100);
    assert_eq!(totals.notes[0].code, "no-driver");
}
