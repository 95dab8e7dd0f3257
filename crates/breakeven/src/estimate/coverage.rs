//! What of a program's time is understood, and whose the rest is.

use super::hosttime::HostTime;
use crate::libraries::{self, Class};
use crate::workload::{Entry, Family, HostCode, HostKind, MODEL_FILE, Op, Workload};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Below this coverage a verdict, a break-even and advice would rest on time that was not understood.
pub const ENOUGH: f64 = 0.8;
/// Native time that was sampled and is together a smaller share of the program is left with the host: samples are too
/// coarse to tell it from none, and a GPU that did all of it in no time would not win by [`super::gpu::WIN`].
pub const LEAST_SAMPLED: f64 = 0.02;

/// Understood time and the rest. Python and waiting are neither: they stay on the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Recorded ops that are understood, s.
    pub understood: f64,
    /// Time that is not understood, by library and line, the longest first.
    pub dark: Vec<Dark>,
    /// Whether native time that was sampled is among it: not where it was less than [`LEAST_SAMPLED`].
    sampled: bool,
    /// See [`recorded_whole`].
    recorded: BTreeSet<String>,
}

/// Time that is not understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Dark {
    /// Whose code it is; `None` for an op that nobody knows, and where nothing is known.
    pub library: Option<String>,
    /// The function that the line calls.
    pub function: Option<String>,
    /// The line, an index into the workload's sites.
    pub site: Option<u32>,
    /// On this CPU, s.
    pub seconds: f64,
}

impl Coverage {
    /// Understood ÷ (understood + not understood), 0–1; 1 where there is neither.
    pub fn share(&self) -> f64 {
        let dark = self.dark();
        if dark > 0.0 { self.understood / (self.understood + dark) } else { 1.0 }
    }

    /// All that is not understood, s.
    pub fn dark(&self) -> f64 {
        // The sum of nothing is -0.
        self.dark.iter().map(|dark| dark.seconds).sum::<f64>().max(0.0)
    }

    /// Whether host time that was sampled is part of what is not understood.
    pub fn leaves_out(&self, row: &HostCode) -> bool {
        self.sampled && is_dark(row, &self.recorded)
    }

    /// What the share is of, for people: libraries are part of it where any was at work.
    pub fn whole(&self) -> &'static str {
        if self.dark.iter().any(|dark| dark.library.is_some()) { "time in arrays and libraries" } else { "array time" }
    }

    /// Whether enough is understood for an answer to rest on it.
    pub fn is_enough(&self) -> bool {
        self.share() >= ENOUGH
    }
}

/// Seconds by library, function and site.
type ByPlace = BTreeMap<(Option<String>, Option<String>, Option<u32>), f64>;

/// What of `workload` is understood. Bytes stand for time where no op was timed, as without values.
pub fn coverage(workload: &Workload, host: &HostTime) -> Coverage {
    let timed = workload.ops.iter().any(|entry| entry.cpu_ns > 0);
    // A program that did not say how long it ran has no time to scale to.
    let scale = if host.cpu_scale > 0.0 { host.cpu_scale } else { 1.0 };
    let time = |e: &Entry| if timed { e.cpu_ns as f64 * 1e-9 * scale } else { e.bytes().get() };
    let (mut out, mut dark) = (Coverage::default(), ByPlace::new());
    for entry in &workload.ops {
        if entry.op.family() != Family::Opaque {
            // What a library called is time of the host.
            out.understood += if is_of_library(entry) { 0.0 } else { time(entry) };
            continue;
        }
        let via = workload.sites.get(entry.site as usize).and_then(|site| site.via.clone());
        let function = via.filter(|_| entry.library.is_some()).unwrap_or_else(|| entry.name.clone());
        *dark.entry((entry.library.clone(), Some(function), Some(entry.site))).or_default() += time(entry);
    }
    unknown_in_models(workload, &out, &mut dark);
    for unseen in &workload.unseen {
        *dark.entry((None, None, None)).or_default() += unseen.ns as f64 * 1e-9 * scale;
    }
    out.recorded = recorded_whole(workload);
    let native: Vec<_> = host.host_code(workload).filter(|(row, _)| is_dark(row, &out.recorded)).collect();
    out.sampled = native.iter().map(|(_, seconds)| seconds).sum::<f64>() >= LEAST_SAMPLED * host.wall;
    for (row, seconds) in native.into_iter().filter(|_| out.sampled) {
        *dark.entry((row.library.clone(), row.function.clone(), row.site)).or_default() += seconds;
    }
    let rows = dark.into_iter().filter(|(_, seconds)| *seconds > 0.0);
    out.dark = rows.map(|((library, function, site), seconds)| Dark { library, function, site, seconds }).collect();
    out.dark.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    out
}

/// Ops that nobody knows, in a program that nobody ran, have no time: together they count as much as all that is known, so
/// that no verdict rests on the rest.
fn unknown_in_models(workload: &Workload, known: &Coverage, dark: &mut ByPlace) {
    if workload.program.recorder != MODEL_FILE {
        return;
    }
    let unknown = || workload.ops.iter().filter(|entry| entry.op.family() == Family::Opaque);
    let each = known.understood.max(f64::MIN_POSITIVE) / unknown().count().max(1) as f64;
    for entry in unknown() {
        *dark.entry((None, Some(entry.name.clone()), Some(entry.site))).or_default() += each;
    }
}

/// Whether host time is native time of a library that a GPU may have a version of, or that nobody knows.
fn is_dark(row: &HostCode, recorded: &BTreeSet<String>) -> bool {
    let stays = |library: &str| libraries::class(library) == Class::Host || recorded.contains(library);
    row.kind == HostKind::Native && !row.library.as_deref().is_some_and(stays)
}

/// Libraries whose compiled functions are recorded whole, on the device that the program gives them to: what else they do
/// (tracing, looking functions up) is the host's.
fn recorded_whole(workload: &Workload) -> BTreeSet<String> {
    let whole = |entry: &&Entry| entry.device.is_some() && entry.op.family() == Family::Routine;
    workload.ops.iter().filter(whole).filter_map(|entry| entry.name.split('.').next()).map(str::to_owned).collect()
}

/// Whether an entry is a NumPy call inside another library that does not work on a GPU's arrays: the library's time, and
/// no op of the script's that could be ported. An op that has a device stays one, whoever called it.
pub fn is_of_library(entry: &Entry) -> bool {
    let of_numpy = entry.name.starts_with("numpy.") || entry.name.starts_with("scipy.");
    let library = entry.library.as_deref().filter(|_| of_numpy && entry.device.is_none());
    library.is_some_and(|library| libraries::class(library) != Class::Arrays)
}

/// The workload with the calls that a library made as that library's own time: on the host on both sides, without
/// copies; not understood unless the library's work stays on the host anyway.
pub fn with_libraries_apart(workload: &Workload) -> Cow<'_, Workload> {
    if !workload.ops.iter().any(is_of_library) {
        return Cow::Borrowed(workload);
    }
    let recorded = recorded_whole(workload);
    let mut apart = workload.clone();
    for entry in apart.ops.iter_mut().filter(|entry| is_of_library(entry)) {
        let stays = |library: &str| libraries::class(library) == Class::Host || recorded.contains(library);
        let stays = entry.library.as_deref().is_some_and(stays);
        entry.op = if stays { Op::HostOnly } else { Op::Opaque };
        (entry.host_input_bytes, entry.host_input_count) = (0, 0);
        entry.kernels = 0;
    }
    Cow::Owned(apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::answer_request;
    use crate::estimate::Verdict;
    use crate::estimate::hosttime::host_time;
    use crate::request::{Options, Request};
    use crate::workload::samples::workloads;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn time_is_understood_or_not_and_never_both(w in workloads()) {
            let apart = with_libraries_apart(&w);
            prop_assert_eq!(apart.check(), Ok(()));
            let host = host_time(&apart);
            prop_assert_eq!(&host, &host_time(&w), "whose it is changes no time");
            let found = coverage(&apart, &host);
            prop_assert!((0.0..=1.0).contains(&found.share()), "{found:?}");
            let scale = if host.cpu_scale > 0.0 { host.cpu_scale } else { 1.0 };
            let unseen: f64 = w.unseen.iter().map(|unseen| unseen.ns as f64 * 1e-9 * scale).sum();
            if w.ops.iter().any(|entry| entry.cpu_ns > 0) && host.wall > 0.0 {
                prop_assert!(found.understood + found.dark() - unseen <= host.wall * (1.0 + 1e-9), "{found:?} of {host:?}");
            }
        }

        #[test]
        fn where_nothing_is_understood_no_gpu_wins(mut w in workloads(), exclude_startup in any::<bool>()) {
            for entry in &mut w.ops {
                (entry.op, entry.device) = (Op::Opaque, None);
            }
            let options = Options { gpu: vec!["l4".to_owned()], exclude_startup, ..Options::default() };
            let request = Request { workload: Some(Box::new(w)), options, ..Request::default() };
            let e = answer_request(&request).unwrap();
            prop_assert!(e.summary.verdict != Verdict::Gpu, "{}", e.summary.sentence);
            prop_assert!(e.estimates[0].break_even.is_none() || e.workload.coverage >= ENOUGH);
        }
    }
}
