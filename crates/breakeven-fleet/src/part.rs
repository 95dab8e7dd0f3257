//! A block of a log as judged jobs: steps joined with their job, names as numbers.

use crate::cells::{Cells, Fields, Unread};
use crate::field::Field;
use crate::job::{Oddity, Record};
use crate::judge::{Judged, judge};
use crate::models::{Model, Models, UNNAMED};
use crate::names::{KINDS, NOBODY, Names, Of, Symbol, application};
use crate::outcome::Outcome;
use crate::recordings::{Joined, Recordings};
use crate::table::{Block, Rows, Table};
use crate::usage::Usage;
use crate::values::State;
use std::collections::HashMap;

/// What every block is read with.
#[derive(Debug)]
pub struct Context<'c> {
    /// Names met so far.
    pub names: Names,
    /// GPUs met so far.
    pub models: Models<'c>,
    /// What is known of scripts.
    pub recordings: Recordings,
    /// What is known of the use of GPUs beside the log: samples, steps that lie apart from their job; by the job's id.
    pub usage: HashMap<u64, Usage>,
}

/// A judged job.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where in its block.
    pub at: usize,
    /// Which run of which job; 0 where there is no id.
    pub run: u64,
    /// Names of its user, account, partition and application.
    pub names: [Symbol; 4],
    /// Its GPU.
    pub model: Model,
    /// Its state.
    pub state: State,
    /// GPUs it had.
    pub gpus: Option<f64>,
    /// How it used them.
    pub usage: Usage,
    /// What is said of it.
    pub judged: Judged,
}

/// What came of a block.
#[derive(Debug, Default)]
pub struct Part {
    /// Jobs, in the order of the block.
    pub rows: Vec<Row>,
    /// Steps joined, and rows that could not be read.
    pub steps: u64,
    /// See `steps`.
    pub bad: u64,
    /// The first of the bad ones, in words.
    pub example: Option<String>,
    /// Steps whose job is not before them in the block: their use, by the job's id.
    pub apart: Vec<(u64, Usage)>,
    /// Cells that could not be read.
    pub unread: Unread,
    /// How often each oddity was met.
    pub odd: [u64; Oddity::ALL.len()],
}

/// Reads and judges a block.
pub fn part(block: &Block, table: &Table, context: &Context<'_>) -> Part {
    let memo = [const { Vec::new() }; 4];
    let mut reading = Reading { table, context, open: None, memo, part: Part::default() };
    block.each(table, &mut reading);
    reading.close();
    reading.part
}

/// A job whose steps may follow.
struct Open<'a> {
    at: usize,
    record: Record,
    usage: Usage,
    names: [Symbol; 4],
    model: Model,
    joined: Joined<'a>,
}

struct Reading<'a, 'c> {
    table: &'a Table,
    context: &'a Context<'c>,
    open: Option<Open<'a>>,
    /// Numbers of names by where they stand in a dictionary.
    memo: [Vec<Symbol>; 4],
    part: Part,
}

impl Rows for Reading<'_, '_> {
    fn row<C: Cells + ?Sized>(&mut self, at: usize, cells: &C) {
        let (layout, mapping) = (&self.table.layout, &self.table.mapping);
        let mut unread = std::mem::take(&mut self.part.unread);
        let mut fields = Fields { cells, layout, mapping, unread: &mut unread };
        let record = Record::read(&mut fields);
        match record.id.step {
            Some(real) => self.step(&record, real),
            None => {
                self.close();
                self.open(at, record, &fields);
            }
        }
        self.part.unread = unread;
    }

    fn bad(&mut self, at: usize, why: &str) {
        // Steps behind it are of a job that is not known.
        self.close();
        self.part.bad += 1;
        let _ = at;
        self.part.example.get_or_insert_with(|| format!("a row of {} {why}", self.table.name));
    }
}

impl Reading<'_, '_> {
    fn open<C: Cells + ?Sized>(&mut self, at: usize, record: Record, fields: &Fields<'_, C>) {
        let names = std::array::from_fn(|kind| self.name(KINDS[kind], fields));
        let has_gpu = record.gpus.is_none_or(|count| count > 0.0);
        let model = match has_gpu {
            true => self.context.models.of(record.model.as_deref(), fields.text(Field::Partition).as_deref()),
            false => UNNAMED,
        };
        let joined = match self.context.recordings.is_empty() || has_gpu {
            true => Joined::Nothing,
            false => {
                let (command, name) = (fields.text(Field::Command), fields.text(Field::Name));
                self.context.recordings.of(command.as_deref(), name.as_deref())
            }
        };
        let usage = record.usage.clone();
        self.open = Some(Open { at, record, usage, names, model, joined });
    }

    /// The number of a name; looked up once for each text of a dictionary.
    fn name<C: Cells + ?Sized>(&mut self, of: Of, fields: &Fields<'_, C>) -> Symbol {
        let layout = &self.table.layout;
        let field = match of {
            Of::User => Field::User,
            Of::Account => Field::Account,
            Of::Partition => Field::Partition,
            Of::Application if layout.has(Field::Application) => Field::Application,
            Of::Application if layout.has(Field::Command) => Field::Command,
            Of::Application => Field::Name,
        };
        let code = fields.code(field);
        let memo = &mut self.memo[of as usize];
        if let Some(symbol) = code.and_then(|code| memo.get(code)).filter(|symbol| **symbol != Symbol::MAX) {
            return *symbol;
        }
        let names = &self.context.names;
        let text = fields.text(field);
        let symbol = match field {
            Field::Command | Field::Name => {
                let command = text.as_deref().filter(|_| field == Field::Command);
                let name = fields.text(Field::Name);
                application(command, name.as_deref()).map_or(NOBODY, |name| names.symbol(of, &name))
            }
            _ => text.map_or(NOBODY, |text| names.symbol(of, &text)),
        };
        // Where a command is missing the name counts, which the dictionary of commands does not tell.
        if let Some(code) = code
            && field != Field::Command
        {
            if memo.len() <= code {
                memo.resize(code + 1, Symbol::MAX);
            }
            memo[code] = symbol;
        }
        symbol
    }

    /// A step: its use of GPUs is part of its job's. A real step without figures leaves the job known in part.
    fn step(&mut self, step: &Record, real: bool) {
        self.part.steps += 1;
        if !real {
            return;
        }
        let mut usage = step.usage.clone();
        usage.partial |= !usage.is_known();
        match &mut self.open {
            Some(open) if open.record.id.key == step.id.key => {
                open.usage.and(&usage);
                open.usage.partial |= usage.partial;
            }
            _ => {
                usage.span = step.start.zip(step.end).map(|(start, end)| (start.s, end.s));
                self.part.apart.push((step.id.key, usage));
            }
        }
    }

    /// Judges the job whose steps have all been seen.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Open { at, mut record, usage, names, model, joined } = open;
        let usage = record.with(usage, self.context.usage.get(&record.id.key));
        let judged = judge(&record, &usage, model, &self.context.models, joined);
        for oddity in std::mem::take(&mut record.odd) {
            self.part.odd[oddity as usize] += 1;
        }
        let (run, state, gpus) = (record.run(), record.state, record.gpus);
        self.part.rows.push(Row { at, run, names, model, state, gpus, usage, judged });
    }
}

impl Row {
    /// Whether an ended row of the same run takes its place.
    pub fn is_running(&self) -> bool {
        self.judged.outcome == Outcome::Running
    }
}
