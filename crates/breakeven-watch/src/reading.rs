//! One look at a device, and one look at all of them.

/// What can be read of a device. Each has a key, a unit, and the step to which a saved file rounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Share of the time in which it was busy, 0 to 1, over the window that its driver averages (20 ms to 1 s).
    Busy,
    /// Share of the time in which its memory was read or written, 0 to 1.
    MemoryBusy,
    /// Device memory in use, bytes.
    Memory,
    /// Clock of its cores, MHz.
    CoreMhz,
    /// Clock of its memory, MHz.
    MemoryMhz,
    /// Power of the board, W.
    Watts,
    /// The board's own energy counter, J since some earlier time.
    Joules,
    /// Temperature of the chip, °C.
    Celsius,
    /// Why its clocks are held down: a sum of [`POWER`], [`HEAT`] and [`SETTING`].
    Throttle,
    /// Traffic from the host to the device, B/s.
    ToGpu,
    /// Traffic from the device to the host, B/s.
    FromGpu,
    /// Of the host alone: cores of the whole machine that were busy.
    Cores,
    /// Of the host alone: cores that the watched processes kept busy.
    OwnCores,
    /// 1 once the device has fallen off the bus.
    Lost,
}

/// Clocks are held down by a power limit.
pub const POWER: u8 = 1;
/// Clocks are held down by temperature.
pub const HEAT: u8 = 2;
/// Clocks are held down by a setting: application clocks, boost in step with other boards.
pub const SETTING: u8 = 4;

impl Field {
    /// Every field with its key, unit and step.
    pub const ALL: [(Self, &'static str, &'static str, f64); 14] = [
        (Self::Busy, "busy", "share", 0.001),
        (Self::MemoryBusy, "memory_busy", "share", 0.001),
        (Self::Memory, "memory", "B", 1_048_576.0),
        (Self::CoreMhz, "core_mhz", "MHz", 1.0),
        (Self::MemoryMhz, "memory_mhz", "MHz", 1.0),
        (Self::Watts, "watts", "W", 0.1),
        (Self::Joules, "joules", "J", 0.1),
        (Self::Celsius, "celsius", "°C", 1.0),
        (Self::Throttle, "throttle", "bits", 1.0),
        (Self::ToGpu, "to_gpu", "B/s", 1000.0),
        (Self::FromGpu, "from_gpu", "B/s", 1000.0),
        (Self::Cores, "cores", "cores", 0.01),
        (Self::OwnCores, "own_cores", "cores", 0.01),
        (Self::Lost, "lost", "flag", 1.0),
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The fields of a GPU, in the order in which they are printed.
    pub const OF_GPUS: [Self; 12] = [
        Self::Busy,
        Self::MemoryBusy,
        Self::Memory,
        Self::CoreMhz,
        Self::MemoryMhz,
        Self::Watts,
        Self::Joules,
        Self::Celsius,
        Self::Throttle,
        Self::ToGpu,
        Self::FromGpu,
        Self::Lost,
    ];

    /// The fields of the host.
    pub const OF_HOST: [Self; 4] = [Self::Cores, Self::OwnCores, Self::Watts, Self::Joules];

    /// As files name it: `busy`.
    pub const fn key(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The step to which a saved file rounds it.
    pub const fn step(self) -> f64 {
        Self::ALL[self as usize].3
    }

    /// The field of that key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == key).map(|row| row.0)
    }
}

/// One look at a device. What its driver does not say is unknown, which is not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading([Option<f64>; Field::COUNT]);

impl Default for Reading {
    fn default() -> Self {
        Self([None; Field::COUNT])
    }
}

impl Reading {
    /// One value, where it is known.
    pub const fn get(&self, field: Field) -> Option<f64> {
        self.0[field as usize]
    }

    /// Sets a value; one that is no number is unknown.
    pub fn set(&mut self, field: Field, value: impl Into<Option<f64>>) {
        self.0[field as usize] = value.into().filter(|value| value.is_finite());
    }

    /// Whether the device has fallen off the bus.
    pub fn lost(&self) -> bool {
        self.get(Field::Lost) == Some(1.0)
    }

    /// Whether clocks are held down for any of these reasons, where that is known.
    pub fn throttled(&self, reasons: u8) -> Option<bool> {
        self.get(Field::Throttle).map(|bits| bits as u8 & reasons != 0)
    }
}

/// A process that holds memory or time of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Which GPU, counted in the list of GPUs.
    pub gpu: usize,
    /// Its number.
    pub pid: u32,
    /// Its name, or nothing where it cannot be seen from here.
    pub name: String,
    /// Device memory that it holds, bytes.
    pub memory: Option<f64>,
    /// Its share of the GPU's time, 0 to 1.
    pub busy: Option<f64>,
}

/// One look at everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// When, s since watching began.
    pub at: f64,
    /// The GPUs, in the order of their list.
    pub gpus: Vec<Reading>,
    /// The host: its cores, and the energy of its CPU packages.
    pub host: Reading,
    /// Whether the host was looked at for this sample, about once a second; its values stay as they are in between.
    pub whole: bool,
    /// Processes on the GPUs; empty where the sample is not a whole one.
    pub processes: Vec<Process>,
}

/// Something that a reader should know of what was watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable name: `gpu-lost`.
    pub code: String,
    /// What is so.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Note {
    /// A note without a hint.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into(), hint: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_at_their_own_place_and_have_keys_of_their_own() {
        for (at, (field, key, ..)) in Field::ALL.into_iter().enumerate() {
            assert_eq!((field as usize, Field::of_key(key)), (at, Some(field)));
        }
    }

    #[test]
    fn unknown_is_not_zero() {
        let mut reading = Reading::default();
        reading.set(Field::Busy, f64::NAN);
        assert_eq!((reading.get(Field::Busy), reading.throttled(HEAT), reading.lost()), (None, None, false));
        reading.set(Field::Throttle, f64::from(HEAT | SETTING));
        assert_eq!((reading.throttled(HEAT), reading.throttled(POWER)), (Some(true), Some(false)));
    }
}
