//! NVIDIA GPUs, from the driver's own library (NVML), loaded when it is first needed.
//!
//! What a driver is too old for, does not support on a board or does not permit is unknown. A board that falls off the bus
//! is told once and not asked again; the others go on.

use super::nvml_lane::Lane;
use super::{Gpu, Note, Process, Reading, Source, sysfs};
use crate::gpu::pcie;
use crate::reading::{Field, HEAT, POWER, SETTING};
use breakeven::hardware::Vendor;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::collections::BTreeSet;
use std::path::Path;

/// The GPUs of NVIDIA in this machine, and their MIG instances.
pub(super) struct Nvidia {
    gpus: Vec<Gpu>,
    boards: Vec<Board>,
    lane: Lane,
    driver: String,
    missing: BTreeSet<&'static str>,
    denied: BTreeSet<&'static str>,
    notes: Vec<Note>,
}

/// A GPU, and which questions it has not declined.
struct Board {
    device: &'static Device<'static>,
    asks: [bool; QUESTIONS],
    lost: bool,
}

const QUESTIONS: usize = 6;

impl Nvidia {
    /// Loads the library and lists the GPUs.
    ///
    /// # Errors
    /// Why there are none, where that is worth a word.
    pub(super) fn start(root: &Path) -> Result<Self, Option<Note>> {
        let nvml = Nvml::init().map_err(|error| refusal(&error, has_board(root)))?;
        // One library for the life of the process: its devices borrow it, and a lane of its own asks it, too.
        let nvml: &'static Nvml = Box::leak(Box::new(nvml));
        let driver = nvml.sys_driver_version().unwrap_or_else(|_| "of an unknown version".to_owned());
        let (mut gpus, mut boards, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..nvml.device_count().unwrap_or(0) {
            match nvml.device_by_index(n) {
                Ok(device) => {
                    let instances = instances(&device);
                    gpus.push(about(&device, n.to_string(), false));
                    boards.push(Board::new(device));
                    for (at, instance) in instances.into_iter().enumerate() {
                        gpus.push(about(&instance, format!("{n}.{at}"), true));
                        boards.push(Board::new(instance));
                    }
                }
                Err(error) => {
                    let note = Note::new("gpu-not-read", format!("NVIDIA GPU {n} cannot be read: {error}"));
                    notes.push(note.hint("`nvidia-smi` and `dmesg` say more"));
                }
            }
        }
        if gpus.is_empty() && notes.is_empty() {
            notes.push(Note::new("no-gpu", format!("the NVIDIA driver {driver} works and lists no GPU")));
        }
        let devices = boards.iter().map(|board: &Board| board.device).collect();
        let lane = Lane::start(root, devices, gpus.iter().map(|gpu| gpu.instance).collect());
        Ok(Self { gpus, boards, lane, driver, missing: BTreeSet::new(), denied: BTreeSet::new(), notes })
    }
}

/// Whether the PCI bus has a display or compute device of NVIDIA.
fn has_board(root: &Path) -> bool {
    let devices = std::fs::read_dir(root.join("sys/bus/pci/devices")).into_iter().flatten().flatten();
    let is = |path: &Path| {
        let said = |name| sysfs::text(&path.join(name)).unwrap_or_default();
        said("vendor") == "0x10de" && said("class").starts_with("0x03")
    };
    devices.map(|entry| entry.path()).any(|path| is(&path))
}

/// Why NVML did not start. A machine without a board of NVIDIA and without its driver has nothing to say.
fn refusal(error: &NvmlError, board: bool) -> Option<Note> {
    let note = |code, text: &str, hint: &str| Some(Note::new(code, text).hint(hint));
    match error {
        NvmlError::LibloadingError(_) if !board => None,
        NvmlError::LibloadingError(_) => note(
            "no-driver",
            "an NVIDIA GPU is there and its driver's library (libnvidia-ml.so.1) is not",
            "install the driver; in a container start it with --gpus all",
        ),
        NvmlError::DriverNotLoaded => note(
            "no-driver",
            "the NVIDIA driver is installed and not loaded",
            "sudo modprobe nvidia; after an update of the kernel, reboot",
        ),
        NvmlError::LibRmVersionMismatch => note(
            "driver-mismatch",
            "the NVIDIA driver that runs and its library are of different versions",
            "reboot, or load the new driver",
        ),
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => note(
            "driver-old",
            "the NVIDIA driver is too old: its library lacks what every version since 319 (2013) has",
            "install a newer driver",
        ),
        NvmlError::NoPermission => note(
            "no-permission",
            "permission denied by the NVIDIA driver",
            "check who may read and write /dev/nvidia* and /dev/nvidiactl",
        ),
        other => note("no-driver", &format!("the NVIDIA driver does not answer: {other}"), "`nvidia-smi` says more"),
    }
}

/// The MIG instances of a GPU: none where MIG is off or not known.
fn instances(device: &Device<'static>) -> Vec<Device<'static>> {
    let on = device.mig_mode().is_ok_and(|mode| mode.current != 0);
    let most = if on { device.mig_device_count().unwrap_or(0) } else { 0 };
    (0..most).filter_map(|n| device.mig_device_by_index(n).ok()).collect()
}

fn about(device: &Device<'static>, label: String, instance: bool) -> Gpu {
    let name = device.name().unwrap_or_else(|_| "NVIDIA GPU".to_owned());
    let link = || pcie(device.max_pcie_link_gen().ok()?, device.max_pcie_link_width().ok()?);
    Gpu {
        id: device.uuid().unwrap_or_default(),
        #[expect(clippy::cast_precision_loss, reason = "memory sizes are far below 2^53")]
        memory: device.memory_info().ok().map(|memory| memory.total as f64),
        limit_w: device.enforced_power_limit().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
        link: if instance { None } else { link() },
        instance,
        ..Gpu::new(label, Vendor::Nvidia, name)
    }
}

impl Board {
    fn new(device: Device<'static>) -> Self {
        // It lives as long as the library; the lane asks it, too.
        Self { device: Box::leak(Box::new(device)), asks: [true; QUESTIONS], lost: false }
    }

    /// Asks question `n`, unless it was declined before. What went wrong is told to `wrong`.
    fn ask<T>(
        &mut self,
        n: usize,
        what: &'static str,
        question: impl FnOnce(&Device<'static>) -> Result<T, NvmlError>,
        wrong: &mut impl FnMut(&'static str, &NvmlError),
    ) -> Option<T> {
        if self.lost || !self.asks[n] {
            return None;
        }
        match question(self.device) {
            Ok(value) => return Some(value),
            Err(NvmlError::GpuLost | NvmlError::ResetRequired) => self.lost = true,
            Err(error) => {
                self.asks[n] = !matches!(
                    error,
                    NvmlError::NotSupported
                        | NvmlError::NoPermission
                        | NvmlError::FailedToLoadSymbol(_)
                        | NvmlError::FunctionNotFound
                        | NvmlError::InvalidArg
                );
                wrong(what, &error);
            }
        }
        None
    }

    /// What changes from one look to the next. The rest is asked by the lane, once a second.
    fn read(&mut self, reading: &mut Reading, mut wrong: impl FnMut(&'static str, &NvmlError)) {
        *reading = Reading::default();
        let rates = self.ask(0, "utilisation", |device| device.utilization_rates(), &mut wrong);
        reading.set(Field::Busy, rates.as_ref().map(|rates| f64::from(rates.gpu) / 100.0));
        reading.set(Field::MemoryBusy, rates.map(|rates| f64::from(rates.memory) / 100.0));
        let memory = self.ask(1, "memory", |device| device.memory_info(), &mut wrong);
        #[expect(clippy::cast_precision_loss, reason = "memory sizes are far below 2^53")]
        reading.set(Field::Memory, memory.map(|memory| memory.used as f64));
        let power = self.ask(2, "power", |device| device.power_usage(), &mut wrong);
        reading.set(Field::Watts, power.map(|milliwatts| f64::from(milliwatts) / 1e3));
        let energy = self.ask(3, "the energy counter", |device| device.total_energy_consumption(), &mut wrong);
        #[expect(clippy::cast_precision_loss, reason = "mJ of years are below 2^53")]
        reading.set(Field::Joules, energy.map(|millijoules| millijoules as f64 / 1e3));
        let clock = self.ask(4, "clocks", |device| device.clock_info(Clock::SM), &mut wrong);
        reading.set(Field::CoreMhz, clock.map(f64::from));
        let reasons = self.ask(5, "throttle reasons", |device| device.current_throttle_reasons(), &mut wrong);
        reading.set(Field::Throttle, reasons.map(|reasons| f64::from(throttle(reasons))));
    }
}

/// The driver's reasons as ours. Being idle is none.
fn throttle(reasons: ThrottleReasons) -> u8 {
    type Reasons = ThrottleReasons;
    let any = |these: ThrottleReasons, bit: u8| if reasons.intersects(these) { bit } else { 0 };
    // A hardware slowdown without a cause of its own is an old driver's word for either; heat is the usual one.
    let slow = reasons.contains(Reasons::HW_SLOWDOWN) && !reasons.contains(Reasons::HW_POWER_BRAKE_SLOWDOWN);
    any(Reasons::SW_POWER_CAP | Reasons::HW_POWER_BRAKE_SLOWDOWN, POWER)
        | any(Reasons::SW_THERMAL_SLOWDOWN | Reasons::HW_THERMAL_SLOWDOWN, HEAT)
        | if slow { HEAT } else { 0 }
        | any(Reasons::APPLICATIONS_CLOCKS_SETTING | Reasons::SYNC_BOOST | Reasons::DISPLAY_CLOCK_SETTING, SETTING)
}

impl Source for Nvidia {
    fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    fn read(&mut self, readings: &mut [Reading]) {
        for (n, (board, reading)) in self.boards.iter_mut().zip(readings).enumerate() {
            let before = board.lost;
            let (missing, denied) = (&mut self.missing, &mut self.denied);
            board.read(reading, |what, error| match error {
                NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => drop(missing.insert(what)),
                NvmlError::NoPermission => drop(denied.insert(what)),
                _ => {}
            });
            if board.lost {
                // Half of a look is none.
                *reading = Reading::default();
                reading.set(Field::Lost, 1.0);
                if !before {
                    self.lane.leave(n);
                    let text =
                        format!("NVIDIA GPU {} fell off the bus: nothing more is read of it", self.gpus[n].label);
                    self.notes.push(Note::new("gpu-lost", text).hint("`dmesg | grep Xid` says why"));
                }
            } else {
                self.lane.fill(n, reading);
            }
        }
    }

    fn processes(&mut self) -> Vec<Process> {
        self.lane.processes()
    }

    fn notes(&mut self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        let list = |what: &mut BTreeSet<&'static str>| std::mem::take(what).into_iter().collect::<Vec<_>>().join(", ");
        if !self.missing.is_empty() {
            let text = format!("the driver {} is too old for {}: unknown", self.driver, list(&mut self.missing));
            notes.push(Note::new("driver-old", text).hint("a newer driver knows"));
        }
        if !self.denied.is_empty() {
            let text = format!("the driver does not permit reading {}: unknown", list(&mut self.denied));
            notes.push(
                Note::new("no-permission", text).hint("root may; so may a container with the utility capability"),
            );
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttle_reasons_are_power_heat_or_a_setting_and_idle_is_none() {
        type Reasons = ThrottleReasons;
        assert_eq!(throttle(Reasons::GPU_IDLE), 0);
        assert_eq!(throttle(Reasons::SW_POWER_CAP | Reasons::SW_THERMAL_SLOWDOWN), POWER | HEAT);
        assert_eq!(throttle(Reasons::HW_SLOWDOWN | Reasons::HW_POWER_BRAKE_SLOWDOWN), POWER);
        assert_eq!(throttle(Reasons::HW_SLOWDOWN), HEAT);
        assert_eq!(throttle(Reasons::SYNC_BOOST), SETTING);
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        for error in [NvmlError::DriverNotLoaded, NvmlError::LibRmVersionMismatch, NvmlError::NoPermission] {
            assert!(refusal(&error, false).unwrap().hint.is_some());
        }
        assert_eq!(refusal(&NvmlError::FailedToLoadSymbol(String::new()), true).unwrap().code, "driver-old");
        assert_eq!(refusal(&NvmlError::Unknown, false).unwrap().code, "no-driver");
    }
}
