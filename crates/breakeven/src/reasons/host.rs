//! What stays on the host: Python, files, loading, functions that the library lacks, what is not understood.

use super::account::{Account, HostKind, place};
use super::order::by_round;
use crate::estimate::Reason;
use crate::estimate::plan::lacks;
use crate::port::{self, Counterpart};
use crate::report::words;
use crate::workload::{Dtype, Entry, Op, Wait};
use std::collections::BTreeMap;

/// The host's part of the critical path by what it is spent on, s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostParts {
    pub(super) code: f64,
    pub(super) files: f64,
    pub(super) loading: f64,
    pub(super) no_counterpart: f64,
    pub(super) dark: f64,
}

/// Time that the program waited counts as files; time that the recorder could not see, as not understood: both lie
/// in what no op accounts for.
pub(super) fn parts(account: &Account<'_>) -> HostParts {
    let mut parts = HostParts::default();
    for i in 0..account.path.len() {
        let (code, itself, kind) = account.host_of(i);
        parts.code += code;
        let of = match kind {
            HostKind::Code => &mut parts.code,
            HostKind::Files => &mut parts.files,
            HostKind::Loading => &mut parts.loading,
            HostKind::NoCounterpart => &mut parts.no_counterpart,
            HostKind::Dark => &mut parts.dark,
        };
        *of += itself;
    }
    for sampled in &account.sampled {
        let of = match sampled.kind {
            HostKind::Files => &mut parts.files,
            HostKind::Dark => &mut parts.dark,
            _ => continue,
        };
        *of += sampled.path;
        parts.code = (parts.code - sampled.path).max(0.0);
    }
    let program = &account.q.workload.program;
    let path = share_on_path(account);
    // Where the host was sampled, waiting is among the rows.
    let idle = if account.sampled.is_empty() { program.idle_ns as f64 * 1e-9 * path } else { 0.0 };
    let idle = idle.min(parts.code);
    parts.code -= idle;
    parts.files += idle;
    let unseen: f64 = account.q.workload.unseen.iter().map(|u| u.ns as f64).sum();
    let dark = (unseen * 1e-9 * path / account.q.host_speed).min(parts.code);
    parts.code -= dark;
    parts.dark += dark;
    parts
}

/// Where the program waited, and how long: here, and on the critical path, s.
pub(super) fn waits<'a>(account: &Account<'a>) -> impl Iterator<Item = (&'a Wait, f64, f64)> {
    let path = share_on_path(account);
    account.q.workload.waited().map(move |(wait, here)| (wait, here, here * path))
}

/// How much of what the host does is on the critical path: less than all where the device hides it.
fn share_on_path(account: &Account<'_>) -> f64 {
    let own: f64 = account.entries().map(|(_, e, t)| (t.gap + t.on_host) * e.count as f64).sum();
    let outside = account.out.plan.tasks.last().map_or(0.0, |t| t.gap) - account.q.port.host_startup();
    let all = own + outside.max(0.0);
    if all > 0.0 { (account.out.parts.host / all).min(1.0) } else { 0.0 }
}

/// What both sides spend on the host.
pub(super) fn reasons(account: &Account<'_>, parts: &HostParts) -> Vec<Reason> {
    [python(account, parts), files(account, parts), loading(account, parts)].into_iter().flatten().collect()
}

/// The speedup if all array work took no time: Amdahl's ceiling. `None` where nothing stays on the host, or too little
/// of it is understood.
pub(super) fn ceiling(account: &Account<'_>) -> Option<f64> {
    let own_startup = if account.q.exclude_startup { 0.0 } else { account.q.port.host_startup() };
    let host = account.out.parts.host + own_startup;
    let known = host > 0.0 && account.q.coverage.is_enough();
    known.then(|| account.q.cpu_time().p50 / host).filter(|c| c.is_finite())
}

fn python(account: &Account<'_>, parts: &HostParts) -> Option<Reason> {
    if parts.code <= 0.0 {
        return None;
    }
    let share = account.share(parts.code);
    let mut cause =
        format!("{} of Python and CPU code stay on the CPU whatever the GPU does", words::seconds(parts.code));
    let ceiling = ceiling(account);
    if let Some(ceiling) = ceiling {
        let faster = if ceiling < 1.05 { "no".to_owned() } else { words::times(ceiling) };
        cause += &format!(": with array work in no time at all the program would be {faster} faster");
    }
    let code = |i: usize| account.host_of(i).0 + code_itself(account, i);
    let line = main_line(account, parts);
    if let Some((line, seconds, draws)) = &line {
        let draws = if *draws { ", which draws random numbers" } else { "" };
        cause += &format!("; {} of it at {line}{draws}", words::percent(seconds / parts.code));
    }
    // Whoever is faster with the GPU is not told to do without.
    let loses = account.out.speedup.is_none_or(|speedup| speedup.p50 < 1.0);
    let numba = |line: &str| account.q.workload.sites_of("numba").any(|site| place(site) == line);
    let remedy = match (line, account.loops(), loses) {
        (Some((.., true)), ..) => DRAW_THERE,
        (Some((line, ..)), ..) if numba(&line) => KEEP_COMPILED,
        (_, true, true) => "Vectorise the loop, compile it (Numba, Cython), or leave the program on the CPU.",
        (_, true, false) => "Vectorise the loop, or compile it (Numba, Cython).",
        (_, false, true) => "Compile it (Numba, Cython), or leave the program on the CPU.",
        (_, false, false) => "Compile it (Numba, Cython).",
    };
    let mut reason = Reason::new("host-bound", Some(share), cause + ".", remedy.to_owned()).with(
        "host",
        parts.code,
        "s",
        words::seconds(parts.code),
    );
    if let Some(ceiling) = ceiling {
        reason = reason.with("ceiling", ceiling, "1", words::times(ceiling));
    }
    reason = by_round(reason, account, &code);
    reason.also = account.lines_of(&account.code_by_site(), 5);
    Some(reason)
}

/// For random numbers drawn on the host, as of a model that is made there and copied.
const DRAW_THERE: &str = "Draw them on the GPU, faster and without copies: make the model within \
                          `with torch.device(\"cuda\"):`, tensors with `device=`.";
/// Numba's compiler is Python: compiling is no advice to a line that compiles.
pub(super) const KEEP_COMPILED: &str = "Keep what Numba compiles (cache=True), or compile fewer variants of it.";
/// A line with this share of the code is what the host does.
const MAIN: f64 = 0.5;

/// The line that most of the host's code belongs to, its part of the path, s, and whether that is PyTorch's drawing of
/// random numbers.
fn main_line(account: &Account<'_>, parts: &HostParts) -> Option<(String, f64, bool)> {
    let sites = &account.q.workload.sites;
    let mut each: Vec<(f64, f64)> = account.code_by_site().into_iter().map(|code| (code, 0.0)).collect();
    for (i, entry, _) in account.entries() {
        let Some((_, random)) = each.get_mut(entry.site as usize) else { continue };
        let drawn = matches!(entry.op, Op::Random { .. }) && port::of(&entry.name).name == "torch";
        *random += if drawn { code_itself(account, i) } else { 0.0 };
    }
    // What is waited for before a line is none of its code; samples have it at the line that waits.
    for (wait, _, seconds) in waits(account).filter(|_| account.sampled.is_empty()) {
        if let Some((all, _)) = wait.before.and_then(|i| each.get_mut(i as usize)) {
            *all -= seconds;
        }
    }
    // Modules have sites of their own on the line that calls them all.
    let mut lines: Vec<(String, f64, f64)> = Vec::new();
    for (site, (all, random)) in sites.iter().zip(each).filter(|(_, (all, _))| *all != 0.0) {
        let line = place(site);
        match lines.iter_mut().find(|(known, ..)| *known == line) {
            Some((_, of_all, of_random)) => (*of_all, *of_random) = (*of_all + all, *of_random + random),
            None => lines.push((line, all, random)),
        }
    }
    let (line, all, random) = lines.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    (all >= MAIN * parts.code).then(|| (line, all.min(parts.code), random >= MAIN * all))
}

fn code_itself(account: &Account<'_>, i: usize) -> f64 {
    let (_, itself, kind) = account.host_of(i);
    if kind == HostKind::Code { itself } else { 0.0 }
}

fn of_kind(account: &Account<'_>, i: usize, wanted: HostKind) -> f64 {
    let (_, itself, kind) = account.host_of(i);
    if kind == wanted { itself } else { 0.0 }
}

/// Time of one kind by site, s of the path: ops that are it, and what was sampled as it.
fn by_site(account: &Account<'_>, wanted: HostKind) -> Vec<f64> {
    let mut by_site = vec![0.0; account.q.workload.sites.len()];
    let ops = account.entries().map(|(i, entry, _)| (entry.site, of_kind(account, i, wanted)));
    let sampled = account.sampled.iter().filter(|sampled| sampled.kind == wanted);
    let sampled = sampled.filter_map(|sampled| Some((sampled.row.site?, sampled.path)));
    for (site, seconds) in ops.chain(sampled) {
        if let Some(sum) = by_site.get_mut(site as usize) {
            *sum += seconds;
        }
    }
    by_site
}

fn files(account: &Account<'_>, parts: &HostParts) -> Option<Reason> {
    if parts.files <= 0.0 {
        return None;
    }
    let share = of_idle(account, parts) / parts.files;
    let (waits, reads) = (share > 0.1, share < 0.9);
    let what = match (reads, waits) {
        (true, true) => "Files and waiting",
        (false, _) => "Waiting (asleep, for input, a network, a lock, another program)",
        _ => "Reading, writing and parsing files",
    };
    // What the device does meanwhile hides the rest.
    let beside = if share_on_path(account) < 0.99 { " beside the GPU's work" } else { ", as long as on the CPU alone" };
    let mut reason = Reason::new(
        "input-output-bound",
        Some(account.share(parts.files)),
        format!("{what} takes {}{beside}{}.", words::seconds(parts.files), told_of(account)),
        if reads {
            "A binary format instead of text, reading ahead in the background, memory-mapping what is used in part."
        } else {
            "Wait less, or do something else meanwhile: no GPU makes what is waited for come sooner."
        }
        .to_owned(),
    )
    .with("input_output", parts.files, "s", words::seconds(parts.files));
    reason.also = account.lines_of(&by_site(account, HostKind::Files), 5);
    for line in
        self::waits(account).filter_map(|(wait, ..)| Some(place(account.q.workload.sites.get(wait.site? as usize)?)))
    {
        if reason.also.len() < 5 && !reason.also.contains(&line) {
            reason.also.push(line);
        }
    }
    Some(reason)
}

/// `: 2 s at fetch.py:12, 0.5 s before fetch.py:30`: the longest waits.
fn told_of(account: &Account<'_>) -> String {
    let mut told: Vec<(&Wait, f64, f64)> = Vec::new();
    for wait in waits(account).filter(|(.., s)| account.share(*s) >= super::FLOOR) {
        told.insert(told.partition_point(|longer| longer.2 >= wait.2), wait);
    }
    let told = told.iter().take(3).filter_map(|(wait, _, seconds)| {
        let (word, line) = if let Some(line) = wait.site { ("at", line) } else { ("before", wait.before?) };
        let line = place(account.q.workload.sites.get(line as usize)?);
        Some(format!("{} {word} {line}", words::seconds(*seconds)))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}

/// What of the files' part is sleeping and waiting, s.
fn of_idle(account: &Account<'_>, parts: &HostParts) -> f64 {
    let by_entry: f64 = (0..account.path.len()).map(|i| of_kind(account, i, HostKind::Files)).sum();
    (parts.files - by_entry).max(0.0)
}

fn loading(account: &Account<'_>, parts: &HostParts) -> Option<Reason> {
    if parts.loading <= 0.0 {
        return None;
    }
    let mut reason = Reason::new(
        "input-pipeline-stall",
        Some(account.share(parts.loading)),
        format!("Loading and preparing batches takes {} while the GPU waits.", words::seconds(parts.loading)),
        "Worker processes in the loader, pinned memory with asynchronous copies, data prepared once and kept."
            .to_owned(),
    )
    .with("loading", parts.loading, "s", words::seconds(parts.loading));
    reason.also = account.lines(&|i| of_kind(account, i, HostKind::Loading), 5);
    Some(reason)
}

/// Array work that a GPU was to take over and cannot, with the copies that this makes.
pub(super) fn no_counterpart(account: &Account<'_>, parts: &HostParts) -> Option<Reason> {
    let library = account.q.port.library();
    // By what users call: seconds, and why that stays.
    let mut functions: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
    let (mut copies, mut whole) = (0.0, 0.0);
    for (i, entry, task) in account.entries().filter(|(i, ..)| account.host[*i] == HostKind::NoCounterpart) {
        let (_, itself, _) = account.host_of(i);
        if task.on_host + task.download + task.upload_after <= 0.0 {
            continue;
        }
        copies += account.path[i].transfer;
        whole += itself;
        let site = account.q.workload.sites.get(entry.site as usize);
        let lacking = site.filter(|site| lacks(account.q.port.profile(), site)).and_then(|site| site.via.as_deref());
        let rows = || site?.via.as_deref().filter(|via| via.starts_with("pandas."));
        let (name, why) = match lacking {
            Some(via) => (via, "{library} has no such function for the GPU"),
            None if entry.dtype == Dtype::Other => {
                (entry.name.as_str(), "its arrays hold no plain numbers, and {library} has no others")
            }
            None => rows().map_or((entry.name.as_str(), own_reason(entry)), |via| (via, "{library} has no dataframes")),
        };
        functions.entry(name).or_insert((0.0, why)).0 += itself;
    }
    let largest = functions.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let (name, (_, why)) = largest.filter(|_| whole + copies > 0.0)?;
    let more = match functions.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let stays = if functions.len() == 1 { "stays" } else { "stay" };
    let mut reason = Reason::new(
        "no-counterpart",
        Some(account.share(parts.no_counterpart + copies)),
        format!("{}{more} {stays} on the CPU: {}.", words::printable(name, 80), why.replace("{library}", library)),
        "Use functions that the GPU library has, or keep this part of the program on the CPU as a whole.".to_owned(),
    )
    .with("functions", functions.len() as f64, "1", words::count(functions.len() as u64))
    .with("on_host", whole, "s", words::seconds(whole))
    .with("copies", copies, "s", words::seconds(copies));
    reason.also = account.lines(&|i| of_kind(account, i, HostKind::NoCounterpart), 5);
    Some(reason)
}

/// Why a call stays on the host, as the table of its library has it; of NumPy's it says what kind of function it is.
fn own_reason(entry: &Entry) -> &'static str {
    let own = port::of(&entry.name);
    match own.counterpart(&entry.name) {
        Counterpart::Host(why) if own.name != port::cupy().name => why,
        _ => "{library} has no such function for the GPU",
    }
}

/// A part of the array time is not understood.
pub(super) fn not_covered(account: &Account<'_>, parts: &HostParts) -> Option<Reason> {
    let coverage = account.q.coverage.share();
    if coverage >= 1.0 {
        return None;
    }
    let decides = !account.q.coverage.is_enough();
    let mut reason = Reason::new(
        "not-covered",
        Some(account.share(parts.dark)),
        format!(
            "{} of the {} is understood; the rest, {}{}, is counted as staying on the CPU.",
            words::percent(coverage),
            account.q.coverage.whole(),
            words::seconds(parts.dark),
            of_libraries(account)
        ),
        if decides {
            "See the notes for what was not seen; estimate that part by hand, or measure on a GPU."
        } else {
            "See the notes for what was not seen."
        }
        .to_owned(),
    )
    .with("coverage", coverage, "1", words::percent(coverage))
    .with("not_understood", parts.dark, "s", words::seconds(parts.dark));
    reason.also = account.lines_of(&by_site(account, HostKind::Dark), 5);
    Some(reason)
}

/// ` (polars, numba)`: whose the time is that is not understood, most of it first.
fn of_libraries(account: &Account<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in account.q.coverage.dark.iter().filter_map(|dark| dark.library.as_deref()) {
        if names.len() < 3 && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { String::new() } else { format!(" ({})", words::printable(&names.join(", "), 120)) }
}
