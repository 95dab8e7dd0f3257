//! A timeline as Chrome's trace events, which Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` draw: one track
//! each for host, kernels and both ways of copying. Format: *Trace Event Format*, Google, 2016.

use super::{Actor, Round, Segment, Sink, Slot};
use std::io::Write;

/// Events above which further rounds of a loop are drawn as one block.
pub const MOST_EVENTS: u64 = 4_000_000;
/// Of what is left of them, a loop may take this share: later ones want to be seen too.
const SHARE_OF_REST: (u64, u64) = (7, 8);
/// Bytes gathered before they are handed on.
const CHUNK: usize = 1 << 16;
const TRACKS: [(Actor, &str); 4] = [
    (Actor::Host, "host"),
    (Actor::Device, "kernels"),
    (Actor::Upload, "copies to the GPU"),
    (Actor::Download, "copies back"),
];

/// How a task is named on the tracks, as JSON text without quotes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// The op.
    name: String,
    /// The source line, `heat.py:14`.
    at: String,
    /// Host time of its own, s: an op that stays there, as against Python before it.
    on_host: f64,
}

impl Label {
    /// `on_host` is the time of the op on the host, s; 0 for one that runs on the device.
    pub fn new(name: &str, at: &str, on_host: f64) -> Self {
        Self { name: escaped(name), at: escaped(at), on_host }
    }
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Events.
    pub events: u64,
    /// Events that would have been too many and are part of a block.
    pub left_out: u64,
}

/// Writes what happens as it happens; what repeats is kept until the outermost loop's round is over.
pub struct Chrome<W: FnMut(&[u8])> {
    labels: Vec<Label>,
    write: W,
    text: Vec<u8>,
    items: Vec<Item>,
    open: Vec<usize>,
    /// Start-up of the GPU's side, which everything comes after, s.
    after: f64,
    most: u64,
    drawn: Drawn,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Segment(Segment),
    /// The items from there up to this one, again.
    Again {
        from: usize,
        events: u64,
        round: Round,
    },
}

/// By how much each track's events are later than those that were kept, s.
type Shift = [f64; TRACKS.len()];

fn shifted(shift: Shift, round: &Round, times: f64) -> Shift {
    std::array::from_fn(|i| shift[i] + round.lap(TRACKS[i].0).period * times)
}

impl<W: FnMut(&[u8])> Chrome<W> {
    /// `labels` by task; `process` is the title; the program begins after `startup` seconds.
    pub fn new(process: &str, labels: Vec<Label>, startup: f64, most: u64, write: W) -> Self {
        let mut new = Self {
            labels,
            write,
            text: Vec::with_capacity(2 * CHUNK),
            items: Vec::new(),
            open: Vec::new(),
            after: startup,
            most,
            drawn: Drawn::default(),
        };
        new.put(format_args!(
            "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\
             {{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}}}",
            escaped(process)
        ));
        for (actor, name) in TRACKS {
            new.put(format_args!(
                ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{name}\"}}}}",
                track(actor)
            ));
        }
        if startup > 0.0 {
            new.event(Actor::Host, 0.0, startup, "start-up: imports, context, libraries, first calls", "", "");
        }
        new
    }

    /// Ends the text.
    pub fn finish(mut self) -> Drawn {
        self.put(format_args!("\n]}}\n"));
        (self.write)(&self.text);
        self.drawn
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory does not fail.
        let _ = self.text.write_fmt(text);
        if self.text.len() >= CHUNK {
            (self.write)(&self.text);
            self.text.clear();
        }
    }

    fn event(&mut self, actor: Actor, start: f64, duration: f64, prefix: &str, name: &str, at: &str) {
        // Whole nanoseconds, so that what follows on the same track does not overlap.
        let (from, to) = (ns(start), ns(start + duration));
        let duration = to - from;
        let at = if at.is_empty() { String::new() } else { format!(",\"args\":{{\"line\":\"{at}\"}}") };
        self.put(format_args!(
            ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},\"name\":\"{prefix}{name}\"{at}}}",
            track(actor),
            from / 1000,
            from % 1000,
            duration / 1000,
            duration % 1000,
        ));
        self.drawn.events += 1;
    }

    fn draw(&mut self, segment: &Segment, shift: Shift) {
        if self.drawn.events >= self.most {
            self.drawn.left_out += 1;
            return;
        }
        let label = self.labels.get_mut(segment.task as usize).map(std::mem::take).unwrap_or_default();
        let start = self.after + segment.start + shift[track(segment.actor) - 1];
        let own = segment.actor != Actor::Host || (label.on_host > 0.0 && segment.duration == label.on_host);
        let (prefix, name) = match (segment.actor, segment.slot) {
            (Actor::Upload | Actor::Download, _) => ("copy for ", label.name.as_str()),
            (Actor::Host, Slot::Sync) => ("wait in ", label.name.as_str()),
            (Actor::Host, Slot::Launch) => ("launch ", label.name.as_str()),
            (Actor::Host, Slot::Transfer) => ("copying for ", label.name.as_str()),
            (Actor::Host, Slot::Host) if !own => ("Python", ""),
            _ => ("", label.name.as_str()),
        };
        self.event(segment.actor, start, segment.duration, prefix, name, &label.at);
        if let Some(place) = self.labels.get_mut(segment.task as usize) {
            *place = label;
        }
    }

    fn draw_items(&mut self, from: usize, to: usize, shift: Shift) {
        let mut i = from;
        while i < to {
            match self.items[i] {
                Item::Segment(segment) => self.draw(&segment, shift),
                Item::Again { from, events, round } => self.draw_again(from, i, events, &round, shift),
            }
            i += 1;
        }
    }

    fn draw_again(&mut self, from: usize, to: usize, events: u64, round: &Round, shift: Shift) {
        let room = self.most.saturating_sub(self.drawn.events) / SHARE_OF_REST.1 * SHARE_OF_REST.0;
        let drawn = (room / events.max(1)).min(round.more);
        for again in 1..=drawn {
            self.draw_items(from, to, shifted(shift, round, again as f64));
        }
        let rest = round.more - drawn;
        if rest == 0 {
            return;
        }
        self.drawn.left_out += rest.saturating_mul(events);
        let busy =
            |actor: Actor| self.items[from..to].iter().any(|item| matches!(item, Item::Segment(s) if s.actor == actor));
        let tracks = TRACKS.map(|(actor, _)| Some(actor).filter(|actor| busy(*actor)));
        let shift = shifted(shift, round, drawn as f64);
        for actor in tracks.into_iter().flatten() {
            let lap = round.lap(actor);
            let start = self.after + lap.end + shift[track(actor) - 1];
            self.event(actor, start, lap.period * rest as f64, &format!("{rest} more rounds like these"), "", "");
        }
    }
}

impl<W: FnMut(&[u8])> Sink for Chrome<W> {
    fn segment(&mut self, segment: Segment) {
        if segment.duration <= 0.0 {
        } else if self.open.is_empty() {
            self.draw(&segment, [0.0; TRACKS.len()]);
        } else {
            self.items.push(Item::Segment(segment));
        }
    }

    fn round(&mut self) {
        self.open.push(self.items.len());
    }

    fn round_over(&mut self, round: Round) {
        let from = self.open.pop().unwrap_or_default();
        if round.more > 0 {
            let events = self.items[from..].iter().map(|item| match item {
                Item::Segment(_) => 1,
                Item::Again { events, round, .. } => events.saturating_mul(round.more),
            });
            let events = events.fold(0, u64::saturating_add);
            self.items.push(Item::Again { from, events, round });
        }
        if self.open.is_empty() {
            self.draw_items(0, self.items.len(), [0.0; TRACKS.len()]);
            self.items.clear();
        }
    }
}

const fn track(actor: Actor) -> usize {
    match actor {
        Actor::Host => 1,
        Actor::Device => 2,
        Actor::Upload => 3,
        Actor::Download => 4,
    }
}

/// Whole nanoseconds; negative times do not happen, and centuries are cut.
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// As JSON text, without the quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Compact, Machine, Task, simulate};
    use crate::workload::Step;
    use proptest::prelude::*;
    use serde_json::Value;

    const MACHINE: Machine = Machine { launch_latency: 4e-6, sync_latency: 5e-6, queue_depth: 16 };

    fn events(tasks: &[Task], order: &[Step], most: u64) -> (Vec<Value>, Drawn, f64) {
        let mut text = Vec::new();
        let labels =
            (0..tasks.len()).map(|i| Label::new(&format!("op \"{i}\""), "<a>.py:1", tasks[i].on_host)).collect();
        let mut chrome = Chrome::new("x", labels, 0.5, most, |bytes| text.extend_from_slice(bytes));
        let total = simulate(tasks, &Compact::new(order), &MACHINE, &mut chrome).total();
        let drawn = chrome.finish();
        let json: Value = serde_json::from_slice(&text).expect("it is JSON");
        let all = json["traceEvents"].as_array().expect("a list").clone();
        (all.into_iter().filter(|e| e["ph"] == "X").collect(), drawn, total)
    }

    fn end(event: &Value) -> f64 {
        (event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap()) * 1e-6
    }

    fn task() -> impl Strategy<Value = Task> {
        let some = |p| (proptest::bool::weighted(p), 1e-6..1e-4f64).prop_map(|(some, t)| if some { t } else { 0.0 });
        (some(0.5), some(0.3), 1e-6..1e-4f64, some(0.8), some(0.2), some(0.2), 0..2u8, any::<bool>()).prop_map(
            |(gap, upload, dispatch, device, download, on_host, stream, asynchronous)| Task {
                gap,
                upload,
                dispatch,
                device,
                launches: 1,
                download,
                on_host,
                stream,
                asynchronous,
                ..Task::NONE
            },
        )
    }

    proptest! {
        #[test]
        fn every_kernel_is_drawn_and_no_track_overlaps(
            tasks in proptest::collection::vec(task(), 1..6), inner in 1..30u64, outer in 1..30u64,
        ) {
            let body: Vec<Step> = (0..tasks.len() as u32).map(Step::Run).collect();
            let order = [Step::Repeat(outer, vec![Step::Run(0), Step::Repeat(inner, body)])];
            let (events, drawn, total) = events(&tasks, &order, MOST_EVENTS);
            prop_assert_eq!(drawn, Drawn { events: events.len() as u64, left_out: 0 });
            let kernels = events.iter().filter(|e| e["tid"] == 2).count() as u64;
            let in_body = tasks.iter().filter(|t| t.device > 0.0).count() as u64;
            prop_assert_eq!(kernels, outer * (u64::from(tasks[0].device > 0.0) + inner * in_body));
            let last = events.iter().map(end).fold(0.0, f64::max);
            prop_assert!((last - 0.5 - total).abs() <= 1e-3 * total + 1e-8, "{last} {total}");
            for track in 1..=4 {
                let mut on: Vec<_> = events.iter().filter(|e| e["tid"] == track).collect();
                on.sort_by(|a, b| a["ts"].as_f64().unwrap().total_cmp(&b["ts"].as_f64().unwrap()));
                for pair in on.windows(2) {
                    let gap = pair[1]["ts"].as_f64().unwrap() * 1e-6 - end(pair[0]);
                    prop_assert!(gap >= -1e-3 * total, "{} then {}", pair[0], pair[1]);
                }
            }
        }
    }

    #[test]
    fn too_many_rounds_become_a_block_that_says_so() {
        let kernel = Task { dispatch: 1e-6, device: 1e-5, launches: 1, ..Task::NONE };
        let (events, drawn, total) = events(&[kernel], &[Step::Repeat(1_000_000, vec![Step::Run(0)])], 1000);
        assert!(events.len() <= 1010 && drawn.left_out > 1_900_000, "{drawn:?}");
        assert!(events.iter().any(|e| e["name"].as_str().unwrap().ends_with(" more rounds like these")));
        let last = events.iter().map(end).fold(0.0, f64::max);
        assert!((last - 0.5 - total).abs() < 1e-3 * total, "{last} {total}");
    }

    #[test]
    fn names_from_hostile_scripts_stay_text() {
        let (events, ..) = events(&[Task { on_host: 1e-3, ..Task::NONE }], &[Step::Run(0)], 10);
        assert_eq!(events[1]["name"], "op \"0\"");
        assert_eq!(events[1]["args"]["line"], "<a>.py:1");
    }
}
