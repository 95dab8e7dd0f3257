//! A file of the measuring kit against the model as it ships: how far it was off before the figures were used.

use crate::statistics::{mean, quantile};
use crate::{Result, convolutions};
use breakeven::hardware::{Catalogue, Device, DeviceKind};
use breakeven::table::{Cell, Clock, Columns, Row, timed};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What `score --measured` prints.
#[derive(Serialize)]
pub struct Report {
    rows: Vec<Cells>,
    all: Cells,
    /// Rows with a time that could not be compared, and why the first of them could not.
    skipped: usize,
    why: Option<String>,
}

/// All rows of one op and dtype.
#[derive(Serialize)]
struct Cells {
    op: String,
    dtype: String,
    n: usize,
    median_ape: f64,
    /// Median of modelled ÷ measured − 1.
    bias: f64,
    /// Quotients of the largest and the smallest modelled ÷ measured: what no constant factor would mend.
    spread: f64,
    coverage80: f64,
}

/// Compares. `device` stands for the name in the file; `cores` takes so many cores of a CPU. On a CPU the CPU time of
/// the process is compared where it is known: what else ran does not count in it. Each compared row goes to `rows_to`, with
/// what was modelled.
///
/// # Errors
/// A file without the columns of the kit, or without a row that can be compared.
pub fn score(file: &Path, device: Option<&str>, cores: Option<u32>, rows_to: Option<&Path>) -> Result<Report> {
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    let mut beside = rows_to.map(csv::Writer::from_path).transpose()?;
    if let Some(out) = &mut beside {
        out.write_record(header.iter().chain(["p10_us", "p50_us", "p90_us"]))?;
    }
    let convolutions = convolutions::are_in(&header);
    let columns = match convolutions {
        true => None,
        false => Some(Columns::read(header.iter()).map_err(|e| e.to_string())?),
    };
    let column = |name: &str| header.iter().position(|h| h == name);
    let latency = column("latency_us").ok_or("the file has no column `latency_us`")?;
    let (cpu_time, gpu, l2) = (column("cpu_us"), column("gpu"), column("l2"));
    let mut cells: BTreeMap<(String, String), Vec<(f64, bool)>> = BTreeMap::new();
    let (mut skipped, mut why) = (0, None);
    for record in reader.records() {
        let record = record?;
        let number = |column: Option<usize>| record.get(column?)?.parse::<f64>().ok().filter(|x| *x > 0.0);
        // Programs use what they have just made: the model means a warm cache.
        if l2.is_some_and(|column| &record[column] == "cold") {
            continue;
        }
        let Some(wall) = number(Some(latency)) else { continue };
        let name = device.or(gpu.and_then(|column| record.get(column))).unwrap_or_default();
        let compared = find(name, cores).and_then(|device| {
            let (op, dtype, model) = match &columns {
                Some(columns) => {
                    let row = Row::read(columns, |i| record.get(i).map_or(Cell::Empty, Cell::Text))?;
                    (row.name().to_owned(), row.dtype().name().to_owned(), timed(&row, &device, Clock::Device)?.time_us)
                }
                None => convolutions::timed(&header, &record, &device)?,
            };
            let one_core = device.kind == DeviceKind::Cpu && device.units == Some(1);
            let us = if one_core { number(cpu_time).unwrap_or(wall) } else { wall };
            Ok((op, dtype, model, us))
        });
        match compared {
            Ok((op, dtype, model, us)) => {
                if let Some(out) = &mut beside {
                    let times = [model.p10, model.p50, model.p90].map(|us| format!("{us:.3}"));
                    out.write_record(record.iter().chain(times.iter().map(String::as_str)))?;
                }
                cells.entry((op, dtype)).or_default().push((model.p50 / us, model.p10 <= us && us <= model.p90));
            }
            Err(reason) => {
                skipped += 1;
                why.get_or_insert(reason);
            }
        }
    }
    if cells.is_empty() {
        return Err(format!("no row of {} can be compared: {}", file.display(), why.unwrap_or_default()).into());
    }
    let every: Vec<(f64, bool)> = cells.values().flatten().copied().collect();
    let rows = cells.iter().map(|((op, dtype), rows)| summary(op, dtype, rows)).collect();
    Ok(Report { rows, all: summary("all", "", &every), skipped, why })
}

fn find(name: &str, cores: Option<u32>) -> std::result::Result<Device, String> {
    let mut device = match Catalogue::embedded().find_gpu(name) {
        Ok(found) => found.gpus[0].device.clone(),
        Err(error) => Catalogue::embedded().find_cpu(name).map_err(|_| error.to_string())?.device.clone(),
    };
    if let (Some(cores), Some(units), DeviceKind::Cpu) = (cores, device.units, device.kind) {
        let share = f64::from(cores) / f64::from(units);
        for peak in [&mut device.peaks.f64_vector, &mut device.peaks.f32_vector].into_iter().flatten() {
            *peak = *peak * share;
        }
        device.units = Some(cores);
    }
    Ok(device)
}

fn summary(op: &str, dtype: &str, rows: &[(f64, bool)]) -> Cells {
    let mut ape: Vec<f64> = rows.iter().map(|(q, _)| (q - 1.0).abs()).collect();
    let mut quotients: Vec<f64> = rows.iter().map(|(q, _)| *q).collect();
    Cells {
        op: op.to_owned(),
        dtype: dtype.to_owned(),
        n: rows.len(),
        median_ape: quantile(&mut ape, 0.5),
        bias: quantile(&mut quotients, 0.5) - 1.0,
        spread: quantile(&mut quotients, 1.0) / quantile(&mut quotients, 0.0),
        coverage80: mean(&rows.iter().map(|(_, inside)| f64::from(*inside)).collect::<Vec<_>>()),
    }
}

impl Report {
    /// For people, errors in per cent.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{:<14}{:<9}{:>6}{:>8}{:>9}{:>8}{:>7}\n",
            "op", "dtype", "rows", "median", "bias", "spread", "cover"
        );
        for r in self.rows.iter().chain([&self.all]) {
            out += &format!(
                "{:<14}{:<9}{:>6}{:>8.0}{:>+9.0}{:>8.1}{:>7.0}\n",
                r.op,
                r.dtype,
                r.n,
                r.median_ape * 100.0,
                r.bias * 100.0,
                r.spread,
                r.coverage80 * 100.0
            );
        }
        match &self.why {
            Some(why) => out + &format!("{} rows could not be compared; the first: {why}\n", self.skipped),
            None => out,
        }
    }
}
