//! What the GPU itself sets: arithmetic, memory, double precision, too few elements, chains, room.

use super::account::Account;
use super::order::by_round;
use crate::estimate::Reason;
use crate::estimate::gpu::device_bytes;
use crate::hardware::{Device, device::Vendor};
use crate::kernel::entry_time;
use crate::report::words;
use crate::timeline::Task;
use crate::workload::{Dtype, Entry, Op};

/// A GPU whose double-precision rate is at most this part of its single-precision rate has few units for it.
const FEW_UNITS: f64 = 1.0 / 16.0;

/// So many decisions in one program are a chain of them.
const MANY: f64 = 100.0;

/// The arrays do not fit.
pub(super) fn does_not_fit(account: &Account<'_>) -> Option<Reason> {
    if account.out.fits != Some(false) {
        return None;
    }
    let needed = device_bytes(account.q.workload, account.q.port.policy());
    let has = account.device.memory.get();
    let name = words::printable(&account.device.name, 40);
    let reason = Reason::new(
        "does-not-fit",
        None,
        format!(
            "The arrays need {} at {}; {name} has {}.",
            words::memory(needed),
            if account.q.workload.cut_short() { "least" } else { "their most" },
            words::memory(has)
        ),
        "Work on parts of the data, drop temporaries and compute in place, halve the precision, or take a GPU with more \
         memory."
            .to_owned(),
    );
    Some(reason.with("needed", needed, "B", words::memory(needed)).with("memory", has, "B", words::memory(has)))
}

/// Arithmetic sets the time: in double precision on a GPU that has little of it, or otherwise.
pub(super) fn compute(account: &Account<'_>) -> Vec<Reason> {
    let (mut doubles, mut others) = (Work::default(), Work::default());
    let slow = few_double_units(account.device);
    for (i, entry, task) in account.kernels() {
        let path = account.path[i].compute;
        if path <= 0.0 {
            continue;
        }
        let work = if slow && is_double(entry.dtype) { &mut doubles } else { &mut others };
        work.add(entry, path, account.out.plan.entries[i].utilisation);
        work.device += task.device * entry.count as f64;
        if is_double(entry.dtype) {
            work.in_float32 += in_float32(account, entry) * entry.count as f64;
        }
    }
    let lines = |double: bool| {
        account.lines(
            &|i: usize| {
                let of = slow && is_double(account.q.workload.ops[i].dtype);
                if of == double { account.path[i].compute } else { 0.0 }
            },
            5,
        )
    };
    [float64(account, &doubles, lines(true)), busy(account, &others, lines(false))].into_iter().flatten().collect()
}

fn float64(account: &Account<'_>, work: &Work, also: Vec<String>) -> Option<Reason> {
    let ratio = double_rate(account.device).filter(|r| *r > 0.0)?;
    let rate = account.device.peaks.f64_vector?.get();
    if work.path <= 0.0 {
        return None;
    }
    let name = words::printable(&account.device.name, 40);
    let mut reason = Reason::new(
        "float64-rate",
        Some(account.share(work.path)),
        format!(
            "These operations compute in float64, which {name} does at 1/{:.0} of its float32 rate.",
            units_for_one(ratio)
        ),
        "Compute in float32 where the result allows it, or take a GPU with double-precision units.".to_owned(),
    )
    .with("ratio", 1.0 / ratio, "1", format!("1:{:.0}", units_for_one(ratio)))
    .with("float64_rate", rate, "FLOP/s", format!("{}/s", words::flop(rate)))
    .with("kernels", work.device, "s", words::seconds(work.device))
    .with("in_float32", work.in_float32, "s", words::seconds(work.in_float32));
    reason.also = also;
    Some(reason)
}

fn busy(account: &Account<'_>, work: &Work, also: Vec<String>) -> Option<Reason> {
    if work.path <= 0.0 {
        return None;
    }
    let mut reason = Reason::new(
        "compute-bound",
        Some(account.share(work.path)),
        format!(
            "Arithmetic sets the time: {} at {} of what the GPU's units could do.",
            words::flop(work.flop),
            words::percent(work.utilisation())
        ),
        "A lower precision or tensor cores, an algorithm with less arithmetic, or a GPU with a higher peak.".to_owned(),
    )
    .with("flop", work.flop, "FLOP", words::flop(work.flop))
    .with("utilisation", work.utilisation(), "1", words::percent(work.utilisation()));
    reason = by_round(roofline(reason, account.device, work), account, &|i| account.path[i].compute);
    reason.also = also;
    Some(reason)
}

/// The rate of the GPU's memory sets the time.
pub(super) fn memory(account: &Account<'_>) -> Option<Reason> {
    let mut work = Work::default();
    for (i, entry, _) in account.kernels().filter(|(i, ..)| account.path[*i].memory > 0.0) {
        work.add(entry, account.path[i].memory, account.out.plan.entries[i].utilisation);
    }
    if work.path <= 0.0 {
        return None;
    }
    let intensity = work.flop / work.bytes;
    let mut reason = Reason::new(
        "memory-bound",
        Some(account.share(work.path)),
        // A sort counts comparisons, and passes over its data again and again.
        if ridge(account.device, &work).is_some_and(|ridge| intensity > ridge) {
            "The data is read and written several times: the GPU's memory sets the time.".to_owned()
        } else {
            format!("Each byte is moved for {intensity:.2} FLOP: the GPU's memory sets the time, not its arithmetic.")
        },
        "Fuse chains of element-wise operations, work in place, halve the precision, or choose a GPU by bandwidth."
            .to_owned(),
    )
    .with("bytes", work.bytes, "B", words::bytes(work.bytes));
    reason = roofline(reason, account.device, &work);
    let rate = account.device.bandwidth.get();
    reason = reason.with("bandwidth", rate, "B/s", format!("{}/s", words::bytes(rate)));
    reason = by_round(reason, account, &|i| account.path[i].memory);
    reason.also = account.lines(&|i| account.path[i].memory, 5);
    Some(reason)
}

/// Most of the GPU's time goes into launches with fewer elements than it has threads.
pub(super) fn parallelism(account: &Account<'_>) -> Option<Reason> {
    let threads = threads(account.device)?;
    let mut sizes: Vec<(f64, f64)> = Vec::new();
    for (i, entry, _) in account.kernels() {
        let elements = elements(entry);
        let path = &account.path[i];
        sizes.push((elements, path.launch + path.compute + path.memory));
    }
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let whole: f64 = sizes.iter().map(|s| s.1).sum();
    let mut seen = 0.0;
    let middle = sizes.iter().find(|s| {
        seen += s.1;
        seen >= 0.5 * whole
    })?;
    let elements = middle.0;
    if elements >= threads || account.share(device_and_launch(account)) < super::PROGRAM {
        return None;
    }
    let name = words::printable(&account.device.name, 40);
    let count = |x: f64| words::count(x as u64);
    let reason = Reason::new(
        "little-parallelism",
        // Its time is that of launches and memory.
        None,
        format!(
            "Half of the GPU's time goes into launches on at most {}; {name} has room for {} threads at once.",
            words::several(elements as u64, "element", "elements"),
            count(threads)
        ),
        "Put independent problems into one larger array; a larger GPU does not help.".to_owned(),
    );
    Some(reason.with("elements", elements, "1", count(elements)).with("threads", threads, "1", count(threads)))
}

/// What the device and the launches take of the path, s.
fn device_and_launch(account: &Account<'_>) -> f64 {
    let parts = &account.out.parts;
    parts.compute + parts.memory + parts.launch
}

/// The part of an entry's launches on the path, s, in which a kernel is a chain by nature.
pub(super) fn chained(entry: &Entry, task: &Task, launch: f64, device: &Device) -> f64 {
    let rest = (task.device - entry_time(entry, device).smallest.get()).max(0.0) / task.device;
    if rest > 0.5 { launch * rest * task.device / (task.device + task.dispatch) } else { 0.0 }
}

/// Kernels that are a chain by nature, and loops in which the next step asks for the result of the last.
pub(super) fn sequential(account: &Account<'_>) -> Vec<Reason> {
    [chain(account), branching(account)].into_iter().flatten().collect()
}

fn chain(account: &Account<'_>) -> Option<Reason> {
    let chained: f64 = account.chained.iter().sum();
    let lines = account.lines(&|i| account.chained[i], 5);
    if chained <= 0.0 {
        return None;
    }
    let mut reason = Reason::new(
        "sequential-dependence",
        Some(account.share(chained)),
        "These kernels are chains of small steps, each of which needs the one before: the GPU cannot spread them."
            .to_owned(),
        "Solve many such problems in one batched call, or leave this part on the CPU.".to_owned(),
    )
    .with("chain", chained, "s", words::seconds(chained));
    reason.also = lines;
    Some(reason)
}

/// Python branches on values of the GPU, with less work between two of them than asking for one takes.
fn branching(account: &Account<'_>) -> Option<Reason> {
    let machine = account.q.port.machine();
    let (mut asked, mut read, mut work) = (0.0, 0.0, 0.0);
    for (_, entry, task) in account.entries() {
        let runs = entry.count as f64;
        work += task.device * runs;
        if is_branch(account, entry) && task.on_host == 0.0 {
            asked += runs;
            read += (task.download + task.dispatch + machine.sync_latency + machine.launch_latency) * runs;
        }
    }
    if asked < MANY || work >= read {
        return None;
    }
    let (work, read) = (work / asked, read / asked);
    let mut reason = Reason::new(
        "sequential-dependence",
        None,
        format!(
            "{} times Python decides from a value of the GPU what comes next: {} of work for {} of asking.",
            words::count(asked as u64),
            words::seconds(work),
            words::seconds(read)
        ),
        "Run many such problems side by side in one array, decide on the GPU (`where`), or stay on a fast CPU core."
            .to_owned(),
    )
    .with("decisions", asked, "1", words::count(asked as u64))
    .with("work_each", work, "s", words::seconds(work))
    .with("asking_each", read, "s", words::seconds(read));
    let ops = &account.q.workload.ops;
    reason.also = account.lines(&|i| if is_branch(account, &ops[i]) { ops[i].count as f64 } else { 0.0 }, 5);
    Some(reason)
}

/// Whether what the host reads here decides what it does: a truth value, or a read on a line that branches.
fn is_branch(account: &Account<'_>, entry: &Entry) -> bool {
    let text = account.q.workload.sites.get(entry.site as usize).map_or("", |s| s.text.trim_start());
    let keyword = ["if ", "elif ", "while "].iter().any(|word| text.starts_with(word));
    matches!(entry.op, Op::HostRead { .. })
        && (keyword || entry.name.ends_with("__bool__") || entry.name.ends_with("is_nonzero"))
}

/// Sums over kernels.
#[derive(Default)]
struct Work {
    path: f64,
    flop: f64,
    bytes: f64,
    utilised: f64,
    device: f64,
    in_float32: f64,
    by_dtype: std::collections::BTreeMap<&'static str, (f64, Option<Dtype>)>,
}

impl Work {
    fn add(&mut self, entry: &Entry, path: f64, utilisation: f64) {
        self.path += path;
        self.flop += entry.flop().get();
        self.bytes += entry.bytes().get();
        self.utilised += path * utilisation;
        let sum = self.by_dtype.entry(entry.dtype.name()).or_default();
        *sum = (sum.0 + path, Some(entry.dtype));
    }

    fn utilisation(&self) -> f64 {
        if self.path > 0.0 { self.utilised / self.path } else { 0.0 }
    }

    /// The precision of most of it.
    fn dtype(&self) -> Option<Dtype> {
        self.by_dtype.values().max_by(|a, b| a.0.total_cmp(&b.0)).and_then(|most| most.1)
    }
}

/// FLOP for each byte, here and where the GPU's roofline bends.
fn roofline(reason: Reason, device: &Device, work: &Work) -> Reason {
    let ratio = |x: f64| format!("{x:.2} FLOP/B");
    let mut reason = reason;
    if work.bytes > 0.0 {
        let intensity = work.flop / work.bytes;
        reason = reason.with("operational_intensity", intensity, "FLOP/B", ratio(intensity));
    }
    if let Some(ridge) = ridge(device, work) {
        reason = reason.with("ridge_point", ridge, "FLOP/B", ratio(ridge));
    }
    reason
}

/// Where the roofline bends in the precision of most of the work, FLOP/B.
fn ridge(device: &Device, work: &Work) -> Option<f64> {
    let peak = device.vector_peak(work.dtype()?)?;
    Some(peak.get() / device.bandwidth.get()).filter(|ridge| ridge.is_finite())
}

/// float64 rate ÷ float32 rate of the ordinary cores; `None` where one is not known.
fn double_rate(device: &Device) -> Option<f64> {
    let (double, single) = (device.peaks.f64_vector?.get(), device.peaks.f32_vector?.get());
    (single > 0.0).then(|| double / single)
}

/// Single-precision units for one of double precision: datasheets round rates, boards have a power of two.
fn units_for_one(rate: f64) -> f64 {
    let units = 1.0 / rate;
    let power = libm::exp2(libm::round(libm::log2(units)));
    if (units / power - 1.0).abs() < 0.05 { power } else { libm::round(units) }
}

/// Whether the device is one of those that compute slowly in double precision.
pub(super) fn few_double_units(device: &Device) -> bool {
    double_rate(device).is_some_and(|rate| rate <= FEW_UNITS)
}

pub(super) fn is_double(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::C128)
}

/// The same kernel in single precision, s.
fn in_float32(account: &Account<'_>, entry: &Entry) -> f64 {
    let dtype = if entry.dtype == Dtype::C128 { Dtype::C64 } else { Dtype::F32 };
    let [read_bytes, written_bytes] = [entry.read_bytes, entry.written_bytes].map(|bytes| bytes / 2);
    entry_time(&Entry { dtype, read_bytes, written_bytes, ..entry.clone() }, account.device).p50.get()
}

/// Threads that the GPU keeps in flight: units × resident threads of one, as the CUDA C++ Programming Guide lists them
/// by compute capability; 2 048 for other makers (assumed). `None` where the units are not known.
fn threads(device: &Device) -> Option<f64> {
    let of_one = match (device.vendor, device.compute_capability.as_deref()) {
        (Vendor::Nvidia, Some("7.5")) => 1024.0,
        (Vendor::Nvidia, Some("8.6" | "8.7" | "8.9" | "11.0" | "12.0" | "12.1")) => 1536.0,
        _ => 2048.0,
    };
    device.units.map(|units| f64::from(units) * of_one)
}

/// What a kernel can spread over threads: the elements it makes, or folds.
fn elements(entry: &Entry) -> f64 {
    elements_of(&entry.op)
}

fn elements_of(op: &Op) -> f64 {
    let f = |n: u64| n as f64;
    match op {
        Op::Matmul { m, n, batch, .. } => f(*m) * f(*n) * f(*batch),
        Op::Convolution { batch, cout, output, .. } => {
            f(*batch) * f(*cout) * output.iter().map(|n| f(*n)).product::<f64>()
        }
        Op::Attention { batch, heads, q_len, head_dim, .. } => f(*batch) * f(*heads) * f(*q_len) * f(*head_dim),
        // What one step spreads.
        Op::Recurrent { steps, rows, hidden, .. } => f(*rows) / f(*steps).max(1.0) * f(*hidden),
        Op::Elementwise { n, .. }
        | Op::Reduce { n, .. }
        | Op::Gather { n, .. }
        | Op::Scatter { n, .. }
        | Op::Copy { n, .. }
        | Op::Random { n, .. }
        | Op::Window { n, .. } => f(*n),
        Op::Rowwise { rows, width, .. } | Op::Scan { rows, width } | Op::Sort { rows, width, .. } => {
            f(*rows) * f(*width)
        }
        Op::Fft { n, batch, .. } => f(*n) * f(*batch),
        Op::Factor { m, n, batch, .. } => f(*m) * f(*n) * f(*batch),
        Op::Sparse { nnz, n, .. } => f(*nnz) * f(*n).max(1.0),
        Op::Embedding { n, width, .. } => f(*n) * f(*width),
        Op::Dataframe { rows, columns, .. } => f(*rows) * f(*columns),
        // As many as its largest kernel spreads.
        Op::Routine { parts } => parts.iter().map(|part| elements_of(&part.op)).fold(0.0, f64::max),
        Op::Collective { bytes, .. } | Op::Transfer { bytes, .. } | Op::HostRead { bytes } => f(*bytes),
        Op::Synchronise | Op::StreamWait | Op::View | Op::HostOnly | Op::Opaque => 0.0,
    }
}
