//! All that `measure` found, as it is saved: `breakeven.measure/1`.

use super::{Compared, Side};
use breakeven::estimate::{Estimate, GpuEstimate};
use breakeven::interval::Interval;
use serde::{Deserialize, Serialize};

/// The format of what is saved.
pub(crate) const SCHEMA: &str = "breakeven.measure/1";

/// How far the measuring came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reached {
    /// Both sides were measured, the second on a GPU.
    #[default]
    Gpu,
    /// Both sides were measured, on the CPU: two scripts of which neither uses a GPU.
    TwoOnCpu,
    /// The CPU side was measured, the GPU side is predicted.
    NoGpu,
    /// Ctrl-C.
    Interrupted,
}

/// All of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) schema: String,
    pub(crate) date: String,
    pub(crate) script: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<String>,
    pub(crate) reached: Reached,
    /// CPU ÷ GPU: of the warm runs, and of the first ones.
    pub(crate) speedup: Option<Interval>,
    pub(crate) cold_speedup: Option<f64>,
    pub(crate) cpu: Side,
    /// The other side; the one with the stand-in holds no times of a GPU.
    pub(crate) other: Option<Side>,
    /// The same with a wait after each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by_line: Option<Side>,
    pub(crate) results: Option<Compared>,
    pub(crate) predicted: Option<Prediction>,
    pub(crate) notes: Vec<String>,
}

/// What the engine says, for one GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Prediction {
    pub(crate) gpu: String,
    /// The sentence that `run` would open with.
    pub(crate) sentence: String,
    /// Without start-up; with it. Of the CPU's times as they were measured beside, where they were.
    pub(crate) warm_speedup: Option<Interval>,
    pub(crate) speedup: Option<Interval>,
    pub(crate) warm_s: Option<Interval>,
    pub(crate) time_s: Option<Interval>,
    pub(crate) lines: Vec<PredictedLine>,
    /// Copies that the port would make, bytes.
    pub(crate) h2d_bytes: Option<f64>,
    pub(crate) d2h_bytes: Option<f64>,
}

/// A line of the script.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PredictedLine {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) code: String,
    /// Time on the CPU, as recorded.
    pub(crate) cpu_s: f64,
    pub(crate) gpu_s: Option<Interval>,
}

impl Prediction {
    /// From the answers with start-up and without it.
    pub(crate) fn of(whole: &Estimate, warm: &Estimate) -> Option<Self> {
        let shown = |e: &Estimate| {
            let name = e.summary.shown_gpu.as_ref().or(e.summary.best_gpu.as_ref());
            let found = e.estimates.iter().find(|row| Some(&row.gpu) == name);
            found.or(e.estimates.first()).cloned()
        };
        let row: GpuEstimate = shown(whole)?;
        let warm_row = warm.estimates.iter().find(|other| other.gpu == row.gpu);
        let lines = whole.sites.iter().map(|site| PredictedLine {
            file: site.file.clone(),
            line: site.line,
            code: site.text.clone(),
            cpu_s: site.time_s.p50,
            gpu_s: site.gpu_time_s,
        });
        Some(Self {
            sentence: whole.summary.sentence.clone(),
            warm_speedup: warm_row.and_then(|row| row.speedup),
            speedup: row.speedup,
            warm_s: warm_row.and_then(|row| row.time_s),
            time_s: row.time_s,
            lines: lines.collect(),
            h2d_bytes: whole.workload.h2d_bytes,
            d2h_bytes: whole.workload.d2h_bytes,
            gpu: row.name,
        })
    }

    /// The same with the CPU's times of `cpu` in place of those that were recorded.
    pub(crate) fn beside(&mut self, cpu: &Side) {
        let over =
            |cpu_s: f64, gpu: Interval| Interval { p10: cpu_s / gpu.p90, p50: cpu_s / gpu.p50, p90: cpu_s / gpu.p10 };
        if let (Some(cpu_s), Some(gpu)) = (median(&cpu.warm()), self.warm_s) {
            self.warm_speedup = Some(over(cpu_s, gpu));
        }
        if let (Some(cpu_s), Some(gpu)) = (cpu.cold(), self.time_s) {
            self.speedup = Some(over(cpu_s, gpu));
        }
    }
}

/// First side ÷ second: the middle by the medians, the ends by the runs that lie furthest apart.
pub(crate) fn ratio(first: &[f64], second: &[f64]) -> Option<Interval> {
    let (least, most) = (|x: &[f64]| x.first().copied(), |x: &[f64]| x.last().copied());
    let p50 = median(first)? / median(second)?;
    let (p10, p90) = (least(first)? / most(second)?, most(first)? / least(second)?);
    (p50.is_finite() && p10.is_finite() && p90.is_finite()).then_some(Interval { p10, p50, p90 })
}

/// The middle of times in order.
pub(crate) fn median(times: &[f64]) -> Option<f64> {
    let half = times.len() / 2;
    match times.len() {
        0 => None,
        n if n % 2 == 1 => Some(times[half]),
        _ => Some((times[half - 1] + times[half]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{median, ratio};

    #[test]
    fn a_ratio_spans_what_the_runs_allow() {
        let found = ratio(&[9.0, 10.0, 12.0], &[0.9, 1.0, 1.2]).unwrap();
        assert_eq!((found.p10, found.p50), (9.0 / 1.2, 10.0));
        assert!((found.p90 - 12.0 / 0.9).abs() < 1e-12);
        assert_eq!((median(&[1.0, 2.0]), median(&[])), (Some(1.5), None));
        assert!(ratio(&[], &[1.0]).is_none());
    }
}
