//! Sliding windows: input and output once through memory, the windows' reuse from cache, one load an element. A thread each output,
//! or in a gradient each input, finds its place by integer divisions, as in depth-wise convolutions.

use super::cost::{Cost, Job};
use super::machine::{Machine, lanes};
use super::stream;
use crate::workload::{Pass, op::Window};

/// Cycles of an SM for a thread: 2.5 to 4 on an H100 and an H200.
const THREAD: f64 = 3.0;

/// Cycles of a lane for an element under a weight, whose place is found anew at each edge: 17 elements of a million doubles
/// take 32 µs on an H100, 25 take 25, 10 in two passes 26.
const TAP: f64 = 35.0;
/// Cycles of a lane to load an element of a rank filter, and to look at one of those kept in order: a median of 9 of a million
/// doubles takes 48 µs on an H100.
const LOAD: f64 = 20.0;
const LOOK: f64 = 45.0;
/// Elements up to which they are kept in order as they come; more are sorted in local memory, in steps of a Shell sort.
const KEPT: f64 = 80.0;
/// A factor on the spread: windows of one size were timed.
const RANKED: f64 = 2.0;

/// Cycles of a lane for one result of a filter over `window` elements.
fn cycles(kind: Window, window: f64) -> f64 {
    let window = window.max(1.0);
    match kind {
        Window::Stencil => TAP * window,
        // Half of them are kept: what comes later is compared with all that are.
        Window::Median => {
            let kept = ((window - 1.0) / 2.0).min(KEPT);
            let looks = (window - kept) * (kept + 1.0);
            LOAD * window + LOOK * looks.max(window * libm::log2(window) * 1.5)
        }
        Window::MaxPool | Window::AveragePool | Window::Resize => 0.0,
    }
}

pub(super) fn cost(
    machine: &Machine<'_>,
    job: &Job,
    (kind, pass): (Window, Pass),
    [n, input, window]: [f64; 3],
) -> Cost {
    let cost = stream::pass(machine, job, 0.8);
    let loads = job.flop * job.dtype.bytes() as f64 / (4.0 * machine.cache_rate);
    let threads = if pass == Pass::Forward { n } else { input };
    let places = threads * THREAD / (machine.units * machine.clock);
    let filter = n * cycles(kind, window) / (machine.units * lanes(machine.device) * machine.clock);
    let doubt = if kind == Window::Median { RANKED } else { 1.0 };
    Cost { doubt, compute: cost.compute.max(loads).max(places + filter), ..cost }
}
