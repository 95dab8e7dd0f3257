//! What numbers say of the machine beside the program: GPUs together, their link, their start-up, what stays on the CPU.

use super::plan::Plan;
use crate::choice::Choice;
use crate::interval::Interval;
use crate::quantity::Measure;
use crate::units::{Bytes, BytesPerSec};

/// The machine; by default one GPU as the catalogue has it.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// GPUs that share the work.
    pub gpus: f64,
    /// Efficiency of more than one, 0–1.
    pub scaling_efficiency: f64,
    /// Share of the CPU's time that can run on the GPU, 0–1.
    pub parallel_fraction: f64,
    /// Link to the host, B/s.
    pub link: Option<f64>,
    /// Start-up that the GPU adds, s.
    pub init: Option<f64>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { gpus: 1.0, scaling_efficiency: 0.9, parallel_fraction: 1.0, link: None, init: None }
    }
}

/// How many times as fast `gpus` GPUs are as one; never slower.
pub fn together(gpus: f64, efficiency: f64) -> f64 {
    if gpus > 1.0 { (gpus * efficiency).max(1.0) } else { 1.0 }
}

/// `2 × L4`.
pub fn name_of(gpus: f64, name: &str) -> String {
    if gpus > 1.0 { format!("{} × {name}", Measure::Count.format(gpus)) } else { name.to_owned() }
}

impl Setup {
    /// The GPUs of the choice as they stand in the machine: with all their memory, at the link that was given.
    pub fn equip(&self, choice: &mut Choice) {
        for pick in &mut choice.gpus {
            let device = &mut pick.gpu.device;
            device.name = name_of(self.gpus, &device.name);
            device.memory = Bytes(device.memory.get() * self.gpus);
            device.host_link = self.link.map(BytesPerSec).or(device.host_link);
        }
    }

    /// What the GPU's start-up takes, s.
    pub fn startup(&self, port: Interval) -> Interval {
        self.init.map_or(port, Interval::exact)
    }

    /// The plan where the work is shared, and the rest of the CPU's time, s, goes on there and grows with the work.
    pub fn share(&self, mut plan: Plan, cpu: f64) -> Plan {
        let share = self.parallel_fraction / together(self.gpus, self.scaling_efficiency);
        let stays = (1.0 - self.parallel_fraction) * cpu;
        // One GPU for all of it: most programs, on each of many devices.
        if share == 1.0 && stays == 0.0 {
            return plan;
        }
        plan.tasks.iter_mut().for_each(|task| task.device *= share);
        plan.entries.iter_mut().for_each(|entry| entry.device *= share);
        plan.sums.device *= share;
        plan.sums.smallest *= share;
        plan.sums.on_host += stays;
        plan.sums.naive += stays;
        plan.tasks.last_mut().into_iter().for_each(|outside| outside.gap += stays);
        plan
    }

    /// The speedup as far as what stays on the CPU allows any.
    pub fn at_most(&self, speedup: Interval) -> Interval {
        let most = 1.0 / (1.0 - self.parallel_fraction);
        Interval { p10: speedup.p10.min(most), p50: speedup.p50.min(most), p90: speedup.p90.min(most) }
    }
}
