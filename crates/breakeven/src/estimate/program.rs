//! A whole program on every GPU asked about.

use super::baseline::{self, CpuTime};
use super::changed;
use super::coverage::{self, is_of_library, with_libraries_apart};
use super::frames;
use super::gpu::{Outcome, Question, WORST, device_bytes, outcome, outcomes};
use super::plan::{Plan, Policy, Port};
use super::setup::Setup;
use super::{
    Advice, Baseline, BreakEven, Estimate, GpuEstimate, Note, SCHEMA, Together, Verdict, WorkloadSummary, drawing,
    not_understood, sites, spans, summary,
};
use super::{hosttime::host_time, pace};
use crate::advice;
use crate::advice::draft::{Draft, compiles};
use crate::choice::{Choice, Pick, choose, offered};
use crate::crossover::{Growth, crossing, gpu_time};
use crate::growth::{Crossings, crossing_of_runs, crossings};
use crate::hardware::{Device, device::Vendor};
use crate::interval::{Basis, Interval};
use crate::kernel::{Bound, power};
use crate::port::{self, PortProfile};
use crate::quantity::significant;
use crate::reasons;
use crate::report::words;
use crate::request::{Options, Request};
use crate::several;
use crate::spend::spend;
use crate::timeline::{Compact, LANES};
use crate::workload::{CUT_SHORT, Entry, Exit, GIVEN, Op, Step, Unseen, Workload};
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Watts beside the GPU (CPU, memory, fans, network) as a share of the board's limit: an 8×H100 node is rated 10.2 kW
/// of which 5.6 kW are GPUs (Latif et al., IEEE Access 13:61740, 2025), and draws less of the rest under GPU work.
const HOST_SHARE: f64 = 0.35;
/// ln-sigma of that share.
const HOST_SHARE_SIGMA: f64 = 0.4;

/// Reasons of recorders for which nothing went unseen, and the note that tells them.
const TOLD_AS: [(&str, &str); 15] = [
    ("compiled-loops", "compiled-loops"),
    ("pretend-gpu", "stand-in"),
    ("fake", "stand-in"),
    ("gpu-fell-back", "gpu-fell-back"),
    ("copies-by-rule", "copies-by-rule"),
    ("cut-short", "cut-short"),
    ("model", "model"),
    ("no-parameters", "no-parameters"),
    ("on-cpu", "on-cpu"),
    ("trips-unknown", "trips-unknown"),
    ("unknown-op", "unknown-op"),
    ("unknown-shape", "unknown-shape"),
    (CUT_SHORT[0], CUT_SHORT[0]),
    (CUT_SHORT[1], CUT_SHORT[1]),
    (CUT_SHORT[2], CUT_SHORT[2]),
];

/// Share of the wall time that other programs may have had before it is worth a note.
const BUSY: f64 = 0.05;
/// The widest element that is one number: a complex of two doubles, bytes.
const LARGEST_NUMBER: u64 = 16;
/// Fewer single numbers are not worth a note.
const MANY_NUMBERS: u64 = 1000;

/// Answers a request that holds a workload.
///
/// # Errors
/// Names that match nothing, options that do not read.
pub fn estimate(workload: &Workload, request: &Request) -> Result<Estimate> {
    estimate_by(workload, request, &one_by_one)
}

/// [`estimate`], with the GPUs spread by `each`.
///
/// # Errors
/// As [`estimate`].
pub fn estimate_by(workload: &Workload, request: &Request, each: Each) -> Result<Estimate> {
    let Some(asked) = &request.options.several else {
        return estimate_on(&Setup::default(), workload, request, each);
    };
    ask(workload, request, |question, choice| {
        let mut estimate = answer(question, choice, request, each)?;
        several::answer(question, choice, asked, &mut estimate)?;
        Ok(estimate)
    })?
}

/// The same on a machine that numbers tell of.
///
/// # Errors
/// As [`estimate`].
pub fn estimate_on(setup: &Setup, workload: &Workload, request: &Request, each: Each) -> Result<Estimate> {
    ask_on(setup, workload, request, |question, choice| answer(question, choice, request, each))?
}

/// Does a job for each number below the first argument, in any order: a face may do several at once.
pub type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// An [`Each`] without threads.
pub fn one_by_one(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    (0..jobs).for_each(job);
}

/// Whether the verdict is open only because other programs may have slowed this one down.
fn busy_decides(q: &Question, device: &Device, verdict: Verdict) -> bool {
    let cpu = CpuTime { time: q.cpu.quiet, ..q.cpu.clone() };
    verdict == Verdict::Either
        && q.cpu.quiet != q.cpu.time
        && outcome(&Question { cpu: &cpu, ..*q }, device).verdict == Verdict::Gpu
}

/// What every GPU is asked about `workload`, handed to `then` with the GPUs chosen.
///
/// # Errors
/// As [`estimate`].
pub fn ask<T>(workload: &Workload, request: &Request, then: impl FnOnce(&Question, &Choice) -> T) -> Result<T> {
    ask_on(&Setup::default(), workload, request, then)
}

/// The same on a machine that numbers tell of.
///
/// # Errors
/// As [`estimate`].
pub fn ask_on<T>(
    setup: &Setup,
    workload: &Workload,
    request: &Request,
    then: impl FnOnce(&Question, &Choice) -> T,
) -> Result<T> {
    let options = &request.options;
    let mut choice = choose(request)?;
    setup.equip(&mut choice);
    let apart = with_libraries_apart(workload);
    let workload = apart.as_ref();
    let policy = policy(workload, options)?;
    let changed = changed::changed(workload, options, &choice.cpu.device)?;
    let recorded = workload;
    let workload = changed.as_ref().map_or(workload, |changed| &changed.workload);
    let timed;
    let workload = if workload.program.untimed() {
        timed = baseline::timed(workload, &choice.cpu.device);
        &timed
    } else if choice.cpu_named && workload.program.recorder != GIVEN {
        timed = baseline::on_another(workload, &host_time(workload), &choice.cpu.device);
        &timed
    } else {
        workload
    };
    let profile = profile(workload, policy, options)?;
    let mut host = host_time(workload);
    if choice.host_cpu.is_none() {
        host.paces = pace::paces(recorded);
        if let Some(own) = choice.calibration.as_ref().filter(|_| choice.cpu.device.measured.is_some()) {
            let measured = own.paces();
            host.paces.retain(|(name, _)| measured.iter().all(|(known, _)| known != name));
            host.paces.extend(measured);
        }
    }
    let host_speed = choice.host_speed();
    let mut cpu = if workload.program.recorder == GIVEN {
        baseline::given(workload, &host, policy)
    } else if choice.cpu_named || workload.program.untimed() {
        baseline::modelled(workload, &host, &choice.cpu.device, policy)
    } else {
        baseline::measured(workload, &host, policy)
    };
    if changed.is_some() {
        cpu.time =
            changed::less_sure(cpu.time, workload.program.wall_ns as f64 / (recorded.program.wall_ns as f64).max(1.0));
    }
    let order = order_of(&workload.steps(), workload);
    let port = Port::new(workload, &host, profile, host_speed, policy);
    let startup = match policy {
        Policy::AsWritten => profile.startup_as_written(workload),
        Policy::Resident | Policy::Naive => profile.startup(workload),
    };
    let startup = match &choice.calibration {
        Some(own) => own.startup(profile.name, startup),
        None => startup,
    };
    let coverage = coverage::coverage(workload, &host);
    let question = Question {
        workload,
        order: &order,
        host: &host,
        cpu: &cpu,
        port: &port,
        startup: setup.startup(startup.total()),
        first_use: startup.at_first_use(),
        host_speed,
        exclude_startup: options.exclude_startup,
        coverage: &coverage,
        recorded_s: host_time(recorded).wall,
        changed: changed.as_ref().map(|changed| changed.text.as_str()),
        setup,
    };
    Ok(then(&question, &choice))
}

/// A row for each GPU.
fn rows(question: &Question, choice: &Choice, options: &Options, each: Each) -> Vec<GpuEstimate> {
    let jobs: Vec<&[Pick]> = choice.gpus.chunks(LANES).collect();
    let rows: Vec<OnceLock<Vec<GpuEstimate>>> = jobs.iter().map(|_| OnceLock::new()).collect();
    let spare: Mutex<Vec<Vec<Plan>>> = Mutex::default();
    let spares = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    each(jobs.len(), &|job| {
        let picks = jobs[job];
        let devices: Vec<&Device> = picks.iter().map(|pick| &pick.gpu.device).collect();
        let mut plans = spares().pop().unwrap_or_default();
        let keep = |i: usize, out: &Outcome| row(question, &picks[i], out, choice, options);
        rows[job].get_or_init(|| outcomes(question, &devices, &mut plans, |_| (), keep));
        spares().push(plans);
    });
    rows.into_iter().flat_map(|rows| rows.into_inner().unwrap_or_default()).collect()
}

fn answer(question: &Question, choice: &Choice, request: &Request, each: Each) -> Result<Estimate> {
    let options = &request.options;
    let only = match choice.gpus.as_slice() {
        [pick] => Some(outcome(question, &pick.gpu.device)),
        _ => None,
    };
    let mut rows = match &only {
        Some(out) => vec![row(question, &choice.gpus[0], out, choice, options)],
        None => rows(question, choice, options, each),
    };
    let summary = summary::choose(&rows, question.workload.program.imitated_gpu.as_deref());
    let shown = summary.shown_gpu.as_ref().and_then(|id| rows.iter().position(|row| row.gpu == *id));
    // Plans of many GPUs would fill the memory: that of the one shown is laid out again.
    let out = shown.map(|i| only.unwrap_or_else(|| outcome(question, &choice.gpus[i].gpu.device)));
    let shown = shown.zip(out.as_ref());
    let sites = sites::sites(question, out.as_ref());
    if let Some((i, out)) = shown
        && let Some(even) = &mut rows[i].break_even
    {
        let device = &choice.gpus[i].gpu.device;
        in_sizes(even, crossings(question, out, device, &choice.cpu.device));
        if let Some(sizes) = &request.sizes {
            even.runs = Some(crossing_of_runs(question, device, sizes, request)?);
        }
    }
    let clocked = out.as_ref().filter(|out| question.coverage.is_enough() && out.fits != Some(false));
    let timers = clocked.map_or_else(Vec::new, |out| reasons::timers(question, out));
    let why =
        shown.map_or_else(Vec::new, |(i, out)| reasons::reasons(question, out, &choice.gpus[i].gpu.device, &timers));
    let baseline = bill(question, choice);
    let robustness =
        shown.map_or_else(Vec::new, |(i, out)| reasons::robustness(question, choice, &baseline, &rows, i, out));
    let timeline = shown.filter(|_| options.timeline).and_then(|(i, out)| drawing::sketch(question, &rows[i].gpu, out));
    let busy = shown.filter(|(i, out)| busy_decides(question, &choice.gpus[*i].gpu.device, out.verdict));
    let not_understood = not_understood::not_understood(question);
    let mut notes: Vec<Note> = not_understood::notes(&not_understood, question.workload).collect();
    notes.extend(choice.notes.iter().cloned());
    notes.extend(busy.map(|_| {
        Note::new("busy-decides", "other programs were at work while this one was recorded, and that leaves the answer open: record it again when the machine is quiet")
    }));
    notes.extend(notes_of(question, shown.map(|(i, out)| (&rows[i], out))));
    let memory = shown.and_then(|(i, _)| frames::memory(question, &choice.gpus[i].gpu.device));
    notes.extend(memory.map(|(code, text)| Note::new(code, text)));
    let is_cupy = question.port.library() == port::cupy().name;
    if is_cupy && choice.gpus.iter().any(|p| p.gpu.device.vendor == Vendor::Amd) {
        notes.push(Note::new(
            "port-amd",
            "on AMD GPUs the port is CuPy's ROCm build, which covers less and is tested less",
        ));
    }
    if rows.iter().any(|r| !r.counted) {
        notes.push(Note::new("port-native", not_served(question.port.profile())));
    }
    notes.extend(compile(question, choice, &mut rows));
    // Of what would have come nothing is known, neither what it needs nor what would help; nor of what was not seen.
    let advised = shown.filter(|_| !question.workload.cut_short() && question.coverage.is_enough());
    let (advice, advice_together) =
        advised.map(|(i, out)| advise(question, choice, i, out, options)).unwrap_or_default();
    let mut estimate = Estimate {
        schema: SCHEMA.to_owned(),
        workload: summarise(question, out.as_ref().map(|out| &out.plan)),
        options: options.echoed(),
        summary,
        baseline,
        sites,
        estimates: rows,
        formula: None,
        footprint: None,
        model: None,
        reasons: why,
        timers,
        robustness,
        timeline,
        not_understood,
        advice,
        advice_together,
        several: None,
        notes,
        policy_failed: None,
    };
    summary::finish(&mut estimate, options)?;
    Ok(estimate)
}

/// What a script that compiles itself takes on each GPU once that is done, and a note that there are two times.
fn compile(question: &Question, choice: &Choice, rows: &mut [GpuEstimate]) -> Option<Note> {
    if !compiles(question.workload) {
        return None;
    }
    let draft = Draft::new(question.workload, question.port.policy());
    let (compiled, kernels) = advice::compiled(&draft)?;
    let (fitting, devices): (Vec<&mut GpuEstimate>, Vec<&Device>) = rows
        .iter_mut()
        .zip(&choice.gpus)
        .filter(|(row, _)| row.time_s.is_some())
        .map(|(row, pick)| (row, &pick.gpu.device))
        .unzip();
    let taken = advice::once_compiled(question, &compiled, &devices);
    fitting.into_iter().zip(taken).for_each(|(row, taken)| row.compiled = taken);
    let text = format!(
        "the script compiles with torch.compile: the report is about its eager code, the rows *compiled* say what it takes \
         then, with {}",
        words::several(kernels as u64, "kernel in place of several", "kernels each in place of several")
    );
    Some(Note::new("torch-compile", text))
}

/// What edits of the program are judged by on a GPU.
fn context<'a>(
    question: &'a Question,
    choice: &'a Choice,
    device: &'a Device,
    before: &'a Outcome,
) -> advice::Context<'a> {
    advice::Context {
        question,
        device,
        before,
        cpu: &choice.cpu.device,
        cpu_modelled: choice.cpu_named || question.workload.program.untimed(),
    }
}

/// What would help on the GPU at `shown`, and on the CPU. Where one GPU was named, another may do as well for less.
fn advise(
    question: &Question,
    choice: &Choice,
    shown: usize,
    before: &Outcome,
    options: &Options,
) -> (Vec<Advice>, Vec<Together>) {
    let pick = &choice.gpus[shown];
    let ctx = context(question, choice, &pick.gpu.device, before);
    let draft = Draft::new(question.workload, question.port.policy());
    let (mut advice, together) = advice::advise(&ctx, &draft);
    if let (1, false, Some(price)) = (choice.gpus.len(), options.gpu.is_empty(), &pick.price)
        && question.setup.gpus == 1.0
    {
        let offered = offered(&choice.catalogue, options);
        let offer = |p: &'_ Pick| p.price.as_ref().map(|price| price.usd_per_h);
        let offers: Vec<advice::Offer> = offered
            .iter()
            .filter_map(|p| Some(advice::Offer { device: &p.gpu.device, usd_per_h: offer(p)? }))
            .collect();
        advice.extend(advice::cheaper_gpu(&ctx, price.usd_per_h, &offers));
    }
    (advice, together)
}

/// What GPUs of makers that the library has no release for are estimated as.
fn not_served(profile: &PortProfile) -> String {
    let by = match profile.name {
        "cupy" => "as if ported to a native array library".to_owned(),
        "torch" => "with what PyTorch costs on NVIDIA's, not with XPU's and MPS's own costs".to_owned(),
        other => format!("as if {other} had a release for them"),
    };
    let whose = if profile.serves(Vendor::Amd) { "Intel and Apple" } else { "AMD, Intel and Apple" };
    format!("{whose} GPUs are estimated {by}; they do not count among the winners")
}

/// As asked for; a program that uses a GPU library itself is estimated as it is written and no other way.
fn policy(workload: &Workload, options: &Options) -> Result<Policy> {
    let written = workload.ops.iter().any(|entry| entry.device.is_some());
    let given = match (options.policy.as_deref(), options.port.as_deref()) {
        (None, Some("as-written")) => Some("as-written"),
        (given, _) => given,
    };
    let wrong = |code, message: String, hint| Err(Error::new(code, message).hint(hint).field("policy"));
    match given {
        None if written => Ok(Policy::AsWritten),
        Some("as-written") if written => Ok(Policy::AsWritten),
        Some("as-written") => wrong(
            "not-written-for-a-gpu",
            "the program uses no GPU library: there is nothing to estimate as it is written".to_owned(),
            "resident: what a port to CuPy would do",
        ),
        Some(other @ ("resident" | "naive")) if written => wrong(
            "written-for-a-gpu",
            format!(
                "the program says itself what runs on the GPU and what is copied: policy `{other}` cannot change that"
            ),
            "leave the policy out, or say as-written",
        ),
        None | Some("resident") => Ok(Policy::Resident),
        Some("naive") => Ok(Policy::Naive),
        Some(other) => wrong(
            "unknown-policy",
            format!("there is no policy `{}`", words::printable(other, 40)),
            "resident (arrays stay on the GPU), naive (each call copies in and out) or as-written",
        ),
    }
}

/// The library that the program would be ported to, or that it is written for.
fn profile(workload: &Workload, policy: Policy, options: &Options) -> Result<&'static PortProfile> {
    if policy == Policy::AsWritten {
        let first = workload.ops.iter().find(|entry| entry.device.is_some());
        return Ok(first.map_or_else(port::cupy, |entry| port::of(&entry.name)));
    }
    let Some(asked) = options.port.as_deref() else {
        return Ok(most_used(workload));
    };
    // What is written for NumPy has no counterparts in a library's own profile.
    let fits = |own: &&PortProfile| {
        own.name == port::cupy().name || workload.ops.iter().any(|entry| port::of(&entry.name).name == own.name)
    };
    port::named(asked).filter(fits).ok_or_else(|| {
        Error::new("unknown-port", format!("there is no port profile `{}`", words::printable(asked, 40)))
            .hint("cupy, or as-written for a program that uses a GPU library itself")
            .field("port")
    })
}

/// PyTorch where the program has its tensors; else the library whose calls take most of its time.
fn most_used(workload: &Workload) -> &'static PortProfile {
    if let Some(torch) = workload.ops.iter().map(|entry| port::of(&entry.name)).find(|own| own.name == "torch") {
        return torch;
    }
    let mut times = vec![0u64; port::all().len()];
    for entry in workload.ops.iter().filter(|entry| entry.op.is_array_work()) {
        let own = port::of(&entry.name);
        let place = port::all().iter().position(|profile| profile.name == own.name).unwrap_or(0);
        times[place] = times[place].saturating_add(entry.cpu_ns).saturating_add(1);
    }
    let most = times.iter().enumerate().max_by_key(|&(place, ns)| (ns, std::cmp::Reverse(place)));
    most.map_or_else(port::cupy, |(place, _)| &port::all()[place])
}

/// `steps` of the entries of `workload`, with the time outside all ops first.
pub fn order_of(steps: &[Step], workload: &Workload) -> Compact {
    Compact::chained(&[Step::Run(workload.ops.len() as u32)], steps)
}

fn summarise(q: &Question, plan: Option<&super::plan::Plan>) -> WorkloadSummary {
    let workload = q.workload;
    let need = device_bytes(workload, q.port.policy());
    let waits = workload.ops.iter().filter(|e| matches!(e.op, Op::Synchronise)).map(|e| e.count).sum();
    WorkloadSummary {
        name: workload.program.name.clone(),
        ops: workload.ops.iter().filter(|e| !is_of_library(e)).fold(0, |sum, e| sum.saturating_add(e.count)),
        launches: plan.map_or(0, |p| p.launches),
        flop: Some(workload.flop().get()),
        bytes: Some(workload.bytes().get()),
        h2d_bytes: plan.map(|p| p.h2d_bytes),
        d2h_bytes: plan.map(|p| p.d2h_bytes),
        h2d_copies: plan.map(|p| p.h2d_copies.round() as u64),
        d2h_copies: plan.map(|p| p.d2h_copies.round() as u64),
        synchronisations: (q.port.policy() == Policy::AsWritten).then_some(waits),
        peak_bytes: (need > 0.0).then_some(need),
        coverage: q.coverage.share(),
    }
}

fn bill(q: &Question, choice: &Choice) -> Baseline {
    let cpu = q.cpu;
    let recorded = q.workload.program.cpu.clone();
    let device = if choice.cpu_named || recorded.is_empty() { choice.cpu.device.name.clone() } else { recorded };
    let rates = choice.cpu_rates.clone();
    let time = q.cpu_time();
    let spent = spend(time, &rates);
    Baseline {
        device,
        // Nobody measured a program that was changed.
        basis: if q.changed.is_some() { cpu.basis.max(Basis::Modelled) } else { cpu.basis },
        time_s: Some(time),
        startup_s: Some(Interval::exact(q.startup_here())),
        cost_usd: spent.cost_usd,
        energy_wh: spent.energy_wh,
        co2_g: spent.co2_g,
        price: rates.price,
    }
}

fn row(q: &Question, pick: &Pick, out: &Outcome, choice: &Choice, options: &Options) -> GpuEstimate {
    let device = &pick.gpu.device;
    let total = out.parts.total();
    let watts = match choice.gpu_watts {
        Some(w) => Interval::exact(w),
        None => watts(device, out, total),
    };
    let gpus = q.setup.gpus;
    let rates = choice.rates(Some(pick), gpus, Some(watts.scale(gpus)));
    let spent = out.time.map(|t| spend(t, &rates)).unwrap_or_default();
    let flop = q.workload.flop().get();
    let counted = q.port.profile().serves(device.vendor);
    let fitting = out.time.is_some();
    GpuEstimate {
        gpu: device.id.clone(),
        name: device.name.clone(),
        time_s: out.time,
        speedup: out.speedup,
        breakdown_s: fitting.then_some(out.parts),
        policy: q.port.policy().name().to_owned(),
        naive_time_s: (fitting && q.port.policy() != Policy::AsWritten).then_some(out.naive),
        effective_flop_per_s: (fitting && total > 0.0).then_some(flop / total),
        bound_by: out.parts.bound().filter(|_| fitting),
        verdict: out.verdict,
        basis: out.basis,
        fits: out.fits,
        peak_bytes: Some(device_bytes(q.workload, q.port.policy())).filter(|&bytes| bytes > 0.0),
        memory_bytes: Some(device.memory.get()),
        cost_usd: spent.cost_usd,
        price: rates.price,
        energy_wh: spent.energy_wh,
        co2_g: spent.co2_g,
        break_even: (fitting && q.coverage.is_enough()).then(|| break_even(q, out, options)),
        counted,
        compiled: None,
    }
}

/// Board and host share, from how busy each unit is on average over the run.
fn watts(device: &crate::hardware::Device, out: &Outcome, total: f64) -> Interval {
    let (mut compute, mut memory) = (0.0, 0.0);
    for e in &out.plan.entries {
        match e.bound {
            Bound::Compute => compute += e.device * e.utilisation,
            _ => memory += e.device * e.utilisation,
        }
    }
    let share = |t: f64| if total > 0.0 { (t / total).min(1.0) } else { 0.0 };
    let board = power(device, share(compute), share(memory), share(out.parts.transfer));
    let host = device.tdp.map_or(50.0, |w| w.get() * HOST_SHARE);
    let host = Interval::log_normal(host, HOST_SHARE_SIGMA);
    board + host
}

/// A break-even that only the work itself tells.
pub const OF_EACH: &str = " the work of each operation";

fn break_even(q: &Question, out: &Outcome, options: &Options) -> BreakEven {
    let host = q.host;
    let ops = q.cpu.ops.p50;
    let shift = if options.exclude_startup { host.startup } else { 0.0 };
    let cpu = Growth { fixed: (q.cpu.time.p50 - ops - shift).max(0.0), grows: ops };
    let gpu = gpu_time(&out.plan.sums, out.parts.startup, out.parts.total() - out.parts.startup);
    match crossing(cpu, &gpu) {
        _ if out.plan.launches == 0 => BreakEven::of_work(None, "never: nothing of it would run on a GPU"),
        // Nothing that a script says is the work of a call on one number: how many it is called on is.
        Some(scale) if scale > 1.0 && on_single_numbers(q.workload) => {
            let at = words::count(scale.ceil() as u64);
            BreakEven::of_work(Some(scale), format!("{at} elements in each operation (yours: 1)"))
        }
        Some(scale) => BreakEven::of_work(Some(scale), format!("{}{OF_EACH}", words::times(scale))),
        None if gpu(1e-4) < cpu.at(1e-4) => BreakEven::of_work(None, "always: nothing is fixed"),
        None => {
            let why = match out.parts.bound() {
                Some(Bound::Host) => "Python and CPU code take the time, and they stay",
                Some(Bound::Transfer) => "the copies grow with the work",
                _ => "the GPU is no faster at any size",
            };
            BreakEven::of_work(None, format!("never: {why}"))
        }
    }
}

/// Whether nearly all array work is on one element at a time.
fn on_single_numbers(workload: &Workload) -> bool {
    // What is told whole has its bytes within.
    let told = |op: &Op| matches!(op, Op::Routine { .. } | Op::Dataframe { .. });
    if workload.ops.iter().any(|e| told(&e.op)) {
        return false;
    }
    let work = workload.ops.iter().filter(|e| e.op.is_array_work());
    let (all, single) = work.fold((0_u64, 0_u64), |(all, single), e| {
        let one = e.read_bytes.max(e.written_bytes) <= 2 * e.dtype.bytes();
        (all.saturating_add(e.count), single.saturating_add(if one { e.count } else { 0 }))
    });
    single as f64 > 0.9 * all as f64
}

/// The same in what the user can change, for the GPU that the answer speaks of.
fn in_sizes(even: &mut BreakEven, found: Crossings) {
    if let Some(size) = &found.size
        && let (Some(at), Some(shape)) = (size.at, &size.shape_at)
    {
        // Rows of a frame are what a user changes first: how sure they are belongs beside them.
        let rows = size.shape_now.ends_with(" rows").then(|| {
            let [low, high] = [at.p10, at.p90].map(|at| words::count(significant(at, 2) as u64));
            format!(" [{low}–{high}]")
        });
        even.describes = format!("{shape}{} (yours: {})", rows.unwrap_or_default(), size.shape_now);
        let ratio = at.p50 / size.now as f64;
        even.scale = found.work.or(Some(ratio));
    } else if let (Some(least), Some(size)) = (&found.always, &found.size) {
        let yours = if *least == size.shape_now { String::new() } else { format!(" (yours: {})", size.shape_now) };
        even.describes = format!("always: from {least} on{yours}");
        even.scale = None;
    }
    (even.size, even.rounds, even.calls) = (found.size, found.rounds, found.calls);
}

/// How estimators get to the GPU on which they are estimated.
fn accelerated(q: &Question) -> Option<String> {
    let counterparts = q.workload.ops.iter().filter_map(|entry| {
        let profile = port::of(&entry.name);
        match profile.counterpart(&entry.name) {
            port::Counterpart::Device(by) if profile.name == "cuml" => Some(by),
            _ => None,
        }
    });
    let script = words::printable(&q.workload.program.name, 80);
    let way = |by: &str| match by.split_once(": ") {
        Some((library, _)) => {
            format!("scikit-learn as `python -m {library} {script}` runs it, with a copy at each call")
        }
        None => by.to_owned(),
    };
    let ways: BTreeSet<String> = counterparts.map(way).collect();
    let ways: Vec<String> = ways.into_iter().collect();
    (!ways.is_empty()).then(|| format!("on a GPU is estimated {}", ways.join("; ")))
}

fn notes_of(q: &Question, best: Option<(&GpuEstimate, &Outcome)>) -> Vec<Note> {
    let program = &q.workload.program;
    let mut notes = Vec::new();
    let mut note = |code, text: String| notes.push(Note::new(code, text));
    if let Some(text) = q.changed {
        note("changed-program", text.to_owned());
    }
    if let Some(text) = pace::note(q.host, q.port.library()) {
        note("host-pace", text);
    }
    if let Some(text) = accelerated(q) {
        note("accelerated", text);
    }
    if let Some((g, out)) = best
        && q.port.policy() == Policy::Resident
        && q.coverage.is_enough()
        && let Some(t) = g.time_s
        && out.naive > 1.5 * t.p50
    {
        let slower = words::times(out.naive / t.p50);
        note(
            "naive-port",
            format!(
                "copying in and out at each call would take {} ({slower} longer): keep arrays on the GPU",
                words::seconds(out.naive)
            ),
        );
    }
    if let Some((g, out)) = best
        && g.time_s.is_some()
        && out.parts.startup > 0.05 * out.parts.total()
        && q.startup.p50 > 0.0
    {
        let warm = (q.cpu.time.p50 - q.host.startup) / (out.parts.total() - out.parts.startup).max(f64::MIN_POSITIVE);
        let warm = if q.coverage.is_enough() { warm } else { 0.0 };
        let own = out.own_startup(q);
        let both = if own > 0.05 * out.parts.startup {
            format!(" to the {} of imports that both sides have", words::seconds(own))
        } else {
            String::new()
        };
        let text =
            format!("start-up on the GPU adds {} (assumed){both}{}", words::seconds(q.startup.p50), words::warm(warm));
        note("start-up", text);
    }
    if q.port.policy() == Policy::AsWritten && !program.is_described() {
        let library = q.port.library();
        let here = match &program.gpu {
            Some(gpu) => format!(
                "it took {} on this machine's {}, and the CPU time is modelled",
                words::seconds(q.recorded_s),
                words::printable(gpu, 60)
            ),
            None => format!("on this machine {library}'s operations ran on the CPU, and that is the CPU time"),
        };
        note(
            if program.gpu.is_some() { "own-gpu" } else { "as-written" },
            format!(
                "the program uses {library}: it is estimated as it is written, with its own copies and waits; {here}"
            ),
        );
    }
    if program.versions.get("cupy").is_some_and(|version| version.ends_with("(stand-in)")) {
        note(
            "stand-in",
            "CuPy or its GPU is not here: breakeven's stand-in computed with NumPy, so random numbers and last digits \
             differ from a GPU's"
                .to_owned(),
        );
    }
    if let Some(stolen) = program.stolen_ns
        && stolen as f64 > BUSY * program.wall_ns as f64
    {
        note(
            "busy-machine",
            format!(
                "other programs had the CPU for {} in which this one was ready to run; record again on a quiet machine \
                 (that time is taken off, but caches and clock were shared, too)",
                words::seconds(stolen as f64 * 1e-9)
            ),
        );
    }
    if program.idle_ns as f64 > 0.1 * program.wall_ns as f64 {
        note(
            "idle",
            format!(
                "{} of the time went into waiting, asleep or for something else",
                match program.wall_ns {
                    // A script that was killed early may not have said how long it ran.
                    0 => words::seconds(program.idle_ns as f64 * 1e-9),
                    wall => words::percent((program.idle_ns as f64 / wall as f64).min(1.0)),
                }
            ),
        );
    }
    match program.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => {
            note("script-failed", format!("the script ended with exit code {code}: this is what was seen until then"))
        }
        Exit::Signal(signal) => {
            note("script-killed", format!("the script was ended by signal {signal}: this is what was seen until then"))
        }
        Exit::Unknown => note("script-cut", "the script did not say how it ended: this is what was seen".to_owned()),
    }
    for (code, text) in frames::notes(q) {
        note(code, text);
    }
    if !program.peak_roles.is_empty() {
        let mut parts: Vec<_> = program.peak_roles.iter().collect();
        parts.sort_by_key(|&(_, bytes)| std::cmp::Reverse(*bytes));
        let part = |(role, bytes): &(&String, &u64)| format!("{} {}", words::bytes(**bytes as f64), plural(role));
        let parts: Vec<_> = parts.iter().map(part).collect();
        note("memory-split", format!("memory at its fullest: {}", parts.join(", ")));
    }
    if program.sampling > 1 {
        let one_in = program.sampling;
        let text = if program.versions.contains_key("torch") {
            format!(
                "a loop repeats itself: about one step in {one_in} was watched op by op, the others were compared by \
                 what they were given and how long they took"
            )
        } else {
            format!(
                "many calls are short: about one in {one_in} was timed by itself, all were counted; the rest share alike"
            )
        };
        note("sampled-steps", text);
    }
    if program.processes > 1 {
        note("processes", format!("{} processes were recorded and added up", program.processes));
    }
    if let Some((_, out)) = best
        && q.port.policy() == Policy::AsWritten
    {
        notes.extend(spans::notes(q, &out.plan));
    }
    let mut note = |code, text: String| notes.push(Note::new(code, text));
    // A script that ended well did without what it asked for in vain.
    let ended_well = program.exit == Exit::Code(0);
    let told = |unseen: &&Unseen| !(ended_well && CUT_SHORT.contains(&unseen.reason.as_str()));
    for unseen in q.workload.unseen.iter().filter(told) {
        let times = if unseen.count > 1 { format!(" ({} times)", words::count(unseen.count)) } else { String::new() };
        let code = TOLD_AS.iter().find(|(reason, _)| *reason == unseen.reason).map_or("unseen", |(_, code)| code);
        note(code, words::printable(&unseen.text, 300) + &times);
    }
    if !q.workload.markers.is_empty() {
        note(
            "own-clocks",
            format!(
                "times that the script printed were measured on this {} (clock reads: {})",
                if program.gpu.is_some() { "GPU" } else { "CPU" },
                q.workload.markers.len()
            ),
        );
    }
    if q.workload.ops.is_empty() && q.coverage.is_enough() {
        let text = "no array operation was seen: plain Python and CPU code stay on the CPU, and so does arithmetic on \
                    single NumPy numbers, which is not counted as FLOP";
        note("no-array-ops", text.to_owned());
    }
    let single = |e: &&Entry| matches!(e.op, Op::HostRead { bytes } if bytes <= LARGEST_NUMBER);
    let numbers: u64 = q.workload.ops.iter().filter(single).map(|e| e.count).sum();
    if numbers >= MANY_NUMBERS && 2 * numbers > q.workload.ops.iter().map(|e| e.count).sum() {
        let text = "single numbers were taken out of arrays: what is computed with them one by one is time of the host, \
                    and not counted as FLOP";
        note("single-numbers", format!("{} {text}", words::count(numbers)));
    }
    if !q.coverage.is_enough() {
        note(
            "low-coverage",
            format!(
                "{} of the {} is understood; below {} nothing is claimed unless the answer is the same with the \
                 rest in no time, left on the CPU, and {WORST} times slower on the GPU",
                words::percent(q.coverage.share()),
                q.coverage.whole(),
                words::percent(coverage::ENOUGH)
            ),
        );
    }
    notes
}

/// What memory is for, as people say it.
fn plural(role: &str) -> String {
    match role {
        "temporary" => "temporaries".to_owned(),
        "optimizer state" => role.to_owned(),
        role => format!("{role}s"),
    }
}
