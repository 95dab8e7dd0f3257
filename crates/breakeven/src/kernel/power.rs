//! What a device draws while it works: the energy roofline (Choi & Vuduc, IPDPS 2013). A floor, and a part for each
//! unit in proportion to how busy it is, held by the board's limit.

use super::machine::{floor_watts, limit_watts};
use crate::hardware::{Device, DeviceKind};
use crate::interval::{Interval, Z90};

/// Share of the limit that a dense product draws at the rate it reaches.
const PRODUCT: f64 = 0.93;
/// Share of the limit that a stream draws at the rate it reaches.
const STREAM: f64 = 0.52;
/// Share of the limit for a busy host link.
const LINK: f64 = 0.05;
/// Share of the peak that dense products reach.
const REACHED: f64 = 0.85;

/// Watts of the board (of the package, for a CPU) at the given shares of the peak rates of arithmetic, memory and host
/// link, each 0–1 and averaged over the time of interest. Never above the power limit, never below the floor of a
/// device with a context and no work.
///
/// Published measurements put a class model like this within ±25 % (p10–p90), ±50 % where figures are missing.
///
/// ```
/// # use breakeven::hardware::{Device, DeviceKind, Peaks, device::Vendor};
/// # use breakeven::units::{Bytes, BytesPerSec, Watts};
/// # let device = Device {
/// #     id: "v100".into(), name: "V100".into(), kind: DeviceKind::Gpu, vendor: Vendor::Nvidia,
/// #     architecture: "Volta".into(), year: Some(2017), units: Some(80), boost: None,
/// #     cores_per_unit: None, compute_capability: None, shared_per_unit: None, unified_memory: false,
/// #     peaks: Peaks::default(), memory: Bytes::gb(16.0), bandwidth: BytesPerSec::gb_per_s(900.0),
/// #     cache: None, host_link: None, tdp: Some(Watts(250.0)), idle: None, context_idle: None,
/// # };
/// let idle = breakeven::kernel::power(&device, 0.0, 0.0, 0.0);
/// let busy = breakeven::kernel::power(&device, 0.85, 0.3, 0.0);
/// assert_eq!(idle.p50, 0.18 * 250.0);
/// assert!(busy.p50 > 0.9 * 250.0 && busy.p90 <= 250.0);
/// ```
pub fn power(device: &Device, u_compute: f64, u_memory: f64, u_link: f64) -> Interval {
    let limit = limit_watts(device);
    let (floor, sigma) = (floor_watts(device, limit), if device.tdp.is_some() { 0.22 } else { 0.40 });
    let [compute, memory, link] = [u_compute, u_memory, u_link].map(|u| if u > 0.0 { u.min(1.0) } else { 0.0 });
    let (product, stream) = match device.kind {
        DeviceKind::Gpu => ((PRODUCT * limit - floor) / REACHED, STREAM * limit - floor),
        // Cores draw most of a package; memory is outside it.
        DeviceKind::Cpu => ((limit - floor) / REACHED, 0.25 * limit),
    };
    let p50 = floor + product.max(0.0) * compute + stream.max(0.0) * memory + LINK * limit * link;
    let p50 = p50.min(limit);
    // The floor is better known than what comes on top of it.
    let own = libm::sqrt(0.08 * 0.08 + (sigma * (p50 - floor) / p50) * (sigma * (p50 - floor) / p50));
    let spread = libm::exp(Z90 * own);
    Interval { p10: (p50 / spread).max(floor.min(p50) * 0.8), p50, p90: (p50 * spread).min(limit) }
}
