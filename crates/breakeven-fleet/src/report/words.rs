//! Jobs and sums as people read them.

use crate::outcome::{Advice, Outcome};
use crate::part::{Context, Row};
use crate::usage::By;
use breakeven::interval::Interval;
use breakeven::report::words::{count, number, percent, printable, several, usd};

/// GPU time: `3 412 GPU-hours`, `0.4 GPU-hours`.
pub fn gpu_hours(s: f64) -> String {
    format!("{} GPU-hours", hours(s))
}

/// Hours as a number.
pub fn hours(s: f64) -> String {
    large(s / 3600.0)
}

/// A number: whole and grouped from a hundred on.
pub fn large(x: f64) -> String {
    if x >= 99.5 { count(x.round() as u64) } else { number(x) }
}

/// Energy, kWh.
pub fn energy(kwh: f64) -> String {
    format!("{} kWh", large(kwh))
}

/// Money with its range, where it has one.
pub fn money(range: Interval) -> String {
    match range.p90 > range.p10 * 1.005 {
        true => format!("{} [{}–{}]", usd(range.p50), usd(range.p10), usd(range.p90)),
        false => usd(range.p50),
    }
}

/// An amount of memory: `2.4 GiB`.
pub fn gib(bytes: f64) -> String {
    format!("{} GiB", number(bytes / 1_073_741_824.0))
}

/// By what a job is judged: `4 GPUs for 12 h; never busy in any look, no memory in use (slurm)`.
pub fn evidence(row: &Row, context: &Context<'_>) -> String {
    let usage = &row.usage;
    let mut told = Vec::new();
    if let Some(gpus) = row.gpus.filter(|gpus| *gpus > 0.0) {
        let noun = if gpus == 1.0 { "GPU" } else { "GPUs" };
        told.push(format!("{} {noun} for {} h", number(gpus), hours(row.judged.wall_s)));
    }
    match (usage.mean, usage.peak) {
        (_, Some(peak)) if peak <= 0.0 => told.push("never busy when looked at".to_owned()),
        (Some(mean), Some(peak)) => told.push(format!("busy {} of the time, at most {}", percent(mean), percent(peak))),
        (Some(mean), None) => told.push(format!("busy {} of the time", percent(mean))),
        (None, Some(peak)) => told.push(format!("busy at most {} of the time", percent(peak))),
        (None, None) => {}
    }
    told.extend(usage.memory.map(|bytes| match bytes {
        0.0 => "no memory in use".to_owned(),
        bytes => format!("{} of memory in use", gib(bytes)),
    }));
    if let Some((idle, seen)) = usage.idle.zip(usage.seen).filter(|(idle, _)| *idle > 0.0) {
        told.push(format!("{} of {} GPUs never used", number(idle), number(seen)));
    }
    if row.judged.outcome == Outcome::CpuBound {
        told.push("CPUs full".to_owned());
    }
    if let Advice::TryGpu(recording) = row.judged.advice
        && let Some(recording) = context.recordings.get(recording)
    {
        let speedup = recording.speedup.map(|speedup| format!(" {}× faster", number(speedup.p50)));
        told.push(format!("recorded as {}:{}", printable(&recording.script, 60), speedup.unwrap_or_default()));
    }
    let from = match usage.by {
        By::Nothing => String::new(),
        by => by.key().map(|key| format!(" ({key})")).unwrap_or_default(),
    };
    told.join(", ") + &from
}

/// What to do about a job.
pub fn advice(row: &Row, context: &Context<'_>) -> String {
    match row.judged.advice {
        Advice::Nothing => String::new(),
        Advice::NoGpu => "run it without a GPU".to_owned(),
        Advice::Gpus(gpus) => format!("ask for {}", several(u64::from(gpus), "GPU", "GPUs")),
        Advice::Slice(parts) => {
            format!("a MIG slice of {parts} of {} parts would do", context.models.gpu(row.model).slices)
        }
        Advice::Smaller(gpu) => format!("a smaller GPU would do: {}", context.models.gpu(gpu).name),
        Advice::Share => "share the GPU with other jobs (MPS, time slices)".to_owned(),
        Advice::MoreCpu => "more CPUs for each GPU, or load its data faster".to_owned(),
        Advice::TryGpu(recording) => {
            let gpu = context.recordings.get(recording).and_then(|recording| recording.gpu.clone());
            format!("try it on {}", gpu.unwrap_or_else(|| "a GPU".to_owned()))
        }
    }
}

/// What to do about jobs of a rule, in general.
pub const fn remedy(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unused => "run them without a GPU",
        Outcome::IdleGpus => "ask for fewer GPUs",
        Outcome::CpuBound => "more CPUs for each GPU, faster loading",
        Outcome::SmallWork => "a smaller GPU, a MIG slice",
        Outcome::LowUse => "share a GPU (MPS, time slices)",
        Outcome::OneGpusWorth => "ask for one GPU",
        Outcome::PaysOnGpu => "try them on a GPU",
        _ => "",
    }
}
