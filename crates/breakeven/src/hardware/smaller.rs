//! Which smaller GPU of the catalogue would do the work that a larger one was seen to do.
//!
//! One of the same maker that somebody rents out and that draws less power at its limit, with
//!
//! - memory for the peak that was seen and [`ROOM`] beyond it,
//! - of each dense peak rate that the present GPU has, and of its memory bandwidth, at least the share that it was busy,
//!   so that the same work keeps the smaller one busy for at most [`FULL`] of the same time.
//!
//! Of those the one with the lowest power limit; of several within [`ALIKE`] of it, the newest. Double precision is held to
//! the same rule: what was seen does not say which precision its kernels used.

use super::{Catalogue, Device, price::Wanted};
use crate::units::FlopPerSec;

/// Memory beyond the peak that was seen, for what allocators and contexts take.
pub const ROOM: f64 = 1.1;
/// The smaller GPU may be busy for so much of the time.
pub const FULL: f64 = 0.9;
/// Power limits this close are alike.
pub const ALIKE: f64 = 1.1;

impl Catalogue {
    /// A smaller GPU for what was seen of `present`: at most `peak` bytes of its memory, busy for this share of the time
    /// (0 to 1). `None` where none would do, or the power limit of `present` is not known.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// let l40s = &catalogue.gpu("l40s").unwrap().device;
    /// assert_eq!(catalogue.smaller(l40s, 2e9, 0.2).unwrap().id, "l4");
    /// assert_eq!(catalogue.smaller(l40s, 1e13, 0.2), None);
    /// ```
    pub fn smaller(&self, present: &Device, peak: f64, busy: f64) -> Option<&Device> {
        let power = present.tdp?.get();
        let mut fit: Vec<(f64, &Device)> = self
            .gpus()
            .iter()
            .map(|candidate| &candidate.device)
            .filter(|device| device.vendor == present.vendor && !device.announced)
            .filter(|device| device.memory.get() >= ROOM * peak && enough(device, present, busy / FULL))
            .filter_map(|device| Some((device.tdp?.get(), device)))
            .filter(|(watts, device)| *watts < power && self.offers(&device.id, &Wanted::default()).next().is_some())
            .collect();
        let least = fit.iter().map(|(watts, _)| *watts).fold(f64::INFINITY, f64::min);
        fit.retain(|(watts, _)| *watts <= ALIKE * least);
        fit.into_iter().max_by_key(|(_, device)| device.year).map(|(_, device)| device)
    }
}

/// Whether a device has this share of each rate of the present one.
fn enough(device: &Device, present: &Device, share: f64) -> bool {
    let rates = |device: &Device| {
        let p = &device.peaks;
        let f64_rate = [p.f64_vector, p.f64_tensor].into_iter().flatten().map(FlopPerSec::get).reduce(f64::max);
        let f16_rate = [p.f16_tensor, p.bf16_tensor].into_iter().flatten().map(FlopPerSec::get).reduce(f64::max);
        [f64_rate, p.f32_vector.map(FlopPerSec::get), f16_rate]
    };
    let pairs = rates(present).into_iter().zip(rates(device));
    device.bandwidth.get() >= share * present.bandwidth.get()
        && pairs.into_iter().all(|(need, have)| need.is_none_or(|need| have.is_some_and(|have| have >= share * need)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(id: &str) -> &'static Device {
        &Catalogue::embedded().gpu(id).unwrap().device
    }

    #[test]
    fn every_rate_has_to_be_enough() {
        let (h100, l4) = (device("h100-sxm5-80gb"), device("l4"));
        assert!(!enough(l4, h100, 0.23), "an L4 has 300 GB/s and next to no float64");
        assert!(enough(l4, device("l40s"), 0.3) && enough(h100, l4, 1.0));
    }
}
