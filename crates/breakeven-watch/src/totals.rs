//! What a session comes to: means, peaks and energy of each GPU, idle time by its cause, and who was there.

use crate::energy::Meter;
use crate::gpu::Gpu;
use crate::reading::{Field, HEAT, Note, POWER, Reading, SETTING, Sample};
use crate::users::Users;

/// From this share of its link on a GPU is copying: what unpinned memory reaches on an idle machine.
const COPYING: f64 = 0.15;

/// From so many busy cores on the host is at work: one thread, with pauses.
const WORKING: f64 = 0.8;

/// A value over time, each sample weighted with the time since the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    sum: f64,
    seconds: f64,
    most: Option<f64>,
    samples: u64,
}

impl Stat {
    fn take(&mut self, value: f64, step: f64) {
        self.sum += value * step;
        self.seconds += step;
        self.most = Some(self.most.map_or(value, |most| most.max(value)));
        self.samples += 1;
    }

    /// Its mean, where it was known for any time.
    pub fn mean(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.sum / self.seconds)
    }

    /// The most that was seen.
    pub const fn most(&self) -> Option<f64> {
        self.most
    }

    /// For how long it was known, s.
    pub const fn seconds(&self) -> f64 {
        self.seconds
    }

    /// In how many samples it was known.
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

/// Where the time went in which a GPU was idle, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Idle {
    /// Its link was busy.
    pub copies: f64,
    /// The host was.
    pub host: f64,
    /// Neither was.
    pub nothing: f64,
    /// Nothing is known of the host.
    pub unknown: f64,
}

/// What was seen of one device.
#[derive(Clone, Debug)]
pub struct DeviceTotals {
    stats: [Stat; Field::COUNT],
    /// Energy.
    pub meter: Meter,
    /// Idle time by its cause.
    pub idle: Idle,
    /// Clocks held down by power, by heat, by a setting, s.
    pub throttled: [f64; 3],
    /// When it fell off the bus, s.
    pub lost_at: Option<f64>,
    /// Idle time whose cause the next look at the host tells, s.
    pending: f64,
}

impl Default for DeviceTotals {
    fn default() -> Self {
        Self {
            stats: [Stat::default(); Field::COUNT],
            meter: Meter::default(),
            idle: Idle::default(),
            throttled: [0.0; 3],
            lost_at: None,
            pending: 0.0,
        }
    }
}

impl DeviceTotals {
    /// One of its values over time.
    pub const fn stat(&self, field: Field) -> &Stat {
        &self.stats[field as usize]
    }

    /// The share of the time in which clocks were held down by power, heat or a setting, where that is known.
    pub fn throttled_share(&self, reason: u8) -> Option<f64> {
        let known = self.stat(Field::Throttle).seconds();
        let at = [POWER, HEAT, SETTING].iter().position(|known| *known == reason)?;
        (known > 0.0).then(|| self.throttled[at] / known)
    }

    /// Mean power, W: energy over time.
    pub fn watts(&self) -> Option<f64> {
        let (joules, _) = self.meter.energy()?;
        Some(joules / self.meter.known_s())
    }

    fn take(&mut self, at: f64, step: f64, reading: &Reading) {
        for (field, ..) in Field::ALL {
            if let Some(value) = reading.get(field) {
                self.stats[field as usize].take(value, step);
            }
        }
        if reading.lost() {
            self.lost_at.get_or_insert(at);
        }
        self.meter.take(at, reading.get(Field::Watts), reading.get(Field::Joules));
        for (sum, reason) in self.throttled.iter_mut().zip([POWER, HEAT, SETTING]) {
            *sum += if reading.throttled(reason) == Some(true) { step } else { 0.0 };
        }
        self.pending += reading.get(Field::Busy).map_or(0.0, |busy| (1.0 - busy).max(0.0) * step);
    }

    /// Gives the idle time since the last look at the host to its cause.
    fn explain(&mut self, reading: &Reading, host: &Reading, link: Option<f64>) {
        let idle = std::mem::take(&mut self.pending);
        let traffic = [Field::ToGpu, Field::FromGpu].into_iter().filter_map(|way| reading.get(way)).reduce(f64::max);
        let copying = traffic.zip(link).is_some_and(|(traffic, link)| traffic >= COPYING * link);
        let cores = host.get(Field::OwnCores).or_else(|| host.get(Field::Cores));
        let cause = match cores {
            _ if copying => &mut self.idle.copies,
            Some(cores) if cores >= WORKING => &mut self.idle.host,
            Some(_) => &mut self.idle.nothing,
            None => &mut self.idle.unknown,
        };
        *cause += idle;
    }
}

/// What was seen of everything.
#[derive(Clone, Debug)]
pub struct Totals {
    /// The GPUs, as they were at the start.
    pub gpus: Vec<Gpu>,
    /// What was seen of each.
    pub seen: Vec<DeviceTotals>,
    /// What was seen of the host.
    pub host: DeviceTotals,
    /// Cores of the host, where known.
    pub cores: Option<usize>,
    /// How long it was watched, s.
    pub seconds: f64,
    /// How many samples there were.
    pub samples: u64,
    /// How many there should have been and were not, for the machine was busy.
    pub missed: u64,
    /// Who was on the GPUs.
    pub users: Users,
    /// What a reader should know.
    pub notes: Vec<Note>,
    /// What was watched: the command, or a process; nothing where it was the whole machine.
    pub what: Option<String>,
}

impl Totals {
    /// Nothing yet, of these GPUs.
    pub fn new(gpus: &[Gpu], cores: Option<usize>, what: Option<String>) -> Self {
        Self {
            gpus: gpus.to_vec(),
            seen: vec![DeviceTotals::default(); gpus.len()],
            host: DeviceTotals::default(),
            cores,
            seconds: 0.0,
            samples: 0,
            missed: 0,
            users: Users::default(),
            notes: Vec::new(),
            what,
        }
    }

    /// The next sample.
    pub fn take(&mut self, sample: &Sample) {
        let step = if self.samples == 0 { 0.0 } else { (sample.at - self.seconds).max(0.0) };
        self.samples += 1;
        self.seconds = self.seconds.max(sample.at);
        self.host.take(sample.at, step, &sample.host);
        for ((seen, reading), gpu) in self.seen.iter_mut().zip(&sample.gpus).zip(&self.gpus) {
            seen.take(sample.at, step, reading);
            if sample.whole {
                seen.explain(reading, &sample.host, gpu.link);
            }
        }
        if sample.whole {
            self.users.take(&sample.processes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven::hardware::Vendor;

    fn sample(at: f64, busy: f64, cores: Option<f64>, to_gpu: f64) -> Sample {
        let (mut gpu, mut host) = (Reading::default(), Reading::default());
        gpu.set(Field::Busy, busy);
        gpu.set(Field::ToGpu, to_gpu);
        host.set(Field::Cores, cores);
        Sample { at, gpus: vec![gpu], host, whole: true, processes: Vec::new() }
    }

    #[test]
    fn samples_count_by_the_time_since_the_one_before() {
        let mut totals = Totals::new(&[Gpu::new("0", Vendor::Nvidia, "L4")], Some(8), None);
        for (at, busy) in [(0.0, 1.0), (1.0, 0.5), (4.0, 0.0)] {
            totals.take(&sample(at, busy, None, 0.0));
        }
        assert_eq!(totals.seen[0].stat(Field::Busy).mean(), Some(0.125));
        assert_eq!((totals.seconds, totals.samples), (4.0, 3));
        assert_eq!(totals.seen[0].stat(Field::Watts).mean(), None);
    }

    #[test]
    fn idle_time_goes_to_copies_then_the_host_then_nothing() {
        let mut gpu = Gpu::new("0", Vendor::Nvidia, "L4");
        gpu.link = Some(10e9);
        let mut totals = Totals::new(&[gpu], Some(8), None);
        let steps =
            [(0.0, None, 0.0), (1.0, Some(1.0), 0.0), (2.0, Some(1.0), 3e9), (3.0, Some(0.1), 0.0), (4.0, None, 0.0)];
        for (at, cores, traffic) in steps {
            totals.take(&sample(at, 0.25, cores, traffic));
        }
        assert_eq!(totals.seen[0].idle, Idle { copies: 0.75, host: 0.75, nothing: 0.75, unknown: 0.75 });
    }
}
