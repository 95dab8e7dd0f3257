//! Where readings come from: NVIDIA's library, the kernel's files for AMD and Intel, the host's own.

mod amd;
mod driver;
mod host;
mod intel;
mod names;
mod nvml;
mod nvml_lane;
mod processes;
mod rapl;
mod sysfs;

use crate::gpu::Gpu;
use crate::reading::{Note, Process, Reading, Sample};
use breakeven::hardware::Vendor;
use driver::Driver;
use host::Host;
use std::path::Path;

/// GPUs of one kind.
pub(crate) trait Source: Send {
    /// Its GPUs, in the order in which they are read.
    fn gpus(&self) -> &[Gpu];

    /// One look at each of its GPUs.
    fn read(&mut self, readings: &mut [Reading]);

    /// Who is on its GPUs, counted in its own list; asked about once a second.
    fn processes(&mut self) -> Vec<Process>;

    /// What there is to say that was not said before.
    fn notes(&mut self) -> Vec<Note>;
}

/// Everything that can be watched on this machine.
pub struct Machine {
    sources: Vec<Box<dyn Source>>,
    host: Host,
    gpus: Vec<Gpu>,
    notes: Vec<Note>,
}

impl Machine {
    /// What there is: `/sys` and `/proc` below `root`, and NVIDIA's library as the dynamic loader finds it.
    pub fn find(root: &Path) -> Self {
        let mut notes = Vec::new();
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        match nvml::Nvidia::start(root) {
            Ok(nvidia) => sources.push(Box::new(nvidia)),
            Err(note) => notes.extend(note),
        }
        let cards = sysfs::cards(root);
        sources.extend(Driver::<amd::Amd>::find(root, &cards).map(|amd| Box::new(amd) as Box<dyn Source>));
        sources.extend(Driver::<intel::Intel>::find(root, &cards).map(|intel| Box::new(intel) as Box<dyn Source>));
        let mut gpus: Vec<Gpu> = sources.iter().flat_map(|source| source.gpus().to_vec()).collect();
        number(&mut gpus);
        if sources.is_empty() && notes.is_empty() {
            let text = "no GPU was found: no NVIDIA driver, and no AMD or Intel card in /sys/class/drm";
            notes.push(Note::new("no-gpu", text).hint(
                "`nvidia-smi` shows whether a driver works; in a container start it with --gpus all, or mount the host's \
                 /sys and name it with --root",
            ));
        }
        Self { sources, host: Host::new(root), gpus, notes }
    }

    /// The GPUs, in the order of their readings.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// Cores of the host, where known.
    pub fn cores(&self) -> Option<usize> {
        self.host.cores()
    }

    /// Whose use of the CPU is told apart: this process and its children.
    pub fn own(&mut self, pid: u32) {
        self.host.own(pid);
    }

    /// Whether the process of [`Machine::own`] still runs; `false` where there is none.
    pub fn own_runs(&self) -> bool {
        self.host.own_runs()
    }

    /// One look at everything, at so many s since the start; at the `last` one, at what else is looked at once a second.
    pub fn look(&mut self, at: f64, last: bool, sample: &mut Sample) {
        sample.at = at;
        sample.gpus.resize(self.gpus.len(), Reading::default());
        let mut from = 0;
        for source in &mut self.sources {
            let to = from + source.gpus().len();
            source.read(&mut sample.gpus[from..to]);
            from = to;
        }
        sample.whole = self.host.read(at, last, &mut sample.host);
        sample.processes = if sample.whole { self.processes() } else { Vec::new() };
    }

    fn processes(&mut self) -> Vec<Process> {
        let (mut all, mut from) = (Vec::new(), 0);
        for source in &mut self.sources {
            all.extend(source.processes().into_iter().map(|process| Process { gpu: process.gpu + from, ..process }));
            from += source.gpus().len();
        }
        all
    }

    /// What there is to say that was not said before.
    pub fn notes(&mut self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        for source in &mut self.sources {
            notes.extend(source.notes());
        }
        notes.extend(self.host.notes());
        notes
    }
}

/// NVIDIA's keep the numbers of their driver, even where one of them cannot be read; the others follow.
fn number(gpus: &mut [Gpu]) {
    let mut next = 0;
    for gpu in gpus {
        if gpu.vendor == Vendor::Nvidia {
            next = gpu.label.split('.').next().and_then(|n| n.parse().ok()).map_or(next, |n: usize| n + 1);
        } else {
            gpu.label = next.to_string();
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_of_several_makers_have_numbers_of_their_own() {
        let (nvidia, amd) = (Vendor::Nvidia, Vendor::Amd);
        let given = [(nvidia, "1"), (nvidia, "1.0"), (nvidia, "2"), (amd, "0"), (amd, "0")];
        let mut gpus = given.map(|(vendor, label)| Gpu::new(label, vendor, "a GPU"));
        number(&mut gpus);
        assert_eq!(gpus.map(|gpu| gpu.label), ["1", "1.0", "2", "3", "4"]);
    }
}
