//! Which smaller GPU of the catalogue would do, by the rule of [`breakeven::hardware::smaller`].

use crate::gpu::Gpu;
use crate::reading::Field;
use crate::totals::DeviceTotals;
use breakeven::hardware::{Catalogue, Device};

/// The name of a smaller GPU for what was seen of this one, which was busy for this share of the time.
pub(crate) fn smaller(gpu: &Gpu, seen: &DeviceTotals, busy: f64) -> Option<String> {
    let peak = seen.stat(Field::Memory).most()?;
    let catalogue = Catalogue::embedded();
    let found = catalogue.find_gpu(&gpu.name).ok()?.gpus;
    // Of a family, whose name says no memory, the one that has what the driver says.
    let off = |device: &Device| (device.memory.get() - gpu.memory.unwrap_or_default()).abs();
    let present = &found.iter().min_by(|a, b| off(&a.device).total_cmp(&off(&b.device)))?.device;
    catalogue.smaller(present, peak, busy).map(|device| device.name.clone())
}
