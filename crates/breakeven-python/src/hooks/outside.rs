//! Events that come from Python: the AST recorder's, and library functions wrapped there.

use super::array::{add_input, add_output, as_array};
use super::state::{self, State, finish, with_thread};
use super::{allocator, clock, torch};
use crate::event::Call;
use crate::modules;
use breakeven::workload::Site;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

/// `a[0]`, by what it gives: a part of the array, or one element, which the host then has.
const GET_ITEM: &str = "numpy.ndarray.__getitem__";
const ITEM: &str = "numpy.ndarray.item";
/// Marks a place that is an index into the sites, not a code object.
const SITE: u64 = 1 << 63;
/// Keywords that shapes do not tell.
pub(crate) const KEYWORDS: [&str; 24] = [
    "axis",
    "axes",
    "subscripts",
    "k",
    "n",
    "size",
    "sigma",
    "truncate",
    "mode",
    "ord",
    "order",
    "compute_uv",
    "method",
    "copied",
    "kernel_size",
    "pinned",
    "asynchronous",
    "flops",
    "bytes",
    "functions",
    "kernels",
    "up",
    "op",
    "facts",
];
/// Those that tell a whole op, and how long their text may be.
const WHOLE: [&str; 2] = ["op", "facts"];
const LONGEST_WHOLE: usize = 1 << 20;
/// The same of all others.
const LONGEST: usize = 200;

/// Keywords worth keeping, as Python prints them.
pub(crate) fn keywords(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let mut kept = Vec::new();
    for (name, value) in given.into_iter().flatten() {
        let Ok(name) = name.extract::<String>() else { continue };
        let plain = value.is_none()
            || value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
            || value.is_instance_of::<PyBool>()
            || value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyTuple>();
        if plain && KEYWORDS.contains(&name.as_str()) {
            let text: String = value.str()?.extract()?;
            let longest = if WHOLE.contains(&name.as_str()) { LONGEST_WHOLE } else { LONGEST };
            if text.len() <= longest {
                kept.push((name, text));
            }
        }
    }
    Ok(kept)
}

/// One op that ended just now and took `ns`.
#[expect(clippy::too_many_arguments, reason = "what a recorder tells of an op, as it arrives from Python")]
pub(crate) fn event(
    py: Python<'_>,
    name: &str,
    keywords: Vec<(String, String)>,
    inputs: &Bound<'_, PyTuple>,
    outputs: &Bound<'_, PyTuple>,
    ns: u64,
    site: Site,
    tag: u8,
) {
    if !state::recording() {
        return;
    }
    let ended = clock::now();
    let own = (ns as f64 * clock::ticks_per_ns()) as u64;
    with_thread(|thread| {
        if !thread.enter(true) {
            return;
        }
        let Some(timing) = thread.leave(ended.saturating_sub(own), ended, state::since()) else { return };
        state::with(py, |state| {
            let State { recorder, call, .. } = state;
            let name = recorder.names.intern_with(name, keywords);
            let site = recorder.sites.intern(site);
            call.begin(name, thread.id, [SITE | u64::from(site), 0, 0]);
            call.tag(tag);
            // SAFETY: the tuples are held by the caller.
            unsafe {
                inputs.iter().for_each(|input| add_input(call, input.as_ptr()));
                outputs.iter().for_each(|output| add_output(call, output.as_ptr()));
            }
            allocator::drain(&mut recorder.buffers);
            if recorder.record(call, timing, |_| site) {
                recorder.pool(thread.id, thread.recorded(ended, call.made()));
            }
            state.ended(thread, ended.saturating_sub(own), ended, None);
        });
    });
}

/// Begins a library call; 0 where it is part of a call that is one op. Calls inside are recorded where the table of
/// callables says that this one is made of them, and then have the tag `ambient`. `whole`: this one counts by itself
/// in any case, and is one op unless there is a tag for what it is made of.
pub(crate) fn enter(py: Python<'_>, name: &str, whole: bool, ambient: u8) -> u64 {
    if !state::recording() {
        return 0;
    }
    let known = state::with(py, |state| {
        let names = &mut state.recorder.names;
        let name = names.intern(name);
        (name, names.is_atomic(name))
    });
    let Some((name, atomic)) = known else { return 0 };
    let began = with_thread(|thread| thread.last_end())
        .map_or_else(clock::now, |last_end| state::begins(last_end, state::waited_here));
    let token = with_thread(|thread| {
        if !(if whole { thread.enter_whole(atomic || ambient == 0) } else { thread.enter(atomic) }) {
            return 0;
        }
        thread.outside.push((name, began, thread.ambient));
        if ambient != 0 {
            thread.ambient = ambient;
        }
        thread.outside.len() as u64
    });
    token.unwrap_or(0)
}

/// Ends it. Nothing is recorded where the call raised: then there is neither input nor result.
///
/// `other_name`: it turned out to be another function.
pub(crate) fn leave(
    py: Python<'_>,
    token: u64,
    inputs: &Bound<'_, PyTuple>,
    result: &Bound<'_, PyAny>,
    (tag, other_name): (u8, Option<&str>),
    keywords: impl FnOnce() -> PyResult<Vec<(String, String)>>,
) -> PyResult<()> {
    if token == 0 {
        return Ok(());
    }
    let ended = with_thread(|thread| thread.returned.take()).flatten().unwrap_or_else(clock::now);
    let keywords = keywords()?;
    let begun = with_thread(|thread| {
        thread.outside.truncate(token as usize);
        let begun = thread.outside.pop();
        thread.ambient = begun.map_or(0, |(_, _, before)| before);
        begun
    });
    let Some((mut name, began, _)) = begun.flatten() else { return Ok(()) };
    // SAFETY: the caller holds the result.
    let element = unsafe { as_array(result.as_ptr()) }.is_none() && !inputs.is_empty();
    let element = element && state::with(py, |state| state.recorder.names.callee(name).name == GET_ITEM) == Some(true);
    if element {
        name = state::with(py, |state| state.recorder.names.intern(ITEM)).unwrap_or(name);
    }
    let told = keywords.iter().any(|(keyword, _)| WHOLE.contains(&keyword.as_str()));
    if !keywords.is_empty() || other_name.is_some() {
        state::with(py, |state| {
            let names = &mut state.recorder.names;
            let plain = other_name.map_or_else(|| names.callee(name).name.clone(), str::to_owned);
            name = names.intern_with(&plain, keywords);
        });
    }
    let describe = |call: &mut Call| {
        call.tag(tag);
        // SAFETY: the caller holds the tuple and the result.
        unsafe {
            if element && let Some(array) = inputs.iter().next().and_then(|input| as_array(input.as_ptr())) {
                array.add_element_to(call);
                return true;
            }
            inputs.iter().for_each(|input| add_input(call, input.as_ptr()));
            add_output(call, result.as_ptr());
        }
        told || !(result.is_none() && inputs.is_empty())
    };
    with_thread(|thread| {
        // It is told of by itself, also where the program's own function runs within a call of the library's.
        let around = std::mem::take(&mut thread.ambient);
        finish(py, thread, name, began, ended, describe);
        thread.ambient = around;
    });
    Ok(())
}

/// Ends a call of which nothing is told, unless it has ended.
pub(crate) fn leave_open(py: Python<'_>, token: u64) -> PyResult<()> {
    if token != 0 && with_thread(|thread| thread.outside.len() as u64 >= token) == Some(true) {
        leave(py, token, &PyTuple::empty(py), py.None().bind(py), (0, None), || Ok(Vec::new()))?;
    }
    with_thread(|thread| thread.returned = None);
    Ok(())
}

/// The recorder of rewritten code took `ticks` of this thread's time.
pub(crate) fn recorder_took(py: Python<'_>, ticks: u64) {
    with_thread(|thread| thread.recorder_took(ticks));
    state::with(py, |state| state.recorder.told_ticks += ticks);
}

/// What a stand-in for a library does: its time beside the events in it is none of the run's.
pub(crate) fn in_stand_in<R>(py: Python<'_>, work: impl FnOnce() -> R) -> R {
    let (done, took) = beside_events(true, work);
    state::with(py, |state| state.recorder.set_aside += took);
    done
}

/// What the recorder does around a call: its time beside the events in it is nobody's gap. While steps go unwatched it
/// is told with them; so is all until they are watched again.
pub(crate) fn by_recorder<R>(py: Python<'_>, work: impl FnOnce() -> R) -> R {
    if modules::unwatched() {
        let first = with_thread(|thread| thread.own_begins(clock::monotonic_ns())) == Some(true);
        let done = work();
        if first {
            with_thread(|thread| thread.own_ends(clock::monotonic_ns()));
        }
        if !modules::unwatched() {
            torch::no_gap(py);
        }
        return done;
    }
    let (done, took) = beside_events(false, work);
    state::with(py, |state| state.recorder.told_ticks += took);
    done
}

/// `work`, whose time beside the events in it is nobody's gap, and the ticks that this was.
fn beside_events<R>(imitates: bool, work: impl FnOnce() -> R) -> (R, u64) {
    if !state::recording() || with_thread(|thread| thread.stand_in_begins(clock::now(), imitates)) != Some(true) {
        return (work(), 0);
    }
    let done = work();
    let took = with_thread(|thread| thread.stand_in_ends(clock::now(), state::since())).unwrap_or(0);
    // With what recording was ended in between, the little before that is left in.
    (done, if state::recording() { took } else { 0 })
}

/// `work(*args)`, which the stand-in at work does for the call around it: its time is that call's.
#[pyfunction]
#[pyo3(signature = (work, *args))]
pub(crate) fn work_of_call<'py>(work: &Bound<'py, PyAny>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    with_thread(|thread| thread.work_begins(clock::now(), state::since()));
    let done = work.call1(args);
    with_thread(|thread| thread.work_ends(clock::now()));
    done
}

/// The values of this array come from the host.
pub(crate) fn host_made(array: &Bound<'_, PyAny>) {
    let py = array.py();
    // SAFETY: the caller holds the object.
    if let Some(array) = unsafe { as_array(array.as_ptr()) } {
        let memory = array.memory(true);
        state::with(py, |state| {
            let State { recorder, .. } = state;
            allocator::drain(&mut recorder.buffers);
            recorder.buffers.host_written(memory.address, memory.bytes, recorder.events());
        });
    }
}

/// The host reads the values of this array, or of a scalar that an op gave.
pub(crate) fn host_read(value: &Bound<'_, PyAny>) {
    let (py, now) = (value.py(), clock::now());
    let Some(name) = state::with(py, |state| state.recorder.names.intern(ITEM)) else { return };
    // SAFETY: the caller holds the object.
    if let Some(array) = unsafe { as_array(value.as_ptr()) } {
        if state::recording() && with_thread(|thread| thread.enter(true)) == Some(true) {
            let describe = |call: &mut Call| {
                array.add_to(call, false);
                true
            };
            with_thread(|thread| finish(py, thread, name, now, now, describe));
        }
    } else if state::recording() {
        // SAFETY: as above.
        unsafe {
            if super::array::is_scalar(value.as_ptr()) {
                super::scalar::read(name, value.as_ptr(), || ());
            }
        }
    }
}
