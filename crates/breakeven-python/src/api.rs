//! What the package calls: `breakeven._native`, as `_native.pyi` describes it.

use crate::event::{Recorder, Tag};
use crate::hooks::placed::Placed;
use crate::hooks::state::{self, State};
use crate::hooks::time::slept_for;
use crate::hooks::{clock, frames, install as hooking, outside, sampler};
use crate::modules;
use crate::names::in_graph;
use crate::waited::waited_ns;
use crate::{dump, gate, selftest};
use breakeven::workload::{Site, Workload};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};

/// Runs `f` with the recorder's state. A call from within a hook (a finaliser that runs in the middle of one) does
/// nothing.
fn with<R: Default>(py: Python<'_>, f: impl FnOnce(&mut State) -> R) -> R {
    state::with(py, f).unwrap_or_default()
}

/// Why native hooks may not run here, or None.
#[pyfunction]
pub(crate) fn unsupported(py: Python<'_>) -> PyResult<Option<String>> {
    gate::unsupported(py)
}

/// Patches NumPy in place and tests every hook.
#[pyfunction]
#[pyo3(signature = (mechanisms=None))]
pub(crate) fn install<'py>(py: Python<'py>, mechanisms: Option<Vec<String>>) -> PyResult<Bound<'py, PyDict>> {
    if let Some(why) = gate::unsupported(py)? {
        return Err(PyRuntimeError::new_err(why));
    }
    if let Some(unknown) = mechanisms.iter().flatten().find(|m| !hooking::MECHANISMS.contains(&m.as_str())) {
        let known = hooking::MECHANISMS.join(", ");
        return Err(PyValueError::new_err(format!("mechanism `{unknown}` is none of {known}")));
    }
    add_standard_library(py)?;
    clock::begin();
    frames::check(py);
    let named = |name: &str| mechanisms.as_ref().is_none_or(|list| list.iter().any(|m| m == name));
    install_these(py, |index| named(hooking::MECHANISMS[index]))
}

fn install_these(py: Python<'_>, wanted: impl Fn(usize) -> bool) -> PyResult<Bound<'_, PyDict>> {
    let report = PyDict::new(py);
    for (mechanism, text) in selftest::install(py, wanted)? {
        if text != "on" {
            with(py, |state| state.recorder.unseen("hook-off", &format!("hook `{mechanism}` is off: {text}"), 0));
        }
        report.set_item(mechanism, text)?;
    }
    Ok(report)
}

/// Files of the standard library and of installed packages are not the user's.
fn add_standard_library(py: Python<'_>) -> PyResult<()> {
    let paths = py.import("sysconfig")?.call_method0("get_paths")?;
    let mut prefixes = Vec::new();
    for key in ["stdlib", "platstdlib", "purelib", "platlib"] {
        let path: String = paths.get_item(key)?.extract()?;
        prefixes.push(format!("{path}/"));
    }
    with(py, |state| state.codes.add_library(prefixes));
    Ok(())
}

/// Puts back every pointer that is still ours.
#[pyfunction]
pub(crate) fn undo(py: Python<'_>) {
    hooking::undo(py, None);
    with(py, |state| state.installed = 0);
}

/// Learns what an array is, without hooks.
#[pyfunction]
pub(crate) fn know_arrays(py: Python<'_>) -> PyResult<()> {
    hooking::know_arrays(py)
}

/// Hooks what was imported since.
#[pyfunction]
pub(crate) fn rescan(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let installed = with(py, |state| state.installed);
    install_these(py, |index| hooking::LATE.contains(&index) && installed >> index & 1 == 1)
}

/// Begins to record, or nests.
#[pyfunction]
pub(crate) fn start(py: Python<'_>) {
    clock::begin();
    with(py, |state| {
        state.nested += 1;
        if state.nested == 1 {
            let now = clock::now();
            state.recorder.started = now;
            state.recorder.waited_at_start = waited_ns();
            state.recorder.watch.begin();
            state.recorder.buffers.forget();
            state::set_recording(true, now);
        }
    });
    sample(py);
}

/// Looks at what runs between ops, from the outermost `start` to its `stop`.
fn sample(py: Python<'_>) {
    if state::recording()
        && let Err(why) = sampler::begin(py)
    {
        let text = format!("compiled code that is no recorded op counts as Python here: it is told apart {why}");
        with(py, |state| state.recorder.unseen("not-sampled", &text, 0));
    }
}

/// Ends the innermost `start`.
#[pyfunction]
pub(crate) fn stop(py: Python<'_>) {
    with(py, |state| {
        if state.nested == 1 {
            sampler::end(py, state);
            let now = clock::now();
            state::set_recording(false, now);
            state.recorder.waited(0, |_| None);
            state.recorder.waited_ns = state.recorder.stolen_ns().unwrap_or(0);
            state.recorder.recorded_ticks += now.saturating_sub(state.recorder.started);
            state.recorder.started = 0;
        }
        state.nested = state.nested.saturating_sub(1);
    });
}

/// Whether a `start` is open.
#[pyfunction]
pub(crate) fn recording(py: Python<'_>) -> bool {
    with(py, |state| state.nested > 0)
}

/// Forgets everything recorded.
#[pyfunction]
pub(crate) fn reset(py: Python<'_>) {
    with(py, |state| {
        sampler::collect(py, state);
        reset_state(state);
    });
}

fn reset_state(state: &mut State) {
    let now = clock::now();
    let started = if state.nested > 0 { now } else { 0 };
    state.recorder.reset(started);
    state.placed = Placed::default();
    state.reads.forget();
    state.compiled.forget();
    state::set_recording(state.nested > 0, now);
}

/// One array op that ended just now.
#[pyfunction]
#[pyo3(signature = (name, inputs, outputs, ns, file, line, function, via=None, keywords=None, tag=0))]
#[expect(clippy::too_many_arguments, reason = "one call from Python an event, by position")]
pub(crate) fn event(
    py: Python<'_>,
    name: &str,
    inputs: &Bound<'_, PyTuple>,
    outputs: &Bound<'_, PyTuple>,
    ns: u64,
    file: String,
    line: u32,
    function: String,
    via: Option<String>,
    keywords: Option<&Bound<'_, PyDict>>,
    tag: u8,
) -> PyResult<()> {
    let keywords = outside::keywords(keywords)?;
    let site = Site { file, line, function, via, ..Site::default() };
    outside::event(py, name, keywords, inputs, outputs, ns, site, tag);
    Ok(())
}

/// Begins a library call that is one op.
#[pyfunction]
#[pyo3(signature = (name, whole=false, ambient=0))]
pub(crate) fn enter(py: Python<'_>, name: &str, whole: bool, ambient: u8) -> u64 {
    outside::enter(py, name, whole, ambient)
}

/// Ends it.
#[pyfunction]
#[pyo3(signature = (token, inputs, result, keywords=None, tag=0, other_name=None))]
pub(crate) fn leave(
    py: Python<'_>,
    token: u64,
    inputs: &Bound<'_, PyTuple>,
    result: &Bound<'_, PyAny>,
    keywords: Option<&Bound<'_, PyDict>>,
    tag: u8,
    other_name: Option<&str>,
) -> PyResult<()> {
    outside::leave(py, token, inputs, result, (tag, other_name), || outside::keywords(keywords))
}

/// The number of a device and stream that the program itself chose.
#[pyfunction]
#[pyo3(signature = (device, stream=None, graph=None))]
pub(crate) fn device_tag(py: Python<'_>, device: String, stream: Option<u32>, graph: Option<&str>) -> PyResult<u8> {
    let tag = Tag { device, stream, graph: graph.map(in_graph).transpose()? };
    Ok(with(py, |state| state.recorder.tags.intern(tag)))
}

/// So much device memory is in use.
#[pyfunction]
pub(crate) fn device_memory(py: Python<'_>, bytes: u64) {
    if !state::recording() {
        return;
    }
    with(py, |state| {
        let peak = &mut state.recorder.device_peak_bytes;
        *peak = bytes.max(*peak);
    });
}

/// This array's values come from the host.
#[pyfunction]
pub(crate) fn host_made(array: &Bound<'_, PyAny>) {
    outside::host_made(array);
}

/// The host reads this array's values.
#[pyfunction]
pub(crate) fn host_read(array: &Bound<'_, PyAny>) {
    outside::host_read(array);
}

/// The script read a clock.
#[pyfunction]
pub(crate) fn marker(py: Python<'_>, clock: &str) {
    if state::recording() {
        with(py, |state| {
            let State { recorder, codes, .. } = state;
            modules::come_to(recorder);
            recorder.marker(clock, clock::now(), || Some(frames::site(py, codes)));
        });
    }
}

/// The script slept, or waited for input.
#[pyfunction]
pub(crate) fn idle(py: Python<'_>, ns: u64) {
    slept_for(py, ns);
}

/// A module is about to be imported by the first of these arguments, if any; whether its import is one of a library's that
/// is part of no other, and none of what a stand-in does for itself.
#[pyfunction]
pub(crate) fn import_begins(_what: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<bool> {
    if !state::recording() {
        return Ok(false);
    }
    let loader = arguments.iter().next();
    let file: Option<String> = loader.map(|loader| loader.getattr("path")?.extract()).transpose()?;
    // It has its number from here on.
    if state::with_thread(|thread| thread.is_stand_in_alone()) == Some(true) {
        return Ok(false);
    }
    Ok(with(arguments.py(), |state| {
        let outermost = state.recorder.importing.is_none();
        let begins = outermost && file.is_none_or(|file| state.codes.is_library(&file));
        if begins {
            state.recorder.import_begins();
        }
        begins
    }))
}

/// That import has ended, if it was one.
#[pyfunction]
#[pyo3(signature = (begun, *_rest))]
pub(crate) fn import_ends(py: Python<'_>, begun: bool, _rest: &Bound<'_, PyTuple>) {
    if !begun {
        return;
    }
    let now = clock::now();
    let Some((took, alone)) = with(py, |state| state.recorder.import_ends(now)) else { return };
    let own = state::with_thread(|thread| thread.imported(took, alone, now, state::since()));
    with(py, |state| state.recorder.imported_in(own.unwrap_or(0)));
}

/// Something ran and was not seen as ops.
#[pyfunction]
#[pyo3(signature = (reason, text, ns=0))]
pub(crate) fn unseen(py: Python<'_>, reason: &str, text: &str, ns: u64) {
    with(py, |state| state.recorder.unseen(reason, text, ns));
}

/// File name prefixes that are no user code.
#[pyfunction]
#[pyo3(signature = (*prefixes))]
pub(crate) fn on_library_code(py: Python<'_>, prefixes: Vec<String>) {
    with(py, |state| {
        state.codes.add_library(prefixes);
        state.recorder.forget_lines();
    });
}

/// Measures what the hooks cost in this process.
#[pyfunction]
pub(crate) fn calibrate(py: Python<'_>) -> PyResult<()> {
    let hooks = selftest::calibrate(py)?;
    with(py, |state| state.recorder.hooks = hooks);
    Ok(())
}

/// Sets fields of `program`.
#[pyfunction]
pub(crate) fn set_program(py: Python<'_>, program: &str) -> PyResult<()> {
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(program).map_err(|e| PyValueError::new_err(format!("not a JSON object: {e}")))?;
    dump::check_program(&fields).map_err(PyValueError::new_err)?;
    with(py, |state| state.recorder.program.extend(fields));
    Ok(())
}

fn workload(recorder: &mut Recorder) -> Workload {
    if state::is_broken() {
        recorder.unseen("hook-panic", "a hook failed inside; recording stopped there", 0);
    }
    let lost = crate::hooks::allocator::lost();
    if lost > 0 {
        recorder.unseen("alloc-overflow", &format!("{lost} allocations between two ops were not followed"), 0);
    }
    if recorder.started != 0 {
        recorder.waited(0, |_| None);
    }
    recorder.add_up();
    dump::workload(recorder, clock::ticks_per_ns(), recorder.wall_ticks(clock::now()))
}

/// Writes the workload to the file that [`flush_every`] was told of, if it was.
#[pyfunction]
pub(crate) fn flush(py: Python<'_>) -> PyResult<()> {
    let found = state::with(py, |state| {
        sampler::collect(py, state);
        state.tell_installed();
        let path = state.flush.path.clone();
        (path != Path::new("")).then(|| (workload(&mut state.recorder), path))
    });
    let Some((workload, path)) = found.ok_or_else(|| PyRuntimeError::new_err("the recorder is in use"))? else {
        return Ok(());
    };
    py.detach(|| dump::write(&workload, &path)).map_err(|error| os_error(&path, &error))
}

fn os_error(path: &Path, error: &std::io::Error) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error.to_string(), path.to_path_buf()))
}

/// Flushes by itself from now on.
#[pyfunction]
pub(crate) fn flush_every(py: Python<'_>, path: PathBuf, seconds: f64) -> PyResult<()> {
    if !(0.0..=86_400.0).contains(&seconds) {
        return Err(PyValueError::new_err(format!("{seconds} seconds are not between 0 and a day")));
    }
    clock::begin();
    let ticks = (seconds * 1e9 * clock::ticks_per_ns()) as u64;
    with(py, |state| state.flush.set(path, clock::now(), ticks));
    Ok(())
}

/// The workload so far, as JSON.
#[pyfunction]
pub(crate) fn snapshot(py: Python<'_>) -> PyResult<String> {
    let workload = state::with(py, |state| {
        sampler::collect(py, state);
        state.tell_installed();
        workload(&mut state.recorder)
    });
    let workload = workload.ok_or_else(|| PyRuntimeError::new_err("the recorder is in use"))?;
    serde_json::to_string(&workload).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// In a child made by fork: forgets the parent's counts.
#[pyfunction]
#[pyo3(signature = (path=None))]
pub(crate) fn after_fork_child(py: Python<'_>, path: Option<PathBuf>) {
    state::reset_thread();
    frames::this_is_main(py);
    with(py, |state| {
        state.recorder.tensors.disown();
        reset_state(state);
        state.flush.move_to(path, clock::now());
    });
    sample(py);
}
