//! AMD GPUs, from the files of the kernel's driver `amdgpu`.

use super::driver::Board;
use super::names::name;
use super::sysfs::{Card, Small, link, number, sensors, text};
use super::{Gpu, Reading};
use crate::reading::{Field, HEAT, POWER};
use breakeven::hardware::Vendor;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The files of one board.
pub(super) struct Amd {
    device: std::path::PathBuf,
    busy: Small,
    memory_busy: Small,
    memory: Small,
    core_clock: Small,
    memory_clock: Small,
    power: Small,
    temperature: Small,
    metrics: Option<File>,
    lost: bool,
}

impl Board for Amd {
    const MAKER: &'static str = "AMD";
    const NUMBER: &'static str = "0x1002";

    fn about(card: &Card) -> Gpu {
        let device = &card.device;
        let said = text(&device.join("product_name")).ok().filter(|name| !name.is_empty());
        let named = said.unwrap_or_else(|| name("AMD", &card.vendor, &card.chip));
        let unique = text(&device.join("unique_id")).ok();
        Gpu {
            id: unique.unwrap_or_else(|| card.address.clone()),
            memory: number(&device.join("mem_info_vram_total")),
            limit_w: number(&sensors(device).join("power1_cap")).map(|microwatts| microwatts / 1e6),
            link: link(device),
            ..Gpu::new("0", Vendor::Amd, named)
        }
    }

    fn open(card: &Card) -> Self {
        let device = &card.device;
        let sensors = sensors(device);
        let at = |name: &str| Small::open([device.join(name)]);
        Self {
            busy: at("gpu_busy_percent"),
            memory_busy: at("mem_busy_percent"),
            memory: at("mem_info_vram_used"),
            core_clock: at("pp_dpm_sclk"),
            memory_clock: at("pp_dpm_mclk"),
            power: Small::open(["power1_average", "power1_input"].map(|name| sensors.join(name))),
            temperature: Small::open([sensors.join("temp1_input")]),
            metrics: File::open(device.join("gpu_metrics")).ok(),
            device: device.to_owned(),
            lost: false,
        }
    }

    fn read(&mut self, reading: &mut Reading) {
        *reading = Reading::default();
        self.lost |= [&self.busy, &self.memory, &self.power].iter().any(|file| file.gone()) || !self.device.exists();
        if self.lost {
            return reading.set(Field::Lost, 1.0);
        }
        let percent = |file: &mut Small| file.number().filter(|share| *share <= 100.0).map(|share| share / 100.0);
        reading.set(Field::Busy, percent(&mut self.busy));
        reading.set(Field::MemoryBusy, percent(&mut self.memory_busy));
        reading.set(Field::Memory, self.memory.number());
        reading.set(Field::CoreMhz, self.core_clock.text(current));
        reading.set(Field::MemoryMhz, self.memory_clock.text(current));
        reading.set(Field::Watts, self.power.number().map(|microwatts| microwatts / 1e6));
        reading.set(Field::Celsius, self.temperature.number().map(|thousandths| thousandths / 1e3));
        reading.set(Field::Throttle, self.throttle().map(f64::from));
    }

    fn lost(&self) -> bool {
        self.lost
    }
}

impl Amd {
    fn throttle(&self) -> Option<u8> {
        let mut bytes = [0; 256];
        let length = self.metrics.as_ref()?.read_at(&mut bytes, 0).ok()?;
        throttle(&bytes[..length])
    }
}

/// The clock that is in use, MHz: of lines such as `1: 1600Mhz *` the one with the star.
fn current(lines: &str) -> Option<f64> {
    let line = lines.lines().find(|line| line.trim_end().ends_with('*'))?;
    let value = line.split(':').nth(1)?.trim().trim_end_matches('*').trim();
    value.to_ascii_lowercase().trim_end_matches("mhz").trim().parse().ok()
}

/// Why clocks are held down, from the table `gpu_metrics` of version 1.3: eight bytes from 112 on, of which the kernel gives
/// bits 0 to 31 to power and current and 32 to 55 to temperature (`amdgpu_smu.h`). Other versions lay it out otherwise.
fn throttle(table: &[u8]) -> Option<u8> {
    let bits = u64::from_le_bytes(table.get(112..120)?.try_into().ok()?);
    (table.get(2..4)? == [1, 3] && bits != u64::MAX).then(|| {
        let (power, heat) = (bits & 0xffff_ffff != 0, bits & 0x00ff_ffff_0000_0000 != 0);
        (u8::from(power) * POWER) | (u8::from(heat) * HEAT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_in_use_has_the_star() {
        assert_eq!(current("0: 500Mhz\n1: 1700Mhz *\n2: 2100Mhz"), Some(1700.0));
        assert_eq!((current("0: 500Mhz"), current("S: 19Mhz *")), (None, Some(19.0)));
    }

    #[test]
    fn throttling_is_read_of_the_table_that_is_known_alone() {
        let mut table = [0; 120];
        (table[2], table[3]) = (1, 3);
        assert_eq!(throttle(&table), Some(0));
        table[112] = 1;
        table[116] = 4;
        assert_eq!(throttle(&table), Some(POWER | HEAT));
        table[3] = 5;
        assert_eq!((throttle(&table), throttle(&table[..100])), (None, None));
    }
}
