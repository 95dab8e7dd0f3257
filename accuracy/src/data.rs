//! Measurements in memory. A folder of them holds `kernels/fp32_kernels.parquet`, `kernels/lowprecision_gemm.parquet`
//! and `networks/` (`measured.csv` and the graphs it names), each of which may be missing.

use crate::networks::{self, Network};
use crate::{Result, rows};
use breakeven::hardware::{Catalogue, Device};
use breakeven::workload::{Dtype, Op};
use std::path::Path;

/// Everything read from one folder.
pub struct Data {
    /// GPUs by the name that the data gives them.
    pub gpus: Vec<(String, Device)>,
    pub kernels: Vec<Kernel>,
    pub networks: Vec<Network>,
}

/// One measured kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub file: &'static str,
    /// Index into `Data::gpus`.
    pub gpu: usize,
    /// The data set's own name of the op.
    pub label: String,
    /// The data set's own name of the dtype.
    pub dtype_label: String,
    pub op: Op,
    pub dtype: Dtype,
    /// Of the data set's test split: shapes as networks have them.
    pub test: bool,
    /// Seconds.
    pub measured: f64,
    /// The shortest time of its kind on this GPU: what a launch costs the host, where the clock includes it; else 0.
    pub floor: f64,
    /// What the clock adds to the device's time, s: the gap between an event and the kernel it waits for.
    pub events: f64,
}

impl Kernel {
    /// What the clock shows for `device` seconds of device time.
    pub fn as_measured(&self, device: f64) -> f64 {
        (device + self.events).max(self.floor)
    }

    /// Long enough that the kernel was measured and not its launch.
    pub fn above_floor(&self) -> bool {
        self.measured > 3.0 * self.floor
    }
}

/// Reads a folder. GPU names are those of `aliases.csv`, then the catalogue's; a row of an unknown GPU is an error.
pub fn read(folder: &Path) -> Result<Data> {
    let mut gpus = Gpus { known: Vec::new() };
    let mut kernels = Vec::new();
    let file = folder.join("kernels/fp32_kernels.parquet");
    if file.exists() {
        rows::fp32(&file, &mut gpus, &mut kernels)?;
    }
    let file = folder.join("kernels/lowprecision_gemm.parquet");
    if file.exists() {
        rows::low_precision(&file, &mut gpus, &mut kernels)?;
    }
    let file = folder.join("networks/measured.csv");
    let networks = if file.exists() { networks::read(&file, &mut gpus)? } else { Vec::new() };
    if kernels.is_empty() && networks.is_empty() {
        return Err(format!("no measurements in {}: expected kernels/*.parquet or networks/", folder.display()).into());
    }
    Ok(Data { gpus: gpus.known, kernels, networks })
}

/// Share of the launch floor that the clock of `file` adds to the time of `op`, from `protocols.csv`: the first event
/// passes while the host still prepares the launch.
pub fn event_share(file: &str, op: &str) -> f64 {
    let mut protocols = csv::Reader::from_reader(include_str!("../protocols.csv").as_bytes());
    let covers = |ops: &str| ops == "*" || ops.split(' ').any(|o| o == op);
    let row = protocols.records().filter_map(|r| r.ok()).find(|r| &r[0] == file && covers(&r[1]));
    row.and_then(|r| r[4].parse().ok()).unwrap_or(0.0)
}

/// GPUs met so far.
#[derive(Default)]
pub struct Gpus {
    known: Vec<(String, Device)>,
}

impl Gpus {
    pub fn index(&mut self, name: &str) -> Result<usize> {
        if let Some(i) = self.known.iter().position(|(known, _)| known == name) {
            return Ok(i);
        }
        let mut aliases = csv::Reader::from_reader(include_str!("../aliases.csv").as_bytes());
        let alias = aliases.records().filter_map(|r| r.ok()).find(|r| &r[0] == name);
        let found = Catalogue::embedded().find_gpu(alias.as_ref().map_or(name, |r| &r[1]));
        let gpu = found.map_err(|e| e.to_string())?.gpus[0];
        self.known.push((name.to_owned(), gpu.device.clone()));
        Ok(self.known.len() - 1)
    }

    pub fn device(&self, index: usize) -> &Device {
        &self.known[index].1
    }

    /// Each with the name that the data gives it.
    pub fn devices(self) -> Vec<(String, Device)> {
        self.known
    }
}
