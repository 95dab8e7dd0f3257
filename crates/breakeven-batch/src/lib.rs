//! Many rows at once: a table of kernels in CSV or Parquet goes in, the same table with a time per row comes out.
//!
//! A stream: [`Table::open`] reads the header, [`kernels`] takes some thousand rows at a time through the engine and
//! writes them, so that memory does not grow with the table. Equal rows are evaluated once. Rows that cannot be read
//! stay where they are, without a time and with the reason; they stop nothing.

mod evaluate;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::Table;
pub use write::Format;

use breakeven::Result;
use breakeven::table::{Clock, Devices};
use std::io::Write;

/// Rows that are worth working on at a time.
const FEWEST: usize = 64;

/// What came of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows read.
    pub rows: u64,
    /// Results with a time: one for each row and GPU.
    pub timed: u64,
    /// Rows that could not be read, and results that could not be.
    pub bad: u64,
}

/// Adds `time_us_p10`, `time_us_p50`, `time_us_p90`, `bound_by` and `note` to each row of `table` on its device (or on
/// each device), and writes it to `out`. `bad` is told of each bad row with its number, counted from 1 below the
/// header, `progress` of the rows done so far.
///
/// # Errors
/// A table that cannot be read on, a place that cannot be written, what `bad` returns.
pub fn kernels(
    mut table: Table,
    mut devices: Devices,
    clock: Clock,
    format: Format,
    out: impl Write + Send,
    mut bad: impl FnMut(u64, &str) -> Result<()> + Send,
    mut progress: impl FnMut(u64) + Send,
) -> Result<Summary> {
    let mut sink = write::Sink::new(format, out, &evaluate::schema(&table, &devices), &table)?;
    let mut memo = evaluate::Memo::default();
    let mut summary = Summary::default();
    let columns = table.columns.clone();
    // As many results at a time, however many devices each row runs on.
    let most = (read::ROWS / if devices.by_column() { 1 } else { devices.known().len().max(1) }).max(FEWEST);
    let mut next = table.next_chunk()?;
    while let Some(chunk) = next {
        // The next rows are read while these are worked on.
        let (read, done) = rayon::join(
            || table.next_chunk(),
            || {
                for piece in chunk.pieces(most) {
                    let done = evaluate::evaluate(&columns, &piece, &mut devices, clock, &mut memo)?;
                    for (row, why) in &done.bad {
                        bad(summary.rows + *row as u64 + 1, why)?;
                    }
                    sink.write(&done.batch)?;
                    summary.rows += piece.batch.num_rows() as u64;
                    summary.timed += done.timed;
                    summary.bad += done.bad.len() as u64;
                    progress(summary.rows);
                }
                Ok(())
            },
        );
        done?;
        next = read?;
    }
    sink.finish(&summary)?;
    Ok(summary)
}
