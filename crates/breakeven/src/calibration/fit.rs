//! The models of one machine's devices, corrected by its file.

use super::{Kernel, MachineFile, On, read};
use crate::hardware::device::{Copies, Curves, Pair, Work};
use crate::hardware::{Catalogue, Cpu, Device, DeviceKind};
use crate::interval::Interval;
use crate::kernel::{Recorded, kernel_time_plain, work};
use crate::port::{self, Startup};
use crate::report::words;
use crate::request::Machine;
use crate::units::{Bytes, Watts};
use crate::workload::Op;
use crate::workload::op::Direction;
use crate::{Error, Result};
use std::sync::Arc;

/// A copy of at most so many bytes takes what any copy takes to begin; one of at least so many goes at the link's rate.
const SMALL_COPY: u64 = 1 << 14;
const LARGE_COPY: u64 = 1 << 24;

/// A machine file that was read, with its devices.
#[derive(Clone, Debug)]
pub struct Calibration {
    file: MachineFile,
    /// The CPU as it was measured; `None` where the file does not say which it is.
    pub cpu: Option<Cpu>,
    /// The catalogue's id of the GPU that was measured, and the GPU as it was measured.
    pub gpu: Option<Device>,
}

impl Calibration {
    /// Reads the text of a machine file, and fits the models of its devices.
    ///
    /// # Errors
    /// As [`read`].
    pub fn new(text: &str, catalogue: &Catalogue) -> Result<Self> {
        Ok(Self::of(read(text)?, catalogue))
    }

    /// The same of a file that was read.
    pub fn of(file: MachineFile, catalogue: &Catalogue) -> Self {
        let Machine { cpu, cpu_threads, cpu_cache_bytes, cpu_wide } = &file.machine;
        let cache = Bytes(*cpu_cache_bytes as f64);
        let cpu = catalogue.cpu_of(cpu, *cpu_threads, cache, *cpu_wide).map(|mut cpu| {
            cpu.device.measured = curves(&file, On::Cpu, &cpu.device);
            cpu
        });
        let found = file.gpu.as_ref().and_then(|board| catalogue.find_gpu(&board.name).ok());
        let gpu = found.and_then(|found| found.gpus.first().map(|gpu| gpu.device.clone())).map(|mut device| {
            device.measured = curves(&file, On::Gpu, &device);
            device.copies = copies(&file.kernels);
            device.context_idle = file.gpu.as_ref().and_then(|b| b.idle_w).map(Watts).or(device.context_idle);
            device
        });
        Self { file, cpu, gpu }
    }

    /// Whether it is of this machine: CPU and threads.
    pub fn is_of(&self, machine: &Machine) -> bool {
        let own = &self.file.machine;
        !own.cpu.is_empty() && own.cpu == machine.cpu && own.cpu_threads == machine.cpu_threads
    }

    /// The CPU of the file.
    ///
    /// # Errors
    /// It names none.
    pub fn named_cpu(&self) -> Result<Cpu> {
        self.cpu.clone().ok_or_else(|| {
            Error::new("bad-machine", "the machine file does not say which CPU it is of")
                .hint("`--cpu NAME` names one of the catalogue")
                .field("cpu")
        })
    }

    /// How many times as long a call of each port's library takes to hand over work as on the reference CPU, where that was
    /// measured: by its own calls on a GPU, else by the small calls of the library that the port starts from.
    pub fn paces(&self) -> Vec<(&'static str, f64)> {
        let of = |library: &str, what: &str| self.cost(library, what).map(|t| t.p50);
        let pace = |profile: &'static port::PortProfile| {
            let usual = profile.usual_dispatch().p50;
            let own = of(profile.name, "dispatch.elementwise").map(|s| s / usual);
            let from = if profile.name == "torch" { "torch" } else { "numpy" };
            let small = || Some(of(from, "small_call")? / profile.small_call()?.p50);
            let pace = own.or_else(small).filter(|pace| pace.is_finite() && *pace > 0.0)?;
            Some((profile.name, pace.clamp(0.1, 10.0)))
        };
        port::all().iter().filter_map(pace).collect()
    }

    /// `startup` with the parts that were measured.
    pub fn startup(&self, library: &str, mut startup: Startup) -> Startup {
        for part in &mut startup.parts {
            let measured = self.cost(library, &format!("startup.{}", part.what));
            // What else runs on a machine makes one start differ from the next.
            part.time = measured.map_or(part.time, |t| t.widened(0.1));
        }
        startup
    }

    fn cost(&self, library: &str, what: &str) -> Option<Interval> {
        self.file.costs.iter().find(|c| c.library == library && c.what == what).map(|c| c.seconds)
    }

    /// What a reader should know: which times rest on the file.
    pub fn note(&self, cpu: bool, gpu: bool) -> String {
        let own = &self.file;
        let name = |name: &str| words::printable(name, 80);
        let mut devices = Vec::new();
        if cpu {
            devices.push(format!("{} ({} threads)", name(&own.machine.cpu), own.machine.cpu_threads));
        }
        devices.extend(own.gpu.iter().filter(|_| gpu).map(|board| name(&board.name)));
        let busy = own.busy.filter(|share| *share >= BUSY).map_or_else(String::new, |share| {
            format!("; other programs had {:.0} % of its processors meanwhile", 100.0 * share)
        });
        let day = name(&own.date);
        let times =
            format!("times on {} rest on what `breakeven calibrate` measured there on {day}", devices.join(" and "));
        times + &busy
    }
}

/// The standard deviation of ln(time) that a machine adds whose processors others had all the time.
const BUSY_SIGMA: f64 = 0.3;
/// From this share on, what others had of the processors is told.
pub(super) const BUSY: f64 = 0.2;

/// The kind of work of a kernel on a device, and what the models say and the clock said of it.
pub(super) fn pair(kernel: &Kernel, device: &Device) -> (Work, Pair) {
    let by_torch = kernel.library == "torch";
    let recorded = Recorded {
        read: Bytes(kernel.read_bytes as f64),
        written: Bytes(kernel.written_bytes as f64),
        by_torch,
        ..Recorded::default()
    };
    let modelled = kernel_time_plain(&kernel.op, kernel.dtype, recorded, device).p50.get();
    let work = work(&kernel.op, kernel.dtype, by_torch);
    (work, Pair { modelled, measured: kernel.seconds.p50 })
}

/// The kernels of a file that correct the model of a device.
pub(super) fn counted(kernels: &[Kernel], on: On) -> impl Iterator<Item = &Kernel> {
    kernels.iter().filter(move |kernel| kernel.on == on && kernel.threads.is_none())
}

fn curves(file: &MachineFile, on: On, device: &Device) -> Option<Arc<Curves>> {
    debug_assert_eq!(device.kind == DeviceKind::Cpu, on == On::Cpu);
    let pairs: Vec<(Work, Pair)> = counted(&file.kernels, on).map(|kernel| pair(kernel, device)).collect();
    // What others had of the processors the next program has, or not.
    let busy = file.busy.filter(|_| on == On::Cpu).unwrap_or(0.0);
    Some(Arc::new(Curves::fit(&pairs).widened(BUSY_SIGMA * busy))).filter(|curves| !curves.is_empty())
}

/// Rates of copies by the large ones, and what the small ones take.
fn copies(kernels: &[Kernel]) -> Option<Copies> {
    let of = |wanted: Direction, locked: bool| {
        let mut rates: Vec<f64> = counted(kernels, On::Gpu)
            .filter_map(|kernel| match kernel.op {
                Op::Transfer { direction, bytes, pinned, .. } if bytes >= LARGE_COPY => {
                    (direction == wanted && pinned == locked).then(|| bytes as f64 / kernel.seconds.p50)
                }
                _ => None,
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        rates.last().copied()
    };
    let short = counted(kernels, On::Gpu).filter_map(|kernel| match kernel.op {
        Op::Transfer { bytes, .. } if bytes <= SMALL_COPY => Some(kernel.seconds.p50),
        _ => None,
    });
    let found = Copies {
        up: of(Direction::H2d, false),
        down: of(Direction::D2h, false),
        up_pinned: of(Direction::H2d, true),
        down_pinned: of(Direction::D2h, true),
        latency_s: short.reduce(f64::min),
    };
    (found != Copies::default()).then_some(found)
}
