//! The predicted timeline for people: whole, as Chrome's trace events, or as a sketch of a few rows.

use super::course::{self, KernelBin, MemoryCurve};
use super::gpu::{Outcome, Question, outcome};
use super::program::ask;
use crate::hardware::Device;
use crate::report::words;
use crate::request::Request;
use crate::timeline::chrome::{Drawn, Label, MOST_EVENTS};
use crate::timeline::sketch::ROWS;
use crate::timeline::{AfterStartup, Chrome, Sink, Sketch, Zoom, simulate};
use crate::workload::{Entry, Site, Workload};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Columns of a sketch.
const COLUMNS: usize = 60;

/// What host, device and copies do in the course of the run, in columns of equal time. Start-up of both sides, where it
/// counts, is a row of its own and comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineSketch {
    /// On this GPU.
    pub gpu: String,
    /// All columns together, s.
    pub span_s: f64,
    /// Top to bottom.
    pub rows: Vec<SketchRow>,
    /// Array memory in the course of the run, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryCurve>,
    /// Kernels by their length.
    #[serde(default)]
    pub kernels: Vec<KernelBin>,
}

/// One row of a [`TimelineSketch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SketchRow {
    /// `start-up`, `Python`, `launching`, `waiting`, `kernels`, `copies in`, `copies back`.
    pub name: String,
    /// Share of each column's time, 0 to 1.
    pub busy: Vec<f64>,
}

/// The sketch of a program on a GPU that it was estimated for; `None` where it does not fit.
pub fn sketch(q: &Question, gpu: &str, out: &Outcome) -> Option<TimelineSketch> {
    out.time?;
    let span = out.parts.total();
    let mut sketch = Sketch::new(span, COLUMNS);
    sketch.startup(out.parts.startup);
    play(q, out, out.parts.startup, &mut sketch);
    let row = |(name, busy): (&str, Vec<f64>)| SketchRow { name: name.to_owned(), busy };
    let rows = ROWS.into_iter().zip(sketch.shares()).map(row).collect();
    let (memory, kernels) = (course::memory(q.workload), course::kernels(q.workload, out));
    Some(TimelineSketch { gpu: gpu.to_owned(), span_s: span, rows, memory, kernels })
}

/// The timeline on the first GPU of the request, handed to `write` in pieces: a file for Perfetto.
///
/// # Errors
/// As [`super::program::estimate`]; `does-not-fit` where the GPU's memory is too small, so that there is no timeline.
pub fn trace(workload: &Workload, request: &Request, write: impl FnMut(&[u8])) -> Result<Drawn> {
    on_first_gpu(workload, request, |q, device, out| {
        let title = format!("{} on {}, predicted by breakeven", q.workload.program.name, device.name);
        let mut chrome = Chrome::new(&title, labels(q, out), out.parts.startup, MOST_EVENTS, write);
        play(q, out, 0.0, &mut chrome);
        chrome.finish()
    })
}

/// A timeline to look at closely.
#[derive(Clone, Debug)]
pub struct Look {
    /// On this GPU.
    pub gpu: String,
    /// The whole run, with start-up where it counts, s.
    pub span_s: f64,
    /// Of that, start-up, which comes first, s.
    pub startup_s: f64,
    /// What happens when.
    pub zoom: Zoom,
    /// By task, for people: `numpy.add, heat.py:14`.
    pub names: Vec<String>,
}

/// The timeline on the first GPU of the request, ready for any window.
///
/// # Errors
/// As [`trace`].
pub fn look(workload: &Workload, request: &Request) -> Result<Look> {
    on_first_gpu(workload, request, |q, device, out| {
        let mut zoom = Zoom::default();
        zoom.startup(out.parts.startup);
        play(q, out, out.parts.startup, &mut zoom);
        let name = |entry: &Entry| {
            let at = q.workload.sites.get(entry.site as usize).map(Site::label).unwrap_or_default();
            words::printable(&format!("{}, {at}", entry.name), 100)
        };
        let names = q.workload.ops.iter().map(name).collect();
        Look { gpu: device.id.clone(), span_s: out.parts.total(), startup_s: out.parts.startup, zoom, names }
    })
}

/// What `then` makes of the program on the first GPU of the request.
fn on_first_gpu<T>(
    workload: &Workload,
    request: &Request,
    then: impl FnOnce(&Question, &Device, &Outcome) -> T,
) -> Result<T> {
    ask(workload, request, |q, choice| {
        let Some(pick) = choice.gpus.first() else {
            return Err(Error::new("no-gpu", "no GPU was chosen: there is no timeline").field("gpu"));
        };
        let device = &pick.gpu.device;
        let out = outcome(q, device);
        if out.time.is_none() {
            let message = format!("the program does not fit the memory of {}: there is no timeline", device.name);
            return Err(Error::new("does-not-fit", message).hint("name a GPU with more memory").field("gpu"));
        }
        Ok(then(q, device, &out))
    })?
}

/// Tells `sink` what happens once both sides have started, from the moment `begins` on.
fn play(q: &Question, out: &Outcome, begins: f64, sink: &mut impl Sink) {
    let own = q.port.host_startup();
    let mut rest = AfterStartup { sink, own, later: begins - own };
    simulate(&out.plan.tasks, q.order, q.port.machine(), &mut rest);
}

/// By task; the last one is the time outside all ops.
fn labels(q: &Question, out: &Outcome) -> Vec<Label> {
    let ops = q.workload.ops.iter().zip(&out.plan.tasks).map(|(entry, task)| {
        let at = q.workload.sites.get(entry.site as usize).map(Site::label).unwrap_or_default();
        Label::new(&entry.name, &at, task.on_host)
    });
    ops.chain([Label::default()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Options;
    use crate::workload::samples;

    fn request(gpu: &str) -> Request {
        let options = Options { gpu: vec![gpu.to_owned()], timeline: true, ..Options::default() };
        Request { today: "2026-11-21".to_owned(), options, ..Request::default() }
    }

    fn events(workload: &Workload, gpu: &str) -> Vec<serde_json::Value> {
        let mut text = Vec::new();
        trace(workload, &request(gpu), |bytes| text.extend_from_slice(bytes)).expect("it is drawn");
        let json: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        json["traceEvents"].as_array().expect("a list").clone()
    }

    #[test]
    fn the_trace_ends_when_the_estimate_does() {
        let workload = samples::heat();
        let answer = super::super::program::estimate(&workload, &request("l4")).expect("it is estimated");
        let end = |e: &serde_json::Value| e["ts"].as_f64().unwrap_or_default() + e["dur"].as_f64().unwrap_or_default();
        let last = events(&workload, "l4").iter().map(end).fold(0.0, f64::max) * 1e-6;
        let time = answer.estimates[0].time_s.expect("it fits").p50;
        assert!((last / time - 1.0).abs() < 1e-3, "{last} {time}");
        let sketch = answer.timeline.expect("it was asked for");
        assert!(sketch.rows.iter().all(|row| row.busy.len() == COLUMNS));
        assert!(sketch.rows.iter().any(|row| row.name == "kernels" && row.busy.iter().any(|b| *b > 0.0)));
    }

    /// What the rows show is what the breakdown says, and the times outside start-up are the same with and without it.
    #[test]
    fn start_up_is_drawn_as_the_breakdown_has_it() {
        let mut workload = samples::heat();
        workload.program.startup_ns = 80_000_000;
        workload.program.wall_ns += 80_000_000;
        let busy = |exclude_startup: bool| {
            let mut request = request("l4");
            request.options.exclude_startup = exclude_startup;
            let answer = super::super::program::estimate(&workload, &request).expect("it is estimated");
            let sketch = answer.timeline.expect("it was asked for");
            let parts = answer.estimates[0].breakdown_s.expect("it fits");
            let look = look(&workload, &request).expect("it fits");
            assert!((sketch.span_s / parts.total() - 1.0).abs() < 1e-9 && look.span_s == sketch.span_s);
            let drawn: Vec<f64> =
                sketch.rows.iter().map(|r| r.busy.iter().sum::<f64>() * sketch.span_s / 60.0).collect();
            for (row, share) in look.zoom.shares(0.0, look.span_s, 1).into_iter().enumerate() {
                assert!((f64::from(share) * look.span_s - drawn[row]).abs() < 1e-3 * look.span_s, "{row}: {drawn:?}");
            }
            assert!(
                (drawn[0] - parts.startup).abs() < 1e-9 && drawn[1] <= parts.host * (1.0 + 1e-6),
                "{drawn:?} {parts:?}"
            );
            drawn
        };
        let (whole, warm) = (busy(false), busy(true));
        assert!(whole[0] > 0.08 && warm[0] == 0.0);
        assert!(whole[1..].iter().zip(&warm[1..]).all(|(a, b)| (a - b).abs() < 1e-6), "{whole:?} {warm:?}");
    }

    #[test]
    fn what_does_not_fit_has_no_timeline() {
        let mut workload = samples::heat();
        workload.program.peak_bytes = 1 << 50;
        let error = trace(&workload, &request("l4"), |_| {}).expect_err("a petabyte");
        assert_eq!(error.code, "does-not-fit");
    }
}
