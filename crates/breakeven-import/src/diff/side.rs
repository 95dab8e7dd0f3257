//! One run of the two: what is compared of its totals, fresh or as they were saved.

use super::Names;
use crate::report::json;
use crate::summary::Summary;
use breakeven::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    pub(super) files: Vec<String>,
    pub(super) kind: String,
    /// How many steps are whole; `None` where none is marked.
    pub(super) steps: Option<f64>,
    /// Figures of a step, in the mean and of each GPU, where they are not the whole divided by steps.
    of_step: BTreeMap<&'static str, f64>,
    /// The names of its GPUs, in order.
    pub(super) gpus: Vec<String>,
    figures: BTreeMap<&'static str, f64>,
    pub(super) kernels: Names,
    pub(super) ops: Names,
    pub(super) lines: Names,
    pub(super) cut_short: bool,
}

/// Parts of idle time, and of busy time.
const IDLE: [&str; 4] = ["idle_launch", "idle_wait", "idle_loader", "idle_host"];
const BUSY: [&str; 2] = ["copies_alone", "communication_alone"];
/// What saved totals begin with.
const SCHEMA: &str = "breakeven.trace/1";

impl Side {
    /// The totals of traces.
    pub fn of(summary: &Summary) -> Self {
        let value = serde_json::from_str(&json(summary, None)).unwrap_or_default();
        Self::from_value(&value)
    }

    /// Whether a file that begins so holds saved totals.
    pub fn is_saved(head: &[u8]) -> bool {
        head.trim_ascii_start().first() == Some(&b'{') && memchr::memmem::find(head, SCHEMA.as_bytes()).is_some()
    }

    /// Totals as `breakeven import --format json` saved them.
    ///
    /// # Errors
    /// `trace-read` where it is no such text.
    pub fn saved(name: &str, text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        if value["schema"] != SCHEMA {
            let error = Error::new("trace-read", format!("{name} holds no totals that can be read"));
            return Err(error.hint("`breakeven import TRACE --format json --output FILE` saves them"));
        }
        Ok(Self::from_value(&value))
    }

    fn from_value(value: &Value) -> Self {
        let trace = &value["trace"];
        let mut side = Self {
            files: texts(&value["files"]),
            kind: trace["kind"].as_str().unwrap_or_default().to_owned(),
            steps: trace["steps"]["count"].as_f64().filter(|count| *count > 0.0),
            kernels: names(&trace["top"]),
            ops: names(&trace["ops"]),
            lines: names(&trace["lines"]),
            ..Self::default()
        };
        let gpus = trace["gpus"].as_array().map_or(&[][..], Vec::as_slice);
        side.gpus = gpus.iter().map(|gpu| gpu["name"].as_str().unwrap_or("not named").to_owned()).collect();
        let notes = trace["not_read"].as_array().map_or(&[][..], Vec::as_slice);
        side.cut_short = notes.iter().any(|note| note["code"] == "cut-short");
        let causes = &trace["causes"];
        for (key, figure) in [
            ("span", &trace["span_s"]),
            ("kernel_time", &trace["kernel_s"]),
            ("busy", &trace["busy_s"]),
            ("idle", &trace["idle_s"]),
            ("idle_launch", &causes["launch_s"]),
            ("idle_wait", &causes["sync_s"]),
            ("idle_loader", &causes["loading_s"]),
            ("idle_host", &causes["host_s"]),
            ("copies_alone", &causes["copy_s"]),
            ("communication_alone", &causes["communication_s"]),
            ("kernels", &trace["kernels"]),
            ("launches", &trace["launches"]["count"]),
            ("graph_launches", &trace["graph_launches"]["count"]),
            ("waits", &trace["waits"]["count"]),
            ("wait_time", &trace["waits"]["time_s"]),
        ] {
            side.figures.extend(figure.as_f64().map(|figure| (key, figure)));
        }
        let copies = trace["copies"].as_array().map_or(&[][..], Vec::as_slice);
        if !gpus.is_empty() {
            for (key, member) in [("copies", "count"), ("copy_time", "time_s"), ("copy_bytes", "bytes")] {
                let all: Option<f64> = copies.iter().map(|copy| copy[member].as_f64()).sum();
                side.figures.extend(all.map(|all| (key, all)));
            }
        }
        side.fill_steps(&trace["steps"]);
        side
    }

    /// Figures that steps have themselves; and causes, which are known for all idle time and hold for that of steps in
    /// the same parts.
    fn fill_steps(&mut self, steps: &Value) {
        let mean = |key: &str| steps[key].as_f64();
        let (time, busy) = (mean("mean_s"), mean("mean_busy_s"));
        let idle = time.zip(busy).map(|(time, busy)| (time - busy).max(0.0));
        let known = [
            ("time", time),
            ("busy", busy),
            ("idle", idle),
            ("kernel_time", mean("mean_kernel_s")),
            ("kernels", mean("mean_kernels")),
        ];
        self.of_step.extend(known.into_iter().filter_map(|(key, figure)| Some((key, figure?))));
        for (parts, whole, here) in [(&IDLE[..], "idle", idle), (&BUSY[..], "busy", busy)] {
            let Some((whole, here)) = self.figure(whole).filter(|whole| *whole > 0.0).zip(here) else { continue };
            for key in parts {
                let part = self.figure(key).map(|part| part / whole * here);
                self.of_step.extend(part.map(|part| (*key, part)));
            }
        }
    }

    /// A figure of the whole run; `None` where it is not known.
    pub(super) fn figure(&self, key: &str) -> Option<f64> {
        let key = if key == "time" { "span" } else { key };
        self.figures.get(key).copied()
    }

    /// A figure of a step; `None` where it is not known.
    pub(super) fn of_step(&self, key: &str) -> Option<f64> {
        let divided = || self.figure(key).zip(self.steps).map(|(figure, steps)| figure / steps);
        self.of_step.get(key).copied().or_else(divided)
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn names(value: &Value) -> Names {
    let one = |value: &Value| {
        Some((value["name"].as_str()?.to_owned(), (value["count"].as_f64()?, value["time_s"].as_f64()?)))
    };
    value.as_array().into_iter().flatten().filter_map(one).collect()
}
