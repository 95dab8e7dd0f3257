//! Everything that takes a sample while a session goes on: totals, history, the saved file, lines, the display.

use super::history;
use crate::args::{WatchArgs, WatchFormat};
use crate::failure::{Failure, say};
use crate::output::{self, colored};
use breakeven::report::words::printable;
use breakeven_watch::report::{Csv, Display, jsonl, plain};
use breakeven_watch::{Gpu, History, Machine, Note, Plan, Sample, Sink, Totals, save, watch};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// What a session came to.
pub(super) struct Seen {
    /// What it adds up to.
    pub(super) totals: Totals,
    /// Its course.
    pub(super) history: History,
    /// Whether every sample was written where it was asked for.
    pub(super) saved: Result<(), Failure>,
    /// Stdout is ours: there is no command that it belongs to.
    pub(super) own_stdout: bool,
}

/// Takes every sample.
pub(super) struct Course {
    totals: Totals,
    history: History,
    writer: Option<(PathBuf, save::Writer<File>)>,
    lines: Option<Lines>,
    display: Option<Display<io::Stderr>>,
    own_stdout: bool,
}

impl Course {
    /// Opens what is to be written, so that what is wrong is told before anything is watched.
    pub(super) fn new(args: &WatchArgs, machine: &Machine, plan: Plan, what: Option<String>) -> Result<Self, Failure> {
        let own_stdout = args.command.is_empty();
        let totals = Totals::new(machine.gpus(), machine.cores(), what);
        let interval = plan.interval.as_secs_f64();
        let writer = |path: &PathBuf| {
            let file = File::create(path).map_err(|e| Failure::file("write", path, &e))?;
            Ok::<_, Failure>((path.clone(), save::Writer::new(file, &totals, interval)))
        };
        let writer = args.save.as_ref().map(writer).transpose()?;
        let live = matches!(args.format, WatchFormat::Jsonl | WatchFormat::Csv);
        let piped =
            own_stdout && args.format == WatchFormat::Text && args.output.is_none() && !io::stdout().is_terminal();
        let lines = (live || piped).then(|| Lines::new(args, machine.gpus())).transpose()?;
        let terminal = io::stderr().is_terminal();
        let width = usize::from(output::width(Some(io::stderr())).unwrap_or(80));
        // A line of ours on the terminal that a command writes to would be in its way.
        let alone = terminal && (own_stdout || !io::stdout().is_terminal());
        let display = alone
            .then(|| Display::new(io::stderr(), machine.gpus(), width, colored(args.color, terminal), !own_stdout));
        let history = history(machine.gpus().len(), plan);
        Ok(Self { totals, history, writer, lines, display, own_stdout })
    }

    /// Watches until it is stopped or the plan ends.
    pub(super) fn watch(mut self, machine: &mut Machine, plan: Plan, stopped: &Receiver<()>) -> Seen {
        self.totals.missed = watch(machine, plan, stopped, &mut [&mut self]);
        if let Some(display) = &mut self.display {
            display.clear();
        }
        let missed = self.totals.missed;
        let saved = self.writer.map(|(path, writer)| {
            let written = writer.finish(missed).map_err(|e| Failure::file("write", &path, &e));
            written.map(|()| output::wrote(&path))
        });
        let lines = self.lines.map(Lines::finish);
        let saved = saved.unwrap_or(Ok(())).and(lines.unwrap_or(Ok(())));
        Seen { totals: self.totals, history: self.history, saved, own_stdout: self.own_stdout }
    }
}

impl Sink for Course {
    fn sample(&mut self, sample: &Sample) {
        self.totals.take(sample);
        self.history.take(sample);
        if let Some((_, writer)) = &mut self.writer {
            writer.sample(sample);
        }
        if let Some(lines) = &mut self.lines {
            lines.sample(sample);
        }
        if let Some(display) = &mut self.display {
            display.sample(sample);
        }
    }

    fn note(&mut self, note: &Note) {
        self.totals.notes.push(note.clone());
        if let Some((_, writer)) = &mut self.writer {
            writer.note(note);
        }
        if let Some(display) = &mut self.display {
            display.note(note);
            say(&format!("note: {}", printable(&note.text, 300)));
        }
    }

    fn enough(&self) -> bool {
        self.own_stdout && self.lines.as_ref().is_some_and(Lines::reader_gone)
    }
}

/// A line or more for each sample.
pub(super) struct Lines {
    to: BufWriter<Box<dyn Write + Send>>,
    gpus: Vec<Gpu>,
    format: WatchFormat,
    failed: Option<io::Error>,
    place: String,
    /// When it was last handed on, s.
    flushed: f64,
}

/// Lines are handed on at least so often, s.
const FLUSH: f64 = 0.5;

impl Lines {
    pub(super) fn new(args: &WatchArgs, gpus: &[Gpu]) -> Result<Self, Failure> {
        let file = args.output.as_ref().filter(|path| !output::is_stdout(path));
        let open = |path: &PathBuf| File::create(path).map_err(|e| Failure::file("write", path, &e));
        let to: Box<dyn Write + Send> = match file {
            Some(path) => Box::new(open(path)?),
            None => Box::new(io::stdout()),
        };
        let place = file.map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
        let mut lines = Self {
            to: BufWriter::new(to),
            gpus: gpus.to_vec(),
            format: args.format,
            failed: None,
            place,
            flushed: f64::NEG_INFINITY,
        };
        if args.format == WatchFormat::Csv {
            lines.write(&Csv::header());
        }
        Ok(lines)
    }

    fn write(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.to, "{line}").err();
        }
    }

    pub(super) fn sample(&mut self, sample: &Sample) {
        let line = match self.format {
            WatchFormat::Csv => Csv::rows(&self.gpus, sample),
            WatchFormat::Jsonl => jsonl(&self.gpus, sample),
            WatchFormat::Text | WatchFormat::Json => plain(&self.gpus, sample),
        };
        self.write(&line);
        if self.failed.is_none() && sample.at >= self.flushed + FLUSH {
            self.flushed = sample.at;
            self.failed = self.to.flush().err();
        }
    }

    /// Whether whoever reads them has had enough.
    fn reader_gone(&self) -> bool {
        self.failed.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Hands on the rest.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let failed = self.failed.take().or_else(|| self.to.flush().err());
        match failed {
            None => Ok(()),
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::ReaderGone),
            Some(error) => {
                let words = crate::failure::system_words(&error);
                let message = format!("cannot write samples to {}: {words}", self.place);
                Err(Failure::new("file", message, "make room, or choose another place"))
            }
        }
    }
}
