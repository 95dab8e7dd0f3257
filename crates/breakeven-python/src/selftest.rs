//! Some twenty tiny ops at installation: a hook that does not fire is switched off and told.

use crate::event::{Hooks, Recorder};
use crate::hooks::{allocator, clock, install, state};
use crate::thread::Thread;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CStr;

/// A mechanism, a statement, and the name it must be recorded under.
const PROBES: [(&str, &str, &str); 21] = [
    ("ufunc", "a + b", "numpy.add"),
    ("ufunc", "np.exp(a)", "numpy.exp"),
    ("ufunc", "m @ m", "numpy.matmul"),
    ("dispatcher", "np.concatenate([a, b])", "numpy.concatenate"),
    ("dispatcher", "np.dot(m, a[:2])", "numpy.dot"),
    ("dispatcher", "np.linalg.inv(m)", "numpy.linalg.inv"),
    ("methods", "a.sum()", "numpy.ndarray.sum"),
    ("methods", "a.copy()", "numpy.ndarray.copy"),
    ("methods", "a.argsort()", "numpy.ndarray.argsort"),
    ("methods", "np.add.reduce(a)", "numpy.add.reduce"),
    ("methods", "np.zeros(3)", "numpy.zeros"),
    ("mapping", "a[1:]", "numpy.ndarray.__getitem__"),
    ("mapping", "a[0] = 1.0", "numpy.ndarray.__setitem__"),
    ("number", "float((a[:1] + 1).reshape(()))", "numpy.ndarray.__float__"),
    ("number", "bool((a[:1] + 1).reshape(()))", "numpy.ndarray.__bool__"),
    ("text", "str(a + 1)", "numpy.ndarray.__str__"),
    ("text", "repr(a + 1)", "numpy.ndarray.__repr__"),
    ("iterate", "list(a + 1)", "numpy.ndarray.__iter__"),
    ("buffer", "memoryview(a + 1)", "numpy.ndarray.__buffer__"),
    ("random", "np.random.default_rng(0).normal(size=3)", "numpy.random.Generator.normal"),
    ("random", "np.random.RandomState(0).uniform(size=3)", "numpy.random.RandomState.uniform"),
];

/// Runs the probes of the mechanisms that are on; returns those mechanisms that missed one, with the statement.
///
/// Whatever was recorded before stays as it was.
pub(crate) fn run(py: Python<'_>, is_on: impl Fn(&str) -> bool) -> PyResult<Vec<(&'static str, &'static str)>> {
    let globals = PyDict::new(py);
    globals.set_item("np", py.import("numpy")?)?;
    let arrays = "a = np.arange(3.0)\nb = a * 2\nm = np.array([[2.0, 1.0], [1.0, 3.0]])";
    aside(py, || run_statement(py, &globals, arrays))?;
    let mut missed: Vec<(&str, &str)> = Vec::new();
    // NumPy imports it at its first use, which is not ours to bring about.
    let random = py.import("sys")?.getattr("modules")?.contains("numpy.random")?;
    for (mechanism, statement, name) in PROBES {
        let is_on = |mechanism| is_on(mechanism) && (random || mechanism != "random");
        if is_on(mechanism) && !missed.iter().any(|(m, _)| *m == mechanism) && !probe(py, &globals, statement, name)? {
            missed.push((mechanism, statement));
        }
    }
    if is_on("alloc") && !allocates(py, &globals)? {
        missed.push(("alloc", "np.empty(1000)"));
    }
    Ok(missed)
}

/// Records `statement` alone into an empty table; whether an entry has this name.
fn probe(py: Python<'_>, globals: &Bound<'_, PyDict>, statement: &str, name: &str) -> PyResult<bool> {
    let recorded = aside(py, || run_statement(py, globals, statement))?;
    Ok(recorded.table.entries().iter().any(|entry| recorded.names.callee(entry.name).name == name))
}

fn allocates(py: Python<'_>, globals: &Bound<'_, PyDict>) -> PyResult<bool> {
    let recorded = aside(py, || run_statement(py, globals, "c = np.empty(1000); d = np.empty(1000); del c, d"))?;
    Ok(recorded.buffers.peak_bytes() >= 16_000)
}

fn run_statement(py: Python<'_>, globals: &Bound<'_, PyDict>, statement: &str) -> PyResult<()> {
    // A thread that has once had a context looks things up in it for ever after, at each ufunc.
    let context = py.import("contextvars")?.call_method0("Context")?;
    let run = py.import("builtins")?.getattr("exec")?;
    context.call_method1("run", (run, statement, globals)).map(drop)
}

/// Records `f` apart from everything else; names keep their indices.
fn aside(py: Python<'_>, f: impl FnOnce() -> PyResult<()>) -> PyResult<Recorder> {
    let swap = |with: &mut Recorder| {
        state::with(py, |state| {
            // What happened to buffers until now is for the one that goes.
            allocator::drain(&mut state.recorder.buffers);
            state.recorder.add_up();
            std::mem::swap(&mut state.recorder, with);
            std::mem::swap(&mut state.recorder.names, &mut with.names);
        });
    };
    let (was, since) = (state::recording(), state::since());
    let mark = state::with(py, |state| state.codes.mark());
    let mut other = Recorder { probing: true, ..Recorder::default() };
    swap(&mut other);
    // A module may be imported in the middle of a call that is one op.
    let thread = state::with_thread(Thread::set_aside);
    state::set_recording(true, 0);
    let outcome = f();
    state::set_recording(was, since);
    state::with_thread(|now| thread.into_iter().for_each(|before| now.resume(before)));
    swap(&mut other);
    // The code that ran is ours: it looked like the user's for as long as it was to be recorded, and no longer.
    drop(mark.and_then(|mark| state::with(py, |state| state.codes.forget_since(mark))));
    outcome?;
    // The caller asks for names by the indices of the shared table.
    state::with(py, |state| other.names = state.recorder.names.clone());
    Ok(other)
}

/// Installs the mechanisms that are wanted and tests them; for each, "on" or why it is off.
pub(crate) fn install(py: Python<'_>, wanted: impl Fn(usize) -> bool) -> PyResult<Vec<(&'static str, String)>> {
    let mut report: Vec<(&'static str, String)> = Vec::new();
    for (index, &mechanism) in install::MECHANISMS.iter().enumerate().filter(|(index, _)| wanted(*index)) {
        let outcome = install::mechanism(py, index)?;
        switch(py, index, outcome.is_ok());
        report.push((mechanism, outcome.err().unwrap_or("on").to_owned()));
    }
    let on: Vec<_> = report.iter().filter(|(_, text)| text == "on").map(|(mechanism, _)| *mechanism).collect();
    for (mechanism, statement) in run(py, |mechanism| on.contains(&mechanism))? {
        if let Some(index) = install::MECHANISMS.iter().position(|m| *m == mechanism) {
            switch(py, index, false);
        }
        let text = format!("the self-test `{statement}` was not seen");
        report.iter_mut().filter(|(m, _)| *m == mechanism).for_each(|(_, told)| told.clone_from(&text));
    }
    Ok(report)
}

/// Notes that a mechanism is on, or takes it out.
fn switch(py: Python<'_>, index: usize, on: bool) {
    if !on {
        install::undo(py, Some(index));
    }
    state::with(py, |state| {
        state.installed = state.installed & !(1 << index) | u32::from(on) << index;
    });
}

/// Operations in one timed run, and runs of which the fastest counts.
const CALIBRATION: (u32, u32) = (1000, 5);

/// What one event adds to tiny operations.
pub(crate) fn calibrate(py: Python<'_>) -> PyResult<Hooks> {
    let globals = PyDict::new(py);
    globals.set_item("np", py.import("numpy")?)?;
    globals.set_item("n", CALIBRATION.0)?;
    aside(py, || run_statement(py, &globals, "a = np.ones(10)\nb = np.ones(10)\nc = np.ones(n)"))?;
    let call_ns = event_adds(py, &globals, c"for i in range(n): a + b")?;
    Ok(Hooks { call_ns, index_ns: event_adds(py, &globals, c"for i in range(n): c[i]")? })
}

/// What one event adds to each round of a loop of so many, ns.
fn event_adds(py: Python<'_>, globals: &Bound<'_, PyDict>, rounds: &CStr) -> PyResult<f64> {
    let mut fastest = [u64::MAX; 2];
    for _ in 0..CALIBRATION.1 {
        for (recorded, fastest) in [false, true].into_iter().zip(&mut fastest) {
            let mut ticks = 0;
            let run = || {
                let began = clock::now();
                py.run(rounds, Some(globals), None)?;
                ticks = clock::now().saturating_sub(began);
                Ok(())
            };
            if recorded {
                aside(py, run)?;
            } else {
                let was = state::recording();
                state::set_recording(false, state::since());
                let outcome = { run }();
                state::set_recording(was, state::since());
                outcome?;
            }
            *fastest = (*fastest).min(ticks);
        }
    }
    let [plain, recorded] = fastest;
    Ok(recorded.saturating_sub(plain) as f64 / clock::ticks_per_ns() / f64::from(CALIBRATION.0))
}
