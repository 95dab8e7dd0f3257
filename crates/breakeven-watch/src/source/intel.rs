//! Intel GPUs, from the files of the kernel's drivers `xe` and `i915`.

use super::driver::Board;
use super::names::name;
use super::sysfs::{Card, Small, link, number, sensors};
use super::{Gpu, Reading};
use crate::gpu::Busy;
use crate::reading::{Field, HEAT, POWER};
use breakeven::hardware::Vendor;
use std::time::Instant;

/// The files of one board. Each driver has its own place for the same thing; the first that is there is read.
pub(super) struct Intel {
    device: std::path::PathBuf,
    clock: Small,
    /// Time asleep (RC6), ms, and when that was read last.
    asleep: Small,
    before: Option<(Instant, f64)>,
    energy: Small,
    temperature: Small,
    throttled: Small,
    by_heat: Small,
    by_power: Vec<Small>,
    lost: bool,
}

impl Board for Intel {
    const MAKER: &'static str = "Intel";
    const NUMBER: &'static str = "0x8086";

    fn about(card: &Card) -> Gpu {
        let limits = ["power1_max", "power1_rated_max"].map(|name| sensors(&card.device).join(name));
        let limit = limits.iter().find_map(|path| number(path)).filter(|microwatts| *microwatts > 0.0);
        Gpu {
            id: card.address.clone(),
            limit_w: limit.map(|microwatts| microwatts / 1e6),
            link: link(&card.device),
            busy: Busy::Awake,
            ..Gpu::new("0", Vendor::Intel, name("Intel", &card.vendor, &card.chip))
        }
    }

    fn open(card: &Card) -> Self {
        let (sensors, of_xe, of_i915) =
            (sensors(&card.device), card.device.join("tile0/gt0"), card.card.join("gt/gt0"));
        let throttle = |xe: &str, i915: &str| {
            Small::open([of_xe.join("freq0/throttle").join(xe), of_i915.join(format!("throttle_reason_{i915}"))])
        };
        Self {
            clock: Small::open([
                of_xe.join("freq0/act_freq"),
                of_i915.join("rps_act_freq_mhz"),
                card.card.join("gt_act_freq_mhz"),
            ]),
            asleep: Small::open([
                of_xe.join("gtidle/idle_residency_ms"),
                of_i915.join("rc6_residency_ms"),
                card.card.join("power/rc6_residency_ms"),
            ]),
            before: None,
            energy: Small::open(["energy1_input", "energy2_input"].map(|name| sensors.join(name))),
            temperature: Small::open(["temp1_input", "temp2_input"].map(|name| sensors.join(name))),
            throttled: throttle("status", "status"),
            by_heat: throttle("reason_thermal", "thermal"),
            by_power: ["pl1", "pl2", "pl4"].map(|limit| throttle(&format!("reason_{limit}"), limit)).into(),
            device: card.device.clone(),
            lost: false,
        }
    }

    fn read(&mut self, reading: &mut Reading) {
        *reading = Reading::default();
        self.lost |= [&self.clock, &self.asleep, &self.energy].iter().any(|file| file.gone()) || !self.device.exists();
        if self.lost {
            return reading.set(Field::Lost, 1.0);
        }
        reading.set(Field::CoreMhz, self.clock.number());
        reading.set(Field::Joules, self.energy.number().map(|microjoules| microjoules / 1e6));
        reading.set(Field::Celsius, self.temperature.number().map(|thousandths| thousandths / 1e3));
        reading.set(Field::Throttle, self.throttle().map(f64::from));
        let now = self.asleep.number().map(|asleep| (Instant::now(), asleep));
        reading.set(Field::Busy, self.before.zip(now).and_then(|(before, now)| awake(before, now)));
        self.before = now;
    }

    fn lost(&self) -> bool {
        self.lost
    }
}

impl Intel {
    fn throttle(&mut self) -> Option<u8> {
        if self.throttled.number()? == 0.0 {
            return Some(0);
        }
        let heat = self.by_heat.number() == Some(1.0);
        let power = self.by_power.iter_mut().any(|limit| limit.number() == Some(1.0));
        Some((u8::from(power) * POWER) | (u8::from(heat) * HEAT))
    }
}

/// The share of the time between two looks in which it was not asleep; times asleep are in ms.
fn awake(before: (Instant, f64), now: (Instant, f64)) -> Option<f64> {
    let passed = now.0.duration_since(before.0).as_secs_f64() * 1e3;
    (passed > 0.0 && now.1 >= before.1).then(|| (1.0 - (now.1 - before.1) / passed).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn awake_is_what_is_left_of_the_time_asleep() {
        let start = Instant::now();
        let later = start + Duration::from_millis(200);
        assert_eq!(awake((start, 1000.0), (later, 1150.0)), Some(0.25));
        assert_eq!((awake((start, 1000.0), (later, 10.0)), awake((start, 0.0), (start, 0.0))), (None, None));
    }
}
