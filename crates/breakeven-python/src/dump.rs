//! From the table to a workload, and to a file.

use crate::buffers::HOST;
use crate::event::{PHASES, Recorder, Sites};
use crate::table::{self, ArrayWord};
use crate::tensors::ROLES;
use breakeven::lower::{ArrayRef, Call, Layout, lower};
use breakeven::workload::{Buffer, Dtype, Entry, FORMAT, Marker, Op, Phase, Program, Site, Unseen, Wait, Workload};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The longest that an op which moves nothing, as a view or `numpy.empty`, can take of its own, ns. What is beyond that is the
/// host's: other threads that had the processor, or pages that the system made ready.
const VIEW_NS: u64 = 20_000;
/// Characters of a source line that are kept.
const LINE: usize = 200;
/// Waiting at one place that is less than this together is not told apart, ns.
const LEAST_WAIT: u64 = 10_000_000;
/// Source files above this size are not read for their lines.
const SOURCE_BYTES: u64 = 10 << 20;

/// The workload so far. `ticks_per_ns` is the recorder's clock, `wall_ticks` how long it has recorded.
pub(crate) fn workload(recorder: &Recorder, ticks_per_ns: f64, wall_ticks: u64) -> Workload {
    let ns = |ticks: u64| (ticks as f64 / ticks_per_ns) as u64;
    let times = crate::spread::times(recorder.table.entries(), &recorder.pools);
    let threads = recorder.table.entries().iter().any(|e| e.thread != recorder.table.entries()[0].thread);
    let ops: Vec<Entry> = recorder
        .table
        .entries()
        .iter()
        .zip(times)
        .map(|(e, times)| {
            let callee = recorder.names.callee(e.name);
            let arrays: Vec<_> = table::arrays(&e.arrays).collect();
            let side = |output: bool| -> Vec<ArrayRef> {
                arrays.iter().filter(|(a, _)| a.output == output).map(|&(a, dims)| array_ref(a, dims)).collect()
            };
            let (inputs, outputs) = (side(false), side(true));
            let axis = e.axis.map(|axis| axis.to_string());
            let mut keywords: Vec<_> = callee.keywords.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            keywords.extend(axis.as_deref().map(|axis| ("axis", axis)));
            keywords.extend(e.copied.then_some(("copied", "true")));
            let call = Call {
                name: &callee.name,
                inputs: &inputs,
                outputs: &outputs,
                keywords: &keywords,
                scalar_result: e.scalar_result,
            };
            let lowered = lower(&call);
            let context = e.context.and_then(|context| recorder.contexts.list.get(context as usize)).cloned();
            let context = context.unwrap_or_default();
            let tag = recorder.tags.get(e.tag);
            let (own, gap) = (ns(times.own), ns(times.gap).saturating_sub(recorder.hooks_of(e) as u64));
            let own = if lowered.op == Op::View { own.min(e.count.saturating_mul(VIEW_NS)) } else { own };
            Entry {
                site: e.site,
                name: spelt_out(&callee.name, &inputs, &lowered.op).to_owned(),
                op: lowered.op,
                dtype: lowered.dtype,
                count: e.count,
                read_bytes: lowered.read,
                written_bytes: lowered.written,
                cpu_ns: own,
                // The hook itself runs between two calls; it is no time of the script's.
                // That of tensor ops is known and left out already.
                gap_ns: gap + ns(times.own).saturating_sub(own),
                host_input_bytes: e.host_input_bytes,
                host_input_count: e.host_input_count,
                kernels: told_kernels(&callee.keywords),
                phase: if context.aside && recorder.sides_known {
                    Some(Phase::Data)
                } else {
                    context.phase.map(|phase| PHASES[usize::from(phase)].1).or(e.loading.then_some(Phase::Data))
                },
                device: context.device.or_else(|| tag.map(|tag| tag.device.clone())),
                stream: context.stream.or_else(|| tag?.stream),
                thread: threads.then_some(e.thread),
                pid: None,
                rank: None,
                shapes: (!arrays.is_empty())
                    .then(|| format!("{}{}", if e.rounded { "~" } else { "" }, shapes(&arrays))),
                layout: layout(&inputs),
                graph: context.graph.or_else(|| tag?.graph),
                library: caller(recorder, e.site, &callee.name),
            }
        })
        .collect();
    let graphs = ops.iter().any(|entry| entry.graph.is_some());
    let (waits, mut sites) = waits(recorder);
    let host_code = recorder.sampled.host_code(&mut sites);
    let sites = with_text(sites.list());
    let looped = sites.iter().any(|site| site.loop_line.is_some());
    let program = program(recorder, ns(wall_ticks), ns(recorder.told_ticks), ns(recorder.imported_ticks));
    let in_ops: u64 = ops.iter().map(|e| e.cpu_ns).sum();
    let besides_ops = program.wall_ns.saturating_sub(in_ops);
    Workload {
        format: FORMAT.to_owned(),
        program,
        sites,
        ops,
        order: recorder.order.clone().finish(),
        buffers: buffers(recorder),
        markers: recorder
            .markers
            .iter()
            .map(|m| Marker { clock: m.clock.clone(), site: m.site, position: m.position, at_ns: ns(m.ticks) })
            .collect(),
        waits,
        host_code,
        unseen: recorder
            .unseen
            .iter()
            .map(|((reason, text), &(ns, count))| {
                // How long a GPU was at work that nobody watched is not known: at most all the time but that of ops.
                let ns = if reason == "gpu-not-watched" { besides_ops } else { ns };
                Unseen { reason: reason.clone(), text: text.clone(), ns, count }
            })
            .collect(),
        // Readers that do not know these take each launch of a graph as one of its own, and name no loops.
        optional_fields: [("graph", graphs), ("loop_line", looped)]
            .into_iter()
            .filter(|(_, there)| *there)
            .map(|(field, _)| field.to_owned())
            .collect(),
    }
}

/// The function that an expression of NumPy's stands for where a port has another one for it: how much these give is in
/// the values.
fn spelt_out<'a>(name: &'a str, inputs: &[ArrayRef], op: &Op) -> &'a str {
    match (name, op) {
        ("numpy.ndarray.__getitem__", Op::Gather { .. })
            if inputs.get(1).is_some_and(|key| key.dtype == Dtype::Bool) =>
        {
            "numpy.extract"
        }
        ("numpy.where", Op::Gather { .. }) => "numpy.nonzero",
        _ => name,
    }
}

/// The installed package, not the script, that called NumPy: `pandas`, of `pandas.DataFrame.sum`. SciPy's own calls are told
/// as what SciPy's function is made of.
fn caller(recorder: &Recorder, site: u32, name: &str) -> Option<String> {
    let via = recorder.sites.list().get(site as usize)?.via.as_deref()?;
    let package = via.split('.').next()?;
    let called = name.starts_with("numpy.") && package != "scipy" && recorder.installed.contains(package);
    called.then(|| package.to_owned())
}

/// What a stand-in knows of the kernels that its library launches.
fn told_kernels(keywords: &[(String, String)]) -> u64 {
    keywords.iter().find(|(key, _)| key == "kernels").and_then(|(_, kernels)| kernels.parse().ok()).unwrap_or(0)
}

fn program(recorder: &Recorder, wall_ns: u64, told_ns: u64, imported_ns: u64) -> Program {
    let mut fields = recorder.program.clone();
    fields.entry("name").or_insert_with(|| "".into());
    // Without events, nothing else carries what the recorder itself took.
    let wall_ns = if recorder.events() == 0 { wall_ns.saturating_sub(told_ns) } else { wall_ns };
    fields.entry("wall_ns").or_insert(wall_ns.into());
    // `set_program` has checked that the fields fit.
    let program: Program = serde_json::from_value(fields.into()).unwrap_or_default();
    let entries = recorder.table.entries().iter();
    let hooked: f64 = entries.map(|e| recorder.hooks_of(e)).sum();
    let (tensor_bytes, peak_roles) = recorder.tensors.peak();
    Program {
        events: recorder.events(),
        // The mean over all events, of which those counted without being watched cost nothing.
        hook_ns: (hooked + told_ns as f64) / recorder.events().max(1) as f64,
        startup_ns: program.startup_ns.saturating_add(imported_ns),
        // Who sleeps and wakes up late, because others have the processor, has slept less than it seems.
        idle_ns: program.idle_ns.saturating_add(recorder.idle_ns).min(wall_ns),
        stolen_ns: recorder.stolen_ns(),
        // NumPy's arrays are the host's where the script says what is on the device.
        peak_bytes: if recorder.sides_known { tensor_bytes } else { recorder.buffers.peak_bytes().max(tensor_bytes) },
        device_peak_bytes: recorder.device_peak_bytes.max(if recorder.pretends { tensor_bytes } else { 0 }),
        peak_roles,
        sampling: recorder.steps.sampling().max(sampling(recorder.events(), recorder.untimed)),
        ..program
    }
}

/// One op in so many was timed, to the nearest whole number; 1 only where all were.
fn sampling(events: u64, untimed: u64) -> u32 {
    let timed = events.saturating_sub(untimed).max(1);
    let nearest = ((events + timed / 2) / timed).clamp(1, u32::MAX.into()) as u32;
    nearest.max(1 + u32::from(untimed > 0))
}

fn buffers(recorder: &Recorder) -> Vec<Buffer> {
    let groups = recorder.buffers.groups().into_iter();
    let of_tensors = recorder.tensors.groups().into_iter().map(|((producer, _, role), g)| Buffer {
        producer: (producer != HOST).then_some(producer),
        bytes: g.bytes,
        count: g.count,
        peak_live: g.peak_live,
        first_use: g.first_use,
        last_use: g.last_use,
        host_touches: g.host_touches,
        role: Some(ROLES[role].to_owned()),
        pinned: false,
    });
    groups
        .map(|g| Buffer {
            producer: (g.producer != HOST).then_some(g.producer),
            bytes: g.bytes,
            count: g.count,
            peak_live: g.peak_live,
            first_use: g.first_use,
            last_use: g.last_use,
            host_touches: g.host_touches,
            role: None,
            pinned: false,
        })
        .chain(of_tensors)
        .collect()
}

fn array_ref(array: ArrayWord, dims: &[u64]) -> ArrayRef {
    ArrayRef {
        dtype: dtype(array.type_num, array.itemsize),
        item_bytes: array.itemsize,
        shape: dims.to_vec(),
        repeated: array.repeated.into(),
        layout: match array {
            ArrayWord { c_contiguous: true, .. } => Layout::C,
            ArrayWord { f_contiguous: true, .. } => Layout::F,
            ArrayWord { channels_last: true, .. } => Layout::ChannelsLast,
            ArrayWord { rows: true, .. } => Layout::Rows,
            _ => Layout::Strided,
        },
    }
}

/// Types that NumPy has no number for.
const BFLOAT16: u8 = 200;
const FLOAT8: u8 = 201;
const TF32: u8 = 202;

/// The type with NumPy's type number (`NPY_TYPES`), whose C integers differ in size between platforms.
fn dtype(type_num: u8, itemsize: u32) -> Dtype {
    match (type_num, itemsize) {
        (0, _) => Dtype::Bool,
        (1 | 3 | 5 | 7 | 9, 1) => Dtype::I8,
        (1 | 3 | 5 | 7 | 9, 2) => Dtype::I16,
        (1 | 3 | 5 | 7 | 9, 4) => Dtype::I32,
        (1 | 3 | 5 | 7 | 9, 8) => Dtype::I64,
        (2 | 4 | 6 | 8 | 10, 1) => Dtype::U8,
        (2 | 4 | 6 | 8 | 10, 2) => Dtype::U16,
        (2 | 4 | 6 | 8 | 10, 4) => Dtype::U32,
        (2 | 4 | 6 | 8 | 10, 8) => Dtype::U64,
        (23, _) => Dtype::F16,
        (11, _) => Dtype::F32,
        (12, _) => Dtype::F64,
        (14, _) => Dtype::C64,
        (15, _) => Dtype::C128,
        (BFLOAT16, _) => Dtype::Bf16,
        (FLOAT8, _) => Dtype::F8,
        (TF32, _) => Dtype::Tf32,
        _ => Dtype::Other,
    }
}

fn shapes(arrays: &[(ArrayWord, &[u64])]) -> String {
    let one = |&(a, dims): &(ArrayWord, &[u64])| {
        let dims: Vec<_> = dims.iter().map(u64::to_string).collect();
        (a.output, format!("[{}]", dims.join(",")))
    };
    let side = |output| {
        let of_side: Vec<_> = arrays.iter().map(one).filter(|(o, _)| *o == output).map(|(_, text)| text).collect();
        of_side.join(" ")
    };
    format!("{} -> {}", side(false), side(true)).trim().to_owned()
}

fn layout(inputs: &[ArrayRef]) -> Option<String> {
    let has = |layout| inputs.iter().any(|a| a.layout == layout);
    let named = [
        (Layout::ChannelsLast, "channels_last"),
        (Layout::Strided, "strided"),
        (Layout::Rows, "strided"),
        (Layout::F, "f"),
    ];
    named.into_iter().find(|&(layout, _)| has(layout)).map(|(_, name)| name.to_owned())
}

/// Where the process waited for at least [`LEAST_WAIT`], and all places with those of that at their end.
fn waits(recorder: &Recorder) -> (Vec<Wait>, Sites) {
    let mut sites = recorder.sites.clone();
    let lines = recorder.wait_lines.list();
    let mut line = |of: Option<u32>| Some(sites.intern(lines.get(of? as usize)?.clone()));
    let long = recorder.waits.iter().filter(|&(&place, &ns)| place != (None, None) && ns >= LEAST_WAIT);
    let waits = long.map(|(&(site, before), &ns)| Wait { site: line(site), before: line(before), ns }).collect();
    (waits, sites)
}

/// The sites with their source lines and the loops around them, each file read once; of files that are gone nothing is
/// known.
fn with_text(sites: &[Site]) -> Vec<Site> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut read = |site: &Site| {
        let lines = files.entry(site.file.clone()).or_insert_with_key(|file| source(file));
        let Some(line) = (site.line as usize).checked_sub(1).and_then(|at| lines.get(at)) else { return site.clone() };
        let text = line.trim().chars().take(LINE).collect();
        Site { text, loop_line: loop_around(lines, site.line), ..site.clone() }
    };
    sites.iter().map(&mut read).collect()
}

/// The line of the innermost `for` or `while` that a line begins, or is indented below in the same function.
fn loop_around(lines: &[String], line: u32) -> Option<u32> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let before = lines.get(..line as usize)?;
    let mut least = indent(before.last()?) + 1;
    for (at, text) in before.iter().enumerate().rev().filter(|(_, text)| !text.trim().is_empty()) {
        if indent(text) < least {
            least = indent(text);
            match text.trim_start().trim_start_matches("async ").split([' ', '(', ':']).next() {
                Some("for" | "while") => return u32::try_from(at + 1).ok(),
                Some("def" | "class") => return None,
                _ => {}
            }
        }
    }
    None
}

fn source(file: &str) -> Vec<String> {
    let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= SOURCE_BYTES);
    let bytes = if small { std::fs::read(file).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// Writes a workload: to a temporary file beside `path`, then a rename, so that no reader sees half of it.
pub(crate) fn write(workload: &Workload, path: &Path) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let result = (|| {
        let mut file = std::io::BufWriter::new(std::fs::File::create(&temporary)?);
        serde_json::to_writer(&mut file, workload)?;
        file.flush()?;
        std::fs::rename(&temporary, path)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

/// Whether these fields can stand in `program`; a message where they cannot.
pub(crate) fn check_program(fields: &serde_json::Map<String, serde_json::Value>) -> Result<(), String> {
    let mut whole = fields.clone();
    whole.entry("name").or_insert_with(|| "".into());
    whole.entry("wall_ns").or_insert(0.into());
    serde_json::from_value::<Program>(whole.into()).map(drop).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Hooks, Memory, Timing};
    use breakeven::estimate::{coverage::coverage, hosttime::host_time};
    use breakeven::workload::Op;

    const DOUBLES: ArrayWord = ArrayWord {
        type_num: 12,
        ndim: 2,
        output: false,
        c_contiguous: true,
        f_contiguous: false,
        channels_last: false,
        rows: false,
        repeated: 0,
        itemsize: 8,
    };

    #[test]
    fn a_loop_is_found_by_its_indentation() {
        let source = "\
for i in range(3):      # 1
    a = f(i,
          g(i))

    if a:
        while h(a):     # 6
            a = (
                a + 1
            )
    async for b in a:   # 10
        b()
    def k():
        a = 1
        for c in b: d() # 14
x = 1
for_each(x)
  # a comment
forms = [
    y for y in x
]";
        let lines: Vec<String> = source.lines().map(str::to_owned).collect();
        let around = |line| loop_around(&lines, line);
        let inside = [(1, 1), (2, 1), (3, 1), (5, 1), (6, 6), (7, 6), (8, 6), (9, 6), (10, 10), (11, 10), (14, 14)];
        for (line, of) in inside {
            assert_eq!(around(line), Some(of), "line {line}");
        }
        for line in [13, 15, 16, 18, 19, 20, 99] {
            assert_eq!(around(line), None, "line {line}");
        }
    }

    fn product(recorder: &mut Recorder, line: u32) {
        called(recorder, "numpy.matmul", line);
    }

    fn called(recorder: &mut Recorder, name: &str, line: u32) {
        let name = recorder.names.intern(name);
        let mut call = crate::event::Call::default();
        call.begin(name, 1, [1, line.into(), 0]);
        for (address, output) in [(1 << 20, false), (2 << 20, false), (3 << 20, true)] {
            let memory = Memory { address, bytes: 32_000_000, output };
            call.array(ArrayWord { output, ..DOUBLES }, &[2000, 2000]);
            call.memory(memory);
        }
        let timing = Timing { own: 300, gap: 30 };
        assert!(recorder.record(&mut call, timing, |sites| {
            sites.intern(Site { file: "no such file".into(), line, function: "f".into(), ..Site::default() })
        }));
    }

    #[test]
    fn a_product_has_its_dims_and_copies_in_once() {
        let mut recorder = Recorder::default();
        product(&mut recorder, 3);
        product(&mut recorder, 3);
        let workload = workload(&recorder, 3.0, 3000);
        let [entry] = workload.ops.as_slice() else { panic!("{:?}", workload.ops) };
        assert_eq!(entry.op, Op::Matmul { m: 2000, n: 2000, k: 2000, batch: 1, bias: false });
        assert_eq!((entry.count, entry.cpu_ns, entry.gap_ns), (2, 200, 20));
        assert_eq!((entry.host_input_bytes, entry.host_input_count), (64_000_000, 2));
        assert_eq!((entry.read_bytes, entry.written_bytes), (64_000_000, 32_000_000));
        assert_eq!(entry.shapes.as_deref(), Some("[2000,2000] [2000,2000] -> [2000,2000]"));
        assert_eq!(workload.program.wall_ns, 1000);
        assert_eq!(workload.program.peak_bytes, 96_000_000);
    }

    #[test]
    fn gaps_are_without_the_hooks_and_the_wall_is_with_them() {
        let mut recorder = Recorder { hooks: Hooks { call_ns: 4.0, index_ns: 9.0 }, ..Recorder::default() };
        product(&mut recorder, 3);
        product(&mut recorder, 3);
        called(&mut recorder, "numpy.ndarray.__setitem__", 4);
        let workload = workload(&recorder, 3.0, 3000);
        assert_eq!((workload.ops[0].cpu_ns, workload.ops[0].gap_ns), (200, 20 - 2 * 4));
        assert_eq!((workload.ops[1].cpu_ns, workload.ops[1].gap_ns), (100, 10 - 9));
        assert_eq!((workload.program.wall_ns, workload.program.events), (1000, 3));
        assert_eq!(workload.program.hook_ns, f64::from(2 * 4 + 9) / 3.0);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut recorder = Recorder::default();
        product(&mut recorder, 3);
        recorder.unseen("hook-off", "the hook of buffer is off", 0);
        let workload = workload(&recorder, 1.0, 5);
        let path = std::env::temp_dir().join(format!("breakeven-dump-{}.json", std::process::id()));
        write(&workload, &path).unwrap();
        let back: Workload = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(back, workload);
    }

    #[test]
    fn a_gpu_that_nobody_watched_was_at_work_for_all_the_time_that_is_not_told() {
        let mut recorder = Recorder::default();
        product(&mut recorder, 3);
        recorder.unseen("gpu-not-watched", "CuPy ran on a GPU", 0);
        recorder.program.insert("startup_ns".to_owned(), 100_000.into());
        let seen = workload(&recorder, 1.0, 1_000_000);
        assert_eq!(seen.unseen[0].ns, 1_000_000 - seen.ops.iter().map(|e| e.cpu_ns).sum::<u64>());
        let understood = |w: &Workload| coverage(w, &host_time(w)).share();
        assert!(understood(&seen) < 0.8, "{}", understood(&seen));
        let mut recorder = Recorder::default();
        recorder.unseen("gpu-not-watched", "CuPy ran on a GPU", 0);
        recorder.program.insert("startup_ns".to_owned(), 200_000.into());
        assert_eq!(
            understood(&workload(&recorder, 1.0, 100_000)),
            0.0,
            "start-up was longer than the run, by the clock"
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing() {
        let workload = workload(&Recorder::default(), 1.0, 0);
        assert!(write(&workload, Path::new("/proc/no/such/file.json")).is_err());
    }
}
