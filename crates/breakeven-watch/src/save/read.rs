//! Reading a session again.

use super::code::{Foretold, values};
use super::{columns, head};
use crate::history::History;
use crate::reading::{Field, Note, Sample};
use crate::totals::Totals;
use crate::users::Users;
use breakeven::{Error, Result};
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read};

/// Readings of a frame that are believed: samples × devices.
const MOST: usize = 1_000_000;

/// A line longer than the longest that is written: a head of very many GPUs, or ten letters a sample.
const LONGEST: u64 = 4 << 20;

/// What a file holds next.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and nearly all are samples")]
pub enum Event {
    /// A sample; its processes are in [`Event::Users`].
    Sample(Sample),
    /// Everyone that was on the GPUs so far.
    Users(Users),
    /// Something to know.
    Note(Note),
    /// The end, and how many samples were missed.
    End(u64),
}

/// A file that is being read.
pub struct Reader<R: Read> {
    lines: BufReader<zstd::Decoder<'static, BufReader<R>>>,
    /// The session before its first sample.
    pub totals: Totals,
    /// Time between samples, s.
    pub interval_s: f64,
    /// A line that belongs to what comes next.
    ahead: Option<String>,
}

impl<R: Read> Reader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// `watch-file` for what is no such file.
    pub fn new(from: R) -> Result<Self> {
        let wrong = || {
            let hint =
                "`breakeven watch --save FILE` writes them; `breakeven show` is for recordings, `import` for traces";
            Error::new("watch-file", "it is no session that `breakeven watch` saved").hint(hint)
        };
        let mut lines = BufReader::new(zstd::Decoder::new(from).map_err(|_| wrong())?);
        let first = line(&mut lines).ok().flatten().ok_or_else(wrong)?;
        let (totals, interval_s) = head::read(&first).ok_or_else(wrong)?;
        Ok(Self { lines, totals, interval_s, ahead: None })
    }

    /// Hands on everything up to the end of the file; whether that is the end of the session, or the file is cut short.
    pub fn each(mut self, mut take: impl FnMut(Event)) -> bool {
        let mut ended = false;
        while let Ok(Some(text)) = self.ahead.take().map_or_else(|| line(&mut self.lines), |line| Ok(Some(line))) {
            let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
            match word {
                "samples" => match rest.parse().ok().filter(|count| *count <= MOST / (self.totals.gpus.len() + 1)) {
                    Some(count) => self.frame(count).into_iter().for_each(|sample| take(Event::Sample(sample))),
                    None => return false,
                },
                "users" => {
                    let users: Value = serde_json::from_str(rest).unwrap_or_default();
                    take(Event::Users(Users::of_saved(&users)));
                }
                "note" => take(Event::Note(note(rest))),
                "end" => {
                    take(Event::End(rest.parse().unwrap_or(0)));
                    ended = true;
                }
                // A later version may say more.
                _ => {}
            }
        }
        ended
    }

    /// The samples of one frame: columns up to the first line that is none.
    fn frame(&mut self, count: usize) -> Vec<Sample> {
        let gpus = self.totals.gpus.len();
        let mut samples = vec![Sample { gpus: vec![Default::default(); gpus], ..Sample::default() }; count];
        while let Ok(Some(text)) = line(&mut self.lines) {
            let (name, letters) = text.split_once(' ').unwrap_or((&text, ""));
            match name {
                "at" => fill(&mut samples, letters, Foretold::Steady, |sample, ms| sample.at = ms as f64 / 1e3),
                "whole" => fill(&mut samples, letters, Foretold::Same, |sample, whole| sample.whole = whole == 1),
                _ => {
                    let Some((device, key)) = name.split_once('.') else {
                        self.ahead = Some(text);
                        break;
                    };
                    let Some(field) = Field::of_key(key) else { continue };
                    let number = device.parse::<usize>().ok().filter(|n| *n < gpus);
                    fill(&mut samples, letters, columns::foretold(field), |sample, steps| {
                        let reading = number.map_or(&mut sample.host, |n| &mut sample.gpus[n]);
                        reading.set(field, columns::value(steps, field));
                    });
                }
            }
        }
        samples
    }
}

fn fill(samples: &mut [Sample], letters: &str, how: Foretold, mut set: impl FnMut(&mut Sample, i64)) {
    for (sample, value) in samples.iter_mut().zip(values(letters, how)) {
        if let Some(value) = value {
            set(sample, value);
        }
    }
}

fn note(text: &str) -> Note {
    let row: Value = serde_json::from_str(text).unwrap_or_default();
    let said = |n: usize| row[n].as_str().map(str::to_owned);
    Note { code: said(0).unwrap_or_default(), text: said(1).unwrap_or_default(), hint: said(2) }
}

/// The next line without its end; `None` at the end of the file. What was not written whole is an error.
fn line(lines: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    lines.take(LONGEST).read_line(&mut text)?;
    match text.strip_suffix('\n') {
        Some(line) => Ok(Some(line.to_owned())),
        None if text.is_empty() => Ok(None),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// A whole file as the session that it was: its totals, and its course in at most so many moments.
///
/// # Errors
/// As [`Reader::new`]. A file that is cut short is no error: what is whole comes out, with a note.
pub fn replay(from: impl Read, moments: usize) -> Result<(Totals, History)> {
    let reader = Reader::new(from)?;
    let mut totals = reader.totals.clone();
    let mut history = History::new(totals.gpus.len(), reader.interval_s, moments);
    let ended = reader.each(|event| match event {
        Event::Sample(sample) => {
            totals.take(&sample);
            history.take(&sample);
        }
        Event::Users(users) => totals.users = users,
        Event::Note(note) => totals.notes.push(note),
        Event::End(missed) => totals.missed = missed,
    });
    if !ended {
        let text = "the file ends before the session did: up to its last minute is missing";
        totals.notes.push(Note::new("cut-short", text));
    }
    Ok((totals, history))
}
