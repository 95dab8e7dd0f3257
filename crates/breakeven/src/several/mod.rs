//! One run on several GPUs: who does what, what is exchanged, what each rank holds, and how far more of them help.
//!
//! A network of PyTorch that was recorded on one device becomes the program of one rank ([`rank`]): the batch is divided
//! among copies, layers among tensor-parallel ranks ([`tensor`]), stages among a pipeline's, and exchanges are put into the
//! order where PyTorch starts them ([`buckets`]). That program goes through the same timeline as any other, its exchanges
//! on a stream of their own, each as long as [`crate::kernel::collective`] says. Any other program is run several times at
//! once. docs/several.md has the rules and hand-counted examples.

pub mod buckets;
mod layout;
mod memory;
mod network;
pub mod point;
pub mod rank;
pub mod tensor;
#[cfg(test)]
mod tests;

pub use layout::{Layout, Scaling, Schedule, Zero};
pub use memory::Memory;
pub use network::Network;
pub use point::Point;

use crate::choice::Choice;
use crate::estimate::gpu::Question;
use crate::estimate::{Estimate, Note};
use crate::growth::batch_of;
use crate::report::words;
use crate::request::Divided;
use crate::workload::{Op, Phase, Workload};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// GPUs of the scaling curve.
const CURVE: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// A curve bends where a GPU does less than this part of what one alone does.
const BENT: f64 = 0.8;

/// What several GPUs do with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They divide it.
    Divided,
    /// The script divides it itself, by `torch.distributed`: its exchanges are as recorded, among this many.
    AsWritten,
    /// Each takes a run of its own.
    IndependentRuns,
}

/// The answer for several GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Several {
    /// Id of the GPU, as in `summary.shown_gpu`.
    pub gpu: String,
    /// How many.
    pub gpus: u64,
    /// What they do.
    pub mode: Mode,
    /// Who does what.
    pub layout: Layout,
    /// What joins them.
    pub network: Network,
    /// With this many.
    pub at: Point,
    /// With others, the layers and stages as they are; empty for independent runs.
    pub curve: Vec<Point>,
    /// Memory of one rank by what it is for, bytes; empty where that was not recorded.
    pub memory_bytes: BTreeMap<String, f64>,
    /// Where the curve bends first, and why.
    pub bends: Option<String>,
    /// Operations that each rank does as a whole, by family, with their share of a rank's device time.
    pub undivided: BTreeMap<String, f64>,
    /// In a sentence.
    pub sentence: String,
}

/// Puts the answer for several GPUs into `estimate`, whose rows are of one GPU: its first line and its notes.
///
/// # Errors
/// A layout that does not read, does not make up the GPUs, or does not fit the program.
pub fn answer(q: &Question, choice: &Choice, asked: &Divided, estimate: &mut Estimate) -> Result<()> {
    let mut layout = Layout::read(asked)?;
    let samples = batch_of(q.workload).map_or(u64::MAX, |batch| batch.called());
    let each = samples / if layout.scaling == Scaling::Strong { layout.data } else { 1 };
    let fewer = layout.micro_batches > each;
    // A part of the batch has a sample at least.
    layout.micro_batches = layout.micro_batches.min(each.max(1));
    let shown = estimate.summary.shown_gpu.as_deref();
    let Some(pick) = choice.gpus.iter().find(|pick| Some(pick.gpu.id()) == shown) else { return Ok(()) };
    let network = Network::of(&pick.gpu, asked)?;
    let mode = mode(q.workload);
    check(q.workload, mode, &layout, asked)?;
    let price = pick.price.as_ref().map(|price| price.usd_per_h);
    let case = point::Case { q, device: &pick.gpu.device, network: &network, mode, usd_per_h: price };
    let (at, detail) = case.point(&layout);
    let mut curve = Vec::new();
    if mode != Mode::IndependentRuns && layout.gpus() > 1 {
        for layout in CURVE.into_iter().filter_map(|gpus| layout.with_gpus(gpus)) {
            if is_possible(q.workload, &layout) {
                curve.push(case.point(&layout).0);
            }
        }
    }
    let bends = curve.iter().find(|point| point.efficiency.is_some_and(|e| e < BENT)).map(|point| {
        let share = words::percent(point.efficiency.unwrap_or_default());
        format!("at {} GPUs, where each does {share} of what one alone does: {}", point.gpus, point.held_back)
    });
    let sentence = sentence(&pick.gpu.device.name, mode, &layout, &at);
    if fewer && layout.pipeline > 1 {
        let parts = words::several(layout.micro_batches, "micro-batch", "micro-batches");
        estimate
            .notes
            .push(Note::new("several-gpus", format!("a batch of {samples} has samples for {parts} and no more")));
    }
    estimate.notes.extend(notes(q.workload, mode, &layout, &network, &at, &detail));
    estimate.summary.sentence.clone_from(&sentence);
    estimate.several = Some(Several {
        gpu: pick.gpu.id().to_owned(),
        gpus: layout.gpus(),
        mode,
        layout,
        network,
        at,
        curve,
        memory_bytes: detail.memory,
        bends,
        undivided: detail.undivided,
        sentence,
    });
    Ok(())
}

/// What several GPUs would do with the program.
pub fn mode(workload: &Workload) -> Mode {
    let exchanges = |op: &Op| matches!(op, Op::Collective { .. });
    if workload.ops.iter().any(|entry| exchanges(&entry.op)) {
        Mode::AsWritten
    } else if workload
        .ops
        .iter()
        .any(|e| e.name.starts_with("aten.") && matches!(e.phase, Some(Phase::Forward | Phase::Backward)))
    {
        Mode::Divided
    } else {
        Mode::IndependentRuns
    }
}

fn trains(workload: &Workload) -> bool {
    workload.ops.iter().any(|entry| entry.phase == Some(Phase::Backward))
}

/// Whether every rank has something to do: samples for each copy, layers for each stage.
fn is_possible(workload: &Workload, layout: &Layout) -> bool {
    let samples = batch_of(workload).map(|batch| batch.called());
    let parts = layout.micro_batches * if layout.scaling == Scaling::Strong { layout.data } else { 1 };
    samples.is_none_or(|samples| parts <= samples)
}

fn check(workload: &Workload, mode: Mode, layout: &Layout, asked: &Divided) -> Result<()> {
    let refused = |message: String, hint: &str| Err(Error::new("bad-parallel", message).hint(hint).field("parallel"));
    if mode == Mode::AsWritten && workload.program.processes > 1 && layout.gpus() > 1 {
        let message =
            format!("the recording has {} processes in one, and is of no single rank", workload.program.processes);
        return refused(message, "record the script with one process: `torchrun --nproc-per-node 1`");
    }
    let divided = layout.tensor > 1 || layout.pipeline > 1;
    if mode != Mode::Divided && (divided || (mode == Mode::IndependentRuns && asked.parallel.is_some())) {
        let why = match mode {
            Mode::AsWritten => "the script divides its work itself, by torch.distributed",
            _ => "only networks of PyTorch are divided, and this is none",
        };
        return refused(
            format!("`--parallel {}`: {why}", words::printable(asked.parallel.as_deref().unwrap_or("dp"), 40)),
            "`--gpus N` alone",
        );
    }
    if layout.pipeline > 1 && !trains(workload) {
        let hint = "dp for more requests at once, tp for each to be quicker";
        return refused(
            "stages of a pipeline are estimated for training, and this program trains nothing".into(),
            hint,
        );
    }
    let weights = workload.ops.iter().filter(|entry| tensor::is_forward(entry) && tensor::weight(entry) > 0.0);
    let steps = weights.clone().map(|entry| entry.count.max(1)).min().unwrap_or(1);
    let layers = weights.map(|entry| entry.count / steps).sum::<u64>().max(1);
    if layout.pipeline > layers {
        let message =
            format!("{} stages need as many layers with weights, and the network has {layers}", layout.pipeline);
        return refused(message, "fewer stages: `pp=2`");
    }
    if !is_possible(workload, layout) {
        let samples = batch_of(workload).map_or(0, |batch| batch.called());
        return refused(
            format!("a batch of {samples} has no sample for each of {} copies", layout.data),
            "`--scaling weak`, in which each copy has a batch of its own",
        );
    }
    Ok(())
}

/// `8 × H100 SXM (data parallel (DDP) × 8): 7.1× one GPU [6.5–7.4], 89 % of each.`
fn sentence(name: &str, mode: Mode, layout: &Layout, at: &Point) -> String {
    let how = match mode {
        Mode::Divided => layout.words(),
        Mode::AsWritten => "as the script divides it".to_owned(),
        Mode::IndependentRuns => "a run on each at the same time".to_owned(),
    };
    let who = format!("{} × {name} ({how})", at.gpus);
    if at.fits == Some(false) {
        let need =
            at.memory_bytes.map_or_else(String::new, |bytes| format!(": each would need {}", words::memory(bytes)));
        return format!("{who}: does not fit{need}");
    }
    let Some(time) = at.time_s else { return format!("{who}: not enough evidence") };
    match (at.speedup, at.efficiency) {
        (Some(speedup), Some(efficiency)) => format!(
            "{who}: {} the work of one{}, {} of each; held back by {}",
            words::times(speedup.p50),
            words::range(speedup),
            words::percent(efficiency),
            at.held_back
        ),
        _ => format!("{who}: {} a run, for which one has not the memory", words::time(time)),
    }
}

fn notes(
    workload: &Workload,
    mode: Mode,
    layout: &Layout,
    network: &Network,
    at: &Point,
    detail: &point::Detail,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let note = |text: String| Note::new("several-gpus", text);
    let one = "the rows, reasons and advice are of one GPU";
    if mode == Mode::IndependentRuns {
        notes.push(note(format!("runs share nothing, not even a host that is too slow for all of them; {one}")));
        return notes;
    }
    let samples = match layout.scaling {
        _ if layout.data < 2 => "the batch is as recorded",
        Scaling::Weak => {
            "each copy has the recorded batch (weak scaling), so that a step has as many times the samples"
        }
        Scaling::Strong => "copies share the recorded batch (strong scaling)",
    };
    notes.push(note(format!("{samples}; {one}")));
    let basis =
        |basis: crate::interval::Basis| if basis == crate::interval::Basis::Given { "given" } else { "assumed" };
    notes.push(note(format!(
        "{} with {} a GPU inside a node of {}, {} a node between nodes ({}); how much of it exchanges reach is assumed from \
         NCCL's own constants, nobody measured it here",
        network.inside,
        words::bytes_per_s(network.inside_bytes_per_s),
        network.per_node,
        words::bytes_per_s(network.between_bytes_per_s),
        basis(network.between_basis),
    )));
    if detail.batch_unknown {
        notes
            .push(note("the shapes do not tell the batch: its parts are taken to need their share of the time".into()));
    }
    if layout.tensor > 1 && !detail.undivided.is_empty() {
        let names: Vec<String> = detail
            .undivided
            .iter()
            .filter(|(_, share)| **share >= 0.01)
            .map(|(family, share)| format!("{family} ({})", words::percent(*share)))
            .collect();
        if !names.is_empty() {
            let names = names.join(", ");
            notes.push(note(format!("each rank does these as a whole, of its device time: {names}")));
        }
    }
    if layout.pipeline > 1 {
        notes.push(note(
            "stages are taken to need the same time, and gradients to be exchanged when all are done".into(),
        ));
    }
    if !trains(workload) && layout.data > 1 {
        notes.push(note("nothing is trained: copies exchange nothing, and each holds all parameters".into()));
    }
    if at.fits.is_none() {
        notes.push(note("what memory a rank needs is not known: the recording does not say what memory is for".into()));
    }
    notes
}
