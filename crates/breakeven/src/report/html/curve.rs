//! Size against time on both sides, both as logarithms: where the GPU begins to win.

use super::{behind, drawing, escape, on, table};
use crate::estimate::Estimate;
use crate::growth::{RunsCrossing, SizeCrossing};
use crate::interval::Interval;
use crate::report::sentence::chosen;
use crate::report::table::{Align, Table};
use crate::report::words;

/// Times of both sides by size.
struct Curve {
    /// What the sizes are of.
    of: &'static str,
    points: Vec<Point>,
    /// Sizes that are marked, with their names and dashes.
    marks: Vec<(f64, String, &'static str)>,
}

struct Point {
    size: f64,
    name: String,
    cpu: Interval,
    /// Not where it does not fit.
    gpu: Option<Interval>,
}

/// By the size of the problem, and between runs of several sizes; whichever is known.
pub(super) fn curves(e: &Estimate) -> String {
    let Some(even) = chosen(e).and_then(|g| g.break_even.as_ref()) else { return String::new() };
    let known = [even.size.as_ref().map(Curve::of_size), even.runs.as_ref().map(Curve::of_runs)];
    let drawn: String = known.iter().flatten().filter_map(|curve| curve.drawn(&on(e))).collect();
    if drawn.is_empty() {
        return drawn;
    }
    format!("<p class=\"soft\">Dashed: CPU. Solid, with its interval: {}.</p>\n{drawn}", on(e))
}

impl Curve {
    fn of_size(size: &SizeCrossing) -> Self {
        let point = |p: &crate::growth::SizePoint| Point {
            size: p.size as f64,
            name: words::count(p.size),
            cpu: p.cpu_s,
            gpu: p.gpu_s,
        };
        let crossing = size.at.zip(size.shape_at.as_ref());
        let mut marks = vec![(size.now as f64, "yours".to_owned(), "1 3")];
        marks.extend(crossing.map(|(at, shape)| (at.p50, words::printable(shape, 30), "4 3")));
        Self { of: "size of the problem", points: size.curve.iter().map(point).collect(), marks }
    }

    fn of_runs(runs: &RunsCrossing) -> Self {
        let point = |p: &crate::growth::RunPoint| Point {
            size: p.scale,
            name: words::number(p.scale) + if p.recorded { "" } else { ", not run" },
            cpu: p.cpu_s,
            gpu: p.gpu_s,
        };
        let mut marks = vec![(runs.now, "yours".to_owned(), "1 3")];
        marks.extend(runs.at.map(|at| (at.p50, words::number(at.p50), "4 3")));
        Self { of: "size of the runs", points: runs.points.iter().map(point).collect(), marks }
    }

    /// The drawing and its table; nothing for a single size.
    fn drawn(&self, gpu: &str) -> Option<String> {
        let frame = Frame::around(&self.points)?;
        let line = |pick: &dyn Fn(&Point) -> Option<f64>| -> String {
            let points = self.points.iter().filter_map(|p| Some((p.size, pick(p)?)));
            points.map(|(x, y)| frame.place(x, y)).collect::<Vec<_>>().join(" ")
        };
        let low = self.points.iter().filter_map(|p| Some(frame.place(p.size, p.gpu?.p10)));
        let high = self.points.iter().rev().filter_map(|p| Some(frame.place(p.size, p.gpu?.p90)));
        let band: Vec<String> = low.chain(high).collect();
        let ticks: String = frame
            .decades()
            .map(|(time, y)| {
                format!(
                    "<line x1=\"{LEFT}\" x2=\"{WIDTH:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"rule\"/>\
                     <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                    LEFT - 6.0,
                    y + 4.0,
                    words::seconds(time)
                )
            })
            .collect();
        let bottom = HEIGHT - 6.0;
        let ends = [(LEFT, "start", self.points.first()), (WIDTH, "end", self.points.last())];
        let ends = ends.map(|(x, anchor, point)| text(x, bottom, anchor, point.map_or("", |p| &p.name)));
        let svg = format!(
            "{ticks}<polygon points=\"{}\" class=\"band\"></polygon>\n\
             <polyline points=\"{}\" class=\"line cpu\"/>\n<polyline points=\"{}\" class=\"line\"/>\n{}{}{}",
            band.join(" "),
            line(&|p| Some(p.cpu.p50)),
            line(&|p| p.gpu.map(|t| t.p50)),
            self.marked(&frame),
            ends.concat(),
            text(0.5 * (LEFT + WIDTH), bottom, "middle", self.of),
        );
        let mut rows = Table::new(&[
            ("size", Align::Right),
            ("CPU", Align::Right),
            ("GPU", Align::Right),
            ("p10–p90", Align::Left),
        ]);
        for point in &self.points {
            let time = point.gpu.map_or_else(|| "does not fit".to_owned(), words::time);
            let spread = |t: Interval| format!("{}–{}", words::seconds(t.p10), words::seconds(t.p90));
            rows.row(vec![
                point.name.clone(),
                words::time(point.cpu),
                time,
                point.gpu.map_or_else(String::new, spread),
            ]);
        }
        let says = format!("Time of CPU and {gpu} by {}", self.of);
        Some(drawing(&says, (WIDTH, HEIGHT), &svg) + &behind(table(&rows, &format!("Time by {}", self.of))))
    }

    /// Each mark has a row of its own above the lines: names never cover each other.
    fn marked(&self, frame: &Frame) -> String {
        let mut out = String::new();
        for (row, (size, name, dashes)) in self.marks.iter().enumerate() {
            let (at, top) = (frame.x(*size), 12.0 + ROW * row as f64);
            out += &format!(
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" class=\"mark\" \
                 stroke-dasharray=\"{dashes}\"/>\n",
                top + 4.0,
                HEIGHT - BELOW,
            );
            let half = 0.5 * LETTER * name.chars().count() as f64;
            out += &text(at.clamp(half, (WIDTH - half).max(half)), top, "middle", name);
        }
        out
    }
}

fn text(x: f64, y: f64, anchor: &str, what: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(what))
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 336.0;
const LEFT: f64 = 60.0;
/// Height of a row of names.
const ROW: f64 = 16.0;
/// Above and below the lines.
const ABOVE: f64 = 12.0 + 2.0 * ROW;
const BELOW: f64 = 24.0;
/// Width of a letter, a little more than most have.
const LETTER: f64 = 6.6;

/// Where sizes and times lie in a drawing.
struct Frame {
    size: (f64, f64),
    time: (f64, f64),
}

impl Frame {
    fn around(points: &[Point]) -> Option<Self> {
        let sizes = points.iter().map(|p| p.size);
        let times = points.iter().flat_map(|p| [Some(p.cpu.p50), p.gpu.map(|t| t.p10), p.gpu.map(|t| t.p90)]);
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|v| *v > 0.0 && v.is_finite())
                .fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)))
        };
        let (size, time) = (ends(&mut sizes.into_iter()), ends(&mut times.flatten()));
        (size.0 < size.1 && time.0 < time.1).then_some(Self { size, time })
    }

    fn x(&self, size: f64) -> f64 {
        let share = libm::log(size / self.size.0) / libm::log(self.size.1 / self.size.0);
        LEFT + (WIDTH - 16.0 - LEFT) * share.clamp(0.0, 1.0)
    }

    fn y(&self, time: f64) -> f64 {
        let share = libm::log(time / self.time.0) / libm::log(self.time.1 / self.time.0);
        HEIGHT - BELOW - 4.0 - (HEIGHT - BELOW - 4.0 - ABOVE) * share.clamp(0.0, 1.0)
    }

    fn place(&self, size: f64, time: f64) -> String {
        format!("{:.1},{:.1}", self.x(size), self.y(time.max(self.time.0)))
    }

    /// Powers of ten of the time, and their heights; at most eight.
    fn decades(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (low, high) = (libm::log10(self.time.0).ceil(), libm::log10(self.time.1).floor());
        let step = ((high - low) / 8.0).ceil().max(1.0);
        (0..9).map(move |i| low + step * f64::from(i)).take_while(move |at| *at <= high).map(|at| {
            let time = libm::pow(10.0, at);
            (time, self.y(time))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::SizePoint;

    fn size(now: u64, at: f64) -> SizeCrossing {
        let point = |size: u64| SizePoint {
            size,
            cpu_s: Interval::exact(size as f64 * 1e-3),
            gpu_s: (size < 4096).then_some(Interval { p10: 0.2, p50: 0.3, p90: 0.4 }),
        };
        SizeCrossing {
            now,
            at: Some(Interval::exact(at)),
            shape_now: format!("{now}×{now}"),
            shape_at: Some(format!("{at}×{at} of an array with a long name")),
            curve: (0..14).map(|power| point(1 << power)).collect(),
        }
    }

    /// Left and right end of each text in the drawing, and the height it stands at.
    fn texts(svg: &str) -> Vec<(f64, f64, f64)> {
        let number = |part: &str, name: &str| -> f64 {
            let rest = part.split_once(&format!("{name}=\"")).expect("it has one").1;
            rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
        };
        svg.split("<text ")
            .skip(1)
            .map(|part| {
                let text = part.split_once('>').and_then(|(_, rest)| rest.split('<').next()).expect("a text");
                let (x, wide) = (number(part, "x"), 6.0 * text.chars().count() as f64);
                let left = if part.contains("\"middle\"") {
                    x - wide / 2.0
                } else if part.contains("\"end\"") {
                    x - wide
                } else {
                    x
                };
                (left, left + wide, number(part, "y"))
            })
            .collect()
    }

    #[test]
    fn no_two_texts_cover_each_other_and_none_sticks_out() {
        for (now, at) in [(100, 100.0), (100, 101.0), (1, 1.0), (8192, 8000.0), (8192, 1.0), (300, 2000.0)] {
            let svg = Curve::of_size(&size(now, at)).drawn("L4").expect("it is drawn");
            let texts = texts(&svg);
            assert!(texts.len() > 6);
            for (i, a) in texts.iter().enumerate() {
                assert!(a.0 >= -4.0 && a.1 <= WIDTH + 4.0, "{now} {at}: {a:?}");
                for b in &texts[..i] {
                    assert!((a.2 - b.2).abs() >= 11.0 || a.1 <= b.0 || b.1 <= a.0, "{now} {at}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn one_size_is_no_curve() {
        let mut one = size(4, 4.0);
        one.curve.truncate(1);
        assert!(Curve::of_size(&one).drawn("L4").is_none());
    }
}
