//! What NVML takes its time for, asked by a thread of its own once a second: PCIe traffic (the driver counts for 20 ms
//! each time it is asked), temperature, memory clock, and processes.

use super::Process;
use super::processes::name;
use crate::reading::{Field, Reading};
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Clock, PcieUtilCounter, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How often each board is asked.
const EVERY: Duration = Duration::from_secs(1);

/// The thread, and what it knows.
pub(super) struct Lane {
    shared: Arc<Shared>,
    thread: Option<Thread>,
}

struct Shared {
    known: Mutex<Vec<Known>>,
    ended: AtomicBool,
}

/// What was last known of a board.
#[derive(Clone, Default)]
struct Known {
    left: bool,
    celsius: Option<f64>,
    memory_mhz: Option<f64>,
    to_gpu: Option<f64>,
    from_gpu: Option<f64>,
    processes: Vec<Process>,
}

impl Lane {
    /// Asks all but traffic once, so that the first look has it, and goes on by itself. MIG instances have no traffic and no
    /// clocks of their own.
    pub(super) fn start(root: &Path, devices: Vec<&'static Device<'static>>, instances: Vec<bool>) -> Self {
        let known = Mutex::new(vec![Known::default(); devices.len()]);
        let shared = Arc::new(Shared { known, ended: AtomicBool::new(false) });
        let mut asker = Asker { root: root.to_owned(), devices, instances, seen: BTreeMap::new() };
        asker.round(&shared, false);
        let theirs = Arc::clone(&shared);
        let started = thread::Builder::new().name("nvml".to_owned()).stack_size(256 * 1024).spawn(move || {
            while !theirs.ended.load(Ordering::Relaxed) {
                let start = Instant::now();
                asker.round(&theirs, true);
                thread::park_timeout(EVERY.saturating_sub(start.elapsed()));
            }
        });
        Self { shared, thread: started.ok().map(|handle| handle.thread().clone()) }
    }

    /// Puts what is known of board `n` into a reading.
    pub(super) fn fill(&self, n: usize, reading: &mut Reading) {
        let all = self.shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        reading.set(Field::Celsius, all[n].celsius);
        reading.set(Field::MemoryMhz, all[n].memory_mhz);
        reading.set(Field::ToGpu, all[n].to_gpu);
        reading.set(Field::FromGpu, all[n].from_gpu);
    }

    /// Board `n` is asked no more.
    pub(super) fn leave(&self, n: usize) {
        let mut all = self.shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        all[n] = Known { left: true, ..Known::default() };
    }

    /// Who is on the boards.
    pub(super) fn processes(&self) -> Vec<Process> {
        let all = self.shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().flat_map(|known| known.processes.clone()).collect()
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

/// Who asks.
struct Asker {
    root: PathBuf,
    devices: Vec<&'static Device<'static>>,
    instances: Vec<bool>,
    /// The driver's time, µs, of the last sample of each board's processes.
    seen: BTreeMap<usize, u64>,
}

impl Asker {
    /// One round over all boards that are there.
    fn round(&mut self, shared: &Shared, traffic: bool) {
        for n in 0..self.devices.len() {
            let before = {
                let all = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
                (!all[n].left).then(|| all[n].clone())
            };
            let Some(before) = before else { continue };
            // Without the lock: the driver may take long.
            let now = self.ask(n, traffic, before);
            let mut all = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
            if !all[n].left {
                all[n] = now;
            }
        }
    }

    fn ask(&mut self, n: usize, traffic: bool, before: Known) -> Known {
        let device = self.devices[n];
        let mut known = Known { processes: self.processes(n), ..before };
        if self.instances[n] {
            return known;
        }
        known.celsius = device.temperature(TemperatureSensor::Gpu).ok().map(f64::from);
        known.memory_mhz = device.clock_info(Clock::Memory).ok().map(f64::from);
        if traffic {
            // NVML counts in kB (1000 B) a second, as seen by the GPU.
            let rate = |way| device.pcie_throughput(way).ok().map(|kilobytes| f64::from(kilobytes) * 1e3);
            known.to_gpu = rate(PcieUtilCounter::Receive);
            known.from_gpu = rate(PcieUtilCounter::Send);
        }
        known
    }

    fn processes(&mut self, n: usize) -> Vec<Process> {
        let device = self.devices[n];
        let mut all: BTreeMap<u32, Process> = BTreeMap::new();
        let compute = device.running_compute_processes().or_else(|_| device.running_compute_processes_v2());
        let graphics = device.running_graphics_processes().unwrap_or_default();
        for ProcessInfo { pid, used_gpu_memory, .. } in compute.unwrap_or_default().into_iter().chain(graphics) {
            #[expect(clippy::cast_precision_loss, reason = "memory sizes are far below 2^53")]
            let memory = match used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes as f64),
                UsedGpuMemory::Unavailable => None,
            };
            all.entry(pid).or_insert_with(|| Process { gpu: n, pid, name: name(&self.root, pid), memory, busy: None });
        }
        if !all.is_empty() && !self.instances[n] {
            let seen = self.seen.entry(n).or_default();
            let mut sums: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            for sample in device.process_utilization_stats(*seen).unwrap_or_default() {
                // The driver's buffer holds empty places.
                if sample.timestamp == 0 || sample.sm_util > 100 {
                    continue;
                }
                *seen = (*seen).max(sample.timestamp);
                let sum = sums.entry(sample.pid).or_default();
                *sum = (sum.0 + sample.sm_util, sum.1 + 1);
            }
            for (pid, (sum, count)) in sums {
                if let Some(process) = all.get_mut(&pid) {
                    process.busy = Some(f64::from(sum) / f64::from(count) / 100.0);
                }
            }
        }
        all.into_values().collect()
    }
}
