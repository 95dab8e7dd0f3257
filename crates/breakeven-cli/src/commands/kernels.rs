//! `breakeven kernels TABLE`: the time of each row of a table of kernels.

use crate::args::{KernelsArgs, MeasuredAs, TableFormat};
use crate::config::Settings;
use crate::failure::{Failure, Outcome, say};
use crate::{input, output};
use breakeven::report::words::printable;
use breakeven::table::{Clock, Devices};
use breakeven_batch::{Format, Summary, Table};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Bad rows that are told one by one; the rest are counted.
const TOLD: u64 = 10;
/// Nothing came of any row.
const NOTHING_DONE: u8 = 2;

/// Runs the command.
pub(crate) fn kernels(args: &KernelsArgs, settings: &Settings) -> Outcome {
    let catalogue = input::catalogue(args.catalogue.as_deref())?;
    let format = format(args)?;
    let table = Table::open(&args.table)?;
    // A table that names its GPUs itself needs none that are set.
    let named = if table.columns.gpu.is_some() { args.gpu.clone() } else { settings.gpus(&args.gpu) };
    let devices = Devices::new(&table.columns, &catalogue, &named)?;
    let mut errors = args.errors.as_deref().map(output::Pending::new).transpose()?.map(BufWriter::new);
    if let Some(file) = &mut errors {
        file.write_all(b"row,error\n")
            .map_err(|e| Failure::file("write", args.errors.as_deref().unwrap_or(Path::new("")), &e))?;
    }
    let mut told = 0;
    let bad = |row: u64, why: &str| {
        if told < TOLD {
            say(&format!("row {row}: {}", printable(why, 300)));
        }
        told += 1;
        match &mut errors {
            Some(file) => writeln!(file, "{row},\"{}\"", why.replace('"', "\"\""))
                .map_err(|e| breakeven::Error::new("table-write", format!("cannot write --errors: {e}"))),
            None => Ok(()),
        }
    };
    let clock = match args.as_measured {
        MeasuredAs::Device => Clock::Device,
        MeasuredAs::Events => Clock::Events,
    };
    let summary = match &args.output {
        Some(path) => {
            let mut file = output::Pending::new(path)?;
            let summary = breakeven_batch::kernels(table, devices, clock, format, &mut file, bad, progress(path))?;
            if !nothing_done(&summary) {
                file.finish().map_err(|e| Failure::file("write", path, &e))?;
            }
            summary
        }
        None => {
            let mut out = output::Stdout::default();
            let done = breakeven_batch::kernels(table, devices, clock, format, &mut out, bad, |_| ());
            match done {
                Err(_) if out.reader_gone => return Err(Failure::ReaderGone),
                done => done?,
            }
        }
    };
    if let (Some(file), Some(path)) = (errors, &args.errors) {
        let file = file.into_inner().map_err(|e| Failure::file("write", path, e.error()))?;
        file.finish().map_err(|e| Failure::file("write", path, &e))?;
    }
    tell(&summary, args);
    Ok(if nothing_done(&summary) { ExitCode::from(NOTHING_DONE) } else { ExitCode::SUCCESS })
}

/// There were rows, and none has a time.
const fn nothing_done(summary: &Summary) -> bool {
    summary.rows > 0 && summary.timed == 0
}

/// By `--format`, by the name of the file, else CSV.
fn format(args: &KernelsArgs) -> Result<Format, Failure> {
    let name = args.output.as_deref().and_then(Path::extension).and_then(|e| e.to_str()).unwrap_or_default();
    let format = match (args.format, name) {
        (Some(TableFormat::Csv), _) => Format::Csv,
        (Some(TableFormat::Parquet), _) => Format::Parquet,
        (Some(TableFormat::Json), _) => Format::Json,
        (None, "parquet" | "pq") => Format::Parquet,
        (None, "json") => Format::Json,
        (None, _) => Format::Csv,
    };
    if format == Format::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::new("stdout", "Parquet is not for a terminal", "name a file: --output timed.parquet"));
    }
    Ok(format)
}

/// Says on a terminal how far it is.
fn progress(path: &Path) -> impl FnMut(u64) + Send {
    let terminal = io::stderr().is_terminal();
    let name = printable(&path.to_string_lossy(), 60);
    move |rows| {
        if terminal {
            let _ = write!(io::stderr(), "\r{name}: {rows} rows\u{1b}[K");
        }
    }
}

/// What was wrong, in numbers.
fn tell(summary: &Summary, args: &KernelsArgs) {
    if args.output.is_some() && io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
    let Summary { rows, bad, .. } = *summary;
    if rows == 0 {
        say("note: the table has a header and no rows");
    }
    if bad > TOLD && args.errors.is_none() {
        say(&format!("… and {} more; --errors FILE lists them all", bad - TOLD));
    } else if bad > TOLD {
        say(&format!("… and {} more, all in the file of --errors", bad - TOLD));
    }
    if nothing_done(summary) {
        say(&format!(
            "error: none of {rows} rows could be read\n hint: `breakeven kernels --help` lists what each op takes"
        ));
    } else if bad > 0 {
        say(&format!("{bad} bad among {rows} rows; they are in the table without a time, the reason in `note`"));
    }
}
