//! Files of job logs, streamed: the next blocks are read while these are judged and the last are added up.

mod columns;
mod kind;
mod out;
mod samples;
mod source;
mod text;

pub use out::Out;

use crate::fleet::Fleet;
use crate::mapping::Mapping;
use crate::part::{Context, Part, part};
use crate::table::{Block, Table};
use crate::usage::Usage;
use breakeven::{Error, Result};
use columns::Columns;
use kind::{Kind, kind};
use rayon::prelude::*;
use samples::Gathered;
use source::{Opened, Source, sources};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use text::Text;

/// Blocks that are judged at a time.
const WAVE: usize = 4;

/// How logs are read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which column of foreign tables is what.
    pub mapping: Option<Mapping>,
    /// The columns of a text without a header, apart by commas; `xdmod` for those of XDMoD.
    pub columns: Option<String>,
    /// What separates cells, where the header does not tell.
    pub delimiter: Option<char>,
}

/// A log that has been opened.
enum Log {
    Text(Text),
    Columns(Box<Columns>),
}

impl Log {
    fn next(&mut self) -> Result<Option<Block>> {
        match self {
            Self::Text(text) => text.next(),
            Self::Columns(columns) => columns.next(),
        }
    }
}

/// Reads logs and samples, and judges every job. `context` makes what they are read with from what is known of the
/// use of
/// GPUs beside the logs; `open` where rows go, from the beginning; `progress` is told of rows read.
///
/// Samples are read first. Where steps lie apart from their job, the logs are read twice.
///
/// # Errors
/// What cannot be read, is no job log, or cannot be written.
pub fn run<'c>(
    paths: &[PathBuf],
    options: &Options,
    context: &dyn Fn(HashMap<u64, Usage>) -> Result<Context<'c>>,
    open: &mut dyn FnMut() -> Result<Out>,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<(Fleet<'c>, Out)> {
    let sources = sources(paths)?;
    let mut gathered = Gathered::default();
    let mut logs: Vec<&Source> = Vec::new();
    for source in &sources {
        match source.open()? {
            Opened::Parquet(_) => logs.push(source),
            Opened::Text(text, head) => match kind(&source.name, &head, options)? {
                Kind::Log { .. } => logs.push(source),
                Kind::Samples { names } => gathered.read(text, &source.name, source.path(), &names)?,
            },
        }
    }
    if logs.is_empty() {
        let message = "only samples of GPUs are given, and no log of the jobs that they are of";
        return Err(Error::new("no-job-log", message).hint("name the export of sacct too"));
    }
    let sampled = gathered.usage();
    let mut fleet = Fleet::new(context(sampled.clone())?);
    let mut out = open()?;
    pass(&logs, options, &mut fleet, &mut out, progress)?;
    if !fleet.apart.is_empty() {
        let mut usage = sampled.clone();
        for (job, apart) in std::mem::take(&mut fleet.apart) {
            let known = usage.entry(job).or_default();
            known.and(&apart);
            known.partial |= apart.partial;
        }
        let steps = usage.len();
        fleet = Fleet::new(context(usage)?);
        out = open()?;
        pass(&logs, options, &mut fleet, &mut out, progress)?;
        let text = format!("steps of {steps} jobs do not lie behind their job: the logs were read twice to join them");
        fleet.notes.push(("steps-apart", text));
    }
    fleet.sampled = sampled.len() as u64;
    if gathered.bad > 0 {
        let text = format!("{} of {} samples of GPUs tell no job or no use", gathered.bad, gathered.samples);
        fleet.notes.push(("samples", text));
    }
    Ok((fleet, out))
}

/// Reads all logs once.
fn pass(
    logs: &[&Source],
    options: &Options,
    fleet: &mut Fleet<'_>,
    out: &mut Out,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<()> {
    for source in logs {
        let (mut log, table) = match source.open()? {
            Opened::Parquet(file) => {
                let columns = Columns::open(file, &source.name, options)?;
                let table = columns.table.clone();
                (Log::Columns(Box::new(columns)), table)
            }
            Opened::Text(text, head) => match kind(&source.name, &head, options)? {
                Kind::Log { table, header, quoted } => {
                    (Log::Text(Text::new(text, &source.name, table.delimiter, header, quoted)?), *table)
                }
                Kind::Samples { .. } => continue,
            },
        };
        stream(&mut log, &table, fleet, out, progress)?;
    }
    let context = Arc::clone(&fleet.context);
    fleet.finish(&mut |row, id| out.push(row, id, &context))
}

/// Blocks until the end of a log. One that cannot be read on ends there, with a note.
fn stream(
    log: &mut Log,
    table: &Table,
    fleet: &mut Fleet<'_>,
    out: &mut Out,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<()> {
    let context = Arc::clone(&fleet.context);
    let mut cut = None;
    let mut blocks = wave(log, &mut cut)?;
    let mut done: Vec<(Block, Part)> = Vec::new();
    while !blocks.is_empty() || !done.is_empty() {
        let (finished, current) = (std::mem::take(&mut done), std::mem::take(&mut blocks));
        let fold = || {
            for (block, part) in finished {
                fleet.fold(part, &block, table, &mut |row, id| out.push(row, id, &context))?;
                progress(fleet.rows());
            }
            Ok(())
        };
        let judge = || -> Vec<(Block, Part)> {
            let one = |block: Block| {
                let part = part(&block, table, &context);
                (block, part)
            };
            current.into_par_iter().map(one).collect()
        };
        let (folded, (judged, next)) = rayon::join(fold, || rayon::join(judge, || wave(log, &mut cut)));
        let folded: Result<()> = folded;
        folded?;
        (done, blocks) = (judged, next?);
    }
    fleet.notes.extend(cut.map(|why| ("cut", why)));
    Ok(())
}

/// The next blocks; none where the log ends, or is cut short.
fn wave(log: &mut Log, cut: &mut Option<String>) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    while blocks.len() < WAVE && cut.is_none() {
        match log.next() {
            Ok(Some(block)) => blocks.push(block),
            Ok(None) => break,
            Err(error) if error.code == "log-cut" => *cut = Some(error.message),
            Err(error) => return Err(error),
        }
    }
    Ok(blocks)
}
