//! The one line that comes first, and the one that says what holds the GPU back.

use super::rows::is_only_memory;
use super::{help, words};
use crate::estimate::coverage::ENOUGH;
use crate::estimate::{Advice, Estimate, GpuEstimate, Side, Summary, Verdict};
use crate::kernel::Bound;
use crate::workload::CUT_SHORT;

/// The answer in one line: the calculator's for one GPU, the field's for many. That a script failed comes before it.
pub fn sentence(e: &Estimate) -> String {
    let mut said = verdict(e);
    if e.notes.iter().any(|note| note.code == "busy-decides") {
        said = format!("{}. {BUSY}", said.trim_end_matches('.'));
    }
    match ended_early(e) {
        // What it asked for in vain says it already.
        Some(note) if cut_short(e).is_none() => format!("{} {said}", words::as_sentence(note)),
        _ => said,
    }
}

/// Said where that alone leaves the answer open.
const BUSY: &str = "This machine was busy: record again when it is quiet.";

/// Notes of scripts that did not end well, so that the answer may be that of their beginning alone.
const ENDED_EARLY: [&str; 2] = ["script-failed", "script-killed"];

/// How the script ended, where it did not end well.
pub(super) fn ended_early(e: &Estimate) -> Option<&str> {
    e.notes.iter().find(|note| ENDED_EARLY.contains(&note.code.as_str())).map(|note| note.text.as_str())
}

fn verdict(e: &Estimate) -> String {
    match e.estimates.as_slice() {
        rows if is_only_memory(e) && !rows.is_empty() => fits(e),
        [] => match e.notes.iter().find(|note| note.code == "amdahl-limit") {
            Some(limit) => words::as_sentence(&limit.text),
            None => "No GPU to compare with.".to_owned(),
        },
        [one] => for_one(e, one),
        _ => match of_script(e) {
            Some(g) => format!("{}.{}", for_one(e, g).trim_end_matches('.'), others(e)),
            None => for_many(e),
        },
    }
}

/// The GPU that the script was shown, where another one is the best value.
fn of_script(e: &Estimate) -> Option<&GpuEstimate> {
    let known = e.summary.best_gpu.is_some() && e.baseline.time_s.is_some() && !nothing_to_run(e);
    chosen(e).filter(|_| known && e.summary.shown_gpu != e.summary.best_gpu)
}

/// ` GPU wins on 41 of 75; best value: L4 — 6.2× faster [4.8–7.9].`: how the others do.
fn others(e: &Estimate) -> String {
    let Summary { verdict, wins_on, of, best_gpu, .. } = &e.summary;
    let best = e.estimates.iter().find(|g| Some(&g.gpu) == best_gpu.as_ref());
    match best.and_then(|g| Some((words::printable(&g.name, 60), g.speedup?))) {
        Some((name, s)) if *verdict == Verdict::Gpu => {
            let (much, range) = (much(s.p50), words::range(s));
            format!(" GPU wins on {wins_on} of {of}; best value: {name} — {much} faster{range}.")
        }
        _ => String::new(),
    }
}

/// Only memory was asked about.
fn fits(e: &Estimate) -> String {
    let needs = e.workload.peak_bytes.map_or_else(|| words::UNKNOWN.to_owned(), words::memory);
    let fitting = e.estimates.iter().filter(|g| g.fits == Some(true)).count();
    match e.estimates.as_slice() {
        [one] if fitting == 1 => format!("{needs} fit on {}.", words::printable(&one.name, 60)),
        [one] => format!("{needs} do not fit on {}.", words::printable(&one.name, 60)),
        rows => format!("{needs} fit on {fitting} of {} GPUs.", rows.len()),
    }
}

/// The GPU that the answer speaks of.
pub(super) fn chosen(e: &Estimate) -> Option<&GpuEstimate> {
    let id = e.summary.shown_gpu.as_ref()?;
    e.estimates.iter().find(|g| g.gpu == *id)
}

/// Said of a program without array work.
const NOTHING_TO_RUN: &str = "Stay on the CPU: nothing here would run on a GPU.";

/// Whether no GPU has a part in the answer.
pub(super) fn nothing_to_run(e: &Estimate) -> bool {
    let timed = e.estimates.iter().any(|g| g.time_s.is_some());
    timed && e.summary.verdict == Verdict::Cpu && e.workload.launches == 0 && e.formula.is_none()
}

fn for_one(e: &Estimate, g: &GpuEstimate) -> String {
    let name = words::printable(&g.name, 60);
    if g.fits == Some(false) {
        let least = if cut_short(e).is_some() { "at least " } else { "" };
        let needs =
            g.peak_bytes.map_or(String::new(), |b| format!(": it needs {least}{} of device memory", words::memory(b)));
        return format!("Does not fit on {name}{needs}.");
    }
    if g.verdict == Verdict::Unknown && (e.workload.launches == 0 || g.time_s.is_none()) {
        return not_enough(e);
    }
    let Some(time) = g.time_s else { return format!("No time is known for {name}.") };
    let gpu_time = words::time(time);
    let (Some(cpu), Some(speedup)) = (e.baseline.time_s, g.speedup) else {
        return format!("{gpu_time} on {name}{}; no CPU time to compare with.", extras(g));
    };
    if nothing_to_run(e) {
        return NOTHING_TO_RUN.to_owned();
    }
    let cpu_time = words::time(cpu);
    let extras = extras(g);
    match g.verdict {
        Verdict::Gpu => {
            format!(
                "{} faster{} on {name}: {gpu_time} against {cpu_time} on the CPU{extras}",
                much(speedup.p50).replace("a little", "A little"),
                words::range(speedup)
            )
        }
        Verdict::Cpu => match warm_first(e, g) {
            Some(warm) => format!("{warm} it does not pay ({gpu_time} with start-up){extras}"),
            // Nothing to do is infinitely faster.
            None if speedup.p50 <= 0.0 => format!("CPU is faster: {cpu_time} against {gpu_time} on {name}{extras}"),
            None => format!(
                "CPU is faster: {cpu_time} against {gpu_time} on {name} ({} slower on GPU){extras}",
                much(1.0 / speedup.p50)
            ),
        },
        Verdict::Either => match warm_first(e, g) {
            Some(warm) => format!("{warm} it is too close to call ({}){extras}", words::speedup(speedup)),
            None => format!(
                "Either will do: {gpu_time} on {name} against {cpu_time} on the CPU, {}, too close to call{extras}",
                words::speedup(speedup)
            ),
        },
        Verdict::Unknown => {
            format!("{} With that left on the CPU, {name} would be {}.", not_enough(e), words::speedup(speedup))
        }
    }
}

/// How many times faster or slower: `6.2×`, or `a little` where that would be `1.0×`.
fn much(ratio: f64) -> String {
    let times = words::times(ratio);
    if times == words::times(1.0) { "a little".to_owned() } else { times }
}

/// ` · $0.09 per 1 000 runs · 0.12 Wh`, as far as known.
/// ` (cloud)`: who rents it out at that price.
fn from(g: &GpuEstimate) -> String {
    let class = g.price.as_ref().and_then(|price| price.class.as_deref());
    class.map_or_else(String::new, |class| format!(" ({})", words::printable(class, 20)))
}

fn extras(g: &GpuEstimate) -> String {
    let cost = g.cost_usd.map(|c| format!(" · {}", words::cost(c)));
    let energy = g.energy_wh.map(|w| format!(" · {}", words::energy(w)));
    cost.unwrap_or_default() + &energy.unwrap_or_default()
}

/// `42× faster once warm on L4; in one run of 2.5 s`, where start-up takes a good part of a recorded program and the GPU
/// wins without it on either side.
fn warm_first(e: &Estimate, g: &GpuEstimate) -> Option<String> {
    let (cpu, parts) = (e.baseline.time_s?, g.breakdown_s.filter(|_| e.formula.is_none() && is_enough(e))?);
    let own = e.baseline.startup_s.map_or(0.0, |s| s.p50);
    let warm = (cpu.p50 - own) / (parts.total() - parts.startup);
    let decides = parts.startup > 0.3 * parts.total() && warm > 1.5 && warm.is_finite();
    decides.then(|| {
        let (warm, name, run) = (words::times(warm), words::printable(&g.name, 60), words::time(cpu));
        format!("{warm} faster once warm on {name}; in one run of {run}")
    })
}

/// What the script asked for in vain.
fn cut_short(e: &Estimate) -> Option<&str> {
    e.notes.iter().find(|note| CUT_SHORT.contains(&note.code.as_str())).map(|note| note.text.as_str())
}

/// Whether enough is understood for figures that rest on the whole program.
pub(super) fn is_enough(e: &Estimate) -> bool {
    e.workload.coverage >= ENOUGH
}

/// A library with this share of the program's time is named first where there is not enough evidence.
const MOST: f64 = 0.2;

/// `98 % of the array time is understood`; where libraries were at work, they are part of the whole.
pub(super) fn understood(e: &Estimate) -> String {
    let libraries = e.not_understood.iter().any(|row| row.library.is_some());
    let whole = if libraries { "time in arrays and libraries" } else { "array time" };
    format!("{} of the {whole} is understood", words::percent(e.workload.coverage))
}

fn not_enough(e: &Estimate) -> String {
    let lacks = if let Some(lacked) = cut_short(e) {
        lacked.to_owned()
    } else if e.workload.launches == 0 && e.workload.coverage >= 1.0 {
        "the script ended before any array work".to_owned()
    } else if let Some(most) = e.not_understood.iter().find(|row| row.share >= MOST) {
        format!("{} of the time is in {}, which was not recorded", words::percent(most.share), most.whose())
    } else {
        understood(e)
    };
    format!("Not enough evidence: {lacks}.")
}

fn for_many(e: &Estimate) -> String {
    let of = e.summary.of;
    let Some(g) = chosen(e) else { return not_enough(e) };
    let name = words::printable(&g.name, 60);
    if e.baseline.time_s.is_none() && g.time_s.is_some() {
        return format!(
            "Best value: {name}{} — {}{}; no CPU time to compare with.",
            from(g),
            g.time_s.map(words::time).unwrap_or_default(),
            extras(g)
        );
    }
    if nothing_to_run(e) {
        return NOTHING_TO_RUN.to_owned();
    }
    match (e.summary.verdict, g.speedup) {
        (Verdict::Gpu, Some(s)) => {
            let cost = g.cost_usd.map(|c| format!(", {}", words::cost(c))).unwrap_or_default();
            let cpu = match (g.cost_usd, e.baseline.cost_usd) {
                (Some(gpu), Some(cpu)) => format!(" (CPU: {})", words::usd(cpu.p50 * words::runs_of(gpu.p50).0)),
                _ => String::new(),
            };
            let wins = e.summary.wins_on;
            let priced = g.price.is_some() || e.estimates.iter().all(|g| g.price.is_none());
            let best = if priced { "Best value" } else { "Fastest (no price is known)" };
            format!(
                "GPU wins on {wins} of {of} GPUs. {best}: {name}{} — {} faster{}{cost}{cpu}.",
                from(g),
                much(s.p50),
                words::range(s)
            )
        }
        (Verdict::Cpu, Some(s)) => {
            let slower = much(1.0 / s.p50);
            warm_first(e, g).map_or_else(
                || format!("CPU is faster than all {of} GPUs. Closest: {name} — {slower} slower on GPU."),
                |warm| format!("{warm} it pays on none of {of} GPUs."),
            )
        }
        (Verdict::Cpu, None) => format!("CPU it is: the work fits on none of {of} GPUs."),
        (Verdict::Either, Some(s)) => {
            let either = e.estimates.iter().filter(|g| g.counted && g.verdict == Verdict::Either).count();
            let speedup = words::speedup(s);
            let lost = (of as usize).saturating_sub(either);
            match (warm_first(e, g), lost) {
                (Some(warm), 0) => format!("{warm} it is too close to call ({speedup}), as on each of {of} GPUs."),
                (Some(warm), _) => format!("{warm} it is too close to call ({speedup}), as on {either} of {of} GPUs."),
                (None, 0) => format!("Too close to call on {of} GPUs. Closest: {name} — {speedup}."),
                (None, lost) => format!(
                    "CPU is faster than {lost} of {of} GPUs, too close to call on {either}. Closest: {name} — {speedup}."
                ),
            }
        }
        (Verdict::Unknown, _) | (_, None) => not_enough(e),
    }
}

/// What limits the GPU that the answer speaks of, with its share of the time there (start-up included) and the first
/// advice: `Held back by kernel launches (58 %). Fusing … → 19× [14–24].` The reasons say it where there are any, the
/// parts of the time where only numbers were given. `None` when nothing is known of it.
pub fn held_back(e: &Estimate) -> Option<String> {
    let g = chosen(e).filter(|_| !is_only_memory(e) && is_enough(e) && !nothing_to_run(e))?;
    if let Some(calls) = small_calls(e) {
        return Some(format!("Held back by {calls}: no GPU helps; vectorise."));
    }
    let parts: Vec<(&str, f64)> = if e.formula.is_some() { of_formula(g)? } else { of_reasons(e) };
    let name = |(what, share): &(&str, f64)| format!("{what} ({})", words::share(*share));
    let mut named: Vec<String> = parts.iter().map(name).collect();
    let (_, first) = parts.first()?;
    // What the script imports takes as long on either side: no GPU shortens it.
    let imports = e.baseline.startup_s.zip(g.time_s).map_or(0.0, |(own, all)| own.p50 / all.p50);
    if imports > *first && imports < 1.0 {
        named.insert(0, format!("imports ({}, on either side)", words::share(imports)));
    }
    // Start-up that takes more and decides nothing.
    let aside = e.reasons.iter().find(|reason| reason.code == "start-up-bound").and_then(|reason| reason.share);
    let aside = aside.filter(|share| share > first && parts.iter().all(|(what, _)| *what != START_UP));
    let aside = aside.map_or_else(String::new, |share| format!(", beside {}", name(&(START_UP, share))));
    let mut line = format!("Held back by {}{aside}.", named.join(", then "));
    if let Some(advice) = first_fix(e) {
        line += &format!(" {}.", help::line(advice));
    }
    Some(line)
}

/// `pandas calls of 40 µs on 12 rows, 2,100 of them`, where these decide.
fn small_calls(e: &Estimate) -> Option<&str> {
    let first = e.reasons.first().filter(|reason| reason.code == "launch-bound")?;
    Some(first.cause.split_once(": no GPU helps")?.0)
}

/// By so much the figure of the first line has to grow for a fix to stand beside it: start-up may hide what it saves.
const SEEN: f64 = 1.05;

/// The first piece of advice, where it is for the GPU and changes what the line before says.
pub(super) fn first_fix(e: &Estimate) -> Option<&Advice> {
    let now = chosen(e).and_then(|g| g.speedup);
    let gains = |advice: &&Advice| match (advice.speedup_after, now) {
        (Some(after), Some(now)) if advice.saves_s.is_some() => after.p50 >= SEEN * now.p50,
        _ => true,
    };
    e.advice.first().filter(|advice| advice.side == Side::Gpu).filter(gains)
}

/// The main reason, and the next where it weighs a good part as much, but no more: what weighs more and comes after
/// decides nothing.
fn of_reasons(e: &Estimate) -> Vec<(&'static str, f64)> {
    let of_program = e.reasons.iter().filter(|reason| reason.site.is_none());
    let named = of_program.filter_map(|reason| Some((limit_of(&reason.code)?, reason.share?)));
    let mut parts: Vec<_> = named.take(2).collect();
    if parts.len() == 2 && !(SECOND * parts[0].1..=parts[0].1).contains(&parts[1].1) {
        parts.truncate(1);
    }
    parts
}

/// A second reason is named where its share is this part of the first one's.
const SECOND: f64 = 0.5;

/// The largest part; start-up is no bound, but is named first where it takes more.
fn of_formula(g: &GpuEstimate) -> Option<Vec<(&'static str, f64)>> {
    let parts = g.breakdown_s?;
    let bound = g.bound_by?;
    let share = match bound {
        Bound::Compute => parts.compute,
        Bound::Memory => parts.memory,
        Bound::Transfer => parts.transfer,
        Bound::Launch => parts.launch,
        Bound::Sync => parts.sync,
        Bound::Host => parts.host,
    } / parts.total();
    let startup = parts.startup / parts.total();
    let first = (startup > share).then_some((START_UP, startup));
    share.is_finite().then(|| first.into_iter().chain([(limit(bound), share)]).collect())
}

const START_UP: &str = "start-up";

/// A reason as the thing that limits.
fn limit_of(code: &str) -> Option<&'static str> {
    Some(match code {
        "compute-bound" => limit(Bound::Compute),
        "float64-rate" => "float64 arithmetic",
        "host-bound" => limit(Bound::Host),
        "input-output-bound" => "files and waiting",
        "input-pipeline-stall" => "loading data",
        "launch-bound" => limit(Bound::Launch),
        "little-parallelism" => "arrays smaller than the GPU",
        "memory-bound" => limit(Bound::Memory),
        "no-counterpart" => "functions that stay on the CPU",
        "not-covered" => "what is not understood",
        "sequential-dependence" => "steps that need the one before",
        "start-up-bound" => START_UP,
        "synchronisation-bound" => limit(Bound::Sync),
        "transfer-bound" => limit(Bound::Transfer),
        _ => return None,
    })
}

/// A bound as the thing that limits.
fn limit(bound: Bound) -> &'static str {
    match bound {
        Bound::Compute => "arithmetic",
        Bound::Memory => "device memory",
        Bound::Transfer => "copies between host and GPU",
        Bound::Launch => "kernel launches",
        Bound::Sync => "waiting for results",
        Bound::Host => "Python and CPU code",
    }
}
