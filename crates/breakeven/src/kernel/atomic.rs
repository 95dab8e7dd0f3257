//! Adding at places that many threads share: the cache adds to one place one number after the other, to others meanwhile.
//!
//! 16.8 million doubles take 40 ms to one place of a V100: 3.6 cycles each. As many places as the device has parts of its
//! last cache, about as many as it has SMs, add side by side. Where a place is added to by a whole warp a compiler may sum
//! first, and the places that are named may be few of those there are: how often no shape tells.

use super::machine::{Machine, lanes};

/// Cycles from one addition to the next at one place.
const CYCLES: f64 = 3.5;

/// Seconds for `n` additions to `places` places.
pub(super) fn seconds(machine: &Machine<'_>, n: f64, places: f64) -> f64 {
    n * CYCLES / (machine.clock * places.clamp(1.0, machine.units))
}

/// Cycles of a lane to compare a label with one of those asked for.
const COMPARED: f64 = 4.0;

/// Seconds in which each of `n` elements finds its label among `labels`, one after the other, and adds to its sum.
pub(super) fn to_labels(machine: &Machine<'_>, n: f64, labels: f64) -> f64 {
    let lanes = machine.units * lanes(machine.device) * machine.clock;
    (n * labels / 2.0 * COMPARED / lanes).max(seconds(machine, n, labels))
}
