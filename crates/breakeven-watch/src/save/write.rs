//! Writing a session while it goes on.

use super::code::{Column, Foretold};
use super::{columns, head};
use crate::reading::{Field, Note, Sample};
use crate::session::Sink;
use crate::totals::Totals;
use crate::users::Users;
use serde_json::json;
use std::io::{self, Write};

/// A frame is written after so many s.
const FRAME_S: f64 = 60.0;

/// Samples of a frame at most, however short the interval is.
const MOST: usize = 10_000;

/// How hard frames are packed: more takes longer for hardly less.
const LEVEL: i32 = 9;

/// A file that is being written: what it holds is whole after each frame.
pub struct Writer<W: Write> {
    to: W,
    head: Option<String>,
    at: Column,
    whole: Column,
    /// A column for each field of each device.
    columns: Vec<Column>,
    gpus: usize,
    samples: usize,
    begun: f64,
    users: Users,
    notes: Vec<Note>,
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// Begins with the head: the first bytes are written with the first frame.
    pub fn new(to: W, totals: &Totals, interval_s: f64) -> Self {
        let gpus = totals.gpus.len();
        let of_device = || Field::ALL.iter().map(|row| Column::new(columns::foretold(row.0)));
        Self {
            to,
            head: Some(head::written(totals, interval_s)),
            at: Column::new(Foretold::Steady),
            whole: Column::new(Foretold::Same),
            columns: (0..=gpus).flat_map(|_| of_device()).collect(),
            gpus,
            samples: 0,
            begun: 0.0,
            users: Users::default(),
            notes: Vec::new(),
            failed: None,
        }
    }

    /// The first error, if there was one: the file ends before it.
    pub fn failed(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Writes what is left, and how many samples were missed.
    ///
    /// # Errors
    /// What could not be written.
    pub fn finish(mut self, missed: u64) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let end = format!("end {missed}\n");
        self.frame(&end)
    }

    fn frame(&mut self, after: &str) -> io::Result<()> {
        let mut text = self.head.take().map_or_else(String::new, |head| head + "\n");
        text += &format!("samples {}\n", self.samples);
        let mut line = |name: &str, column: &mut Column| {
            if let Some(letters) = column.take() {
                text.push_str(name);
                text.push(' ');
                text.push_str(&letters);
                text.push('\n');
            }
        };
        line("at", &mut self.at);
        line("whole", &mut self.whole);
        for (n, column) in self.columns.iter_mut().enumerate() {
            let device = columns::device(n / Field::COUNT, self.gpus);
            line(&format!("{device}.{}", Field::ALL[n % Field::COUNT].1), column);
        }
        text += &format!("users {}\n", self.users.saved());
        for note in self.notes.drain(..) {
            text += &format!("note {}\n", json!([note.code, note.text, note.hint]));
        }
        text += after;
        self.samples = 0;
        self.to.write_all(&zstd::bulk::compress(text.as_bytes(), LEVEL)?)?;
        self.to.flush()
    }
}

impl<W: Write> Sink for Writer<W> {
    fn sample(&mut self, sample: &Sample) {
        if self.failed.is_some() {
            return;
        }
        if self.samples == 0 {
            self.begun = sample.at;
        }
        self.at.push(Some((sample.at * 1e3).round() as i64));
        self.whole.push(Some(i64::from(sample.whole)));
        let devices = sample.gpus.iter().chain([&sample.host]);
        for (reading, columns) in devices.zip(self.columns.chunks_exact_mut(Field::COUNT)) {
            for ((field, ..), column) in Field::ALL.into_iter().zip(columns) {
                column.push(columns::steps(reading, field));
            }
        }
        if sample.whole {
            self.users.take(&sample.processes);
        }
        self.samples += 1;
        if sample.at - self.begun >= FRAME_S || self.samples >= MOST {
            self.failed = self.frame("").err();
        }
    }

    fn note(&mut self, note: &Note) {
        self.notes.push(note.clone());
    }
}
