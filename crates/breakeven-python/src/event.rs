//! The one way by which calls reach the table: native hooks, the AST recorder and library wrappers all end here.
//!
//! A recorder fills a [`Call`], closes its [`Thread`]'s frame and hands both to [`Recorder::record`].

use crate::buffers::Buffers;
use crate::hooks::clock;
use crate::hooks::paths::Came;
use crate::lines::Lines;
use crate::names::{Kind, Names};
use crate::sampled::Sampled;
use crate::scalars::Scalar;
use crate::steps::{Run, Steps};
use crate::table::{ArrayWord, HEAD, LAST_TAG, Table, tag, what_word};
use crate::tensors::Ledger;
use crate::thread;
pub(crate) use crate::thread::{Thread, Timing};
use crate::waited::{LEAST, LONG, Watch, waited_ns};
use breakeven::workload::sequence::Sequence;
use breakeven::workload::{InGraph, Phase, Site};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering::Relaxed;

/// Arrays of one call that are told apart, one of them a result; further ones are told as one, of as many elements.
const MAX_ARRAYS: usize = 16;
/// Clock reads kept one by one.
const MAX_MARKERS: usize = 4096;

/// The memory behind an array: address and bytes of the buffer that its chain of views ends in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// First byte of the buffer.
    pub(crate) address: usize,
    /// Size of the whole buffer, as far as is known.
    pub(crate) bytes: u64,
    /// The call wrote it.
    pub(crate) output: bool,
}

/// Where a call came from, as three words that are equal for equal places; all 0 when not known.
pub(crate) type Place = [u64; HEAD - 1];

/// Words of a key that are kept; arrays beyond count as memory only.
const MAX_WORDS: usize = 128;

/// One call, as described by a recorder. Reused, so that no event allocates.
#[derive(Debug)]
pub(crate) struct Call {
    words: [u64; MAX_WORDS],
    len: usize,
    memory: Vec<Memory>,
    arrays: usize,
    /// Where the last one begins.
    last_array: usize,
    host_writes: bool,
    scalar: Option<Scalar>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            words: [0; MAX_WORDS],
            len: 0,
            memory: Vec::new(),
            arrays: 0,
            last_array: 0,
            host_writes: false,
            scalar: None,
        }
    }
}

impl Call {
    /// Begins a new description.
    #[inline]
    pub(crate) fn begin(&mut self, name: u32, thread: u16, place: Place) {
        self.memory.clear();
        self.arrays = 0;
        self.host_writes = false;
        self.scalar = None;
        self.words[0] = what_word(name, thread, None);
        self.words[1..HEAD].copy_from_slice(&place);
        self.len = HEAD;
    }

    /// The key so far.
    #[inline]
    fn key(&self) -> &[u64] {
        &self.words[..self.len]
    }

    /// Where it came from.
    pub(crate) fn place(&self) -> Place {
        [self.words[1], self.words[2], self.words[3]]
    }

    /// The call named another function, known only now.
    pub(crate) fn rename(&mut self, name: u32) {
        self.words[0] = self.words[0] & !u64::from(u32::MAX) | u64::from(name);
    }

    /// `axis` was given.
    #[inline]
    pub(crate) fn axis(&mut self, axis: i32) {
        self.words[0] |= what_word(0, 0, Some(axis));
    }

    /// The result is a scalar.
    #[inline]
    pub(crate) fn scalar_result(&mut self, scalar: Scalar) {
        self.words[0] |= crate::table::SCALAR;
        self.scalar = Some(scalar);
    }

    /// The host has this element of an array now.
    pub(crate) fn gave_element(&mut self, scalar: Scalar) {
        self.scalar = Some(scalar);
    }

    /// The scalar that is the result.
    pub(crate) fn made(&self) -> Option<Scalar> {
        self.scalar.filter(|_| self.has_scalar_result())
    }

    /// The element that the host has now.
    pub(crate) fn element(&self) -> Option<Scalar> {
        self.scalar.filter(|_| !self.has_scalar_result())
    }

    /// The program itself gave the call to a device; see [`Tags`].
    pub(crate) fn tag(&mut self, tag: u8) {
        self.words[0] = crate::table::with_tag(self.words[0], tag);
    }

    /// The host may write to the first array from now on.
    pub(crate) fn host_writes(&mut self) {
        self.host_writes = true;
    }

    /// The number of its name.
    pub(crate) fn name(&self) -> u32 {
        self.words[0] as u32
    }

    /// The last word of the place is a context.
    pub(crate) fn in_context(&mut self) {
        self.words[0] |= crate::table::IN_CONTEXT;
    }

    /// A data loader makes it.
    pub(crate) fn in_loader(&mut self) {
        self.words[HEAD - 1] |= crate::table::IN_LOADER;
    }

    /// Whether the result is a scalar.
    #[inline]
    pub(crate) fn has_scalar_result(&self) -> bool {
        self.words[0] & crate::table::SCALAR != 0
    }

    /// An array, with its dims; its memory is told apart.
    #[inline(always)]
    pub(crate) fn array(&mut self, array: ArrayWord, dims: &[isize]) {
        let end = self.len + 1 + dims.len();
        if self.arrays < MAX_ARRAYS - usize::from(!array.output)
            && let Some([first, kept @ ..]) = self.words.get_mut(self.len..end)
        {
            *first = array.pack();
            match (kept, dims) {
                // Most arrays by far; a copy of unknown length costs more than all the rest.
                ([kept], [dim]) => *kept = *dim as u64,
                (kept, dims) => kept.iter_mut().zip(dims).for_each(|(kept, &dim)| *kept = dim as u64),
            }
            self.arrays += 1;
            self.last_array = self.len;
            self.len = end;
        } else {
            self.one_more(array, dims);
        }
    }

    /// Adds the elements of an array to those of the last one, if both are inputs or both results.
    #[cold]
    fn one_more(&mut self, array: ArrayWord, dims: &[isize]) {
        let Some((last, kept)) = self.words[self.last_array..self.len].split_first() else { return };
        let last = ArrayWord::unpack(*last);
        if self.arrays == 0 || last.output != array.output {
            return;
        }
        let before = kept.iter().fold(1, |n: u64, &dim| n.saturating_mul(dim));
        let bytes = dims.iter().fold(u64::from(array.itemsize), |n, &dim| n.saturating_mul(dim.max(0) as u64));
        let more = bytes / u64::from(last.itemsize.max(1));
        if let Some([word, dim]) = self.words.get_mut(self.last_array..self.last_array + 2) {
            (*word, *dim) = (ArrayWord { ndim: 1, ..last }.pack(), before.saturating_add(more));
            self.len = self.last_array + 2;
        }
    }

    /// The memory behind an array.
    #[inline(always)]
    pub(crate) fn memory(&mut self, memory: Memory) {
        self.memory.push(memory);
    }

    /// Whether an output has memory that no input has.
    fn copied(&self) -> bool {
        let shared = |output: &Memory| self.memory.iter().any(|m| !m.output && m.address == output.address);
        self.memory.iter().any(|m| m.output && !shared(m))
    }
}

/// The script read a clock.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    /// `time.perf_counter`.
    pub(crate) clock: String,
    /// Index of the site.
    pub(crate) site: u32,
    /// Events before it.
    pub(crate) position: u64,
    /// Ticks since the start.
    pub(crate) ticks: u64,
}

/// Devices and streams that the program itself chose, and what a call has to do with a graph of launches, each under a
/// small number from 1 on.
#[derive(Debug, Default)]
pub(crate) struct Tags(Vec<Tag>);

/// See [`Tags`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) device: String,
    pub(crate) stream: Option<u32>,
    pub(crate) graph: Option<InGraph>,
}

impl Tags {
    /// The number of a tag, the same for the same. Streams beyond the numbers that there are share one, of those that
    /// have as much to do with a graph.
    pub(crate) fn intern(&mut self, tag: Tag) -> u8 {
        let known = self.0.iter().position(|known| *known == tag);
        let place = known.unwrap_or_else(|| {
            if self.0.len() < usize::from(LAST_TAG) {
                self.0.push(tag);
                self.0.len() - 1
            } else {
                self.0.iter().rposition(|known| known.graph == tag.graph).unwrap_or(self.0.len() - 1)
            }
        });
        place as u8 + 1
    }

    /// What a number stands for; nothing for 0.
    pub(crate) fn get(&self, tag: u8) -> Option<&Tag> {
        self.0.get(usize::from(tag).checked_sub(1)?)
    }
}
/// File, line, function, library function, module path.
type SiteKey = (String, u32, String, Option<String>, Option<String>);

/// Interned sites.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    list: Vec<Site>,
    index: BTreeMap<SiteKey, u32>,
}

impl Sites {
    /// The index of a site, the same for the same place.
    pub(crate) fn intern(&mut self, site: Site) -> u32 {
        let key = (site.file.clone(), site.line, site.function.clone(), site.via.clone(), site.module.clone());
        let fresh = self.list.len() as u32;
        let index = *self.index.entry(key).or_insert(fresh);
        if index == fresh {
            self.list.push(site);
        }
        index
    }

    /// The same, if the place is known at all.
    pub(crate) fn known(&mut self, site: Site) -> Option<u32> {
        (!site.file.is_empty()).then(|| self.intern(site))
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[Site] {
        &self.list
    }
}

/// What an op of a framework is told apart by besides its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Context {
    /// Part of a training step, as an index into [`PHASES`].
    pub(crate) phase: Option<u8>,
    /// `cuda:0`, where the script asked for it.
    pub(crate) device: Option<String>,
    /// See `breakeven::workload::Entry::stream`.
    pub(crate) stream: Option<u32>,
    /// `encoder.layer.3.attention`.
    pub(crate) module: Option<String>,
    /// See `breakeven::workload::Entry::graph`.
    pub(crate) graph: Option<InGraph>,
    /// It is the host's if the script turns out to have its tensors on a device by itself.
    pub(crate) aside: bool,
}

/// Phases by name.
pub(crate) const PHASES: [(&str, Phase); 4] = [
    ("forward", Phase::Forward),
    ("backward", Phase::Backward),
    ("optimizer", Phase::Optimizer),
    ("data", Phase::Data),
];

/// The index of the phase with this name.
pub(crate) fn phase(name: &str) -> Option<u8> {
    PHASES.iter().position(|(known, _)| *known == name).map(|i| i as u8)
}

/// Interned contexts.
#[derive(Clone, Debug)]
pub(crate) struct Contexts {
    /// All of them; the first says nothing.
    pub(crate) list: Vec<Context>,
    index: BTreeMap<Context, u32>,
}

impl Default for Contexts {
    fn default() -> Self {
        Self { list: vec![Context::default()], index: [(Context::default(), 0)].into() }
    }
}

impl Contexts {
    /// The index of a context, the same for the same.
    pub(crate) fn intern(&mut self, context: Context) -> u32 {
        let fresh = self.list.len() as u32;
        let index = *self.index.entry(context.clone()).or_insert(fresh);
        if index == fresh {
            self.list.push(context);
        }
        index
    }
}

/// How a tensor's op counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// As a part of the step that goes on, which may be counted again, on this path (0: not known).
    InStep(u64),
    /// By itself, whatever the step is.
    Apart,
    /// Not here: a step is going to be counted again that has it.
    WithItsStep,
}

/// What hooks add to one event as calibrated, ns: to a call, and to `a[i]`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) call_ns: f64,
    pub(crate) index_ns: f64,
}

/// Everything recorded in this process.
#[derive(Default)]
pub(crate) struct Recorder {
    /// What was called.
    pub(crate) names: Names,
    /// Entries.
    pub(crate) table: Table,
    /// Memory.
    pub(crate) buffers: Buffers,
    /// The script has put something on its device: what is aside stays on the host.
    pub(crate) sides_known: bool,
    /// Memory of tensors.
    pub(crate) tensors: Ledger,
    /// What tensor ops are told apart by.
    pub(crate) contexts: Contexts,
    /// A GPU that is not there is imitated for PyTorch.
    pub(crate) pretends: bool,
    /// Steps of a training loop.
    pub(crate) steps: Steps,
    /// Entry of the last tensor op that was told apart from steps.
    pub(crate) last_apart: u32,
    /// Entry of the last read of the host's, and the thread that read.
    pub(crate) last_read: (u32, u16),
    /// Ticks spent on describing tensor ops.
    pub(crate) told_ticks: u64,
    /// Places.
    pub(crate) sites: Sites,
    /// Entries in the order they ran.
    pub(crate) order: Sequence,
    /// Devices that the program itself chose.
    pub(crate) tags: Tags,
    /// The most device memory that the program has held, bytes.
    pub(crate) device_peak_bytes: u64,
    /// Those of them that were not timed one by one.
    pub(crate) untimed: u64,
    /// By thread: the time of its untimed calls with the host code around them, ticks.
    pub(crate) pools: BTreeMap<u16, u64>,
    /// Calls that are recognised in place.
    pub(crate) lines: Lines,
    /// Clock reads.
    pub(crate) markers: Vec<Marker>,
    /// Ops of the step that goes on unwatched that are in the order already, and not counted.
    pub(crate) ahead: usize,
    /// Installed packages whose functions called NumPy for the script.
    pub(crate) installed: BTreeSet<String>,
    /// Time outside ops, as it was sampled.
    pub(crate) sampled: Sampled,
    /// (reason, text) → (ns, count).
    pub(crate) unseen: BTreeMap<(String, String), (u64, u64)>,
    /// Host code in which the process waited, ns.
    pub(crate) idle_ns: u64,
    /// That by where it was, ns.
    pub(crate) waits: BTreeMap<Waiting, u64>,
    /// The lines of that, apart from the places of ops: whether a line waits differs from run to run.
    pub(crate) wait_lines: Sites,
    /// When of that how much was found, the last few times: the monotonic clock, ns, where, and the time, ns.
    pub(crate) idle_lately: VecDeque<(u64, Waiting, u64)>,
    /// What the main thread has slept, or waited for input, since that was looked at, by line, ns.
    pub(crate) slept: BTreeMap<u32, u64>,
    /// The part of that in which there was no other thread, ns.
    pub(crate) slept_alone_ns: u64,
    /// When that was looked at.
    pub(crate) watch: Watch,
    /// What the system had counted when recording began as ready to run without running, ns; and all of it in recordings
    /// that ended.
    pub(crate) waited_at_start: Option<u64>,
    /// See `waited_at_start`.
    pub(crate) waited_ns: u64,
    /// All of it when that was looked at, ns.
    pub(crate) stolen_seen: u64,
    /// What the main thread waited in steps that were as long as others but for other programs, ns, and had waited in all
    /// when that was asked last.
    pub(crate) told_of_waited: u64,
    pub(crate) waited_by_step: Option<u64>,
    /// Ticks when recording began, 0 when it is off; and all ticks of recordings that ended.
    pub(crate) started: u64,
    /// See `started`.
    pub(crate) recorded_ticks: u64,
    pub(crate) hooks: Hooks,
    /// What stand-ins took beside their events, and what other programs took of steps as long as others, ticks.
    pub(crate) set_aside: u64,
    /// While a library is imported: the recorded ticks and the events before.
    pub(crate) importing: Option<(u64, u64, u64)>,
    /// Importing libraries took so many ticks.
    pub(crate) imported_ticks: u64,
    /// Under self-test: what the host reads counts wherever it is.
    pub(crate) probing: bool,
    /// Fields of `program` that the package set.
    pub(crate) program: serde_json::Map<String, serde_json::Value>,
}

/// Where the process waited: the line that did, and the one of the op that came next, as far as they are known; both
/// among [`Recorder::wait_lines`].
pub(crate) type Waiting = (Option<u32>, Option<u32>);

/// How many times waiting was found are known one by one.
const LATELY: usize = 256;

impl Recorder {
    /// Calls recorded so far.
    #[inline(always)]
    pub(crate) fn events(&self) -> u64 {
        self.order.len()
    }

    /// What hooks have added to the events of an entry, ns; that of tensor ops is measured as it passes.
    pub(crate) fn hooks_of(&self, entry: &crate::table::Entry) -> f64 {
        let each = if self.names.indexes(entry.name) { self.hooks.index_ns } else { self.hooks.call_ns };
        if entry.context.is_none() { entry.count as f64 * each } else { 0.0 }
    }

    /// Counts a call; false when it is no event (the host reads what never left it).
    pub(crate) fn record(&mut self, call: &mut Call, timing: Timing, site: impl FnOnce(&mut Sites) -> u32) -> bool {
        let position = self.events();
        let kind = self.names.kind(call.words[0] as u32);
        if kind == Kind::HostReads
            && let Some(&Memory { address, bytes, .. }) = call.memory.first()
        {
            let resident = self.buffers.host_read(address, bytes, position);
            if call.host_writes {
                self.buffers.host_written(address, bytes, position);
            }
            if !resident && !self.probing && tag(call.words[0]) == 0 {
                return false;
            }
        }
        let moves = match kind {
            Kind::Nothing => return false,
            Kind::MaybeView if call.arrays == 0 => return false,
            Kind::Op => true,
            Kind::MaybeView | Kind::HostMakes => {
                let copied = call.copied();
                if copied {
                    call.words[0] |= crate::table::COPIED;
                }
                copied
            }
            Kind::HostReads | Kind::Host => false,
        };
        let index = self.table.entry(call.key(), || site(&mut self.sites));
        let entry = self.table.get_mut(index);
        entry.ran(timing.own, timing.gap);
        if moves {
            let from_host = kind == Kind::HostMakes && call.memory.iter().all(|m| m.output);
            for memory in &call.memory {
                if memory.output {
                    self.buffers.written(memory.address, memory.bytes, index, from_host, position);
                } else {
                    let missing = self.buffers.read(memory.address, memory.bytes, position);
                    entry.host_input_bytes += missing;
                    entry.host_input_count += u64::from(missing > 0);
                }
            }
        }
        self.order.push(index);
        true
    }

    /// Counts an op on tensors whose storages are listed with whether they are written.
    pub(crate) fn record_tensors(
        &mut self,
        call: &mut Call,
        timing: Timing,
        storages: &[(u64, bool)],
        told: Told,
        site: impl FnOnce(&mut Self) -> u32,
    ) -> bool {
        let position = self.events();
        let kind = self.names.kind(call.words[0] as u32);
        let of_host = |tensors: &mut Ledger| match storages.first() {
            Some(&(id, _)) if kind == Kind::HostReads => !tensors.host_read(id, position),
            _ => false,
        };
        if kind == Kind::Nothing || told == Told::WithItsStep || of_host(&mut self.tensors) {
            return false;
        }
        let mut site = Some(site);
        // The table asks for the place only where it has not seen the key.
        let mut table = std::mem::take(&mut self.table);
        let index = table.entry(call.key(), || site.take().map_or(0, |site| site(self)));
        self.table = table;
        let mut run = Run { entry: index, own: timing.own, gap: timing.gap, ..Run::default() };
        // What a loader makes is the host's, until somebody copies it.
        let context = &self.contexts.list[call.words[HEAD - 1] as usize];
        let loads = context.phase == phase("data")
            && context.device.is_none()
            && self.names.callee(call.words[0] as u32).name != "torch.Tensor.to";
        for &(id, output) in storages {
            match kind {
                Kind::Op if loads && output => self.tensors.written(id, index, true, position),
                Kind::Op if loads => _ = self.tensors.host_read(id, position),
                Kind::Op | Kind::HostMakes if output => {
                    self.tensors.written(id, index, kind == Kind::HostMakes, position);
                }
                Kind::Op => {
                    let missing = self.tensors.read(id, position);
                    run.host_input_bytes += missing;
                    run.host_input_count += u64::from(missing > 0);
                }
                _ => {}
            }
        }
        self.ran(run);
        if let Told::InStep(path) = told {
            self.steps.ran(Run { path, ..run });
        } else if kind == Kind::HostReads {
            self.last_read = (index, (call.words[0] >> 32) as u16);
        } else {
            self.last_apart = index;
        }
        true
    }

    /// Counts one run of an entry.
    fn ran(&mut self, run: Run) {
        self.ran_in_order(run, true);
    }

    /// The same; whether it is told now that it comes next.
    fn ran_in_order(&mut self, run: Run, told: bool) {
        let entry = self.table.get_mut(run.entry);
        entry.ran(run.own, run.gap);
        entry.host_input_bytes += run.host_input_bytes;
        entry.host_input_count += run.host_input_count;
        if told && !self.order.push_foretold(run.entry) {
            self.order.push(run.entry);
        }
    }

    /// Counts one more run of an entry, which took no time.
    pub(crate) fn again(&mut self, entry: u32) {
        self.ran(Run { entry, ..Run::default() });
    }

    /// Counts the step `back` steps ago once more, spread over `ticks`.
    pub(crate) fn step_again(&mut self, back: usize, ticks: u64) {
        let ahead = std::mem::take(&mut self.ahead);
        let again = self.steps.again(back, ticks);
        again.runs().enumerate().for_each(|(at, run)| self.ran_in_order(run, at >= ahead));
    }

    /// A step that goes unwatched, as the one `back` steps ago, has `come` so far and called so many outermost modules: what it
    /// did until then comes before whatever is told next (a clock that is read), though it is counted with its step.
    pub(crate) fn come_to(&mut self, back: usize, came: &Came, calls: usize) {
        for entry in self.steps.so_far(back, came, calls).into_iter().skip(self.ahead) {
            self.order.push(entry);
            self.ahead += 1;
        }
    }

    /// Counts what the step `back` steps ago did as far as another `came`, after so many `calls`, once more; whether that left
    /// out some of it.
    pub(crate) fn step_in_part(&mut self, back: usize, came: &Came, calls: usize, before: bool) -> bool {
        let (part, left_out) = self.steps.in_part(back, came, calls, before);
        let ahead = std::mem::take(&mut self.ahead);
        part.into_iter().enumerate().for_each(|(at, run)| self.ran_in_order(run, at >= ahead));
        left_out
    }

    /// Adds what lines have counted by themselves to their entries.
    pub(crate) fn add_up(&mut self) {
        for (entry, ran) in self.lines.take_counts() {
            self.table.get_mut(entry).count += ran;
            self.untimed += ran;
        }
    }

    /// Calls are recognised anew.
    pub(crate) fn forget_lines(&mut self) {
        self.add_up();
        self.lines.clear();
    }

    /// Untimed calls of a thread, with the host code around them, took so many ticks.
    #[inline]
    pub(crate) fn pool(&mut self, thread: u16, ticks: u64) {
        if ticks > 0 {
            *self.pools.entry(thread).or_default() += ticks;
        }
    }

    /// The script read a clock; `site` is asked for the first [`MAX_MARKERS`] only, the others are counted.
    pub(crate) fn marker(&mut self, clock: &str, now: u64, site: impl FnOnce() -> Option<Site>) {
        if self.markers.len() >= MAX_MARKERS {
            self.unseen("marker-limit", "clock reads after the first 4096 are only counted", 0);
        } else if let Some(site) = site() {
            let (site, ticks) = (self.sites.intern(site), self.wall_ticks(now));
            self.markers.push(Marker { clock: clock.to_owned(), site, position: self.events(), ticks });
        }
    }

    /// Something ran and was not seen as ops.
    pub(crate) fn unseen(&mut self, reason: &str, text: &str, ns: u64) {
        let (total, count) = self.unseen.entry((reason.to_owned(), text.to_owned())).or_default();
        *total = total.saturating_add(ns);
        *count += 1;
    }

    /// Ticks recorded until `now`, which is while recording.
    pub(crate) fn wall_ticks(&self, now: u64) -> u64 {
        let running = if self.started == 0 { 0 } else { now.saturating_sub(self.started) };
        (self.recorded_ticks + running).saturating_sub(self.set_aside)
    }

    /// Host code of so many ticks has ended that may have waited; `next` says which line goes on, and is asked only where
    /// it has.
    #[cold]
    pub(crate) fn waited(&mut self, gap: u64, next: impl FnOnce(&mut Self) -> Option<u32>) {
        let others = self.others_took().min(gap);
        thread::OF_OTHERS.fetch_add(others, Relaxed);
        self.set_aside(others);
        let idle = self.waiting(0);
        if idle > 0 {
            let next = next(self);
            let rest = self.waits_where_it_slept(idle, next);
            self.waits_at((None, next), rest);
        }
        self.slept.clear();
    }

    /// Since the process was looked at last, without what a call took of it, ns. Threads that look busy meanwhile, as
    /// BLAS's do for a while after a product, hide none of what the main thread is known to have slept.
    fn waiting(&mut self, of_a_call: u64) -> u64 {
        let off_cpu = self.watch.look().saturating_sub(of_a_call);
        off_cpu.max(std::mem::take(&mut self.slept_alone_ns))
    }

    /// Of so much waiting what the lines have slept is theirs; gives the rest.
    fn waits_where_it_slept(&mut self, idle: u64, next: Option<u32>) -> u64 {
        std::mem::take(&mut self.slept).into_iter().fold(idle, |idle, (line, ns)| {
            self.waits_at((Some(line), next), ns.min(idle));
            idle.saturating_sub(ns)
        })
    }

    /// So much waiting, of which only what lines have slept has a place; `next` is the line that followed that.
    fn waits_somewhere(&mut self, idle: u64, next: Option<u32>) {
        let rest = self.waits_where_it_slept(idle, next);
        self.waits_at((None, None), rest);
    }

    fn waits_at(&mut self, place: Waiting, ns: u64) {
        if ns > 0 {
            self.idle_ns += ns;
            *self.waits.entry(place).or_default() += ns;
            self.idle_lately.push_back((clock::monotonic_ns(), place, ns));
            if self.idle_lately.len() > LATELY {
                self.idle_lately.pop_front();
            }
        }
    }

    /// The import of a library begins. What the process has waited for until now is the script's, as what it does in the
    /// import is not.
    pub(crate) fn import_begins(&mut self) {
        let idle = self.waiting(0);
        self.waits_somewhere(idle, None);
        self.importing = Some((self.wall_ticks(clock::now()), self.told_ticks, self.events()));
    }

    /// It ends `now`: how many recorded ticks it took without the recorder's own, and whether there was no event in it.
    pub(crate) fn import_ends(&mut self, now: u64) -> Option<(u64, bool)> {
        let (wall, told, events) = self.importing.take()?;
        let own = self.told_ticks.saturating_sub(told);
        Some((self.wall_ticks(now).saturating_sub(wall).saturating_sub(own), self.events() == events))
    }

    /// What the process has waited for since it was looked at last is nothing of the script's.
    pub(crate) fn waited_for_itself(&mut self) {
        self.watch.begin();
        self.others_took();
    }

    /// The last `ticks` went into importing a library: what was waited for in them is start-up, as they are.
    pub(crate) fn imported_in(&mut self, ticks: u64) {
        self.imported_ticks += ticks;
        if ticks < LONG {
            return; // asking the system would take as long
        }
        self.waited_for_itself();
        let ns = (ticks as f64 / clock::ticks_per_ns()) as u64;
        let since = clock::monotonic_ns().saturating_sub(ns);
        while let Some((_, place, idle)) = self.idle_lately.pop_back_if(|(at, ..)| *at > since) {
            self.idle_ns -= idle;
            self.waits.entry(place).and_modify(|ns| *ns -= idle);
        }
    }

    /// Whether it is time to ask the system how long the process waited, when a call ends.
    #[inline]
    pub(crate) fn is_to_be_looked_at(&self, began: u64, ended: u64) -> bool {
        ended.saturating_sub(began) >= LONG || ended >= self.watch.due
    }

    /// A call that took `own` ticks has ended, of this entry or of the one looked up last. What it waited for is part of
    /// it; before which of the calls lately the process waited otherwise is not known.
    pub(crate) fn waited_lately(&mut self, own: u64, entry: Option<u32>) {
        self.others_took();
        let idle = self.waiting((own as f64 / clock::ticks_per_ns()) as u64);
        let next = entry.or(self.table.last()).and_then(|entry| self.wait_line_of(entry));
        self.waits_somewhere(idle, next);
    }

    /// The line of an entry among those that wait.
    pub(crate) fn wait_line_of(&mut self, entry: u32) -> Option<u32> {
        let site = self.sites.list().get(self.table.known(entry)?.site as usize)?.clone();
        Some(self.wait_lines.intern(site))
    }

    /// The main thread slept, or waited for input, `alone` or beside others; `line` says where, and is asked only where
    /// that was for long.
    pub(crate) fn slept_for(&mut self, ns: u64, alone: bool, line: impl FnOnce(&mut Sites) -> Option<u32>) {
        self.slept_alone_ns += if alone { ns } else { 0 };
        if ns >= LEAST
            && let Some(line) = line(&mut self.wait_lines)
        {
            *self.slept.entry(line).or_default() += ns;
        }
    }

    /// Steps of a loop begin that are as long as each other, where other programs leave them alone.
    pub(crate) fn equal_steps_begin(&mut self) {
        self.waited_by_step = waited_ns();
    }

    /// One of them took so much longer than the others, with other programs at work: its threads were kept from running,
    /// or waited for one that was. None of that is the program's, nor counts as waiting for a CPU besides.
    pub(crate) fn others_took_of_step(&mut self, ticks: u64) {
        self.set_aside += ticks;
        let now = waited_ns();
        let own =
            now.zip(std::mem::replace(&mut self.waited_by_step, now)).map_or(0, |(now, then)| now.saturating_sub(then));
        self.told_of_waited += own.min((ticks as f64 / clock::ticks_per_ns()) as u64);
    }

    /// So many ticks in which the main thread was kept from running are no time of the run's, nor taken off it again.
    fn set_aside(&mut self, ticks: u64) {
        let ns = (ticks as f64 / clock::ticks_per_ns()) as u64;
        self.set_aside += ticks;
        self.told_of_waited += ns;
        self.stolen_seen = self.stolen_seen.saturating_sub(ns);
    }

    /// Ticks for which the main thread was kept from running since this was asked last.
    fn others_took(&mut self) -> u64 {
        let all = self.stolen_ns().unwrap_or(0);
        let new = all.saturating_sub(std::mem::replace(&mut self.stolen_seen, all));
        (new as f64 * clock::ticks_per_ns()) as u64
    }

    /// How long the main thread was ready to run and did not while recording, ns; `None` where the system does not say.
    pub(crate) fn stolen_ns(&self) -> Option<u64> {
        let now = waited_ns()?;
        let running = self.waited_at_start.filter(|_| self.started != 0).map_or(0, |then| now.saturating_sub(then));
        Some((self.waited_ns + running).saturating_sub(self.told_of_waited))
    }

    /// Forgets what was recorded. Names keep their indices, buffers stay known, `program` stays.
    pub(crate) fn reset(&mut self, now: u64) {
        let old = std::mem::take(self);
        *self = Self {
            names: old.names,
            tags: old.tags,
            buffers: old.buffers,
            tensors: old.tensors,
            contexts: old.contexts,
            pretends: old.pretends,
            hooks: old.hooks,
            program: old.program,
            started: now,
            waited_at_start: waited_ns(),
            watch: old.watch,
            ..Self::default()
        };
        self.watch.begin();
        self.buffers.reset();
        self.tensors.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: ArrayWord = ArrayWord {
        type_num: 12,
        ndim: 1,
        output: false,
        c_contiguous: true,
        f_contiguous: true,
        channels_last: false,
        rows: false,
        repeated: 0,
        itemsize: 8,
    };

    fn record(recorder: &mut Recorder, name: &str, arrays: &[(usize, bool)]) -> bool {
        let name = recorder.names.intern(name);
        let mut call = Call::default();
        call.begin(name, 1, [0; 3]);
        for &(address, output) in arrays {
            let memory = Memory { address, bytes: 80, output };
            call.array(ArrayWord { output, ..VECTOR }, &[10]);
            call.memory(memory);
        }
        recorder.record(&mut call, Timing { own: 1, gap: 1 }, |_| 0)
    }

    #[test]
    fn the_host_reads_only_what_left_it() {
        let mut recorder = Recorder::default();
        assert!(record(&mut recorder, "numpy.array", &[(16, true)]));
        assert!(!record(&mut recorder, "numpy.ndarray.__float__", &[(16, false)]));
        assert!(record(&mut recorder, "numpy.exp", &[(16, false), (32, true)]));
        assert!(record(&mut recorder, "numpy.ndarray.__float__", &[(32, false)]));
        let copied: Vec<_> = recorder.table.entries().iter().map(|e| e.host_input_bytes).collect();
        assert_eq!(copied, [0, 80, 0]);
        assert_eq!(recorder.events(), 3);
    }

    #[test]
    fn a_view_moves_nothing_and_a_copy_does() {
        let mut recorder = Recorder::default();
        assert!(record(&mut recorder, "numpy.ndarray.reshape", &[(16, false), (16, true)]));
        assert!(record(&mut recorder, "numpy.ndarray.reshape", &[(16, false), (32, true)]));
        let entries: Vec<_> = recorder.table.entries().iter().map(|e| (e.copied, e.host_input_bytes)).collect();
        assert_eq!(entries, [(false, 0), (true, 80)]);
    }

    #[test]
    fn more_arrays_than_a_key_holds_are_told_as_one() {
        let mut recorder = Recorder::default();
        let arrays: Vec<_> = (1..=100).map(|i| (i * 128, false)).chain([(128_000, true)]).collect();
        assert!(record(&mut recorder, "numpy.concatenate", &arrays));
        let entry = &recorder.table.entries()[0];
        assert_eq!(entry.host_input_bytes, 8000);
        let (outputs, inputs): (Vec<_>, Vec<_>) = crate::table::arrays(&entry.arrays).partition(|(a, _)| a.output);
        assert_eq!((inputs.len(), outputs.len()), (MAX_ARRAYS - 1, 1));
        assert_eq!(inputs.iter().map(|(_, dims)| dims[0]).sum::<u64>(), 1000);
    }

    #[test]
    fn arrays_without_dims_are_told_as_one_too() {
        let mut call = Call::default();
        call.begin(0, 1, [0; 3]);
        (0..100).for_each(|_| call.array(ArrayWord { ndim: 0, ..VECTOR }, &[]));
        call.array(ArrayWord { output: true, ..VECTOR }, &[100]);
        let dims: Vec<_> = crate::table::arrays(&call.key()[HEAD..]).map(|(_, dims)| dims.to_vec()).collect();
        assert_eq!(dims[MAX_ARRAYS - 3..], [vec![], vec![86], vec![100]]);
    }

    #[test]
    fn clock_reads_are_kept_up_to_a_limit() {
        let mut recorder = Recorder::default();
        for _ in 0..MAX_MARKERS + 5 {
            recorder.marker("time.time", 7, || Some(Site::default()));
        }
        assert_eq!(recorder.markers.len(), MAX_MARKERS);
        assert_eq!(recorder.unseen.values().map(|&(_, count)| count).sum::<u64>(), 5);
    }
}
