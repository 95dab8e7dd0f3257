//! What of a job's GPUs was wasted: the rules, all of them, with their thresholds.
//!
//! A job is judged when it has ended, its GPUs and how long it ran are known, it ran for [`SHORT_S`] or more, and how
//! busy
//! its GPUs were is known. The first rule that holds is told:
//!
//! 1. *never used*: every look at its GPUs found them idle. **Certain** when none ever held memory either and the
//!    whole job
//!    was looked at: nothing of it ran there.
//! 2. *idle GPUs*: some of several were never busy and held nothing. **Certain** when all GPUs of the job were looked
//!    at.
//! 3. *CPU-bound*: busy less than [`WAITING`] of the time while its CPUs were busy for [`CPU_FULL`] or more.
//! 4. *small work*: busy less than [`LOW`], and a MIG slice of at most half, or a smaller GPU of the catalogue, would
//!    do.
//! 5. *one GPU's worth*: of several, together never busier than one can be.
//! 6. *low utilisation*: busy less than [`LOW`]: others could share it.
//!
//! Rules 3 to 6 need a look by somebody who knows the job: what they free is at most what is told. A job on CPUs is
//! judged by
//! recordings of its own script alone.

use crate::job::{Oddity, Record};
use crate::models::{Gpu, Model, Models, UNNAMED};
use crate::outcome::{Advice, Outcome};
use crate::recordings::Joined;
use crate::usage::{By, EMPTY, SPANNED, Usage};
use crate::values::State;
use breakeven::estimate::Verdict;
use breakeven::hardware::smaller::{FULL, ROOM};
use breakeven::interval::Interval;

/// A job that ran for less is not judged: what it did at its start is most of it, s.
pub const SHORT_S: f64 = 600.0;
/// Busy for less than this share of the time is low.
pub const LOW: f64 = 0.3;
/// Below this share a GPU may be waiting for CPUs.
pub const WAITING: f64 = 0.5;
/// From this share on, CPUs are what a job waits for.
pub const CPU_FULL: f64 = 0.9;
/// Together not busier than one GPU can be, with some room for how it is measured.
pub const ONE: f64 = 1.1;

/// What a job had and wasted. Not-a-number is unknown.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What is said of it.
    pub outcome: Outcome,
    /// Nobody has to look.
    pub certain: bool,
    /// What to do.
    pub advice: Advice,
    /// Allocated × elapsed, s: GPUs, CPUs, one, nodes; how long it waited, s.
    pub gpu_s: f64,
    /// See `gpu_s`.
    pub cpu_s: f64,
    /// See `gpu_s`.
    pub wall_s: f64,
    /// See `gpu_s`.
    pub node_s: f64,
    /// See `gpu_s`.
    pub wait_s: f64,
    /// What it cost, USD.
    pub usd: Option<Interval>,
    /// What its boards drew, or the site measured, kWh.
    pub kwh: Option<Interval>,
    /// The site measured the energy.
    pub measured: bool,
    /// GPU time that is freed, at most, where it needs a look.
    pub freed_gpu_s: f64,
    /// The same in money.
    pub freed_usd: Option<Interval>,
    /// The same in energy.
    pub freed_kwh: Option<Interval>,
}

/// Judges a job with all that is known of its use.
pub fn judge(job: &Record, usage: &Usage, model: Model, models: &Models<'_>, joined: Joined<'_>) -> Judged {
    let gpu = models.gpu(model);
    let ran = if job.state == State::Pending { Some(0.0) } else { job.elapsed };
    // Nothing of anything is nothing, however much it was.
    let times = |count: Option<f64>| match (count, ran) {
        (_, Some(0.0)) => 0.0,
        (Some(count), Some(s)) => count * s,
        _ => f64::NAN,
    };
    let has_gpu = job.gpus.is_none_or(|count| count > 0.0);
    let mut judged = Judged {
        outcome: Outcome::WellUsed,
        certain: false,
        advice: Advice::Nothing,
        gpu_s: times(job.gpus),
        cpu_s: times(job.cpus),
        wall_s: ran.unwrap_or(f64::NAN),
        node_s: times(job.nodes),
        wait_s: job.wait.unwrap_or(f64::NAN),
        usd: None,
        kwh: None,
        measured: job.joules.is_some(),
        freed_gpu_s: 0.0,
        freed_usd: None,
        freed_kwh: None,
    };
    let hours = |s: f64| s / 3600.0;
    judged.usd = match job.gpus {
        Some(count) if count > 0.0 => {
            gpu.usd_per_h.filter(|_| judged.gpu_s.is_finite()).map(|h| h.scale(hours(judged.gpu_s)))
        }
        Some(_) => models
            .given()
            .usd_per_cpu_h
            .filter(|_| judged.cpu_s.is_finite())
            .map(|h| Interval::exact(h * hours(judged.cpu_s))),
        None => None,
    };
    judged.kwh = job.joules.map(|joules| Interval::exact(joules / 3.6e6)).or_else(|| {
        let range = gpu.watts.filter(|_| judged.gpu_s.is_finite() && judged.gpu_s > 0.0);
        range.map(|(idle, most)| drawn(idle, most, usage).scale(hours(judged.gpu_s) / 1000.0))
    });
    if let Some(why) = not_judged(job, usage, has_gpu, joined) {
        judged.outcome = why;
    } else if has_gpu {
        rules(&mut judged, job, usage, model, models, &gpu);
    } else if let Joined::One(recording, number) = joined {
        match recording.verdict {
            Verdict::Gpu => (judged.outcome, judged.advice) = (Outcome::PaysOnGpu, Advice::TryGpu(number)),
            _ => judged.outcome = Outcome::StaysOnCpu,
        }
    }
    judged
}

/// Why a job is not judged.
fn not_judged(job: &Record, usage: &Usage, has_gpu: bool, joined: Joined<'_>) -> Option<Outcome> {
    match job.state {
        State::Pending => return Some(Outcome::Pending),
        State::Running => return Some(Outcome::Running),
        _ => {}
    }
    let Some(elapsed) = job.elapsed else { return Some(Outcome::ElapsedUnknown) };
    if elapsed <= 0.0 {
        return Some(Outcome::NeverRan);
    }
    if !has_gpu {
        return match joined {
            Joined::Nothing => Some(Outcome::NoRecording),
            Joined::Disagree => Some(Outcome::RecordingsDisagree),
            Joined::One(recording, _) if matches!(recording.verdict, Verdict::Gpu | Verdict::Cpu) => None,
            Joined::One(..) => Some(Outcome::RecordingUnsure),
        };
    }
    if job.gpus.is_none() {
        return Some(Outcome::GpusUnknown);
    }
    if elapsed < SHORT_S {
        return Some(Outcome::TooShort);
    }
    if !usage.is_known() {
        return Some(if usage.by == By::Nothing { Outcome::NoUse } else { Outcome::PartialUse });
    }
    (usage.partial || !covers(job, usage)).then_some(Outcome::PartialUse)
}

/// Whether samples span enough of the job, where both say when.
fn covers(job: &Record, usage: &Usage) -> bool {
    let (Some((from, to)), Some(elapsed)) = (usage.span, job.elapsed) else { return usage.by != By::Samples };
    to - from >= SPANNED * elapsed
}

fn rules(judged: &mut Judged, job: &Record, usage: &Usage, model: Model, models: &Models<'_>, gpu: &Gpu<'_>) {
    let count = job.gpus.unwrap_or_default();
    let (idle_w, most_w) = gpu.watts.unzip();
    let doubtful = job.odd.contains(&Oddity::TimesDisagree);
    // Slurm's figures add up the GPUs of a task, so the mean of one is at most that of all.
    let mean = usage.mean.or(usage.peak).unwrap_or_default().min(1.0);
    let never = usage.peak.is_some_and(|peak| peak <= 0.0) && mean <= 0.0;
    let empty = usage.memory.is_some_and(|bytes| bytes <= EMPTY);
    let all_seen = usage.by != By::Samples || usage.seen.is_some_and(|seen| seen >= count);
    let idle = idle(usage, count);
    let cpu_busy = job.cpu_time.filter(|_| judged.cpu_s > 0.0).map(|used| used / judged.cpu_s);
    let free = |judged: &mut Judged, outcome, certain: bool, advice, share: f64| {
        (judged.outcome, judged.certain, judged.advice) = (outcome, certain && !doubtful, advice);
        judged.freed_gpu_s = judged.gpu_s * share;
        let hours = judged.freed_gpu_s / 3600.0;
        judged.freed_usd = gpu.usd_per_h.map(|usd| usd.scale(hours));
        // What needs a look may free nothing, and at most what the boards can draw.
        let watts = idle_w.zip(most_w).map(|(idle, most)| match judged.certain {
            true => Interval { p10: 0.8 * idle, p50: idle, p90: (1.2 * idle).min(most) },
            false => Interval { p10: 0.0, p50: idle, p90: most },
        });
        judged.freed_kwh = watts.map(|watts| watts.scale(hours / 1000.0));
    };
    if never {
        return free(judged, Outcome::Unused, empty && all_seen, Advice::NoGpu, 1.0);
    }
    if idle >= 1.0 && idle < count {
        let certain = usage.by == By::Samples && usage.seen == Some(count);
        return free(judged, Outcome::IdleGpus, certain, Advice::Gpus((count - idle) as u16), idle / count);
    }
    if mean < WAITING && cpu_busy.is_some_and(|busy| busy >= CPU_FULL) {
        return free(judged, Outcome::CpuBound, false, Advice::MoreCpu, 1.0 - mean);
    }
    if mean < LOW
        && let Some(bytes) = usage.memory
        && model != UNNAMED
    {
        if let Some(parts) = slice(gpu, bytes, mean) {
            let share = 1.0 - f64::from(parts) / f64::from(gpu.slices);
            return free(judged, Outcome::SmallWork, false, Advice::Slice(parts), share);
        }
        if let Some(smaller) = models.smaller(model, bytes, mean) {
            free(judged, Outcome::SmallWork, false, Advice::Smaller(smaller), 1.0);
            // The smaller one has to be paid for.
            let other = models.gpu(smaller).usd_per_h.map(|usd| usd.p50 * judged.gpu_s / 3600.0);
            judged.freed_usd =
                judged.freed_usd.zip(other).map(|(usd, other)| usd.map_increasing(|x| (x - other).max(0.0)));
            return;
        }
    }
    if count >= 2.0 && usage.by == By::Slurm && usage.peak.is_some_and(|peak| peak <= ONE) {
        return free(judged, Outcome::OneGpusWorth, false, Advice::Gpus(1), (count - 1.0) / count);
    }
    if mean < LOW {
        free(judged, Outcome::LowUse, false, Advice::Share, 1.0 - mean / FULL);
    }
}

/// GPUs of the job that were never used: those that were looked at and idle, less what was looked at beyond its own.
fn idle(usage: &Usage, count: f64) -> f64 {
    match (usage.idle, usage.seen) {
        (Some(idle), Some(seen)) if seen > count => (count - (seen - idle)).max(0.0),
        (Some(idle), _) => idle.min(count),
        (None, _) => 0.0,
    }
}

/// Parts of a GPU that hold so many bytes and do so much work, where those are at most half of it. NVIDIA's slices
/// have 1, 2,
/// 3 (of seven) or 1, 2 (of four) parts, and an eighth (a quarter) of the memory each; three have four eighths.
fn slice(gpu: &Gpu<'_>, bytes: f64, busy: f64) -> Option<u8> {
    let memory = gpu.device?.memory.get();
    let shares: &[(u8, f64)] = match gpu.slices {
        7 => &[(1, 0.125), (2, 0.25), (3, 0.5)],
        4 => &[(1, 0.25), (2, 0.5)],
        _ => &[],
    };
    let fits = |(parts, share): &&(u8, f64)| {
        ROOM * bytes <= share * memory && busy <= FULL * f64::from(*parts) / f64::from(gpu.slices)
    };
    shares.iter().find(fits).map(|(parts, _)| *parts)
}

/// What a board drew: between idle and its limit, by how busy it was where that is known.
fn drawn(idle: f64, most: f64, usage: &Usage) -> Interval {
    let busy = match (usage.mean, usage.peak) {
        (_, Some(peak)) if peak <= 0.0 => return Interval { p10: 0.8 * idle, p50: idle, p90: 1.2 * idle },
        (Some(mean), _) => mean.min(1.0),
        (None, _) => 0.5,
    };
    Interval { p10: idle, p50: idle + busy * (most - idle), p90: most }
}
