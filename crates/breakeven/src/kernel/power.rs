//! What a device draws while it works: the energy roofline (Choi & Vuduc, IPDPS 2013). A floor, and a part for each
//! unit in proportion to how busy it is, held by the board's limit. `power.csv` holds what was fitted.

use super::machine::{limit_watts, stacked};
use crate::hardware::{Device, DeviceKind};
use crate::interval::{Interval, Z90};
use crate::lower::rows;
use std::sync::LazyLock;

macro_rules! constants {
    ($($name:ident),* $(,)?) => {
        /// One number for each row of `power.csv`, which says what it means.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "power.csv explains each")]
        pub struct PowerConstants { $(pub $name: f64),* }

        impl PowerConstants {
            /// The table that ships.
            pub fn shipped() -> &'static Self {
                static SHIPPED: LazyLock<PowerConstants> = LazyLock::new(|| {
                    let value = |name: &str| {
                        let row = rows(include_str!("power.csv")).find(|row| &row[0] == name);
                        row.and_then(|row| row[1].parse().ok()).expect("tested: every constant has a row")
                    };
                    PowerConstants { $($name: value(stringify!($name))),* }
                });
                &SHIPPED
            }

            /// The constant of that name, to be changed by a fit.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}
constants! { floor_hpc, floor_other, floor_small, compute, memory, link, most, spread, cap }

/// Watts of the board (of the package, for a CPU) at the given shares of the peak rates of arithmetic, memory and host
/// link, each 0–1 and averaged over the time of interest. Never above the power limit, never below the floor of a
/// device with a context and no work.
///
/// ```
/// let v100 = &breakeven::hardware::Catalogue::embedded().gpu("v100-pcie-16gb").unwrap().device;
/// let idle = breakeven::kernel::power(v100, 0.0, 0.0, 0.0);
/// let busy = breakeven::kernel::power(v100, 0.85, 0.3, 0.0);
/// assert!(idle.p50 < 0.2 * 250.0);
/// assert!(busy.p50 > 0.9 * 250.0 && busy.p90 <= 250.0);
/// ```
pub fn power(device: &Device, u_compute: f64, u_memory: f64, u_link: f64) -> Interval {
    power_with(PowerConstants::shipped(), device, u_compute, u_memory, u_link)
}

/// [`power`] with other constants, for fitting them.
pub fn power_with(c: &PowerConstants, device: &Device, u_compute: f64, u_memory: f64, u_link: f64) -> Interval {
    let limit = limit_watts(device);
    let (floor, sigma) = (idle(c, device, limit), if device.tdp.is_some() { c.spread } else { 2.0 * c.spread });
    let [compute, memory, link] = [u_compute, u_memory, u_link].map(|u| if u > 0.0 { u.min(1.0) } else { 0.0 });
    let (product, stream) = match device.kind {
        DeviceKind::Gpu => (c.compute * limit, c.memory * limit),
        // Cores draw most of a package, which reaches its limit at 85 % of the peak; memory is outside it.
        DeviceKind::Cpu => ((limit - floor) / 0.85, 0.25 * limit),
    };
    let p50 = floor + product * compute + stream * memory + c.link * limit * link;
    let p50 = p50.min((c.most * limit).max(floor));
    // The floor is better known than what comes on top of it.
    let own = libm::hypot(0.08, sigma * (p50 - floor) / p50);
    let spread = libm::exp(Z90 * own);
    Interval { p10: (p50 / spread).max(floor.min(p50) * 0.8), p50, p90: (p50 * spread).min(limit) }
}

/// How fast a device goes under a power cap, as a share of its speed without, 0–1: `draw` is what it draws without.
///
/// Clock and voltage fall together, so the first watts cost little: half of the power above the floor gives three
/// quarters of the speed. Below the floor nothing runs.
///
/// ```
/// use breakeven::kernel::{PowerConstants, capped_speed};
/// let v100 = &breakeven::hardware::Catalogue::embedded().gpu("v100-pcie-16gb").unwrap().device;
/// let speed = |cap| capped_speed(PowerConstants::shipped(), v100, 225.0, cap);
/// assert_eq!(speed(250.0), 1.0);
/// assert!((0.65..0.85).contains(&speed(125.0)) && speed(125.0) < speed(150.0));
/// ```
pub fn capped_speed(c: &PowerConstants, device: &Device, draw: f64, cap: f64) -> f64 {
    if cap >= draw {
        return 1.0;
    }
    // What draws less than the floor that is modelled has a lower one.
    let floor = idle(c, device, limit_watts(device)).min(0.9 * draw);
    let left = ((cap - floor) / (draw - floor)).clamp(0.0, 1.0);
    1.0 - libm::pow(1.0 - left, c.cap)
}

/// Watts with a context and no work: measured, or the share seen on boards of its kind. (The budget for arithmetic in
/// `machine` has a floor of its own, with which its constants were fitted.)
fn idle(c: &PowerConstants, device: &Device, limit: f64) -> f64 {
    // Stacked memory idles low.
    let share = match (device.kind, stacked(device)) {
        (DeviceKind::Gpu, _) if limit <= 100.0 => c.floor_small,
        (DeviceKind::Gpu, false) => c.floor_other,
        _ => c.floor_hpc,
    };
    device.context_idle.map_or(share * limit, |w| w.get()).clamp(0.0, 0.6 * limit)
}
