//! What a terminal shows while a session goes on: a line for each GPU with the last minute as a curve of blocks.

use super::words::{memory, watts};
use crate::gpu::Gpu;
use crate::reading::{Field, HEAT, Note, POWER, Reading, Sample};
use crate::session::Sink;
use breakeven::report::words::{UNKNOWN, bytes_per_s, printable, share};
use std::collections::VecDeque;
use std::io::Write;

/// Points of a curve, and how long each is, s.
const POINTS: usize = 30;
const POINT_S: f64 = 1.0;

/// How often it is drawn, s.
const EVERY: f64 = 0.5;

/// Lines at most: a terminal of 24 lines keeps some for what was there.
const MOST: usize = 20;

/// Draws to a terminal, over what it drew before.
pub struct Display<W: Write> {
    to: W,
    gpus: Vec<Gpu>,
    color: bool,
    /// One line in all: a command shares the terminal.
    brief: bool,
    width: usize,
    curves: Vec<VecDeque<Option<f64>>>,
    /// Sum and number of what the point in the making has.
    now: Vec<(f64, u32)>,
    point: f64,
    drawn: Option<f64>,
    height: usize,
}

impl<W: Write> Display<W> {
    /// Of these GPUs, in so many columns; `brief` is one line.
    pub fn new(to: W, gpus: &[Gpu], width: usize, color: bool, brief: bool) -> Self {
        Self {
            to,
            gpus: gpus.to_vec(),
            color,
            brief,
            width,
            curves: vec![VecDeque::from(vec![None; POINTS]); gpus.len()],
            now: vec![(0.0, 0); gpus.len()],
            point: 0.0,
            drawn: None,
            height: 0,
        }
    }

    /// Takes what it drew off the screen.
    pub fn clear(&mut self) {
        // A terminal that is gone has nothing to clear.
        let _ = self.to.write_all(self.cleared().as_bytes());
        let _ = self.to.flush();
        self.height = 0;
    }

    fn cleared(&self) -> String {
        match self.height {
            0 => String::new(),
            1 => "\r\u{1b}[K".to_owned(),
            lines => format!("\r\u{1b}[{}A\u{1b}[J", lines - 1),
        }
    }

    fn learn(&mut self, sample: &Sample) {
        for (sum, reading) in self.now.iter_mut().zip(&sample.gpus) {
            if let Some(busy) = reading.get(Field::Busy) {
                *sum = (sum.0 + busy, sum.1 + 1);
            }
        }
        if sample.at >= self.point + POINT_S {
            self.point = sample.at;
            for (curve, sum) in self.curves.iter_mut().zip(&mut self.now) {
                curve.pop_front();
                curve.push_back((sum.1 > 0).then(|| sum.0 / f64::from(sum.1)));
                *sum = (0.0, 0);
            }
        }
    }

    fn lines(&self, sample: &Sample) -> Vec<String> {
        let all = self.gpus.iter().zip(&sample.gpus).zip(&self.curves);
        let mut lines: Vec<String> = all.map(|((gpu, reading), curve)| self.line(gpu, reading, curve)).collect();
        if lines.len() > MOST {
            let left = lines.len() - MOST;
            lines.truncate(MOST);
            lines.push(format!("… {left} more GPUs"));
        }
        let host = sample.host.get(Field::Cores).map(|cores| format!("host {cores:.1} cores"));
        let power = sample.host.get(Field::Watts).map(|drawn| format!("CPU {}", watts(drawn)));
        let end: Vec<String> = [Some(format!("{:.0} s", sample.at)), host, power].into_iter().flatten().collect();
        lines.push(end.join(" · "));
        if self.brief {
            lines = vec![lines.join(" | ")];
        }
        lines.into_iter().map(|line| cut(&line, self.width.saturating_sub(1))).collect()
    }

    fn line(&self, gpu: &Gpu, reading: &Reading, curve: &VecDeque<Option<f64>>) -> String {
        if reading.lost() {
            return format!("{} {}", printable(&gpu.label, 8), self.paint("31", "lost"));
        }
        let mut told = vec![reading.get(Field::Busy).map_or_else(|| UNKNOWN.to_owned(), share)];
        for (reason, word) in [(HEAT, "hot"), (POWER, "power cap")] {
            if reading.throttled(reason) == Some(true) {
                told.push(self.paint("33", word));
            }
        }
        told.extend(reading.get(Field::Watts).map(watts));
        told.extend(reading.get(Field::Memory).zip(gpu.memory).map(|(used, all)| memory(used, all)));
        if !self.brief {
            told.extend(reading.get(Field::CoreMhz).map(|mhz| format!("{mhz:.0} MHz")));
            told.extend(reading.get(Field::Celsius).map(|celsius| format!("{celsius:.0} °C")));
            let ways = [Field::ToGpu, Field::FromGpu].into_iter().filter_map(|way| reading.get(way));
            let traffic = ways.reduce(f64::max).filter(|rate| *rate > 1e6);
            told.extend(traffic.map(|rate| format!("PCIe {}", bytes_per_s(rate))));
        }
        // A quarter of the line.
        let newest = curve.iter().skip(POINTS.saturating_sub(self.width / 4));
        let curve = if self.brief { String::new() } else { self.paint("36", &spark(newest)) + " " };
        format!("{} {curve}{}", printable(&gpu.label, 8), told.join("  "))
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

impl<W: Write> Sink for Display<W> {
    fn sample(&mut self, sample: &Sample) {
        self.learn(sample);
        if self.drawn.is_some_and(|drawn| sample.at < drawn + EVERY) {
            return;
        }
        self.drawn = Some(sample.at);
        let lines = self.lines(sample);
        let text = self.cleared() + &lines.join("\n");
        self.height = lines.len();
        // A terminal that is gone is no reason to stop watching.
        let _ = self.to.write_all(text.as_bytes());
        let _ = self.to.flush();
    }

    fn note(&mut self, _: &Note) {
        self.clear();
    }
}

/// Shares as blocks of eight heights; a gap where they are unknown.
fn spark<'a>(shares: impl IntoIterator<Item = &'a Option<f64>>) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let block = |share: f64| BLOCKS[((share.clamp(0.0, 1.0) * 7.0).round() as usize).min(7)];
    shares.into_iter().map(|share| share.map_or(' ', block)).collect()
}

/// A line of at most so many characters; the codes of colours take none.
fn cut(line: &str, width: usize) -> String {
    let (mut out, mut shown, mut code) = (String::new(), 0, false);
    for c in line.chars() {
        code |= c == '\u{1b}';
        if code || shown < width {
            out.push(c);
        }
        shown += usize::from(!code);
        code &= c != 'm';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven::hardware::Vendor;

    #[test]
    fn curves_have_gaps_where_nothing_is_known() {
        assert_eq!(spark(&[Some(0.0), None, Some(0.5), Some(1.0)]), "▁ ▅█");
        assert_eq!(cut("\u{1b}[31mabcdef\u{1b}[0m", 3), "\u{1b}[31mabc\u{1b}[0m");
    }

    #[test]
    fn it_draws_over_itself_and_leaves_nothing() {
        let mut reading = Reading::default();
        reading.set(Field::Busy, 0.5);
        let gpus = [Gpu::new("0", Vendor::Nvidia, "NVIDIA L4")];
        let mut display = Display::new(Vec::new(), &gpus, 80, false, false);
        for n in 0..3 {
            let sample = Sample { at: f64::from(n), gpus: vec![reading.clone()], ..Sample::default() };
            display.sample(&sample);
        }
        display.clear();
        let text = String::from_utf8(display.to).unwrap();
        assert_eq!(text.matches("50 %").count(), 3);
        assert!(text.ends_with("\r\u{1b}[1A\u{1b}[J") && text.contains('▅'), "{text}");
    }
}
