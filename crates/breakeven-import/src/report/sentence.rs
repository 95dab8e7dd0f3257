//! The first lines: how busy the GPU was, what held it back, how long a step took.

use super::tables;
use crate::kind::Kind;
use crate::reasons::{Reason, WORTH_A_WORD, advice, reasons};
use crate::summary::{StepTotal, Steps, Summary};
use breakeven::report::words::{percent, printable, seconds, several, share};

/// One gap that is so much of all idle time is told.
const ONE_GAP: f64 = 0.8;

/// The answer in a sentence or two.
pub fn sentence(summary: &Summary) -> String {
    let Some((busy, span)) = summary.busy_s.zip(summary.span_s) else { return unknown(summary) };
    let several_gpus = summary.gpus.len() > 1;
    let of = if several_gpus { format!("{} on {} GPUs", seconds(span), summary.gpus.len()) } else { seconds(span) };
    let start = format!("GPU busy {} of {of}", percent(busy / span.max(f64::MIN_POSITIVE)));
    let worth: Vec<Reason> = reasons(summary).into_iter().take(2).collect();
    let told: Vec<String> =
        worth.iter().map(|reason| format!("{} ({})", words(reason), share(reason.seconds / span))).collect();
    if !told.is_empty() {
        return format!("{start}; held back by {}.", told.join(", then "));
    }
    let idle = summary.idle_s.unwrap_or(0.0);
    if idle / span >= WORTH_A_WORD {
        return format!("{start}; why it was idle is not in the file.");
    }
    match summary.classes.first().zip(summary.kernel_s) {
        Some((class, all)) if all > 0.0 => {
            let part = share(class.times.seconds / all);
            format!("{start}; held back by its kernels, most of all {} ({part} of their time).", class.class.name())
        }
        _ => format!("{start}."),
    }
}

/// Why nothing can be said of a GPU.
fn unknown(summary: &Summary) -> String {
    match summary.not_read.iter().find(|note| note.code == "no-gpu-events") {
        Some(_) if summary.kind == Kind::Chrome => {
            "No GPU trace: the file has no kernels and no copies, only host time by name.".to_owned()
        }
        Some(_) if summary.kind == Kind::OnnxRuntime => {
            "No GPU trace: what ONNX Runtime's operators took, as the host saw it.".to_owned()
        }
        Some(_) if matches!(summary.kind, Kind::Xplane | Kind::XplaneJson) => {
            "No GPU in the trace: JAX or TensorFlow ran on the CPU.".to_owned()
        }
        _ if summary.not_read.iter().any(|note| note.code == "counters") => {
            "GPU use is unknown: the file has counters of kernels and not their times.".to_owned()
        }
        _ => "GPU use is unknown: no kernel with a time is in the file.".to_owned(),
    }
}

/// A cause as people say it.
fn words(reason: &Reason) -> &'static str {
    match reason.code {
        "host-bound" => "host work",
        "launch-bound" => "launching",
        "synchronisation-bound" => "waits for the GPU",
        "input-pipeline-stall" => "the data loader",
        "transfer-bound" => "copies",
        _ => "communication",
    }
}

/// A step that took longer than the others, and what it did in that time.
fn slow(step: &StepTotal, steps: &Steps) -> String {
    let times = breakeven::report::words::times(step.time_s / steps.median_s);
    let more = step.time_s - steps.median_s;
    let usual_busy = steps.mean_busy_s.zip(step.busy_s);
    let why = match usual_busy {
        _ if step.loading_s >= 0.5 * more => format!(", {} of it in the data loader", seconds(step.loading_s)),
        Some((usual, busy)) if busy - usual >= 0.5 * more => format!("; the GPU worked {} in it", seconds(busy)),
        Some((_, busy)) => format!("; the GPU worked no longer than {} in it", seconds(busy)),
        None => String::new(),
    };
    format!("Step {} took {times} the usual {}{why}.", step.number, seconds(steps.median_s))
}

/// Lines below the first: steps, launches, where idle time went.
pub(super) fn more(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(steps) = &summary.steps {
        let spread = if steps.count > 1 {
            format!(" ({} to {})", seconds(steps.least_s), seconds(steps.most_s))
        } else {
            String::new()
        };
        lines.push(format!("{} of {} each{spread}.", several(steps.count, "step", "steps"), seconds(steps.mean_s)));
    }
    if let (Some(causes), Some(span)) = (&summary.causes, summary.span_s.filter(|span| *span > 0.0)) {
        let part = |s: f64| share(s / span);
        let mut told: Vec<String> = causes.copy_s.map(|s| format!("copies {}", part(s))).into_iter().collect();
        if causes.communication_s > 0.0 {
            told.push(format!("communication {}", part(causes.communication_s)));
        }
        let idle = [
            ("launch", causes.launch_s),
            ("wait", causes.sync_s),
            ("loader", causes.loading_s.filter(|s| *s > 0.0)),
            ("host", causes.host_s),
        ];
        told.extend(idle.into_iter().filter_map(|(what, s)| Some(format!("{what} {}", part(s?)))));
        if !told.is_empty() {
            lines.push(format!("Not computing: {}.", told.join(" · ")));
        }
    }
    if let Some(steps) = &summary.steps
        && steps.count > 2
        && let Some(step) = steps.slow.first()
    {
        lines.push(slow(step, steps));
    }
    let idle = summary.idle_s.filter(|idle| *idle > 0.0);
    if let (Some(idle), Some(span), Some(gap)) = (idle, summary.span_s, summary.longest_gap_s)
        && gap >= ONE_GAP * idle
        && gap >= WORTH_A_WORD * span
    {
        let part = share(gap / idle);
        lines.push(format!(
            "One gap of {} is {part} of the idle time: the recording may begin or end there.",
            seconds(gap)
        ));
    }
    let calls = [
        ("launch", "launches", summary.launches),
        ("graph launch", "graph launches", summary.graph_launches.filter(|graphs| graphs.count > 0)),
        ("wait", "waits", summary.waits),
    ];
    let told: Vec<String> = calls
        .into_iter()
        .filter_map(|(one, many, times)| {
            let times = times?;
            Some(format!("{} ({})", several(times.count, one, many), seconds(times.seconds)))
        })
        .collect();
    if !told.is_empty() {
        let kernels = summary.kernels.map_or_else(String::new, |n| format!(" for {}", several(n, "kernel", "kernels")));
        lines.push(format!("Host calls: {}{kernels}.", told.join(" · ")));
    }
    if let Some(small) = &summary.small
        && advice(summary).iter().any(|advice| advice.code == "cuda-graphs")
    {
        let name = printable(tables::short(&small.name), 40);
        lines.push(format!(
            "{} shorter than 10 µs that come again and again, most often {name}, have {} of idle time before them.",
            several(small.times.count, "kernel", "kernels"),
            seconds(small.idle_before_s)
        ));
    }
    let told: Vec<String> =
        advice(summary).iter().map(|advice| format!("{} (up to {})", advice.code, seconds(advice.up_to_s))).collect();
    if !told.is_empty() {
        lines.push(format!("May help: {}.", told.join(" · ")));
    }
    lines
}

/// A text behind a mark in lines of at most 80 characters.
pub(crate) fn wrapped(mark: &str, text: &str) -> Vec<String> {
    let mut lines = vec![mark.to_owned()];
    let mut fresh = true;
    for word in text.split(' ') {
        let room = super::WIDTH - mark.chars().count();
        let word = breakeven::report::words::printable(word, room);
        let Some(line) = lines.last_mut() else { break };
        if !fresh && line.chars().count() + 1 + word.chars().count() > super::WIDTH {
            lines.push(" ".repeat(mark.chars().count()) + &word);
            continue;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(&word);
        fresh = false;
    }
    lines
}
