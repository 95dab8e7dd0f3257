//! Measurements in memory. A folder of them holds `kernels/` (a file a source) and `networks/` (`measured.csv` and the
//! graphs it names, `traces/` of single nodes), each of which may be missing.

use crate::networks::{self, Network};
use crate::programs::{self, Program};
use crate::{Result, convolutions, others, rows, traces};
use breakeven::hardware::{Catalogue, Device};
use breakeven::kernel::{boost, kernel_time};
use breakeven::units::{Bytes, BytesPerSec};
use breakeven::workload::{Dtype, Family, Op};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything read from one folder.
pub struct Data {
    /// GPUs by the name that the data gives them.
    pub gpus: Vec<(String, Device)>,
    /// The same with the limit that a short series of calls meets: gaps between calls cool the board.
    pub unlimited: Vec<Device>,
    /// The same with memory as fast as L2.
    pub hot: Vec<Device>,
    /// For each GPU its chip: boards of one chip are left out together.
    pub chips: Vec<String>,
    /// Names of GPUs that the catalogue does not know, with the rows left out for each.
    pub unknown: Vec<(String, usize)>,
    /// Names that several GPUs share, with the id that they are taken for and all others.
    pub shared: Vec<(String, Vec<String>)>,
    pub kernels: Vec<Kernel>,
    pub networks: Vec<Network>,
    /// Training jobs that were timed for their watts.
    pub jobs: Vec<Network>,
    /// Steps of image networks.
    pub programs: Vec<Program>,
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
    /// Seconds of one call below which the whole series of calls ends before the power limit takes hold.
    pub burst: f64,
    /// Called again and again, so that operands up to this share of L2 are found there.
    pub hot: f64,
    /// Whether fits look at it, or only the score.
    pub fitted: bool,
    /// An element-wise kernel that gives each thread one element.
    pub one_each: bool,
    /// Images with their channels last in memory.
    pub channels_last: bool,
    /// The year of the libraries that it was measured with; nothing for those that the model knows.
    pub library: Option<f64>,
    /// What NeuSight predicts for the same row, s, where the file says.
    pub neusight: Option<f64>,
}

impl Kernel {
    /// `op` as a clock that adds nothing showed it, cold, with the libraries that the model knows. `labels` are the data
    /// set's own names of the op and the dtype.
    pub fn timed(file: &'static str, gpu: usize, labels: [String; 2], (op, dtype): (Op, Dtype), measured: f64) -> Self {
        let [label, dtype_label] = labels;
        Self {
            file,
            gpu,
            label,
            dtype_label,
            op,
            dtype,
            test: false,
            measured,
            floor: 0.0,
            events: 0.0,
            burst: 0.0,
            hot: 0.0,
            fitted: true,
            one_each: false,
            channels_last: false,
            library: None,
            neusight: None,
        }
    }

    /// What the clock shows for `device` seconds of device time.
    pub fn as_measured(&self, device: f64) -> f64 {
        (device + self.events).max(self.floor)
    }

    /// Long enough that the kernel was measured and not its launch.
    pub fn above_floor(&self) -> bool {
        self.measured > 3.0 * self.floor
    }
}

/// Reads a folder; files may be missing. GPU names are those of `aliases.csv`, then the catalogue's; rows of a GPU that
/// neither knows are left out and the GPU is named in `unknown`.
pub fn read(folder: &Path) -> Result<Data> {
    let mut gpus = Gpus::default();
    let mut kernels = Vec::new();
    type Adapter = fn(&Path, &mut Gpus, &mut Vec<Kernel>) -> Result<()>;
    let adapters: [(&str, Adapter); 7] = [
        ("fp32_kernels.parquet", rows::fp32),
        ("lowprecision_gemm.parquet", rows::low_precision),
        ("fp16_llm_ops.parquet", others::transformer_layers),
        ("deepbench_nv_rows_raw.csv", others::deepbench),
        ("gpu_benches_stream.csv", others::streams),
        ("gpu_benches_small_kernels.csv", others::small_kernels),
        ("mamf.csv", others::best_products),
    ];
    for (name, adapter) in adapters {
        let file = folder.join("kernels").join(name);
        if file.exists() {
            let (before, strangers) = (kernels.len(), gpus.strangers());
            let read = adapter(&file, &mut gpus, &mut kernels);
            let used = kernels.len() - before;
            match read {
                Err(e) => eprintln!("warning: {}: {e}; {used} rows of it are used", file.display()),
                Ok(()) if used == 0 && gpus.strangers() == strangers => {
                    eprintln!(
                        "warning: {}: no row of it is used: empty, or other columns than expected",
                        file.display()
                    );
                }
                Ok(()) => {}
            }
            for (why, rows) in std::mem::take(&mut gpus.left_out) {
                eprintln!("warning: {}: {rows} rows left out: {why}", file.display());
            }
        }
    }
    let file = folder.join("networks/measured.csv");
    let networks = whole(&file, &mut gpus, networks::read);
    let jobs = whole(&folder.join("power/power_zeus_traces.csv"), &mut gpus, networks::jobs);
    let programs = whole(&folder.join("networks/image_amp.csv"), &mut gpus, programs::read);
    traces::read(&folder.join("networks/traces"), &mut gpus, &mut kernels)?;
    if !kernels.is_empty() {
        convolutions::own(&mut gpus, &mut kernels)?;
    }
    if kernels.is_empty() && networks.is_empty() && programs.is_empty() {
        let names = adapters.map(|(name, _)| format!("kernels/{name}")).join(", ");
        let expected = format!("expected {names} or networks/measured.csv");
        let here = |name: &str| folder.join(name).exists();
        if !here("networks/measured.csv") && !adapters.iter().any(|(name, _)| here(&format!("kernels/{name}"))) {
            return Err(format!("no measurements in {}: {expected}", folder.display()).into());
        }
        eprintln!("warning: no measurement of a known GPU in {}: nothing is scored", folder.display());
    }
    let unlimited = gpus.known.iter().map(|(_, device)| unlimited(device)).collect();
    let hot = gpus.known.iter().map(|(_, device)| hot(device)).collect();
    let unknown = gpus.unknown.into_iter().collect();
    let chips = gpus.known.iter().map(|(_, device)| chip(&device.id)).collect();
    let shared = gpus.shared.into_iter().collect();
    Ok(Data { gpus: gpus.known, unlimited, hot, chips, unknown, shared, kernels, networks, jobs, programs })
}

/// The rows of a file that may be missing, or be no such file at all.
fn whole<T>(file: &Path, gpus: &mut Gpus, rows: fn(&Path, &mut Gpus) -> Result<Vec<T>>) -> Vec<T> {
    let of = |e| eprintln!("warning: {}: {e}; none of it is used", file.display());
    if file.exists() { rows(file, gpus).map_err(of).unwrap_or_default() } else { Vec::new() }
}

/// Whether a GPU can do so much: there is work, of no more than 10¹⁶ bytes and 10²² FLOP.
pub fn possible(op: &Op) -> bool {
    let need = kernel_time(op, Dtype::F32, Bytes::ZERO, Bytes::ZERO, &Catalogue::embedded().gpus()[0].device);
    let product = matches!(op.family(), Family::Matmul | Family::Convolution);
    let flop = need.flop.get();
    (1.0..=1e16).contains(&need.bytes.get()) && flop <= 1e22 && (flop > 0.0 || !product)
}

/// Boards whose names do not tell that they share a chip.
const CHIPS: &[(&str, &[&str])] = &[
    ("gm200", &["m40", "titan-x-maxwell", "gtx-980-ti"]),
    ("gp102", &["p40", "titan-x-pascal", "titan-xp", "gtx-1080-ti"]),
    ("gp104", &["p4", "gtx-1070", "gtx-1080"]),
    ("gv100", &["v100", "titan-v"]),
    ("tu102", &["quadro-rtx-6000", "quadro-rtx-8000", "rtx-2080-ti", "titan-rtx"]),
    ("tu104", &["t4", "t4g", "rtx-2080"]),
    ("ga100", &["a30", "a100", "a800"]),
    ("ga102", &["a10", "a10g", "a40", "rtx-a4500", "rtx-a5000", "rtx-a6000", "rtx-3080", "rtx-3090"]),
    ("ad102", &["l40", "l40s", "rtx-4090", "rtx-6000-ada"]),
    ("gh100", &["h20", "h100", "h200", "h800", "gh200"]),
    ("gb202", &["rtx-5090", "rtx-pro-6000"]),
    ("aldebaran", &["mi210", "mi250", "mi250x"]),
    ("mi300", &["mi300a", "mi300x", "mi325x"]),
];

/// `v100-pcie-32gb` → `v100`; series whose first word is a brand keep their id.
fn chip(id: &str) -> String {
    // What laptops are sold under a board's name is another chip.
    let is = |board: &&&str| {
        id.strip_prefix(**board)
            .is_some_and(|rest| rest.is_empty() || (rest.starts_with('-') && !rest.contains("laptop")))
    };
    if let Some((chip, _)) = CHIPS.iter().find(|(_, boards)| boards.iter().any(|board| is(&board))) {
        return (*chip).to_owned();
    }
    let first = id.split('-').next().unwrap_or(id);
    let data_centre = first.chars().next_back().is_some_and(|c| c.is_ascii_digit()) && first != "rx";
    if data_centre { first.trim_start_matches('g').to_owned() } else { id.to_owned() }
}

/// How the times of `op` in `dtype` on `gpu` in `file` were taken, from `protocols.csv`.
#[derive(Clone, Copy, Default)]
pub struct Protocol {
    /// Share of the launch floor that the clock adds: the first event passes while the host still prepares the launch.
    pub event_share: f64,
    /// Seconds of one call below which the power limit does not take hold.
    pub burst: f64,
    /// What the clock cannot show below, s.
    pub floor: f64,
    /// Operands up to this share of L2 are found there; 0: never.
    pub hot: f64,
    /// Whether fits use it.
    pub fitted: bool,
    /// The year of the libraries, where it is not that of the model's.
    pub library: Option<f64>,
}

pub fn protocol(file: &str, op: &str, dtype: Dtype, gpu: &str) -> Protocol {
    let mut protocols = csv::Reader::from_reader(include_str!("../protocols.csv").as_bytes());
    let covers = |list: &str, name: &str| list == "*" || list.split(' ').any(|one| one == name);
    let fits =
        |r: &csv::StringRecord| &r[0] == file && covers(&r[1], op) && covers(&r[2], gpu) && covers(&r[3], dtype.name());
    let row = protocols.records().filter_map(|r| r.ok()).find(fits);
    let number = |column: usize| row.as_ref().and_then(|r| r[column].parse().ok()).unwrap_or(0.0);
    let text = |column: usize| row.as_ref().and_then(|r| r.get(column)).unwrap_or_default();
    Protocol {
        event_share: number(6),
        burst: 1e-3 * number(7),
        floor: 1e-6 * number(8),
        hot: number(9),
        fitted: text(10) == "yes",
        library: text(12).parse().ok(),
    }
}

/// Each unit draws some 20 bytes a clock from L2.
fn hot(device: &Device) -> Device {
    let rate = 20.0 * device.units.map_or(0.0, f64::from) * boost(device).unwrap_or(0.0);
    let mut device = device.clone();
    device.bandwidth = BytesPerSec(device.bandwidth.get().max(rate));
    device
}

fn unlimited(device: &Device) -> Device {
    let mut device = device.clone();
    device.tdp = device.tdp.map(|watts| watts * 1.5);
    device
}

/// GPUs met so far.
#[derive(Default)]
pub struct Gpus {
    known: Vec<(String, Device)>,
    unknown: BTreeMap<String, usize>,
    shared: BTreeMap<String, Vec<String>>,
    /// Why rows of the file being read are left out, and how many.
    left_out: BTreeMap<String, usize>,
}

impl Gpus {
    /// As the data calls it.
    pub fn name(&self, gpu: usize) -> &str {
        &self.known[gpu].0
    }

    /// Datasheet bandwidth, B/s.
    pub fn bandwidth(&self, gpu: usize) -> f64 {
        self.known[gpu].1.bandwidth.get()
    }

    /// Clocks of all units together, 1/s; the paces that it is for were read with 1.8 GHz where no clock is given.
    pub fn cycles(&self, gpu: usize) -> f64 {
        let device = &self.known[gpu].1;
        f64::from(device.units.unwrap_or(64)) * device.boost.map_or(1.8e9, |clock| clock.get())
    }

    /// Rows of GPUs that nobody knows.
    fn strangers(&self) -> usize {
        self.unknown.values().sum()
    }

    /// A row that cannot be used.
    pub fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }

    /// Whether a measured row is one of work that a GPU can do, in a time; else it is left out.
    pub fn usable(&mut self, op: &Op, seconds: f64) -> bool {
        let usable = seconds > 0.0 && seconds.is_finite() && possible(op);
        if !usable {
            self.leave_out("a dim or the time is zero, negative or larger than any GPU's");
        }
        usable
    }

    /// The place of `name` among the GPUs; nothing where no one knows it.
    pub fn index(&mut self, name: &str) -> Option<usize> {
        if let Some(i) = self.known.iter().position(|(known, _)| known == name) {
            return Some(i);
        }
        if let Some(rows) = self.unknown.get_mut(name) {
            *rows += 1;
            return None;
        }
        let mut aliases = csv::Reader::from_reader(include_str!("../aliases.csv").as_bytes());
        let alias = aliases.records().filter_map(|r| r.ok()).find(|r| &r[0] == name);
        // Data sets write underscores where people write spaces.
        let spelled = name.replace('_', " ");
        match Catalogue::embedded().find_gpu(alias.as_ref().map_or(&spelled, |r| &r[1])) {
            Ok(found) => {
                if found.gpus.len() > 1 {
                    let ids = found.gpus.iter().map(|gpu| gpu.id().to_owned()).collect();
                    self.shared.insert(name.to_owned(), ids);
                }
                self.known.push((name.to_owned(), found.gpus[0].device.clone()));
                Some(self.known.len() - 1)
            }
            Err(_) => {
                self.unknown.insert(name.to_owned(), 1);
                None
            }
        }
    }

    pub fn device(&self, index: usize) -> &Device {
        &self.known[index].1
    }

    /// Each with the name that the data gives it.
    pub fn devices(self) -> Vec<(String, Device)> {
        self.known
    }
}
