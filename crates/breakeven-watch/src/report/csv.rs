//! Samples as a table: a row for each GPU of each sample.

use crate::gpu::Gpu;
use crate::reading::{Field, Reading, Sample};

/// The rows of one session.
pub struct Csv;

impl Csv {
    /// The first line.
    pub fn header() -> String {
        let mut names = vec!["at_s", "gpu"];
        names.extend(Field::OF_GPUS.map(Field::key));
        names.extend(["host_cores", "host_own_cores", "host_watts", "host_joules"]);
        names.join(",")
    }

    /// The rows of a sample; without a GPU one, of the host. What is unknown is empty.
    pub fn rows(gpus: &[Gpu], sample: &Sample) -> String {
        let none = Reading::default();
        let all: Vec<(&str, &Reading)> = if gpus.is_empty() {
            vec![("", &none)]
        } else {
            gpus.iter().map(|gpu| gpu.label.as_str()).zip(&sample.gpus).collect()
        };
        let row = |(label, reading): (&str, &Reading)| {
            let mut cells = vec![format!("{:.3}", sample.at), label.to_owned()];
            cells.extend(Field::OF_GPUS.map(|field| cell(reading.get(field))));
            cells.extend(Field::OF_HOST.map(|field| cell(sample.host.get(field))));
            cells.join(",")
        };
        all.into_iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven::hardware::Vendor;

    #[test]
    fn every_row_has_every_column() {
        let columns = Csv::header().split(',').count();
        let sample = Sample { gpus: vec![Reading::default()], ..Sample::default() };
        for gpus in [&[Gpu::new("0", Vendor::Amd, "MI210")][..], &[]] {
            let rows = Csv::rows(gpus, &sample);
            assert!(rows.lines().all(|row| row.split(',').count() == columns), "{rows}");
        }
    }
}
