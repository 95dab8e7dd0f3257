//! Logs of jobs whose waste is known: nothing is certain that is not so, and every row is counted.

use breakeven::hardware::Catalogue;
use breakeven_fleet::models::Models;
use breakeven_fleet::names::Names;
use breakeven_fleet::outcome::Outcome;
use breakeven_fleet::part::Context;
use breakeven_fleet::read::Out;
use breakeven_fleet::rows::accounted;
use breakeven_fleet::{Fleet, Given, Mapping, Options, Recordings, run};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

fn read(paths: &[&Path], options: &Options) -> breakeven::Result<Fleet<'static>> {
    let context = |usage| {
        let models = Models::new(Catalogue::embedded(), Given::default())?;
        Ok(Context { names: Names::default(), models, recordings: Recordings::default(), usage })
    };
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let (fleet, out) = run(&paths, options, &context, &mut || Ok(Out::nowhere()), &mut |_| ())?;
    out.finish()?;
    Ok(fleet)
}

/// The log of a text in a file of that name.
fn of(name: &str, bytes: &[u8], options: &Options) -> breakeven::Result<Fleet<'static>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&[&path], options)
}

fn sacct(text: &str) -> Fleet<'static> {
    of("log.txt", text.as_bytes(), &Options::default()).unwrap()
}

fn certain(fleet: &Fleet<'_>) -> BTreeSet<String> {
    fleet.worst.iter().flatten().filter(|job| job.row.judged.certain).map(|job| job.id.clone()).collect()
}

const HEADER: &str = "JobID|State|Start|End|Elapsed|AllocTRES|TRESUsageInMax|TRESUsageInAve";

#[test]
fn steps_are_joined_wherever_they_lie() {
    let job = "7|COMPLETED|2026-11-01T00:00:00|2026-11-01T02:00:00|02:00:00|cpu=8,gres/gpu=4||";
    let idle = "7.batch|COMPLETED|2026-11-01T00:00:00|2026-11-01T02:00:00|02:00:00|cpu=8|gres/gpumem=0,gres/gpuutil=0|";
    let busy = "7.0|COMPLETED|2026-11-01T00:00:10|2026-11-01T02:00:00|01:59:50|cpu=8|\
                gres/gpumem=9G,gres/gpuutil=350|gres/gpuutil=300";
    let other = "8|COMPLETED|2026-11-01T00:00:00|2026-11-01T02:00:00|02:00:00|cpu=8,gres/gpu=1||";
    let outcomes = |lines: &[&str]| {
        let fleet = sacct(&format!("{HEADER}\n{}\n", lines.join("\n")));
        assert!(accounted(&fleet));
        (certain(&fleet).len(), fleet.totals.rows[Outcome::WellUsed as usize])
    };
    assert_eq!(outcomes(&[job, idle]), (1, 0));
    assert_eq!(outcomes(&[job, idle, busy]), (0, 1));
    assert_eq!(outcomes(&[job, idle, other, busy]), (0, 1), "a step behind another job");
    assert_eq!(outcomes(&[busy, idle, other, job]), (0, 1), "sorted the other way round");
    let silent = "7.1|COMPLETED|2026-11-01T00:00:10|2026-11-01T02:00:00|01:59:50|cpu=8||";
    assert_eq!(outcomes(&[job, idle, silent]), (0, 0), "a step that says nothing");
    let slurms_own = "7.extern|COMPLETED|2026-11-01T00:00:00|2026-11-01T02:00:00|02:00:00|cpu=8||";
    assert_eq!(outcomes(&[job, idle, slurms_own]), (1, 0));
}

#[test]
fn a_run_counts_once_and_a_requeue_is_another_run() {
    let row = |start: u32, state: &str, end: &str| {
        format!("7|{state}|2026-11-0{start}T00:00:00|{end}|02:00:00|cpu=8,gres/gpu=1|gres/gpumem=0,gres/gpuutil=0|")
    };
    let (first, again) = (row(1, "REQUEUED", "2026-11-01T02:00:00"), row(2, "COMPLETED", "2026-11-02T02:00:00"));
    let running = row(2, "RUNNING", "Unknown");
    let fleet = sacct(&[HEADER, &first, &running, &again, &first, &again].join("\n"));
    let rows = |outcome: Outcome| fleet.totals.rows[outcome as usize];
    assert_eq!((rows(Outcome::Duplicate), rows(Outcome::Superseded), fleet.totals.all.jobs), (2, 1, 2));
    assert!((fleet.totals.all.gpu_s.get() - 4.0 * 3600.0).abs() < 1e-9 && accounted(&fleet));
}

#[test]
fn odd_values_are_named_and_never_numbers() {
    let fleet = sacct(
        "JobID|State|Submit|Start|End|Elapsed|AllocTRES|ReqMem|Timelimit\n\
         1|COMPLETED|2026-11-01T00:00:00|2026-11-01T01:00:00|2026-11-01T02:00:00|01:00:00|cpu=4,node=1|16Gn|UNLIMITED\n\
         2|RUNNING|2026-11-01T00:00:00|2026-11-01T01:00:00|Unknown|INVALID|cpu=4,node=1|4000Mc|Partition_Limit\n\
         3|FAILED|2026-11-01T03:00:00|2026-11-01T01:00:00|2026-11-01T00:30:00|-00:30:00|cpu=4,node=1|16G|1-00:00:00\n\
         4|COMPLETED|2026-10-25T00:00:00|2026-10-25T01:00:00|2026-10-25T03:00:00|03:00:00|cpu=4,node=1|?|x\n\
         5|GONE|2026-11-01T00:00:00|2026-11-01T01:00:00+01:00|2026-11-01T02:00:00|soon|cpu=4,node=1||\n\
         6|COMPLETED|2026-11-01T00:00:00|2026-11-01",
    );
    let keys: Vec<&str> =
        breakeven_fleet::job::Oddity::ALL.iter().zip(fleet.odd).filter(|o| o.1 > 0).map(|o| o.0.key()).collect();
    assert_eq!(keys, ["negative-elapsed", "clock-change", "mixed-zones", "start-before-submit"]);
    assert_eq!(fleet.totals.rows[Outcome::BadRow as usize], 1);
    assert!(fleet.examples[0].contains("4 cells, the header 9"), "{:?}", fleet.examples);
    let unread: Vec<&str> = fleet.unread.0.keys().map(|field| field.key()).collect();
    assert_eq!(unread, ["state", "elapsed"]);
    assert!((fleet.totals.all.cpu_s.get() - 4.0 * 4.0 * 3600.0).abs() < 1e-9 && accounted(&fleet));
}

#[test]
fn packed_and_cut_logs_are_read_as_far_as_they_go() {
    let rows: String = (0..20_000).map(|n| format!("{n}|COMPLETED|||01:00:00|cpu=2,gres/gpu=1||\n")).collect();
    let text = format!("{HEADER}\n{rows}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let whole = of("log.gz", &gzip, &Options::default()).unwrap();
    let packed = of("log", &zstd::encode_all(text.as_bytes(), 1).unwrap(), &Options::default()).unwrap();
    assert_eq!((whole.totals.all.jobs, packed.totals.all.jobs), (20_000, 20_000));
    let cut = of("log.gz", &gzip[..gzip.len() / 2], &Options::default()).unwrap();
    assert!(cut.totals.all.jobs > 100 && cut.notes.iter().any(|(code, _)| *code == "cut"), "{:?}", cut.notes);
}

#[test]
fn samples_of_nvidia_smi_are_joined_by_job() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("sacct.txt");
    let row =
        |id: u32| format!("{id}|COMPLETED|2026-11-01T00:00:00|2026-11-01T01:00:00|01:00:00|cpu=8,gres/gpu:a100=2||");
    std::fs::write(&log, [HEADER, &row(7), &row(8), &row(9)].join("\n")).unwrap();
    let smi = |minutes: std::ops::Range<u32>, second: u32| {
        let mut text = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n".to_owned();
        for minute in minutes {
            let at = format!("2026/11/01 00:{minute:02}:00.000");
            text += &format!("{at}, 0, 95 %, 30000 MiB\n{at}, 1, {second} %, 4 MiB\n");
        }
        text
    };
    std::fs::write(folder.path().join("job-7.csv"), smi(0..60, 0)).unwrap();
    std::fs::write(folder.path().join("job-8.csv"), smi(0..25, 0)).unwrap();
    std::fs::write(folder.path().join("job-9.csv"), smi(0..60, 90)).unwrap();
    let fleet = read(&[folder.path()], &Options::default()).unwrap();
    let rows = |outcome: Outcome| fleet.totals.rows[outcome as usize];
    assert_eq!((rows(Outcome::IdleGpus), rows(Outcome::PartialUse), rows(Outcome::WellUsed)), (1, 1, 1));
    assert_eq!(certain(&fleet), BTreeSet::from(["7".to_owned()]));
    assert!((fleet.totals.freed(true).gpu_s.get() - 3600.0).abs() < 1e-9, "one of two GPUs for an hour");
}

#[test]
fn what_is_no_job_log_is_refused_and_a_mapping_makes_it_one() {
    let refused = |text: &str| of("f.csv", text.as_bytes(), &Options::default()).err().unwrap();
    assert!(refused("TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n").message.contains("language model"));
    assert!(refused("{\"jobs\": []}").message.contains("JSON"));
    assert!(refused("").message.contains("empty"));
    let table = "job,n,milli,from,to\na,1,500,0,7200000\nb,2,1000,0,3600000\n";
    assert!(refused(table).hint.unwrap().contains("--mapping"));
    let mapping = "[columns]\nid = 'job'\ngpus = {columns = ['n', 'milli'], scale = 0.001}\n\
                   start = {column = 'from', unit = 'ms'}\nend = {column = 'to', unit = 'ms'}";
    let options = Options { mapping: Some(Mapping::read(mapping).unwrap()), ..Options::default() };
    let fleet = of("f.csv", table.as_bytes(), &options).unwrap();
    assert!((fleet.totals.all.gpu_s.get() - (0.5 * 7200.0 + 2.0 * 3600.0)).abs() < 1e-6);
}

/// A job, and what is true of it.
#[derive(Clone, Debug)]
struct Truth {
    gpus: u32,
    minutes: u32,
    /// Highest use of its GPUs, %, and memory in use, MiB, by step.
    steps: Vec<(u32, u32)>,
    /// What the log does not tell: 0 nothing, 1 a step's use, 2 its memory, 3 how long it ran, 4 how many GPUs.
    hidden: u32,
    name: &'static str,
    array: bool,
    copies: usize,
    zone: bool,
}

impl Truth {
    fn unused(&self) -> bool {
        self.gpus > 0 && self.steps.iter().all(|(busy, memory)| *busy == 0 && *memory == 0)
    }
}

fn truth() -> impl Strategy<Value = Truth> {
    let names = prop::sample::select(vec!["train", "a|b", "|", "x||y|z", "größe", "1|COMPLETED"]);
    let steps = prop::collection::vec(
        (prop::sample::select(vec![0_u32, 0, 0, 40, 100]), prop::sample::select(vec![0_u32, 0, 900])),
        1..4,
    );
    (0_u32..5, 1_u32..300, steps, 0_u32..8, names, any::<bool>(), 1_usize..3, any::<bool>()).prop_map(
        |(gpus, minutes, steps, hidden, name, array, copies, zone)| Truth {
            gpus,
            minutes,
            steps,
            hidden,
            name,
            array,
            copies,
            zone,
        },
    )
}

/// The rows of a job: cells by column.
fn rows(number: usize, truth: &Truth) -> Vec<Vec<(&'static str, String)>> {
    let id = if truth.array { format!("500_{number}") } else { format!("{}", 1000 + number) };
    let zone = if truth.zone { "+02:00" } else { "" };
    let at = |minutes: u32| {
        format!("2026-11-{:02}T{:02}:{:02}:00{zone}", 1 + minutes / 1440, minutes / 60 % 24, minutes % 60)
    };
    let tres = if truth.gpus > 0 { format!("cpu=8,gres/gpu={},node=1", truth.gpus) } else { "cpu=8,node=1".into() };
    let told = truth.hidden != 3;
    let row = |id: String, tres: &str, usage: String| {
        vec![
            ("JobID", id),
            ("JobName", truth.name.to_owned()),
            ("State", "COMPLETED".to_owned()),
            ("Start", if told { at(60) } else { "Unknown".into() }),
            ("End", if told { at(60 + truth.minutes) } else { "Unknown".into() }),
            (
                "Elapsed",
                if told { format!("{}:{:02}:00", truth.minutes / 60, truth.minutes % 60) } else { String::new() },
            ),
            ("AllocTRES", if truth.hidden == 4 { String::new() } else { tres.to_owned() }),
            ("TRESUsageInMax", usage),
        ]
    };
    let mut all = vec![row(id.clone(), &tres, String::new())];
    for (step, (busy, memory)) in truth.steps.iter().enumerate() {
        let name = if step == 0 { "batch".to_owned() } else { format!("{}", step - 1) };
        let usage = match truth.hidden {
            1 if step + 1 == truth.steps.len() => String::new(),
            2 => format!("cpu=00:01:00,gres/gpuutil={busy}"),
            _ => format!("cpu=00:01:00,gres/gpumem={memory}M,gres/gpuutil={busy}"),
        };
        all.push(row(format!("{id}.{name}"), &tres, usage));
    }
    all.push(row(format!("{id}.extern"), &tres, String::new()));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Columns in any order, some left out, delimiters in names, steps, arrays, rows that come twice, jobs in any
    /// order,
    /// steps apart from their jobs.
    #[test]
    fn nothing_is_certain_that_is_not_so(
        truths in prop::collection::vec(truth(), 1..30),
        order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
        left_out in prop::collection::vec(3_usize..8, 0..2),
        scattered in any::<bool>(),
    ) {
        let mut lines: Vec<(usize, String)> = Vec::new();
        let mut header = String::new();
        for (number, truth) in truths.iter().enumerate() {
            for copy in 0..truth.copies {
                for (place, cells) in rows(number, truth).into_iter().enumerate() {
                    let kept: Vec<&(&str, String)> =
                        order.iter().filter(|at| !left_out.contains(at)).map(|at| &cells[*at]).collect();
                    header = kept.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|");
                    let line = kept.iter().map(|(_, cell)| cell.as_str()).collect::<Vec<_>>().join("|");
                    let weight = if scattered { (number * 7919 + place * 104_729 + copy * 31) % 997 } else { 0 };
                    lines.push((weight, line));
                }
            }
        }
        lines.sort_by_key(|(weight, _)| *weight);
        let written = lines.len() as u64;
        let text = header + "\n" + &lines.into_iter().map(|(_, line)| line + "\n").collect::<String>();
        let fleet = sacct(&text);
        prop_assert!(accounted(&fleet), "{text}");
        prop_assert_eq!(fleet.rows(), written, "{}", text);
        for id in certain(&fleet) {
            let number: usize = id.trim_start_matches("500_").parse().unwrap();
            let truth = truths.get(number.checked_sub(1000).unwrap_or(number)).unwrap();
            prop_assert!(truth.unused() && truth.minutes >= 10, "{}: {:?}\n{}", id, truth, text);
        }
        // What is all told, once, in order, is found.
        let whole = left_out.is_empty() && !scattered;
        let found = fleet.totals.freed(true).jobs;
        let told = |truth: &Truth| matches!(truth.hidden, 0 | 5..) && truth.copies == 1 && !truth.name.contains('|');
        let sure = |truth: &&Truth| truth.unused() && truth.minutes >= 10 && told(truth);
        if whole {
            prop_assert!(found >= truths.iter().filter(sure).count() as u64, "{}", text);
        }
    }
}
