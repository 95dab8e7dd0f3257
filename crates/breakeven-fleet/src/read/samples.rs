//! Samples of GPUs, as loggers of jobs write them with nvidia-smi or DCGM: CSV with a column of the job, or a file a
//! job.

use crate::field::plain;
use crate::job::key;
use crate::usage::{Samples, Usage};
use crate::values::{amount, is_nothing, moment, share};
use breakeven::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

/// Which column of samples holds what.
struct Places {
    job: Option<usize>,
    host: Option<usize>,
    gpu: Option<usize>,
    time: Option<usize>,
    /// The busy share, and whether it is in %.
    busy: (usize, bool),
    memory: Option<usize>,
}

impl Places {
    fn of(names: &[String]) -> Option<Self> {
        let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        let at = |known: &[&str]| known.iter().find_map(|known| names.iter().position(|name| name.starts_with(known)));
        // The part of the time that any of its engines was busy is the better figure where it is there.
        let engine = at(&["dcgmfiprofgrengineactive"]).map(|at| (at, false));
        let busy = engine.or_else(|| at(&["utilization.gpu", "dcgmfidevgpuutil", "gpuutil"]).map(|at| (at, true)))?;
        Some(Self {
            job: at(&["jobid", "slurmjobid", "hpcjob", "job"]),
            host: at(&["hostname", "host", "node"]),
            gpu: at(&["uuid", "gpuuuid", "index", "gpuid", "gpu"]),
            time: at(&["timestamp", "time"]),
            busy,
            memory: at(&["memory.used", "dcgmfidevfbused", "fbused"]),
        })
    }
}

/// Samples by job and GPU.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    jobs: HashMap<u64, BTreeMap<(String, String), Samples>>,
    /// Samples read, and those that tell no job or nothing.
    pub(super) samples: u64,
    /// See `samples`.
    pub(super) bad: u64,
}

impl Gathered {
    /// Reads a file of samples.
    ///
    /// # Errors
    /// `samples-job` for samples that do not say of which job they are.
    pub(super) fn read(&mut self, from: impl Read, name: &str, path: Option<&Path>, names: &[String]) -> Result<()> {
        let Some(places) = Places::of(names) else {
            let message = format!("{name} has samples of GPUs, and none of how busy they were");
            return Err(Error::new("no-job-log", message).hint("log utilization.gpu, or DCGM_FI_DEV_GPU_UTIL"));
        };
        let of_file = path.and_then(of_path);
        if places.job.is_none() && of_file.is_none() {
            let message = format!("{name} has samples of GPUs, and does not say of which job");
            return Err(Error::new("samples-job", message)
                .hint("name a file after its job, `job-1234.csv`, or add a column `job_id`"));
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(from);
        let mut record = csv::StringRecord::new();
        // A file that is cut short has the samples that it has: they span less of the job.
        while let Ok(true) = reader.read_record(&mut record) {
            self.samples += 1;
            let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).filter(|cell| !is_nothing(cell));
            let job = cell(places.job).or(of_file.as_deref());
            let busy = cell(Some(places.busy.0)).and_then(share);
            // In % without its sign, as `nounits` leaves it.
            let percent = places.busy.1 && !record.get(places.busy.0).is_some_and(|cell| cell.ends_with('%'));
            let busy = busy.map(|busy| if percent { busy / 100.0 } else { busy }).filter(|busy| *busy <= 1.0);
            let memory = cell(places.memory).and_then(mebibytes);
            let (Some(job), Some(busy)) = (job, busy) else {
                self.bad += 1;
                continue;
            };
            let text = |at: Option<usize>| cell(at).unwrap_or_default().to_owned();
            let gpus = self.jobs.entry(key(job.split('.').next().unwrap_or(job), None)).or_default();
            let gpu = gpus.entry((text(places.host), text(places.gpu))).or_default();
            gpu.add(Some(busy), memory, cell(places.time).and_then(moment).map(|moment| moment.s));
        }
        Ok(())
    }

    /// What they say of each job.
    pub(super) fn usage(&self) -> HashMap<u64, Usage> {
        // Each job's own are in order; which job comes first does not matter to a map.
        self.jobs.keys().filter_map(|job| Some((*job, Samples::usage(self.jobs[job].values())?))).collect()
    }
}

/// MiB, as nvidia-smi and DCGM count memory, unless a unit stands there.
fn mebibytes(cell: &str) -> Option<f64> {
    match cell.parse::<f64>() {
        Ok(number) => Some(number * 1_048_576.0).filter(|bytes| *bytes >= 0.0),
        Err(_) => amount(&cell.replace(' ', ""), 1024.0),
    }
}

/// The job that a file is of by its name: `job-1234.csv`, `gpu_1234_7.csv`, `1234/smi.csv`; nothing where several
/// could be.
fn of_path(path: &Path) -> Option<String> {
    let stem = path.file_name()?.to_str()?.split('.').next()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    of_name(stem).or_else(|| of_name(folder?))
}

fn of_name(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let digits = |text: &str| -> String { text.chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect() };
    let trimmed = |text: String| {
        Some(text.trim_matches('_').to_owned()).filter(|text| text.contains(|c: char| c.is_ascii_digit()))
    };
    if let Some(at) = lower.rfind("job") {
        let rest = &lower[at + 3..].trim_start_matches(|c: char| !c.is_ascii_digit());
        return trimmed(digits(rest));
    }
    let runs = lower.split(|c: char| !c.is_ascii_digit() && c != '_').map(|run| run.trim_matches('_'));
    let mut long = runs.filter(|run| run.split('_').next().is_some_and(|first| first.len() >= 3));
    let first = long.next()?;
    long.next().is_none().then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_their_job() {
        let of = |path: &str| of_path(Path::new(path));
        assert_eq!(of("logs/job-1234.csv").as_deref(), Some("1234"));
        assert_eq!(of("gpu_98765_4.csv").as_deref(), Some("98765_4"));
        assert_eq!(of("4711/nvidia-smi.csv").as_deref(), Some("4711"));
        assert_eq!([of("gpu_log.csv"), of("2026-11-30-1234.csv")], [None, None]);
    }

    #[test]
    fn samples_with_and_without_units() {
        let mut gathered = Gathered::default();
        let text = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n\
                    2026/11/30 00:00:00.000, 0, 35 %, 1024 MiB\n2026/11/30 00:00:30.000, 0, 45, 2048\nx, 0, [N/A], 1\n";
        let names: Vec<String> = text.lines().next().unwrap().split(',').map(|name| name.trim().to_owned()).collect();
        gathered.read(text.as_bytes(), "f", Some(Path::new("job7.csv")), &names).unwrap();
        let usage = &gathered.usage()[&key("7", None)];
        assert!((usage.mean.unwrap() - 0.4).abs() < 1e-12 && usage.memory == Some(2048.0 * 1_048_576.0));
        assert_eq!((usage.partial, gathered.bad, usage.span.map(|(a, b)| b - a)), (true, 1, Some(30.0)));
        let unnamed = gathered.read(text.as_bytes(), "gpu_log.csv", Some(Path::new("gpu_log.csv")), &names);
        assert!(unnamed.unwrap_err().hint.unwrap().contains("job_id"));
    }
}
