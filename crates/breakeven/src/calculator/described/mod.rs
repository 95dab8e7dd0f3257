//! Work told by its size, as the program that a recorder would have recorded of it: the kernel, CPU, port and timeline
//! models then answer as they do for a script.
//!
//! | asked for | the program | library |
//! |---|---|---|
//! | `matmul` n | `c = a @ b` of two n×n matrices | NumPy → CuPy; PyTorch for types that NumPy lacks |
//! | `elements` n, `operations` k | `x = x * 1.5`, k times | the same |
//! | `rows` n, `columns` c, `verb` | `df.groupby(key).sum()`, a join, a sort, a filter, a search in text | pandas → cuDF |
//! | `parameters`, `tokens` | a transformer's training or inference | PyTorch |

mod arrays;
mod frame;
mod network;
mod shape;

use super::terms::{Amounts, Given, contradiction};
use crate::choice::Pick;
use crate::estimate::{Estimate, Note, gpu::outcome, program, program::OF_EACH, setup::Setup};
use crate::interval::Interval;
use crate::quantity::{Measure, significant};
use crate::report::words;
use crate::request::{Numbers, Options, Request, Typed};
use crate::workload::{DESCRIBED, Dtype, Entry, Exit, GIVEN, Op, Program, Site, Workload, op::Direction};
use crate::{Error, Result};
use std::collections::BTreeSet;

/// The device of a program that uses a GPU library itself.
const GPU: &str = "cuda:0";

/// A program and what should be said of it.
pub(super) struct Described {
    workload: Workload,
    notes: Vec<Note>,
    /// Of a network.
    parameters: Option<f64>,
}

/// What of the numbers decides the program and its copies.
struct Asked<'a> {
    numbers: &'a Numbers,
    dtype: Dtype,
    given: &'a Given,
}

/// Which size was given, by its first field; `None` where none was.
///
/// # Errors
/// `contradiction` when two sizes, a size and an amount of FLOP, or a size and a part of another were given.
pub(super) fn form(n: &Numbers) -> Result<Option<&'static str>> {
    // Whole sizes, each with its parts.
    let fields: [(&'static str, &'static str, bool); 13] = [
        ("flops", "flops", n.flops.is_some()),
        ("matmul", "matmul", n.matmul.is_some()),
        ("parameters", "parameters", n.parameters.is_some()),
        ("elements", "elements", n.elements.is_some()),
        ("rows", "rows", n.rows.is_some()),
        ("parameters", "tokens", n.tokens.is_some()),
        ("parameters", "context", n.context.is_some()),
        ("parameters", "new_tokens", n.new_tokens.is_some()),
        ("parameters", "batch", n.batch.is_some()),
        ("parameters", "checkpointing", n.checkpointing),
        ("elements", "operations", n.operations.is_some()),
        ("rows", "columns", n.columns.is_some()),
        ("rows", "verb", n.verb.is_some()),
    ];
    let mut given = fields.iter().filter(|(_, _, given)| *given);
    let Some((first, _, _)) = given.next() else { return Ok(None) };
    match given.find(|(form, ..)| form != first) {
        Some((form, field, _)) if form == field => Err(contradiction(first, form)),
        Some((form, field, _)) => {
            let message = format!("`{field}` is a part of `{form}`, and `{first}` was given");
            Err(Error::new("contradiction", message).hint(format!("leave `{field}` out")).field(field))
        }
        None => Ok(Some(*first).filter(|form| *form != "flops")),
    }
}

/// The program that the numbers describe; `None` where no size was given.
///
/// # Errors
/// As [`form`]; `incomplete-size` when a part is missing, `out-of-range` for what no program is.
pub(super) fn describe(numbers: &Numbers, given: &Given) -> Result<Option<Described>> {
    let asked = Asked { numbers, dtype: given.precision.unwrap_or(Dtype::F32), given };
    let mut described = match form(numbers)? {
        Some("matmul") => arrays::matmul(&asked)?,
        Some("elements") => arrays::elements(&asked)?,
        Some("rows") => frame::verb(&asked)?,
        Some("parameters") => network::network(&asked)?,
        _ => return Ok(None),
    };
    described.set_cpu_time(given);
    Ok(Some(described))
}

/// A CPU is faster in another precision if it takes less than this part of the time.
const FASTER: f64 = 0.8;

/// What the CPU takes for the size in fp32, s, where a type that it has no units for makes it slower than that; `None`
/// where it is as fast, or its time was given.
///
/// # Errors
/// As [`describe`] and [`program::estimate`].
pub(super) fn better_in_fp32(numbers: &Numbers, given: &Given, request: &Request) -> Result<Option<Interval>> {
    let narrow = given.precision.filter(|dtype| !matches!(dtype, Dtype::F64 | Dtype::F32));
    let Some(dtype) = narrow.filter(|_| given.cpu_time.is_none() && given.cpu_rate.is_none()) else { return Ok(None) };
    let time = |dtype: Dtype| {
        let described = describe(numbers, &Given { precision: Some(dtype), ..given.clone() })?;
        described.map(|d| program::ask(&d.workload, request, |question, _| question.cpu_time())).transpose()
    };
    let (own, plain) = (time(dtype)?, time(Dtype::F32)?);
    Ok(plain.filter(|plain| own.is_some_and(|own| plain.p50 < FASTER * own.p50)))
}

/// Names of all that is called in programs of any size: what a page that knows no others needs of a port's tables.
pub fn callables() -> BTreeSet<String> {
    let one = || Some(Typed::Number(1e6));
    let sizes = [
        Numbers { matmul: one(), ..Numbers::default() },
        Numbers { elements: one(), ..Numbers::default() },
        Numbers { rows: one(), ..Numbers::default() },
        Numbers { parameters: one(), tokens: one(), ..Numbers::default() },
        Numbers { parameters: one(), new_tokens: one(), ..Numbers::default() },
    ];
    let types = [Dtype::F32, Dtype::Bf16];
    let asked = sizes.iter().flat_map(|numbers| types.map(|dtype| (numbers, dtype)));
    let described = asked.filter_map(|(numbers, dtype)| {
        let given = Given { precision: Some(dtype), data: Some(1e6), ..Given::default() };
        describe(numbers, &given).ok().flatten()
    });
    described.flat_map(|program| program.workload.ops).map(|entry| entry.name).collect()
}

impl Described {
    /// Arithmetic, FLOP.
    pub(super) fn flop(&self) -> f64 {
        self.workload.flop().get()
    }

    /// What it amounts to, for the formula.
    pub(super) fn amounts(&self) -> Amounts {
        let program = &self.workload.program;
        let work = self.workload.ops.iter().filter(|entry| entry.op.is_array_work());
        let bytes = work.map(|entry| entry.op.min_bytes(entry.dtype).get() * entry.count as f64).sum();
        Amounts { flop: self.flop(), bytes, memory: program.peak_bytes as f64 }
    }

    /// What the model says beside the formula, which `figure` was given for: a note on the GPU where one was named, the
    /// CPU's time and the start-up that a GPU adds, s.
    pub(super) fn beside(
        &self,
        request: &Request,
        setup: &Setup,
        figure: &str,
    ) -> Result<(Option<Note>, Interval, Interval)> {
        // What may be paid for a GPU says nothing of its time.
        let options = Options { max_price: None, ..request.options.clone() };
        let one_named = request.options.gpu.len() == 1;
        program::ask_on(setup, &self.workload, &Request { options, ..request.clone() }, |question, choice| {
            let says = |pick: &Pick| {
                let time = outcome(question, &pick.gpu.device).time?;
                let text = format!(
                    "`{figure}` was given, so this is the formula's answer; the model says {} on {}, start-up included",
                    words::time(time),
                    pick.gpu.device.name,
                );
                Some(Note::new("model-says", text))
            };
            let note = match choice.gpus.as_slice() {
                [pick] if one_named => says(pick),
                _ => None,
            };
            (note, question.cpu_time(), question.startup)
        })
    }

    /// Answers as for a recorded program.
    ///
    /// # Errors
    /// As [`program::estimate`].
    pub(super) fn estimate(self, request: &Request, setup: &Setup) -> Result<Estimate> {
        let mut estimate = program::estimate_on(setup, &self.workload, request, &program::one_by_one)?;
        estimate.notes.splice(0..0, self.notes);
        for even in estimate.estimates.iter_mut().filter_map(|g| g.break_even.as_mut()) {
            // The work of each operation is as there are parameters.
            if let (Some(scale), Some(parameters)) = (even.scale, self.parameters)
                && even.describes.ends_with(OF_EACH)
            {
                let [at, now] = [significant(parameters * scale, 2), parameters].map(|n| Measure::Count.format(n));
                even.describes = format!("{at} parameters (yours: {now})");
            }
        }
        Ok(estimate)
    }

    /// The CPU's time where it was given, itself or by a rate.
    fn set_cpu_time(&mut self, given: &Given) {
        let all = self.flop();
        let Some(seconds) = given.cpu_time.or(given.cpu_rate.map(|rate| all / rate)) else { return };
        let ns = |share: f64| (seconds * 1e9 * share).min(1e18) as u64;
        self.workload.program.wall_ns = ns(1.0).max(1);
        self.workload.program.recorder = GIVEN.to_owned();
        for entry in &mut self.workload.ops {
            entry.gap_ns = 0;
            entry.cpu_ns = ns(entry.flop().get() / all.max(1.0));
        }
    }
}

/// A program of these lines, with what it holds in memory at its fullest, bytes.
fn program_of(name: &str, lines: &[&str], ops: Vec<Entry>, memory: f64) -> Workload {
    let on_device = ops.iter().any(|entry| entry.device.is_some());
    let site = |(i, text): (usize, &&str)| Site {
        file: name.to_owned(),
        line: i as u32 + 1,
        text: (*text).to_owned(),
        ..Site::default()
    };
    let peak = memory.min(1e18) as u64;
    Workload {
        program: Program {
            name: name.to_owned(),
            recorder: DESCRIBED.to_owned(),
            peak_bytes: peak,
            device_peak_bytes: if on_device { peak } else { 0 },
            exit: Exit::Code(0),
            processes: 1,
            sampling: 1,
            ..Program::default()
        },
        sites: lines.iter().enumerate().map(site).collect(),
        ops,
        ..Workload::default()
    }
}

/// An entry that nobody timed, which writes so many bytes and reads the rest of what its op moves.
fn entry(site: u32, name: &str, op: Op, dtype: Dtype, written: f64) -> Entry {
    let read = op.min_bytes(dtype).get() - written;
    let (read_bytes, written_bytes) = (whole(read.max(0.0)), whole(written));
    Entry { read_bytes, written_bytes, ..Entry::untimed(site, name, op, dtype) }
}

/// The program's end: the host reads so many bytes of the result, and so waits for it.
fn read_back(site: u32, bytes: f64) -> Entry {
    entry(site, "numpy.ndarray.item", Op::HostRead { bytes: whole(bytes) }, Dtype::U8, 0.0)
}

/// The ops of a program that names the GPU itself, copies to it first where there are any.
fn on_device(site: u32, copied: f64, ops: Vec<Entry>) -> Vec<Entry> {
    let op = Op::Transfer { direction: Direction::H2d, bytes: whole(copied), pinned: false, asynchronous: false };
    let copy = (copied > 0.0).then(|| entry(site, "aten._to_copy", op, Dtype::U8, 0.0));
    let device = |e: Entry| Entry { device: Some(GPU.to_owned()), ..e };
    copy.into_iter().chain(ops).map(device).collect()
}

/// A count that has to be there.
fn part(typed: &Option<Typed>, field: &'static str) -> Result<f64> {
    let count = Measure::Count.read_field(typed, field)?.ok_or_else(|| {
        Error::new("incomplete-size", format!("`{field}` is missing"))
            .hint("give a count, such as `10,000` or `124M`")
            .field(field)
    })?;
    check(count, field)
}

/// A count that may be left out.
fn optional(typed: &Option<Typed>, field: &'static str, otherwise: f64) -> Result<f64> {
    check(Measure::Count.read_field(typed, field)?.unwrap_or(otherwise), field)
}

/// Sizes are whole and above zero.
fn check(count: f64, field: &'static str) -> Result<f64> {
    if count >= 1.0 {
        return Ok(count);
    }
    Err(Error::new("out-of-range", format!("`{field}` is {count}; a count of at least 1 is needed"))
        .hint("give a count, such as `10,000` or `124M`")
        .field(field))
}

/// A count that fits the format; larger ones are as good as the largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are not negative, and beyond 10¹⁸ nothing has so many"
)]
fn whole(count: f64) -> u64 {
    count.min(1e18) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port;

    #[test]
    fn the_calculator_page_has_the_rows_of_all_that_is_described() {
        let callables = callables();
        let [cupy, torch] = port::described(&callables);
        let rows = |table: &str, package: &str| {
            let names = callables.iter().filter(|name| name.starts_with(package)).count();
            assert_eq!(table.lines().count(), names, "{table}");
            names
        };
        assert_eq!(rows(&cupy, "numpy."), 3);
        assert!(rows(&torch, "aten.") > 10);
    }
}
