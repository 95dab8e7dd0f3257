//! Each GPU of a file: what ran on it in order of time, its streams, and what steps it was busy in.

use super::parts::{GpuTotal, StreamTotal};
use super::{Times, seconds};
use crate::class::Class;
use crate::idle::{Host, Sweep, Use, Work};
use crate::lanes::Lane;
use crate::model::{Copy, Kernel, Step, Trace};
use crate::names::Name;
use crate::span::{Span, Tally, When};
use crate::spans::Union;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

/// Kernels below are short beside their launch, ns.
const SMALL: i64 = 10_000;
/// A name that comes so often is repeated.
const REPEATED: u32 = 10;

/// What the GPUs of a file come to.
#[derive(Default)]
pub(super) struct Gpus {
    pub(super) totals: Vec<GpuTotal>,
    pub(super) streams: Vec<StreamTotal>,
    pub(super) used: Use,
    pub(super) small: Small,
    /// What GPUs did in each step.
    pub(super) steps: Vec<InStep>,
}

/// What GPUs did in a step.
#[derive(Clone, Copy, Default)]
pub(super) struct InStep {
    /// How long they were busy, ns of all together.
    pub(super) busy: i64,
    /// Kernels that began in it.
    pub(super) kernels: Tally,
    /// How many GPUs its process drives.
    pub(super) gpus: u32,
}

/// Short kernels that come again and again.
#[derive(Default)]
pub(super) struct Small {
    pub(super) tally: Tally,
    pub(super) idle_before: i64,
    pub(super) by_name: BTreeMap<Name, u64>,
}

/// What ran on one GPU, each kind in order of time.
#[derive(Clone, Copy, Default)]
struct Ran<'a> {
    kernels: &'a [Kernel],
    copies: &'a [Copy],
    memsets: &'a [(u32, When)],
    graphs: &'a [(u32, When)],
}

/// One of them.
struct Piece {
    span: Span,
    lane: u32,
    work: Work,
    name: Option<Name>,
}

/// Puts a file in order of GPU and time, and goes over it once.
pub(super) fn gpus(trace: &mut Trace) -> Gpus {
    let lanes = trace.lanes.clone();
    let gpu = |lane: u32| lanes.at(lane).gpu;
    trace.kernels.sort_unstable_by_key(|kernel| (gpu(kernel.lane), kernel.when));
    trace.copies.sort_unstable_by_key(|copy| (gpu(copy.lane), copy.when));
    trace.memsets.sort_unstable_by_key(|(lane, when)| (gpu(*lane), *when));
    trace.graphs.sort_unstable_by_key(|(lane, when)| (gpu(*lane), *when));
    trace.steps.sort_unstable_by_key(|step| (step.span.from, Reverse(step.span.to)));
    let trace = &*trace;
    let kinds = Kinds::of(trace);
    let mut all = Gpus { steps: vec![InStep::default(); trace.steps.len()], ..Gpus::default() };
    for (number, ran) in by_gpu(trace) {
        let (total, used) = one(trace, number, ran, &kinds, &mut all);
        all.totals.push(total);
        all.used.add(&used);
    }
    all
}

fn by_gpu(trace: &Trace) -> BTreeMap<i64, Ran<'_>> {
    let mut all: BTreeMap<i64, Ran<'_>> = BTreeMap::new();
    let gpu = |lane: u32| trace.lanes.at(lane).gpu;
    for kernels in trace.kernels.chunk_by(|a, b| gpu(a.lane) == gpu(b.lane)) {
        all.entry(gpu(kernels[0].lane)).or_default().kernels = kernels;
    }
    for copies in trace.copies.chunk_by(|a, b| gpu(a.lane) == gpu(b.lane)) {
        all.entry(gpu(copies[0].lane)).or_default().copies = copies;
    }
    for memsets in trace.memsets.chunk_by(|(a, _), (b, _)| gpu(*a) == gpu(*b)) {
        all.entry(gpu(memsets[0].0)).or_default().memsets = memsets;
    }
    for graphs in trace.graphs.chunk_by(|(a, _), (b, _)| gpu(*a) == gpu(*b)) {
        all.entry(gpu(graphs[0].0)).or_default().graphs = graphs;
    }
    all
}

/// What each name of a kernel says.
struct Kinds {
    communicates: Vec<bool>,
    repeated: Vec<bool>,
}

impl Kinds {
    fn of(trace: &Trace) -> Self {
        let mut counts = vec![[0_u32; 2]; trace.names.len()];
        for kernel in &trace.kernels {
            if let Some([count, small]) = counts.get_mut(kernel.name.0 as usize) {
                *count += 1;
                *small += u32::from(kernel.when.span().is_some_and(|span| span.length() < SMALL));
            }
        }
        let class = |(place, [count, _]): (usize, &[u32; 2])| {
            *count > 0 && Class::of(trace.names.bytes(Name::at(place))) == Class::Communication
        };
        let communicates = counts.iter().enumerate().map(class).collect();
        Self { communicates, repeated: counts.iter().map(|[_, small]| *small >= REPEATED).collect() }
    }

    fn says(kinds: &[bool], name: Name) -> bool {
        kinds.get(name.0 as usize).copied().unwrap_or(false)
    }
}

/// All that ran on a GPU in order of its beginning, without what has no time.
fn pieces<'a>(ran: Ran<'a>, kinds: &'a Kinds) -> impl Iterator<Item = Piece> + 'a {
    type Pieces<'a> = Peekable<Box<dyn Iterator<Item = Piece> + 'a>>;
    let kernels = ran.kernels.iter().filter_map(|kernel| {
        let work = if Kinds::says(&kinds.communicates, kernel.name) { Work::Communication } else { Work::Compute };
        Some(Piece { span: kernel.when.span()?, lane: kernel.lane, work, name: Some(kernel.name) })
    });
    let copies = ran
        .copies
        .iter()
        .filter_map(|copy| Some(Piece { span: copy.when.span()?, lane: copy.lane, work: Work::Copy, name: None }));
    let other =
        |(lane, when): &(u32, When)| Some(Piece { span: when.span()?, lane: *lane, work: Work::Compute, name: None });
    let boxed: [Box<dyn Iterator<Item = Piece> + 'a>; 4] = [
        Box::new(kernels),
        Box::new(copies),
        Box::new(ran.memsets.iter().filter_map(other)),
        Box::new(ran.graphs.iter().filter_map(other)),
    ];
    let mut parts: [Pieces<'a>; 4] = boxed.map(Iterator::peekable);
    std::iter::from_fn(move || {
        let next = parts.iter_mut().enumerate().filter_map(|(at, part)| Some((part.peek()?.span, at)));
        let (_, first) = next.min()?;
        parts[first].next()
    })
}

/// The totals of one GPU, and how its time was used.
fn one(trace: &Trace, number: i64, ran: Ran<'_>, kinds: &Kinds, all: &mut Gpus) -> (GpuTotal, Use) {
    let Gpus { steps, small, .. } = all;
    let processes: BTreeSet<u16> =
        trace.lanes.all().iter().filter(|lane| lane.gpu == number).map(|lane| lane.process).collect();
    let host = Host::of(trace, |process| processes.contains(&process));
    let mut sweep = Sweep::new(&host);
    let mut steps = InSteps::of(&trace.steps, &processes, steps);
    let mut streams: BTreeMap<Option<i64>, (u64, Union)> = BTreeMap::new();
    for piece in pieces(ran, kinds) {
        let (idle, new) = sweep.add(piece.span, piece.work);
        steps.covered(new);
        if piece.name.is_some() {
            steps.began(piece.span);
        }
        let Lane { stream, .. } = trace.lanes.at(piece.lane);
        let (count, union) = streams.entry(stream).or_default();
        *count += 1;
        union.add(piece.span);
        let short = piece.name.filter(|name| {
            piece.span.length() < SMALL && piece.work == Work::Compute && Kinds::says(&kinds.repeated, *name)
        });
        if let Some(name) = short {
            small.tally.add(piece.span.length());
            small.idle_before += idle;
            *small.by_name.entry(name).or_default() += 1;
        }
    }
    all.streams.extend(streams.into_iter().map(|(stream, (count, union))| StreamTotal {
        gpu: number,
        stream,
        count,
        busy_s: seconds(union.length),
    }));
    let used = sweep.finish();
    (total(trace, number, ran, &used), used)
}

fn total(trace: &Trace, number: i64, ran: Ran<'_>, used: &Use) -> GpuTotal {
    let known = used.busy > 0;
    let kernels = ran.kernels.iter().map(|kernel| kernel.when);
    let copies = ran.copies.iter().map(|copy| copy.when);
    GpuTotal {
        file: trace.file.clone(),
        rank: trace.rank,
        number,
        name: trace.gpus.get(&number).and_then(|gpu| gpu.name.clone()),
        kernels: trace.holds_kernels.then_some(ran.kernels.len() as u64),
        kernel_s: timed(kernels).filter(|_| trace.holds_kernels),
        busy_s: known.then(|| seconds(used.busy)),
        span_s: known.then(|| seconds(used.span)),
        copies: trace.holds_copies.then_some(ran.copies.len() as u64),
        copy_s: timed(copies).filter(|_| trace.holds_copies),
        memsets: trace.kind.tells_memsets().then_some(ran.memsets.len() as u64),
    }
}

/// How long they are together; `None` where there are some and none has a time.
fn timed(all: impl Iterator<Item = When>) -> Option<f64> {
    let (mut any, mut times) = (false, None);
    for when in all {
        any = true;
        if let Some(span) = when.span() {
            times.get_or_insert(Tally::default()).add(span.length());
        }
    }
    times.or((!any).then(Tally::default)).map(|tally| Times::from(tally).seconds)
}

/// What one GPU does in the steps of the processes that drive it, told in order of time.
struct InSteps<'a> {
    /// Their places and spans, in order of time.
    steps: Vec<(usize, Span)>,
    /// The first that later spans can meet, and the first that later kernels can begin in.
    at: [usize; 2],
    all: &'a mut [InStep],
}

impl<'a> InSteps<'a> {
    fn of(steps: &[Step], processes: &BTreeSet<u16>, all: &'a mut [InStep]) -> Self {
        let mine = steps.iter().enumerate().filter(|(_, step)| processes.contains(&step.process));
        let steps: Vec<(usize, Span)> = mine.map(|(place, step)| (place, step.span)).collect();
        steps.iter().for_each(|(place, _)| all[*place].gpus += 1);
        Self { steps, at: [0; 2], all }
    }

    /// Adds what was idle and now is not.
    fn covered(&mut self, span: Span) {
        while self.steps.get(self.at[0]).is_some_and(|(_, step)| step.to <= span.from) {
            self.at[0] += 1;
        }
        for (place, step) in self.steps[self.at[0]..].iter().take_while(|(_, step)| step.from < span.to) {
            let both = step.to.min(span.to) - step.from.max(span.from);
            self.all[*place].busy += both.max(0);
        }
    }

    /// Adds a kernel to the step in which it begins.
    fn began(&mut self, span: Span) {
        while self.steps.get(self.at[1]).is_some_and(|(_, step)| step.to <= span.from) {
            self.at[1] += 1;
        }
        if let Some((place, _)) = self.steps.get(self.at[1]).filter(|(_, step)| step.from <= span.from) {
            self.all[*place].kernels.add(span.length());
        }
    }
}
