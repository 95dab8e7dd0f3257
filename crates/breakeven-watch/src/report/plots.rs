//! Values over time as SVG: the mean of each moment as a line, what it ranged over as a band.

use super::words::{joules, watts};
use crate::history::{History, Moment};
use crate::reading::Field;
use crate::totals::Totals;
use breakeven::report::words::{bytes_per_s, memory, number, seconds, share};
use std::fmt::Write;

/// Size of a drawing, and what its axes leave.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 76.0;
const BOTTOM: f64 = 108.0;
const TOP: f64 = 12.0;

/// One plot: what it is of, its values with the class of their colour, and what the top of its axis is at least.
struct Plot {
    title: &'static str,
    lines: &'static [(Field, &'static str, &'static str)],
    least_top: Option<f64>,
    words: fn(f64) -> String,
}

/// The plots of one GPU; those of which nothing is known are left out.
pub(super) fn of_gpu(totals: &Totals, history: &History, n: usize) -> String {
    let gpu = &totals.gpus[n];
    let plots = [
        Plot {
            title: "Busy",
            lines: &[(Field::Busy, "compute", "kernels"), (Field::MemoryBusy, "memory", "memory")],
            least_top: Some(1.0),
            words: share,
        },
        Plot { title: "Power", lines: &[(Field::Watts, "sync", "")], least_top: gpu.limit_w, words: watts },
        Plot { title: "Memory", lines: &[(Field::Memory, "memory", "")], least_top: gpu.memory, words: memory },
        Plot {
            title: "PCIe",
            lines: &[(Field::ToGpu, "transfer", "to GPU"), (Field::FromGpu, "launch", "from GPU")],
            least_top: None,
            words: bytes_per_s,
        },
        Plot {
            title: "Clock",
            lines: &[(Field::CoreMhz, "compute", "")],
            least_top: None,
            words: |x| format!("{x:.0} MHz"),
        },
        Plot {
            title: "Temperature",
            lines: &[(Field::Celsius, "launch", "")],
            least_top: Some(90.0),
            words: |x| format!("{x:.0} °C"),
        },
    ];
    plots.iter().map(|plot| plot.drawn(history, n)).collect()
}

/// The plots of the host.
pub(super) fn of_host(totals: &Totals, history: &History) -> String {
    let host = totals.gpus.len();
    let plots = [
        Plot {
            title: "Cores busy",
            lines: &[(Field::Cores, "host", "all"), (Field::OwnCores, "compute", "watched")],
            least_top: Some(1.0),
            words: number,
        },
        Plot { title: "CPU power", lines: &[(Field::Watts, "sync", "")], least_top: None, words: watts },
    ];
    plots.iter().map(|plot| plot.drawn(history, host)).collect()
}

impl Plot {
    fn drawn(&self, history: &History, device: usize) -> String {
        let known: Vec<(Vec<Moment>, &str, &str)> = self
            .lines
            .iter()
            .map(|(field, class, name)| (history.series(device, *field).collect::<Vec<Moment>>(), *class, *name))
            .filter(|(moments, ..)| moments.iter().any(|moment| moment.mean().is_some()))
            .collect();
        if known.is_empty() {
            return String::new();
        }
        let ranges = known.iter().flat_map(|(moments, ..)| moments.iter().filter_map(|moment| moment.range()));
        let highest = ranges.map(|range| range.1).fold(0.0, f64::max);
        let top = self.least_top.map_or(highest, |least| least.max(highest)).max(f64::MIN_POSITIVE);
        let length = history.width() * history.len() as f64;
        let curve = Curve { top, step: (WIDTH - LEFT) / history.len().max(1) as f64 };
        let mut svg = String::new();
        for (y, value) in [(BOTTOM, 0.0), (TOP, top)] {
            let _ = writeln!(svg, "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>");
            let text = if value > 0.0 { (self.words)(value) } else { "0".to_owned() };
            let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{text}</text>", LEFT - 6.0, y + 4.0);
        }
        for (moments, class, _) in &known {
            svg += &curve.drawn(moments, class);
        }
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">0 s</text>", HEIGHT - 6.0);
        let end = seconds(length);
        let _ = writeln!(svg, "<text x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{end}</text>", HEIGHT - 6.0);
        let keys: String = known
            .iter()
            .filter(|(.., name)| !name.is_empty())
            .map(|(_, class, name)| format!(" <span class=\"key {class}\"></span>{name}"))
            .collect();
        let title = self.title;
        format!(
            "<figure><figcaption>{title}{keys}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{title} over {end}\">\n{svg}</svg></figure>\n"
        )
    }
}

/// How values become points.
struct Curve {
    top: f64,
    step: f64,
}

impl Curve {
    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (value / self.top).clamp(0.0, 1.0)
    }

    /// A band and a line for each run of moments that are known.
    fn drawn(&self, moments: &[Moment], class: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for run in moments.chunk_by(|a, b| a.mean().is_some() == b.mean().is_some()) {
            let x = |n: usize| LEFT + self.step * ((at + n) as f64 + 0.5);
            let (mut line, mut upper, mut lower) = (String::new(), String::new(), Vec::new());
            for (n, moment) in run.iter().enumerate() {
                let (Some(mean), Some((least, most))) = (moment.mean(), moment.range()) else { continue };
                let _ = write!(line, "{:.1},{:.1} ", x(n), self.y(mean));
                let _ = write!(upper, "{:.1},{:.1} ", x(n), self.y(most));
                lower.push(format!("{:.1},{:.1}", x(n), self.y(least)));
            }
            if !line.is_empty() {
                lower.reverse();
                let _ = writeln!(out, "<polygon class=\"band {class}\" points=\"{upper}{}\"/>", lower.join(" "));
                let _ = writeln!(out, "<polyline class=\"line {class}\" points=\"{}\"/>", line.trim_end());
            }
            at += run.len();
        }
        out
    }
}

/// Energy for a tile.
pub(super) fn energy(totals: &Totals) -> Option<String> {
    let known: Vec<f64> = totals.seen.iter().filter_map(|seen| Some(seen.meter.energy()?.0)).collect();
    (!known.is_empty()).then(|| joules(known.iter().sum()))
}
