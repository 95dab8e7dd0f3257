//! What would help: edits of the program, each estimated again on the same GPU, or on the CPU it ran on.
//!
//! An [`Edit`] looks at a [`Draft`] of the program and gives back a changed one, or nothing where it does not apply.
//! The changed program goes through the same kernel model and timeline as the program itself, and the difference is
//! the gain: no edit knows how much it saves. Advice is given when that is worth a person's while: at least
//! [`MIN_SHARE`] of the time of that side without start-up, and at least [`MIN_SECONDS`]; for a program that is not
//! written for a GPU only if the GPU then beats the CPU. `docs/advice.md` explains each id.

mod again;
pub mod draft;
mod edits;
pub mod source;

pub use again::planned;
pub use edits::cheaper_gpu::{Offer, cheaper_gpu};

use crate::estimate::gpu::{Outcome, Question};
use crate::estimate::plan::Policy;
use crate::estimate::spread::log_sigma;
use crate::estimate::{Advice, Compiled, Side, Together};
use crate::hardware::Device;
use crate::interval::Interval;
use crate::kernel::entry_time;
use crate::workload::{Entry, HostKind, Site, Workload};
use draft::Draft;

/// The least part of a side's time (start-up apart) that an edit must save to be mentioned: half of it is the ±10 %
/// between two runs of the same program, which a reader could not tell from a gain.
pub const MIN_SHARE: f64 = 0.10;
/// The least time that an edit must save to be mentioned, s.
pub const MIN_SECONDS: f64 = 0.05;
/// ln-sigma of what an edit of CPU code saves: 20 % either way at p10 and p90, assumed.
const CPU_SIGMA: f64 = 0.15;

/// What edits are judged by.
pub struct Context<'a> {
    /// The program as it is, and what is asked of it.
    pub question: &'a Question<'a>,
    /// The GPU that the report speaks of.
    pub device: &'a Device,
    /// What was answered for it.
    pub before: &'a Outcome,
    /// The CPU of the baseline, for ratios.
    pub cpu: &'a Device,
    /// The baseline is the model's, not a measurement.
    pub cpu_modelled: bool,
}

impl Context<'_> {
    /// What the kernel model says of all runs of an entry on the baseline's CPU, s.
    fn cpu_seconds(&self, entry: &Entry) -> f64 {
        entry_time(entry, self.cpu).p50.get() * entry.count as f64
    }

    /// CPU time of an entry that takes the place of others, ns: theirs as it was, less by as much as the model says
    /// that the new one is lighter. Never more than theirs.
    fn cpu_ns_after<'e>(&self, old: impl Iterator<Item = &'e Entry> + Clone, new: &Entry) -> u64 {
        let was: f64 = old.clone().map(|e| e.cpu_ns as f64).sum();
        let modelled: f64 = old.map(|e| self.cpu_seconds(e)).sum();
        let ratio = if modelled > 0.0 { (self.cpu_seconds(new) / modelled).min(1.0) } else { 1.0 };
        (was * ratio) as u64
    }
}

/// A kind of edit. Adding one is adding a file under `edits/` and a row in [`EDITS`].
#[derive(Clone, Copy)]
pub struct Edit {
    /// Stable name, a section of `docs/advice.md`.
    pub id: &'static str,
    /// What it can make faster.
    pub sides: &'static [Side],
    /// The edit itself: `None` where it does not apply.
    pub apply: Apply,
}

/// See [`Edit::apply`].
pub type Apply = for<'a> fn(&Draft<'a>, &Context, Side) -> Option<Change<'a>>;

/// An edited program, and what to tell people.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The program afterwards.
    pub draft: Draft<'a>,
    /// In a few words, as the subject of "… → 19×".
    pub title: String,
    /// Why here, with numbers.
    pub why: String,
    /// Where it begins.
    pub site: Option<Site>,
    /// See [`Advice::patch`].
    pub patch: Option<String>,
    /// See [`Advice::ready`].
    pub ready: Option<String>,
    /// See [`Advice::risk`].
    pub risk: Option<&'static str>,
}

use edits::{EDITS, OF_COMPILED};

/// Whether the program's arrays are those of a compiler, for which few edits have words: [`OF_COMPILED`].
fn is_compiled(workload: &Workload) -> bool {
    workload.ops.iter().any(|entry| entry.name.starts_with("jax."))
}

#[cfg(test)]
mod tests;

/// Every id that advice may have.
pub const IDS: &[&str] = &[
    "blas-threads",
    "cheaper-gpu",
    "columns",
    "cuda-graphs",
    "fallback",
    "fewer-syncs",
    "float32",
    "fuse",
    "histogram-boosting",
    "hoist-transfers",
    "in-place",
    "input-pipeline",
    "int8",
    "jit",
    "keep-resident",
    "larger-batch",
    "mixed-precision",
    "multi-gpu",
    "numba",
    "numexpr",
    "pinned-overlap",
    "polars",
    "pyarrow-reader",
    "real-fft",
    "reduce-before-copy",
    "scan",
    "solve",
    "text-dtype",
    "tf32",
    "vectorise",
];

/// Everything worth doing, the fastest result first, and all of it together for each side.
pub fn advise(ctx: &Context, draft: &Draft) -> (Vec<Advice>, Vec<Together>) {
    let (mut all, mut together) = (Vec::<Advice>::new(), Vec::new());
    for side in [Side::Gpu, Side::Cpu] {
        let Some(now) = Prediction::of(ctx, side, draft) else { continue };
        let mut kept: Vec<(&Edit, Advice)> = Vec::new();
        let compiled = is_compiled(ctx.question.workload);
        let fits = |edit: &&Edit| edit.sides.contains(&side) && (!compiled || OF_COMPILED.contains(&edit.id));
        for edit in EDITS.iter().filter(fits) {
            let Some(change) = (edit.apply)(draft, ctx, side) else { continue };
            if change.site.as_ref().is_some_and(|site| is_done_already(edit.id, site, ctx.question.workload)) {
                continue;
            }
            let Some(then) = Prediction::of(ctx, side, &change.draft) else { continue };
            if worthwhile(ctx, side, &now, &then) {
                let found = advice(edit, side, &now, &then, change);
                let at = kept.partition_point(|(_, faster)| speedup(faster) >= speedup(&found));
                kept.insert(at, (edit, found));
            }
        }
        together.extend(all_at_once(ctx, side, draft, &now, &kept));
        for (_, found) in kept {
            all.insert(all.partition_point(|faster| speedup(faster) >= speedup(&found)), found);
        }
    }
    (all, together)
}

/// Whether what an edit would bring is at work at its line: its library, or, for a loop of Python's, compiled code that
/// takes more of the line's time than Python does.
fn is_done_already(edit: &str, site: &Site, workload: &Workload) -> bool {
    let library = match edit {
        "numba" | "numexpr" => edit,
        "vectorise" | "columns" => "",
        _ => return false,
    };
    let (mut python, mut native) = (0_u64, 0_u64);
    for row in workload.host_code_at(site) {
        match row.kind {
            HostKind::Python => python = python.saturating_add(row.ns),
            HostKind::Native => native = native.saturating_add(row.ns),
            HostKind::Waiting => {}
        }
    }
    workload.sites_of(library).any(|at| at.same_line(site)) || native > python
}

/// The entries of a program once `torch.compile` is done with it; its own where that changes nothing.
pub fn compiled_entries(workload: &Workload) -> Vec<Entry> {
    let draft = Draft::new(workload, Policy::AsWritten);
    edits::inductor::compiled(&draft).map_or(draft.workload.ops, |(compiled, _)| compiled.workload.ops)
}

/// A program that compiles itself once that is done, and how many kernels take the place of several; `None` where it does not
/// compile, or nothing of it is to be fused.
pub fn compiled<'a>(draft: &Draft<'a>) -> Option<(Draft<'a>, usize)> {
    draft.compiles.then(|| edits::inductor::compiled(draft)).flatten()
}

/// What a compiled program takes on each of these GPUs.
pub fn once_compiled(q: &Question, compiled: &Draft, devices: &[&Device]) -> Vec<Option<Compiled>> {
    again::on_gpus(q, compiled, devices, |_, out| {
        let then = Prediction::on_gpu(out)?;
        Some(Compiled { time_s: then.time, speedup: then.speedup })
    })
}

fn speedup(advice: &Advice) -> f64 {
    advice.speedup_after.map_or(0.0, |s| s.p50)
}

/// What a program takes on one side.
struct Prediction {
    time: Interval,
    speedup: Interval,
    startup: f64,
    parts: Option<crate::estimate::Breakdown>,
}

impl Prediction {
    fn on_gpu(out: &Outcome) -> Option<Self> {
        let (time, speedup) = (out.time?, out.speedup?);
        let parts = Some(out.parts);
        (out.plan.launches > 0).then_some(Self { time, speedup, startup: out.parts.startup, parts })
    }

    /// `None` where the side has no answer: it does not fit, or there is no program on the CPU to speak of.
    fn of(ctx: &Context, side: Side, draft: &Draft) -> Option<Self> {
        let q = ctx.question;
        match side {
            Side::Gpu => again::on_gpus(q, draft, &[ctx.device], |_, out| Self::on_gpu(out)).pop()?,
            Side::Cpu if q.port.policy() == Policy::AsWritten => None,
            Side::Cpu => {
                let after = again::on_cpu(ctx, draft).max(f64::MIN_POSITIVE);
                let now = q.cpu_time().p50;
                Some(Self {
                    time: Interval::log_normal(after, CPU_SIGMA),
                    speedup: Interval::log_normal(now / after, draft.cpu_sigma),
                    startup: if q.exclude_startup { 0.0 } else { q.host.startup + draft.once },
                    parts: None,
                })
            }
        }
    }
}

fn worthwhile(ctx: &Context, side: Side, now: &Prediction, then: &Prediction) -> bool {
    let saved = now.time.p50 - then.time.p50;
    let warm = now.time.p50 - now.startup;
    // A port that loses to the CPU either way is no answer to anybody's question; where the script says itself what is
    // to go to a device, the question is asked.
    let q = ctx.question;
    let asks = q.port.policy() == Policy::AsWritten || q.workload.ops.iter().any(|e| e.name == "torch.Tensor.to");
    let leads = side == Side::Cpu || asks || then.speedup.p50 > 1.0;
    saved >= MIN_SECONDS && saved >= MIN_SHARE * warm && leads
}

/// What a change saves, as sure as the time it is taken from.
fn saved(now: &Prediction, then: &Prediction) -> Interval {
    let of_cpu = if then.parts.is_none() { log_sigma(then.speedup) } else { 0.0 };
    Interval::log_normal(now.time.p50 - then.time.p50, log_sigma(now.time).max(log_sigma(then.time)).max(of_cpu))
}

fn advice(edit: &Edit, side: Side, now: &Prediction, then: &Prediction, change: Change) -> Advice {
    Advice {
        id: edit.id.to_owned(),
        side,
        title: change.title,
        why: change.why,
        site: change.site.as_ref().map(Site::label),
        saves_s: Some(saved(now, then)),
        speedup_after: Some(then.speedup),
        time_s_after: Some(then.time),
        breakdown_s_after: then.parts,
        saves_usd: None,
        patch: change.patch,
        ready: change.ready,
        risk: change.risk.map(str::to_owned),
        docs: format!("docs/advice.md#{}", edit.id),
    }
}

/// The advice for a side applied one after the other; what no longer applies, or no longer helps, is passed over.
fn all_at_once(
    ctx: &Context,
    side: Side,
    draft: &Draft,
    now: &Prediction,
    kept: &[(&Edit, Advice)],
) -> Option<Together> {
    if kept.len() < 2 {
        return None;
    }
    let mut best: Option<Prediction> = None;
    let (mut running, mut ids) = (draft.clone(), Vec::new());
    for (edit, _) in kept {
        let Some(change) = (edit.apply)(&running, ctx, side) else { continue };
        let Some(then) = Prediction::of(ctx, side, &change.draft) else { continue };
        if then.time.p50 < best.as_ref().map_or(now.time.p50, |b| b.time.p50) {
            ids.push(edit.id.to_owned());
            running = change.draft;
            best = Some(then);
        }
    }
    let then = best.filter(|_| ids.len() > 1)?;
    Some(Together { side, ids, saves_s: saved(now, &then), speedup_after: then.speedup, time_s_after: then.time })
}
