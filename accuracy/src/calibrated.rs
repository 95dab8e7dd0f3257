//! A machine file made of a file of the measuring kit: how far the model is off on a third of its kernels, with the rest and
//! without.

use breakeven::calibration::{Board, Calibration, FORMAT, Kernel, MachineFile, On, errors};
use breakeven::hardware::Catalogue;
use breakeven::interval::Interval;
use breakeven::request::Machine;
use breakeven::table::{Cell, Columns, Row};
use breakeven::workload::Op;
use serde::Serialize;
use std::path::Path;

/// What `calibrated` prints of one file.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The file's name.
    pub file: String,
    /// The GPU that it is of.
    pub gpu: String,
    /// Kernels in all, and those that were held back.
    pub kernels: usize,
    /// See `kernels`.
    pub held_back: usize,
    /// Median of |modelled ÷ measured − 1| on those without calibration.
    pub before: f64,
    /// The same with it.
    pub after: f64,
    /// `after` ÷ `before`.
    pub ratio: f64,
    /// Share within the 80 % interval, with calibration.
    pub coverage80: f64,
}

/// Scores a file of kernels on one GPU. Rows with a cold cache are no program's, and are left out.
///
/// # Errors
/// A file without the kit's columns, without a GPU of the catalogue, or with too few kernels to hold a third back.
pub(crate) fn score(file: &Path) -> Result<Report, Box<dyn std::error::Error>> {
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    let columns = Columns::read(header.iter()).map_err(|e| e.to_string())?;
    let place = |name: &str| header.iter().position(|h| h == name).ok_or_else(|| format!("no column `{name}`"));
    let (gpu, l2, framework) = (place("gpu")?, place("l2")?, place("framework")?);
    let times = [place("latency_us_p10")?, place("latency_us")?, place("latency_us_p90")?];
    let (mut kernels, mut name) = (Vec::new(), String::new());
    for record in reader.records() {
        let record = record?;
        let Some([p10, p50, p90]) = seconds(times.map(|column| &record[column])) else { continue };
        let Ok(row) = Row::read(&columns, |i| record.get(i).map_or(Cell::Empty, Cell::Text)) else { continue };
        let op = row.op();
        if &record[l2] == "cold" || !(op.is_array_work() || matches!(op, Op::Transfer { .. })) {
            continue;
        }
        record[gpu].clone_into(&mut name);
        let (read_bytes, dtype) = (op.min_bytes(row.dtype()).get() as u64, row.dtype());
        kernels.push(Kernel {
            on: On::Gpu,
            library: record[framework].to_owned(),
            op,
            dtype,
            read_bytes,
            written_bytes: 0,
            threads: None,
            seconds: Interval { p10, p50, p90 },
        });
    }
    let machine = MachineFile {
        format: FORMAT.to_owned(),
        date: String::new(),
        version: String::new(),
        machine: Machine::default(),
        busy: None,
        gpu: Some(Board { name: name.clone(), ..Board::default() }),
        kernels,
        costs: Vec::new(),
        rates: Vec::new(),
        factors: Vec::new(),
        errors: Vec::new(),
        notes: Vec::new(),
    };
    let calibration = Calibration::of(machine.clone(), Catalogue::embedded());
    let found = errors(&calibration, &machine).into_iter().find(|error| error.on == On::Gpu);
    let error = found.ok_or_else(|| format!("{} has too few kernels of a GPU of the catalogue", file.display()))?;
    Ok(Report {
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        gpu: name,
        kernels: machine.kernels.len(),
        held_back: error.kernels,
        before: error.before,
        after: error.after,
        ratio: error.after / error.before,
        coverage80: error.covered,
    })
}

/// Rising times, µs as written, in s.
fn seconds(us: [&str; 3]) -> Option<[f64; 3]> {
    let mut s = [0.0; 3];
    for (s, us) in s.iter_mut().zip(us) {
        *s = us.parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite())? * 1e-6;
    }
    (s[0] <= s[1] && s[1] <= s[2]).then_some(s)
}
