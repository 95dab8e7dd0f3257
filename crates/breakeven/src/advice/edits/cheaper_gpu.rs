//! A cheaper GPU that is as fast: where the GPU is not what the time goes into, a smaller one does as well.

use super::super::Context;
use super::super::again;
use super::super::draft::Draft;
use crate::estimate::{Advice, Side};
use crate::hardware::Device;
use crate::report::words;

/// Slower by this much is as fast.
const AS_FAST: f64 = 1.02;
/// The part of the rent that must be saved.
const CHEAPER: f64 = 0.20;
/// The least money that a run must save to be mentioned, USD.
const CENT: f64 = 0.01;
/// How many are tried.
const TRIED: usize = 8;

/// A GPU and its rent, USD/h.
pub struct Offer<'a> {
    /// The GPU.
    pub device: &'a Device,
    /// USD/h.
    pub usd_per_h: f64,
}

/// The cheapest of `offers` that takes no longer than the GPU of the context, which rents for `usd_per_h`; `None` where
/// the GPU does not pay in the first place, or none of them saves enough.
pub fn cheaper_gpu(ctx: &Context, usd_per_h: f64, offers: &[Offer]) -> Option<Advice> {
    let now = ctx.before.time?;
    if ctx.before.speedup?.p50 <= 1.0 {
        return None;
    }
    let mut cheaper: Vec<&Offer> = offers
        .iter()
        .filter(|o| {
            o.usd_per_h > 0.0 && o.usd_per_h <= usd_per_h * (1.0 - CHEAPER) && o.device.vendor == ctx.device.vendor
        })
        .collect();
    cheaper.sort_by(|a, b| a.usd_per_h.total_cmp(&b.usd_per_h).then_with(|| a.device.id.cmp(&b.device.id)));
    // The cheapest serve a program that hardly uses its GPU; those with as much bandwidth one that does.
    let enough = |o: &&&Offer| o.device.bandwidth.get() >= 0.95 * ctx.device.bandwidth.get();
    let mut tried: Vec<&Offer> = cheaper.iter().take(TRIED / 2).copied().collect();
    tried.extend(cheaper.iter().skip(TRIED / 2).filter(enough).take(TRIED / 2));
    let draft = Draft::new(ctx.question.workload, ctx.question.port.policy());
    let devices: Vec<&Device> = tried.iter().map(|offer| offer.device).collect();
    let outcomes = again::on_gpus(ctx.question, &draft, &devices, |_, out| (out.time, out.speedup, out.parts));
    let found = tried.into_iter().zip(outcomes).find_map(|(offer, (time, speedup, parts))| {
        let time = time.filter(|t| t.p50 <= AS_FAST * now.p50)?;
        Some((offer, time, speedup, parts))
    });
    let (offer, time, speedup, parts) = found?;
    let saves = (now.p50 * usd_per_h - time.p50 * offer.usd_per_h) / 3600.0;
    if saves < CENT {
        return None;
    }
    let id = "cheaper-gpu";
    Some(Advice {
        id: id.to_owned(),
        side: Side::Gpu,
        title: format!("{} instead of {}", offer.device.name, ctx.device.name),
        why: format!(
            "it takes {} against {}, and rents for {} instead of {} an hour",
            words::seconds(time.p50),
            words::seconds(now.p50),
            words::usd(offer.usd_per_h),
            words::usd(usd_per_h)
        ),
        speedup_after: speedup,
        time_s_after: Some(time),
        breakdown_s_after: Some(parts),
        saves_usd: Some(saves),
        docs: format!("docs/advice.md#{id}"),
        ..Advice::default()
    })
}
