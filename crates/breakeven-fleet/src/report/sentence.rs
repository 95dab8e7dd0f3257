//! The sentence to act on: what is freed for certain, by what, and how much more needs a look.

use super::words::{energy, gpu_hours, money};
use crate::fleet::Fleet;
use crate::outcome::Outcome;
use breakeven::report::words::{count, several};

/// The first line of every report.
pub fn sentence(fleet: &Fleet<'_>) -> String {
    let totals = &fleet.totals;
    let jobs = totals.all.jobs;
    if jobs == 0 {
        return "No job is in the log.".to_owned();
    }
    let (certain, look) = (totals.freed(true), totals.freed(false));
    let more = if look.jobs > 0 {
        let sum = gpu_hours(look.gpu_s.get());
        format!(" Up to {sum} more in {} {} a look.", several(look.jobs, "job", "jobs"), needs(look.jobs))
    } else {
        String::new()
    };
    if certain.jobs > 0 {
        let of = |outcome: Outcome| totals.freed[outcome as usize][0].jobs;
        let unused = (of(Outcome::Unused), "never used a GPU");
        let idle = (of(Outcome::IdleGpus), "left GPUs idle");
        let told: Vec<String> = [unused, idle]
            .iter()
            .filter(|(jobs, _)| *jobs > 0)
            .map(|(jobs, did)| format!("{} {did}", several(*jobs, "job", "jobs")))
            .collect();
        let usd = certain.usd.get();
        let priced = certain.unpriced < certain.jobs;
        let usd = if priced { format!(", {}", money(usd)) } else { ", of unknown price".to_owned() };
        let kwh = certain.kwh.get();
        let kwh = if kwh.p50 > 0.0 { format!(" and about {}", energy(kwh.p50)) } else { String::new() };
        let sum = gpu_hours(certain.gpu_s.get());
        return format!("{}: asking for what they used frees {sum}{usd}{kwh} for certain.{more}", told.join(", "));
    }
    if look.jobs > 0 {
        return format!("Nothing is wasted for certain.{}", more.replace(" more in ", " may be, in "));
    }
    let with_gpu = totals.all.gpu_s.get() > 0.0;
    let pays = totals.rows[Outcome::PaysOnGpu as usize];
    if pays > 0 {
        return format!("{} on CPUs would pay on a GPU by recordings of their script.", several(pays, "job", "jobs"));
    }
    if totals.lacking.gpu_hours == 0 && !with_gpu {
        let counted = several(jobs, "job", "jobs");
        return format!(
            "No job of the log had a GPU, as far as it tells: {counted} on CPUs, {} judged.",
            count(totals.judged())
        );
    }
    match totals.judged() {
        0 => format!(
            "Nothing can be said of {}: the log does not tell how busy their GPUs were, or how many they had.",
            several(jobs, "job", "jobs")
        ),
        judged => format!("No waste was found in {} of {}.", count(judged), several(jobs, "job", "jobs")),
    }
}

const fn needs(jobs: u64) -> &'static str {
    if jobs == 1 { "needs" } else { "need" }
}
