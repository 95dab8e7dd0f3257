//! Numbers in, numbers out: the calculator.

mod amdahl;
pub mod curve;
mod described;
mod differs;
pub mod footprint;
pub mod formula;
pub mod kind;
pub mod link;
pub mod roofline;
mod terms;

pub use described::callables;

use crate::choice::{Choice, choose};
use crate::estimate::{
    Baseline, BreakEven, Breakdown, Estimate, Formula, GpuEstimate, Note, SCHEMA, Verdict, WorkloadSummary,
    gpu::verdict_of, setup::name_of, summary,
};
use crate::hardware::{Device, DeviceKind};
use crate::interval::{Basis, Interval};
use crate::kernel::CORE_MEMORY;
use crate::quantity::Measure;
use crate::report::words;
use crate::request::{Numbers, Request};
use crate::spend::{Rates, spend};
use crate::units::{Bytes, BytesPerSec, Flop, Seconds};
use crate::workload::Dtype;
use crate::{Error, Result};
use formula::{STREAM_FRACTION, Work, break_even_scale, gpu_time};
use terms::{Given, Term, Terms, read_numbers, terms};

/// Answers a request that holds numbers.
///
/// # Errors
/// A quantity that does not read, a name that is not in the catalogue, inputs that contradict each other.
pub fn calculate(numbers: &Numbers, request: &Request) -> Result<Estimate> {
    let options = &request.options;
    for (field, given, hint) in [
        ("precision", options.precision.is_some(), "say it in `numbers`"),
        ("size", options.size.is_some(), "say it in `numbers`"),
        ("policy", options.policy.is_some(), "what is copied is `data` and `data_out`"),
        ("port", options.port.is_some(), "leave it out"),
        ("host_cpu", options.host_cpu.is_some(), "what Python costs is `python_overhead`"),
    ] {
        if given {
            let message = format!("the option `{field}` is of a recorded program, and these are numbers");
            return Err(Error::new("not-a-program", message).hint(hint).field(field));
        }
    }
    let mut given = Given { warm: options.exclude_startup, ..read_numbers(numbers)? };
    let mut notes = Vec::new();
    if let Some(described) = described::describe(numbers, &given)? {
        given.cpu_in_fp32 = described::better_in_fp32(numbers, &given, request)?;
        let Some(figure) = given.of_formula() else {
            return Ok(given.named(described.estimate(request, &given.setup())?));
        };
        given.set_size(described.amounts());
        let (says, cpu_time, startup) = described.beside(request, &given.setup(), figure)?;
        notes.extend(says);
        given.cpu_modelled = Some(cpu_time);
        given.startup_modelled = Some(startup.p50);
    }
    let choice = choose(request)?;
    notes.extend(choice.notes.iter().cloned());
    if given.flop.is_none() && given.bytes.is_none() && given.values.is_none() {
        match (given.cpu_time, given.kind) {
            (Some(time), Some(kind)) => {
                let dtype = given.precision.unwrap_or(Dtype::F32);
                let (work, note) = amdahl::work(time, kind, dtype, &choice).ok_or_else(|| no_work(&given))?;
                (given.flop, given.guessed) = (Some(work), true);
                notes.push(note);
            }
            (Some(time), None) if given.parallel_fraction.is_some() => {
                return amdahl::limit(&given, time, &choice, notes, request);
            }
            _ => return Err(no_work(&given)),
        }
    }
    let cpu = cpu_side(&given, &choice)?;
    let mut rows = Vec::new();
    if given.peak.is_some() && request.options.gpu.is_empty() {
        rows.push(row(&given, None, &cpu, &choice)?);
    } else {
        let one = choice.gpus.len() == 1;
        for pick in &choice.gpus {
            match row(&given, Some(pick), &cpu, &choice) {
                Ok(r) => rows.push(r),
                Err(e) if one => return Err(e),
                Err(_) => {}
            }
        }
    }
    if rows.is_empty() {
        let what = kind::precision_name(given.precision.unwrap_or(Dtype::F32));
        return Err(Error::new("unknown-peak", format!("none of the GPUs asked for has a known {what} peak"))
            .hint("name another precision, or give `--peak`")
            .field("precision"));
    }
    let baseline = cpu.baseline();
    let one = (rows.len() == 1).then_some(0);
    let estimates: Vec<GpuEstimate> = rows.iter().map(|r| r.estimate.clone()).collect();
    let summary = summary::choose(&estimates, None);
    let best = one.or_else(|| estimates.iter().position(|g| Some(&g.gpu) == summary.best_gpu.as_ref()));
    let formula = best.map(|i| rows[i].formula(&given, &cpu));
    if let Some(i) = one {
        notes.extend(rows[i].notes(&given));
    }
    if given.flop.is_none() {
        notes.push(Note::new("no-flop", "no amount of computation was given: only memory and transfers count"));
    }
    let work = WorkloadSummary {
        name: "given".to_owned(),
        ops: 1,
        launches: 0,
        flop: given.flop,
        bytes: given.bytes,
        h2d_bytes: Some(given.copies().0),
        d2h_bytes: Some(given.copies().1),
        peak_bytes: given.memory(),
        coverage: 1.0,
        ..WorkloadSummary::default()
    };
    let mut estimate = Estimate {
        estimates,
        summary,
        formula,
        footprint: given.values.map(footprint::table),
        model: None,
        notes,
        ..without_gpus(work, baseline, request)
    };
    summary::finish(&mut estimate, &request.options)?;
    Ok(if given.size.is_some() { given.named(estimate) } else { estimate })
}

/// An answer that speaks of no GPU yet.
fn without_gpus(workload: WorkloadSummary, baseline: Baseline, request: &Request) -> Estimate {
    Estimate {
        schema: SCHEMA.to_owned(),
        workload,
        options: request.options.echoed(),
        summary: summary::choose(&[], None),
        baseline,
        sites: Vec::new(),
        estimates: Vec::new(),
        formula: None,
        footprint: None,
        model: None,
        reasons: Vec::new(),
        timers: Vec::new(),
        robustness: Vec::new(),
        timeline: None,
        advice: Vec::new(),
        not_understood: Vec::new(),
        advice_together: Vec::new(),
        several: None,
        notes: Vec::new(),
        policy_failed: None,
    }
}

fn no_work(given: &Given) -> Error {
    let hint = if given.cpu_time.is_some() {
        "give `--parallel-fraction 80%` for the limit of any GPU, or `--kind simulation` for an estimate"
    } else {
        "give a size (`--matmul 8000`, `--elements 1e8`, `--rows 1e7`, `--parameters 7B --tokens 1B`), or `--flops \"10,000 GFLOP\"`"
    };
    Error::new("no-work", "no work was given").hint(hint).field("flops")
}

/// The CPU's rate and time.
struct CpuSide {
    name: String,
    rate: Option<Term>,
    time: Option<Interval>,
    basis: Basis,
    rates: Rates,
}

impl CpuSide {
    fn baseline(&self) -> Baseline {
        let bill = self.time.map(|t| spend(t, &self.rates)).unwrap_or_default();
        Baseline {
            device: self.name.clone(),
            basis: self.basis,
            time_s: self.time,
            startup_s: None,
            cost_usd: bill.cost_usd,
            energy_wh: bill.energy_wh,
            co2_g: bill.co2_g,
            price: self.rates.price.clone(),
        }
    }
}

fn cpu_side(given: &Given, choice: &Choice) -> Result<CpuSide> {
    let rates = choice.cpu_rates.clone();
    let stated = given.cpu_rate.is_some() || given.cpu_time.is_some();
    let name = if stated && !choice.cpu_named { "the CPU" } else { choice.cpu.device.name.as_str() };
    let side = |rate, time, basis| CpuSide { name: name.to_owned(), rate, time, basis, rates };
    if let Some(time) = given.cpu_time {
        let rate =
            given.flop.filter(|f| *f > 0.0).map(|f| Term { value: Interval::exact(f / time), basis: Basis::Given });
        return Ok(side(rate, Some(Interval::exact(time)), Basis::Given));
    }
    let Some(flop) = given.flop else { return Ok(side(None, None, Basis::Assumed)) };
    if let Some(rate) = given.cpu_rate {
        let rate = Term { value: Interval::exact(rate), basis: Basis::Given };
        return Ok(side(Some(rate), Some(Interval::exact(flop / rate.value.p50)), Basis::Given));
    }
    let kind = given.kind.unwrap_or_default();
    let dtype = given.precision.unwrap_or(Dtype::F32);
    let cpu = &choice.cpu.device;
    let basis = if choice.cpu_named { Basis::Modelled } else { Basis::Assumed };
    if let Some(time) = given.cpu_modelled.filter(|_| flop > 0.0) {
        let rate = Interval { p10: flop / time.p90, p50: flop / time.p50, p90: flop / time.p10 };
        return Ok(side(Some(Term { value: rate, basis: Basis::Modelled }), Some(time), Basis::Modelled));
    }
    let Some(rate) = kind::reached(kind, dtype, cpu) else { return Ok(side(None, None, basis)) };
    let moved = given.bytes.map_or(Interval::exact(0.0), |bytes| moving(bytes, cpu));
    let time = Interval {
        p10: (flop / rate.p90).max(moved.p10),
        p50: (flop / rate.p50).max(moved.p50),
        p90: (flop / rate.p10).max(moved.p90),
    };
    // What it comes to, where memory decides: the rate that is told is the one that was used.
    let reached = Interval { p10: flop / time.p90, p50: flop / time.p50, p90: flop / time.p10 };
    let rate = if flop > 0.0 && moved.p50 > flop / rate.p50 { reached } else { rate };
    Ok(side(Some(Term { value: rate, basis }), Some(time), basis))
}

/// Time of a CPU to read and write `bytes`, s: between all channels at the share that streams reach, and one core, as
/// most array code is.
fn moving(bytes: f64, cpu: &Device) -> Interval {
    let all = cpu.bandwidth.get() * STREAM_FRACTION;
    let one = CORE_MEMORY.min(all);
    Interval { p10: bytes / all, p50: bytes / libm::sqrt(all * one), p90: bytes / one }
}

/// One GPU's answer with what it was computed from.
struct Answered {
    terms: Terms,
    parts: Breakdown,
    time: Interval,
    device: Option<Device>,
    estimate: GpuEstimate,
    quoted: Vec<String>,
}

fn row(given: &Given, pick: Option<&crate::choice::Pick>, cpu: &CpuSide, choice: &Choice) -> Result<Answered> {
    let device = pick.map(|p| &p.gpu.device);
    let mut terms = terms(given, device)?;
    if given.warm {
        terms.init = Term { value: Interval::exact(0.0), basis: Basis::Assumed };
    }
    if let (None, Some(p)) = (given.gpus, pick)
        && p.count > 1
    {
        terms.gpus = Term { value: Interval::exact(f64::from(p.count)), basis: Basis::Given };
    }
    let (parts, time) = evaluate(&terms, given, cpu);
    let gpus = terms.gpus.value.p50;
    let speedup = cpu.time.map(|c| Interval { p10: c.p10 / time.p90, p50: c.p50 / time.p50, p90: c.p90 / time.p10 });
    // Against no time at all there is none.
    let speedup = speedup.filter(|s| s.p90.is_finite());
    let need = given.memory();
    let memory = device.map(|d| d.memory.get() * gpus);
    let fits = need.zip(memory).map(|(need, memory)| need <= memory);
    let rates = choice.gpu_rates(pick, gpus);
    let bill = spend(time, &rates);
    let scale = cpu.time.and_then(|c| break_even_scale(&parts, Seconds(c.p50)));
    let shown = fits != Some(false);
    let verdict = match (shown, speedup) {
        (false, _) => Verdict::Cpu,
        (true, Some(s)) => verdict_of(s),
        (true, None) => Verdict::Unknown,
    };
    let (id, name) = device.map_or(("given", "the given GPU"), |d| (d.id.as_str(), d.name.as_str()));
    let name = name_of(gpus, name);
    let weakest = [terms.flop, terms.peak, terms.utilisation].iter().map(|t| t.basis).max().unwrap_or(Basis::Assumed);
    let estimate = GpuEstimate {
        gpu: id.to_owned(),
        name,
        time_s: shown.then_some(time),
        speedup: speedup.filter(|_| shown),
        breakdown_s: shown.then_some(parts),
        policy: "resident".to_owned(),
        naive_time_s: None,
        effective_flop_per_s: given.flop.map(|f| f / time.p50).filter(|rate| rate.is_finite()),
        bound_by: parts.bound(),
        verdict,
        basis: weakest,
        fits,
        peak_bytes: need,
        memory_bytes: memory,
        cost_usd: bill.cost_usd.filter(|_| shown),
        price: rates.price.clone(),
        energy_wh: bill.energy_wh.filter(|_| shown),
        co2_g: bill.co2_g.filter(|_| shown),
        break_even: cpu.time.filter(|_| shown).map(|c| describe(scale, given, &parts, c)),
        counted: true,
        compiled: None,
    };
    let quoted = pick.map(|p| quoted(p, given)).unwrap_or_default();
    Ok(Answered { terms, parts, time, device: device.cloned(), estimate, quoted })
}

fn describe(scale: Option<f64>, given: &Given, parts: &Breakdown, cpu: Interval) -> BreakEven {
    let describes = match (scale, given.flop) {
        (Some(s), Some(flop)) => words::flop_precise(flop * s),
        (Some(s), None) => format!("{} this work", words::times(s)),
        (None, _) if parts.transfer + parts.startup == 0.0 && cpu.p50 > parts.total() => {
            "always: nothing is fixed".to_owned()
        }
        (None, _) => "never: the GPU gains nothing on each piece of the work".to_owned(),
    };
    BreakEven::of_work(scale, describes)
}

fn quoted(pick: &crate::choice::Pick, given: &Given) -> Vec<String> {
    let peak = given.peak.and_then(|p| pick.gpu.quoted("fp32_vector", p / 1e12));
    let link = given.link.and_then(|l| pick.gpu.quoted("host_link", l / 1e9));
    peak.into_iter().chain(link).map(str::to_owned).collect()
}

/// The formula at the p10, p50 and p90 of the utilisation.
fn evaluate(terms: &Terms, given: &Given, cpu: &CpuSide) -> (Breakdown, Interval) {
    let at = |utilisation: f64| {
        let work = Work {
            flop: Flop(terms.flop.value.p50),
            bytes: given.bytes.map(Bytes),
            data: Bytes(terms.data.value.p50 + terms.data_out.value.p50),
            parallel_fraction: terms.parallel_fraction.value.p50,
            cpu_time: cpu.time.map(|t| Seconds(t.p50)),
            gpus: terms.gpus.value.p50,
            scaling_efficiency: terms.scaling_efficiency.value.p50,
        };
        let bandwidth = terms.bandwidth.map(|b| BytesPerSec(b.value.p50));
        gpu_time(
            &work,
            terms.effective(utilisation),
            bandwidth,
            BytesPerSec(terms.link.value.p50),
            Seconds(terms.init.value.p50),
        )
    };
    let u = terms.utilisation.value;
    let parts = at(u.p50);
    (parts, Interval { p10: at(u.p90).total(), p50: parts.total(), p90: at(u.p10).total() })
}

impl Answered {
    fn formula(&self, given: &Given, cpu: &CpuSide) -> Formula {
        Formula {
            time_s: self.time,
            speedup: self.estimate.speedup,
            cost_usd: self.estimate.cost_usd,
            energy_wh: self.estimate.energy_wh,
            inputs: self.terms.echo(cpu.rate),
            curve: cpu.time.map_or_else(Vec::new, |c| {
                curve::curve(&self.parts, self.time, c, given.flop, break_even_scale(&self.parts, Seconds(c.p50)))
            }),
            roofline: roofline::roofline(given, &self.terms, self.device.as_ref(), |u| self.terms.effective(u).get()),
            differs_because: self
                .device
                .as_ref()
                .and_then(|d| differs::because(given, &self.terms, d, self.time, |t| evaluate(t, given, cpu).1)),
        }
    }

    fn notes(&self, given: &Given) -> Vec<Note> {
        let mut notes: Vec<Note> = self.quoted.iter().map(|text| Note::new("quoted-figure", text)).collect();
        if let (Some(data), Some(d)) = (given.data, &self.device)
            && data > d.memory.get() * self.terms.gpus.value.p50
            && d.kind == DeviceKind::Gpu
        {
            let text = format!(
                "the data ({}) is larger than the memory of {} ({}): it has to go through in pieces",
                Measure::Bytes.format(data),
                d.name,
                Measure::Bytes.format(d.memory.get())
            );
            notes.push(Note::new("larger-than-memory", text));
        }
        notes
    }
}
