//! Why a GPU did not compute, and what may help: the codes that reports on recorded scripts have.

use crate::summary::Summary;

/// A cause that is worth a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// A stable name in kebab case.
    pub code: &'static str,
    /// How long no kernel computed for it, s, of all GPUs together.
    pub seconds: f64,
}

/// An edit that may help.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// A stable name in kebab case.
    pub code: &'static str,
    /// The most that it could save, s.
    pub up_to_s: f64,
}

/// Less than this of the time is no cause worth a word.
pub(crate) const WORTH_A_WORD: f64 = 0.05;

/// Causes that took so much of the time that they are worth a word, the longest first.
pub fn reasons(summary: &Summary) -> Vec<Reason> {
    let (Some(causes), Some(span)) = (&summary.causes, summary.span_s) else { return Vec::new() };
    let all = [
        ("host-bound", causes.host_s),
        ("launch-bound", causes.launch_s),
        ("synchronisation-bound", causes.sync_s),
        ("input-pipeline-stall", causes.loading_s),
        ("transfer-bound", causes.copy_s),
        ("communication-not-overlapped", Some(causes.communication_s)),
    ];
    let known = all.into_iter().filter_map(|(code, seconds)| Some(Reason { code, seconds: seconds? }));
    let mut worth: Vec<Reason> = known.filter(|reason| reason.seconds >= WORTH_A_WORD * span).collect();
    worth.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    worth
}

/// What may help, the most first. Each is bounded by the time of its cause; they overlap, and do not add up.
pub fn advice(summary: &Summary) -> Vec<Advice> {
    let Some(span) = summary.span_s else { return Vec::new() };
    let for_reason = |reason: Reason| {
        let code = match reason.code {
            "synchronisation-bound" => "fewer-syncs",
            "input-pipeline-stall" => "input-pipeline",
            "transfer-bound" => "pinned-overlap",
            _ => return None,
        };
        Some(Advice { code, up_to_s: reason.seconds })
    };
    let mut all: Vec<Advice> = reasons(summary).into_iter().filter_map(for_reason).collect();
    let small = summary.small.as_ref().map(|small| small.idle_before_s).filter(|idle| *idle >= WORTH_A_WORD * span);
    all.extend(small.map(|up_to_s| Advice { code: "cuda-graphs", up_to_s }));
    all.sort_by(|a, b| b.up_to_s.total_cmp(&a.up_to_s));
    all
}
