//! Whose time a sample is: which line of the script, which library, which compiled function.

use super::super::frames::{Aside, Owner, PLUMBING};
use super::super::platform::{object_file, symbol};
use super::super::state::State;
use super::facts::{self, Facts};
use super::frame::{self, Step};
use super::object::Object;
use super::sample::{Busy, Sample, Waiting};
use crate::address::AddressMap;
use crate::bytecode::{self, Stack, UNIT};
use crate::sampled::Row;
use breakeven::lower::canonical;
use breakeven::workload::{HostKind, Site};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::c_void;

/// What is known of the code and the libraries that samples name.
#[derive(Default)]
pub(crate) struct Codes {
    by_address: AddressMap<usize, Code>,
    held: Vec<Py<PyAny>>,
    files: AddressMap<usize, Whose>,
    /// Numba has been imported.
    numba: bool,
    /// Changes places with the samples that wait.
    spare: Option<Waiting>,
}

/// A function, as people know it.
#[derive(Clone, Debug)]
struct Code {
    owner: Owner,
    file: String,
    /// `pandas`, where its file is one of an installed package.
    package: Option<String>,
    /// `DataFrame.groupby`.
    function: String,
    /// `pandas.DataFrame.groupby`, as users know it.
    public: String,
}

/// Who made a piece of compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Whose {
    /// Python, with what comes with it; NumPy, whose scalars are as slow.
    Python,
    /// A library that is recorded op by op, or ourselves.
    Recorded,
    /// An installed package, or a shared library by the name of its file.
    Library(String),
    /// No file: compiled at run time, or no code at all.
    Unknown,
}

/// Packages that are recorded op by op, ourselves among them: what of their compiled code runs outside ops is their way
/// there, or a step that is counted by repetition.
const RECORDED: [&str; 5] = ["torch", "functorch", "torchgen", "cupy", "breakeven"];
/// What NumPy calls element by element.
const UFUNC: &str = "numpy.ufunc";
/// What there is no file for.
const COMPILED: &str = "code compiled at run time";
const NUMBA: &str = "numba";
/// Packages that have functions of the script's to call, and no other library do their work.
const CALLS_BACK: [&str; 1] = ["scipy"];
/// Functions of Python's that wait when their thread does not run.
const WAITS: [&str; 30] = [
    "sleep",
    "select",
    "poll",
    "wait",
    "recv",
    "recv_into",
    "recvfrom",
    "recvmsg",
    "accept",
    "connect",
    "read",
    "read1",
    "readinto",
    "readline",
    "readlines",
    "readall",
    "write",
    "flush",
    "send",
    "sendall",
    "sendfile",
    "waitpid",
    "wait4",
    "waitid",
    "input",
    "fsync",
    "getaddrinfo",
    "do_handshake",
    "flock",
    "open",
];
/// Those that wait for another thread.
const LOCKS: [&str; 3] = ["acquire", "get", "join"];

/// Tells the recorder what was sampled, and learns what code it had not met.
pub(super) fn work_out(py: Python<'_>, state: &mut State, waiting: &'static std::sync::Mutex<Option<Waiting>>) {
    let spare = state.sampled.spare.take().unwrap_or_else(Waiting::new);
    let mut guard = super::watch::lock(waiting);
    let Some(mut full) = guard.as_mut().map(|waiting| std::mem::replace(waiting, spare)) else { return };
    drop(guard);
    let _aside = Aside::new(py);
    let mut live = None;
    state.sampled.numba |= modules(py).is_ok_and(|modules| modules.contains(NUMBA).unwrap_or(false));
    full.drain(|sample, ns, times| {
        // Beyond what is known already, and only while there is room.
        for step in sample.path().iter().filter(|_| facts::has_room()) {
            if !state.sampled.by_address.contains_key(&step.code) {
                let live = live.get_or_insert_with(|| running(py));
                learn(py, state, step.code, live);
            }
        }
        if ns > 0
            && let Some(row) = row(state, sample)
        {
            state.recorder.sampled.add(row, ns, times);
        }
    });
    state.recorder.sampled.lost_ns += std::mem::take(&mut full.lost_ns);
    state.sampled.spare = Some(full);
}

/// Frames of one thread, and of all, whose code is learned at once: beyond them it would take too long.
const DEEPEST: usize = 2 * super::sample::DEEPEST;
const MOST: usize = 2000;

/// Code objects of the frames of all threads: none of them can have been freed.
fn running(py: Python<'_>) -> Vec<Py<PyAny>> {
    let mut codes = Vec::new();
    let mut collect = || -> PyResult<()> {
        let frames = py.import("sys")?.call_method0("_current_frames")?;
        for frame in frames.call_method0("values")?.try_iter()? {
            let mut frame = Some(frame?);
            let most = MOST.min(codes.len() + DEEPEST);
            while let Some(current) = frame
                && codes.len() < most
            {
                codes.push(current.getattr("f_code")?.unbind());
                let back = current.getattr("f_back")?;
                frame = (!back.is_none()).then_some(back);
            }
        }
        Ok(())
    };
    // What cannot be read stays unknown.
    let _ = collect();
    codes
}

/// Learns what the code object at this address is, if it still runs.
fn learn(py: Python<'_>, state: &mut State, address: usize, live: &[Py<PyAny>]) {
    let Some(code) = live.iter().find(|code| code.as_ptr() as usize == address) else { return };
    let bound = code.bind(py);
    let Ok((described, known)) = describe(bound, &state.codes) else { return };
    state.sampled.by_address.insert(address, described);
    state.sampled.held.push(code.clone_ref(py));
    if facts::find(address).is_none() {
        facts::learn(address, known);
    }
}

fn describe(code: &Bound<'_, PyAny>, codes: &super::super::frames::Codes) -> PyResult<(Code, Facts)> {
    const GENERATORS: u32 = 0x20 | 0x80 | 0x200;
    let file: String = code.getattr("co_filename")?.extract()?;
    let function: String = code.getattr("co_qualname").or_else(|_| code.getattr("co_name"))?.extract()?;
    let bytes: Vec<u8> = code.getattr("co_code")?.extract()?;
    let handlers: Vec<u8> = code.getattr("co_exceptiontable").and_then(|table| table.extract()).unwrap_or_default();
    let flags: u32 = code.getattr("co_flags")?.extract()?;
    let names = |name: &str| -> PyResult<Vec<String>> { code.getattr(name)?.cast::<PyTuple>()?.extract() };
    let (own, cells, free) = (names("co_varnames")?, names("co_cellvars")?, names("co_freevars")?);
    let variables = own.len() + cells.iter().filter(|cell| !own.contains(cell)).count() + free.len();
    let effect = |op: u8, argument: u32, jumps: bool| {
        // SAFETY: a function of its arguments, which it checks.
        let by = unsafe { ffi::PyCompile_OpcodeStackEffectWithJump(op.into(), argument as i32, i32::from(jumps)) };
        (by != i32::MAX).then_some(by)
    };
    let stacks = bytecode::stacks(&bytes, &handlers, flags & GENERATORS != 0, effect);
    let lines = lines(code, bytes.len() / UNIT)?;
    let owner = codes.owner_of_file(&file);
    let package = package(&file);
    let script = owner == Owner::User;
    let variables = if cfg!(Py_3_11) { variables } else { 0 };
    let public = public_name(code.py(), &file, package.as_deref(), &function);
    let begins = frame::begins(code.as_ptr() as usize).unwrap_or(0);
    Ok((Code { owner, file, package, function, public }, Facts { script, begins, variables, stacks, lines }))
}

/// The line of each instruction; one that has none of its own runs with the one before.
fn lines(code: &Bound<'_, PyAny>, units: usize) -> PyResult<Vec<u32>> {
    let mut lines = vec![0; units];
    let mut last = 0;
    // `PyCode_Addr2Line` goes through the table from its start each time.
    for row in code.call_method0("co_lines")?.try_iter()? {
        let (start, end, line): (usize, usize, Option<u32>) = row?.extract()?;
        last = line.filter(|line| *line > 0).unwrap_or(last);
        if let Some(run) = lines.get_mut(start / UNIT..(end / UNIT).min(units)) {
            run.fill(last);
        }
    }
    Ok(lines)
}

/// The row that a sample belongs to; `None` for what is no time of the script's, or is told otherwise: imports, recorded
/// libraries' own work, and ours.
fn row(state: &mut State, sample: &Sample) -> Option<Row> {
    let State { recorder, sampled, .. } = state;
    let known = |step: &Step| sampled.by_address.get(&step.code);
    let of_script = |step: &&Step| known(step).is_some_and(|code| code.owner == Owner::User);
    let script = sample.path().iter().position(|step| of_script(&step));
    let between = &sample.path()[..script.unwrap_or(sample.steps)];
    if between.iter().filter_map(known).any(|code| code.owner == Owner::Import || is_ours(code)) {
        return None;
    }
    // The package that the script called, and the function of it.
    let packages = || between.iter().rev().filter_map(known).filter(|code| is_outer(code));
    let outer = packages().find(|code| !is_plumbing(code)).cloned();
    // A decorator's wrapper is not what people call it.
    let named =
        |code: &&Code| !code.function.contains("<locals>") && outer.as_ref().is_some_and(|o| o.package == code.package);
    let public = packages().find(named).or(outer.as_ref()).map(|code| code.public.clone());
    // The line of `breakeven.pth` that began to record.
    if script.is_some_and(|at| {
        known(&sample.path()[at]).is_some_and(|code| code.file == "<string>") && line(&sample.path()[at]) == 0
    }) {
        return None;
    }
    let site = script.map(|at| {
        let step = sample.path()[at];
        let code = &sampled.by_address[&step.code];
        Site {
            file: code.file.clone(),
            line: line(&step),
            function: code.function.clone(),
            via: public.clone(),
            ..Site::default()
        }
    });
    let at = sample.path().first().map(|step| (step.code, step.offset));
    let (object, whose) = at_work(sample, at, &mut sampled.files);
    let whose = match whose {
        // What stands in for `time.sleep` waits as that does.
        Whose::Recorded if sample.busy != Busy::Running && object.is_some_and(|object| waits(&object)) => Whose::Python,
        Whose::Recorded => return None,
        whose => whose,
    };
    let (kind, library) = kind(sample.busy, object.as_ref(), whose, outer.and_then(|code| code.package));
    // It says nothing of its own; what else compiles at run time is seldom met.
    let library = library.map(|library| if library == COMPILED && sampled.numba { NUMBA.to_owned() } else { library });
    let function = object.filter(|_| kind == HostKind::Native).map(|object| name(&object));
    Some(Row { site: site.and_then(|site| recorder.sampled.lines.known(site)), kind, library, function })
}

/// The line that a frame is at; 0 where it has none.
fn line(step: &Step) -> u32 {
    facts::find(step.code).map_or(0, |facts| facts.line(step.offset))
}

/// The object whose code runs at the innermost frame's instruction, and whose that is.
fn at_work(sample: &Sample, at: Option<(usize, i32)>, files: &mut AddressMap<usize, Whose>) -> (Option<Object>, Whose) {
    let later = || {
        let (code, offset) = at?;
        let facts = facts::find(code)?;
        Some((facts.stack(offset), facts.variables))
    };
    let (stack, from) = match sample.stack {
        Some(stack) => (stack, None),
        None => match later() {
            Some((stack, variables)) => (stack, Some(variables)),
            None => return likely(sample, files),
        },
    };
    let slot = |index: usize| sample.stacked().get(index).copied();
    match stack {
        Stack::Nothing => (None, Whose::Python),
        Stack::Call(callee, above) => {
            let first = from.map_or(0, |from| from + usize::from(callee));
            let at = if slot(first).is_some_and(|object| object.address != 0) { first } else { first + 1 };
            let object = slot(at);
            let whose = object.as_ref().map_or(Whose::Unknown, |object| caller(object, files));
            // What Python calls for its own functions, `sorted(x, key=f)`, and what is in what it goes through.
            let given = if from.is_some() { at + 1..first + usize::from(above) + 1 } else { 0..0 };
            let given = given
                .clone()
                .filter_map(slot)
                .filter(Object::may_run)
                .chain(given.flat_map(|i| sample.within(i)).copied());
            let within = || sample.within(at).copied().chain(given);
            match whose {
                Whose::Python => in_python(within(), files).unwrap_or((object, Whose::Python)),
                whose => (object, whose),
            }
        }
        Stack::Operands(first, count) => {
            let first = from.map_or(0, |from| from + usize::from(first));
            let places = first..first + usize::from(count);
            let found = places.clone().filter_map(slot).map(|object| (Some(object), maker(&object, files)));
            let mut foreign = found.filter(|(_, whose)| matches!(whose, Whose::Library(_)));
            let foreign = foreign.next();
            let within = || places.flat_map(|i| sample.within(i)).copied();
            foreign.or_else(|| in_python(within(), files)).unwrap_or((None, Whose::Python))
        }
    }
}

/// The first of these objects, which Python's own code calls or goes through, that is a library's.
fn in_python(
    objects: impl Iterator<Item = Object>,
    files: &mut AddressMap<usize, Whose>,
) -> Option<(Option<Object>, Whose)> {
    let mut of = objects.map(|object| (Some(object), caller(&object, files)));
    of.find(|(_, whose)| matches!(whose, Whose::Library(_)))
}

/// The same where the code is not known, as that of a thread that ended while the main thread waited for it: the last compiled
/// function on the stack is likely to be the one that runs.
fn likely(sample: &Sample, files: &mut AddressMap<usize, Whose>) -> (Option<Object>, Whose) {
    let called = sample.stacked().iter().rev().filter(|object| object.call != 0);
    let mut found = called.map(|object| (Some(*object), caller(object, files)));
    found.find(|(_, whose)| matches!(whose, Whose::Library(_))).unwrap_or((None, Whose::Python))
}

/// Whose code runs when the object is called.
fn caller(object: &Object, files: &mut AddressMap<usize, Whose>) -> Whose {
    if object.call == 0 {
        // A class, a function of Python's, or nothing that is known.
        return maker(object, files);
    }
    if object.class.as_str() == UFUNC {
        return match file(object.call, files) {
            Whose::Unknown => Whose::Library(COMPILED.to_owned()),
            whose => whose,
        };
    }
    match file(object.call, files) {
        // `ctypes` calls for somebody else; its own functions have names.
        Whose::Python if object.target != 0 && object.name.as_str().is_empty() && is_ctypes(object.call) => {
            match file(object.target, files) {
                Whose::Unknown => Whose::Library(COMPILED.to_owned()),
                whose => whose,
            }
        }
        whose => whose,
    }
}

/// Whose type the object is of, or is.
fn maker(object: &Object, files: &mut AddressMap<usize, Whose>) -> Whose {
    let mut parts = object.origin.iter().filter(|&&part| part != 0).map(|&part| file(part, files));
    parts.find(|whose| matches!(whose, Whose::Library(_) | Whose::Recorded)).unwrap_or(Whose::Python)
}

fn is_ctypes(address: usize) -> bool {
    object_file(address as *const c_void).is_some_and(|file| file.contains("_ctypes"))
}

fn file(address: usize, files: &mut AddressMap<usize, Whose>) -> Whose {
    if let Some(known) = files.get(&address) {
        return known.clone();
    }
    let whose = object_file(address as *const c_void).map_or(Whose::Unknown, |file| whose(&file));
    files.insert(address, whose.clone());
    whose
}

fn whose(file: &str) -> Whose {
    let name = file.rsplit('/').next().unwrap_or(file);
    let library = package(file).unwrap_or_else(|| name.split(".cpython-").next().unwrap_or(name).to_owned());
    if RECORDED.contains(&library.as_str()) {
        Whose::Recorded
    } else if library == "numpy"
        || file.contains("/lib-dynload/")
        || name.starts_with("libpython")
        || name.starts_with("python")
    {
        Whose::Python
    } else {
        Whose::Library(library)
    }
}

/// The package that a file of installed packages belongs to: `_native.cpython-311-….so` is `_native`.
fn package(file: &str) -> Option<String> {
    let (_, inside) = file.rsplit_once("/site-packages/").or_else(|| file.rsplit_once("/dist-packages/"))?;
    let name = inside.split(['/', '.']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn is_ours(code: &Code) -> bool {
    code.package.as_deref() == Some("breakeven") || code.file.contains("/breakeven/cupy/")
}

fn is_outer(code: &Code) -> bool {
    code.package.as_deref().is_some_and(|package| package != "numpy" && !RECORDED.contains(&package))
}

fn is_plumbing(code: &Code) -> bool {
    code.package.as_deref().is_some_and(|package| PLUMBING.contains(&package))
}

/// `sys.modules`.
fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(py.import("sys")?.getattr("modules")?.cast_into()?)
}

/// `pandas.DataFrame.sum`, as users know it: of the package where that has the name, else of the module.
fn public_name(py: Python<'_>, file: &str, package: Option<&str>, function: &str) -> String {
    let first = function.split('.').next().unwrap_or(function);
    let exports = |package: &str| -> PyResult<bool> {
        let module = modules(py)?.get_item(package)?;
        Ok(module
            .is_some_and(|module| module.getattr("__dict__").is_ok_and(|names| names.contains(first).unwrap_or(false))))
    };
    if let Some(package) = package
        && exports(package).unwrap_or(false)
    {
        return format!("{package}.{function}");
    }
    let inside = file.rsplit_once("-packages/").map_or(file, |(_, inside)| inside);
    let module = inside.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
    canonical(&format!("{module}.{function}")).into_owned()
}

/// `SuperLU.solve`, `group_sum`, `CPUDispatcher`, `XGBoosterUpdateOneIter` of a function that `ctypes` calls.
fn name(object: &Object) -> String {
    if object.target != 0
        && is_ctypes(object.call)
        && let Some(symbol) = symbol(object.target as *const c_void)
    {
        return symbol;
    }
    let of = |text: &str| text.rsplit('.').next().unwrap_or(text).to_owned();
    match (object.class.as_str(), object.name.as_str()) {
        (class, "") => of(class),
        (UFUNC, name) => of(name),
        ("", name) | ("type", name) => of(name),
        (class, name) => format!("{}.{name}", of(class)),
    }
}

fn waits(object: &Object) -> bool {
    WAITS.contains(&object.name.as_str())
}

/// What kind of time it is, and whose, where it is a library's.
fn kind(busy: Busy, object: Option<&Object>, whose: Whose, outer: Option<String>) -> (HostKind, Option<String>) {
    let called = object.map_or("", |object| object.name.as_str());
    match (busy, whose) {
        // A library's compiled code that does not run, nor any other thread, waits: for a disk, a network, a device.
        // Python's does, too, as the `for` loop does over the lines of a pipe.
        (Busy::Idle, _) => (HostKind::Waiting, None),
        (_, Whose::Library(library)) => {
            // What a solver of SciPy's calls back is no work of SciPy's.
            let outer = outer.filter(|outer| !CALLS_BACK.contains(&outer.as_str()));
            (HostKind::Native, Some(outer.unwrap_or(library)))
        }
        (Busy::Others, _) if object.is_some_and(waits) => (HostKind::Waiting, None),
        // The thread waits for others that are no threads of Python's: they work for the library that waits.
        (Busy::Others, _) if LOCKS.contains(&called) => match outer {
            Some(library) => (HostKind::Native, Some(library)),
            None => (HostKind::Waiting, None),
        },
        _ => (HostKind::Python, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_whose_code_it_holds() {
        let library = |name: &str| Whose::Library(name.to_owned());
        for (file, expected) in [
            (
                "/v/lib/python3.11/site-packages/sklearn/linear_model/_cd_fast.cpython-311-x86_64-linux-gnu.so",
                library("sklearn"),
            ),
            ("/v/lib/python3.11/site-packages/_cffi_backend.cpython-311-x86_64-linux-gnu.so", library("_cffi_backend")),
            ("/v/lib/python3.11/site-packages/numpy.libs/libopenblas.so", Whose::Python),
            ("/v/lib/python3.11/site-packages/torch/lib/libtorch_python.so", Whose::Recorded),
            ("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", Whose::Python),
            ("/usr/bin/python3.11", Whose::Python),
            ("/usr/lib/libpython3.11.so.1.0", Whose::Python),
            ("/home/u/libsolve.so", library("libsolve.so")),
            ("/home/u/fast.cpython-311-x86_64-linux-gnu.so", library("fast")),
        ] {
            assert_eq!(whose(file), expected, "{file}");
        }
    }

    #[test]
    fn who_waits_is_told_from_who_works() {
        let lxml = || Whose::Library("lxml".to_owned());
        let kind = |busy, whose, outer: Option<&str>| kind(busy, None, whose, outer.map(str::to_owned));
        assert_eq!(kind(Busy::Running, lxml(), None), (HostKind::Native, Some("lxml".to_owned())));
        assert_eq!(kind(Busy::Others, lxml(), None), (HostKind::Native, Some("lxml".to_owned())));
        assert_eq!(kind(Busy::Idle, lxml(), None), (HostKind::Waiting, None));
        assert_eq!(kind(Busy::Idle, Whose::Python, None), (HostKind::Waiting, None));
        assert_eq!(kind(Busy::Running, Whose::Python, Some("pandas")), (HostKind::Python, None));
        assert_eq!(kind(Busy::Running, lxml(), Some("pandas")), (HostKind::Native, Some("pandas".to_owned())));
    }
}
