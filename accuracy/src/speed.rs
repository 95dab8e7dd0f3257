//! How fast the model answers: distinct kernels a second, and the largest network on every GPU of the catalogue.

use crate::Result;
use crate::data::Data;
use crate::score::{device_time, network_time};
use breakeven::hardware::Catalogue;
use breakeven::kernel::Constants;
use std::time::Instant;

/// Rounds of each; the fastest counts.
const ROUNDS: usize = 9;

/// Two lines of text.
pub fn speed(data: &Data) -> Result<String> {
    let constants = Constants::shipped();
    let kernels = fastest(|| data.kernels.iter().map(|k| device_time(constants, data, k).p50.get()).sum());
    let largest = data.networks.iter().max_by_key(|n| n.calls.len()).ok_or("no network in the folder")?;
    let gpus = Catalogue::embedded().gpus();
    let devices: Vec<_> = gpus.iter().map(|gpu| &gpu.device).collect();
    let network = fastest(|| devices.iter().map(|d| network_time(constants, d, largest).p50).sum());
    Ok(format!(
        "{:.2} million kernels a second, one thread\n{} nodes of {} {} on {} GPUs: {:.1} ms\n",
        data.kernels.len() as f64 / kernels * 1e-6,
        largest.calls.len(),
        largest.model,
        largest.phase,
        devices.len(),
        1e3 * network
    ))
}

/// Seconds of the fastest round.
fn fastest(mut round: impl FnMut() -> f64) -> f64 {
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(round());
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min)
}
