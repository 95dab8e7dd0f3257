//! Calls that look as they did the last time: compared with their line field by field, and counted.
//!
//! What is recorded is the same as by the long way, which takes every call that differs in anything. Only ops on plain
//! numbers are recognised, called by user code itself, whose inputs the device has already. The short way allocates
//! nothing, calls nothing of the C library and has no branch that panics, so it needs no guard around it.

use super::array::{self, Array};
use super::methods::Arguments;
use super::state::{self, State, guard};
use super::{allocator, clock, frames};
use crate::buffers::{Buffers, NO_GROUP};
use crate::event::{Recorder, Thread};
use crate::lines::{LINES, Line, Lines, Operand, SELF};
use crate::names::Kind;
use crate::scalars::Scalar;
use crate::table::{Entry, IN_LOADER};
use crate::waited::LONG;
use breakeven::workload::sequence::Sequence;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::hint::cold_path;

/// What is called: a method's definition or a callable, and the object it belongs to where that is no array.
#[derive(Clone, Copy)]
pub(super) struct Callee {
    pub(super) address: usize,
    pub(super) slf: *mut PyObject,
}

/// How a callee takes its arguments.
#[derive(Clone, Copy)]
pub(super) struct Takes {
    /// Positional arguments that are inputs.
    pub(super) inputs: usize,
    /// `axis` comes right after the array.
    pub(super) axis_follows: bool,
    /// What it calls is part of it.
    pub(super) atomic: bool,
    /// The first argument is written and not read.
    pub(super) writes_first: bool,
}

/// A call that was recognised by what goes into it; two words, which stay in registers.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    /// Index of the line, and its stamp.
    line: u64,
    pub(super) thread: &'static RefCell<Thread>,
}

impl Begun {
    /// The line, where it still is the same: another call may have taken it in the meantime.
    #[inline(always)]
    fn line(self, lines: &mut Lines) -> Option<&mut Line> {
        let line = &mut lines.list()?[(self.line >> 32) as usize % LINES];
        (line.stamp == self.line as u32).then_some(line)
    }
}

/// What is in an `Option`; where nothing is, the call has to go the long way. Says so to the compiler too, which then
/// keeps the short way together: it has to share the processor's caches with NumPy.
macro_rules! or_long_way {
    ($option:expr) => {
        match $option {
            Some(value) => value,
            None => {
                cold_path();
                return None;
            }
        }
    };
}

/// As [`or_long_way`] for a condition.
macro_rules! demand {
    ($condition:expr) => {
        if !$condition {
            cold_path();
            return None;
        }
    };
}

/// Recognises a call that is about to begin; `None` where it has to go the long way. `QUICK` where that takes no call of
/// another function: in the main thread, where it need not be timed and nothing waits, which is most of the time.
///
/// # Safety
/// As Python passed them; the result is not used after the call has returned to its caller.
#[inline(always)]
pub(super) unsafe fn begin<const QUICK: bool>(callee: Callee, arguments: Arguments) -> Option<Begun> {
    // SAFETY: Python calls trampolines with its lock held, and nothing here calls any; the thread is used while the call
    // runs.
    let (state, cell) = unsafe {
        let state = or_long_way!(state::open());
        (state, or_long_way!(if QUICK { state::last_thread() } else { state::this_thread() }))
    };
    // SAFETY: see `thread_within`.
    let thread = unsafe { thread_within(cell) };
    demand!(thread.is_idle());
    let nothing_waits = allocator::is_drained() && state.recorder.buffers.is_settled();
    if QUICK {
        demand!(nothing_waits);
    } else if !nothing_waits {
        drain(state)?;
    }
    let Recorder { lines, buffers, order, .. } = &mut state.recorder;
    let lines = or_long_way!(lines.list());
    // SAFETY: there are lines only where frames were found to be readable; this thread has just been asked for.
    let instruction =
        or_long_way!(unsafe { if QUICK { frames::instruction_in_main() } else { frames::instruction() } });
    let index = Lines::index(lines, instruction);
    let line = &mut lines[index];
    demand!(line.instruction == instruction);
    demand!(line.callee == callee.address);
    demand!(line.names == arguments.keywords as usize);
    demand!(line.count == counted(callee, arguments));
    demand!(line.lane == thread.lane);
    let skips = line.tiny && thread.may_skip();
    demand!(skips || !QUICK);
    let position = order.len();
    // SAFETY: a line has no more inputs than it has room for.
    let inputs = unsafe { line.inputs.get_unchecked_mut(..line.len as usize) };
    let first = inputs.as_ptr();
    for operand in inputs {
        // SAFETY: the line has as many arguments as the call, the same keywords, and an object where it has one.
        unsafe {
            if take::<QUICK>(operand, callee.slf, arguments.positional, buffers, position).is_none() {
                cold_path();
                take_back(buffers, first, std::ptr::from_ref(operand), callee.slf, arguments.positional);
                return None;
            }
        }
    }
    thread.enter_first(line.atomic);
    let (stamp, entry) = (line.stamp, line.entry);
    if skips {
        thread.skip();
    } else {
        thread.began = state::begins(thread.last_end(), |gap| {
            state.recorder.waited(gap, |recorder| recorder.wait_line_of(entry));
        });
    }
    Some(Begun { line: (index as u64) << 32 | u64::from(stamp), thread: cell })
}

/// Recognises an input and notes that it is read; `None`, with nothing noted, where it is another.
///
/// # Safety
/// As for [`begin`]; the operand is of a line with as many arguments, the same keywords, and an object where there is
/// one here.
#[inline(always)]
unsafe fn take<const QUICK: bool>(
    operand: &mut Operand,
    slf: *mut PyObject,
    positional: *const *mut PyObject,
    buffers: &mut Buffers,
    position: u64,
) -> Option<()> {
    // SAFETY: by contract; arguments are live, and one that looks like an array is one.
    unsafe {
        let object = object_of(operand, slf, positional);
        demand!(looks_like(operand, object));
        if operand.ndim >= 0 {
            let address = if QUICK {
                or_long_way!(array::near_address(object, operand)).0
            } else {
                array::address(object, operand)
            };
            operand.last_use = or_long_way!(buffers.read_again(address, position));
        }
    }
    Some(())
}

/// The object that a call has in the place of an input.
///
/// # Safety
/// As for [`take`].
#[inline(always)]
unsafe fn object_of(operand: &Operand, slf: *mut PyObject, positional: *const *mut PyObject) -> *mut PyObject {
    if !slf.is_null() && operand.argument == SELF {
        return slf;
    }
    // SAFETY: by contract there are as many arguments.
    unsafe { *positional.add(operand.argument.into()) }
}

/// Takes back that the inputs from `first` to before `end` were read, the last of them first: two may be the same array.
///
/// # Safety
/// As for [`take`], which has recognised all of them; they are inputs of one line.
#[cold]
unsafe fn take_back(
    buffers: &mut Buffers,
    first: *const Operand,
    end: *const Operand,
    slf: *mut PyObject,
    positional: *const *mut PyObject,
) {
    // SAFETY: by contract.
    let inputs = unsafe { std::slice::from_raw_parts(first, end.offset_from_unsigned(first)) };
    for input in inputs.iter().rev().filter(|input| input.ndim >= 0) {
        // SAFETY: by contract they are arrays, and live.
        let address = unsafe { array::address(object_of(input, slf, positional), input) };
        buffers.unread(address, input.last_use);
    }
}

/// Takes back what [`begin`] has noted, where [`end`] does not record the call: it raised, or goes the long way.
///
/// # Safety
/// As for [`begin`], which has given `begun` for the same call.
pub(super) unsafe fn give_up(begun: Begun, callee: Callee, arguments: Arguments) {
    // SAFETY: the original has returned with the lock held.
    let py = unsafe { Python::assume_attached() };
    state::with(py, |state| {
        let Recorder { lines, buffers, .. } = &mut state.recorder;
        if let Some(line) = begun.line(lines) {
            let inputs = line.inputs[..line.len as usize].as_ptr_range();
            // SAFETY: by contract.
            unsafe { take_back(buffers, inputs.start, inputs.end, callee.slf, arguments.positional) };
        }
    });
}

/// Positional arguments, and whether there is an object besides them.
#[inline(always)]
fn counted(callee: Callee, arguments: Arguments) -> usize {
    arguments.count << 1 | usize::from(!callee.slf.is_null())
}

/// What this thread is in, where [`state::open`] has given the state.
///
/// # Safety
/// With this thread's own cell, where the state is open; nothing that runs while the result is used asks for it.
/// (Everybody else who borrows a thread either runs nothing meanwhile that could come here, or is within `state::with`,
/// which closes it.)
#[inline(always)]
#[expect(clippy::mut_from_ref, reason = "whoever has the state has the cell, see above")]
unsafe fn thread_within(cell: &RefCell<Thread>) -> &mut Thread {
    // SAFETY: by contract there is no other reference.
    unsafe { &mut *cell.as_ptr() }
}

/// Passes on what happened to buffers so far; `None` where that failed.
#[inline(never)]
fn drain(state: &mut State) -> Option<()> {
    guard(|| allocator::drain(&mut state.recorder.buffers))
}

/// Whether an object is what the line has in its place.
///
/// # Safety
/// A live object.
#[inline(always)]
unsafe fn looks_like(operand: &Operand, object: *mut PyObject) -> bool {
    // SAFETY: a live object; one of this very type is an array where the operand is.
    unsafe {
        if ffi::Py_TYPE(object) as usize == operand.kind {
            return operand.ndim < 0 || (*object.cast::<Array>()).looks_like(operand);
        }
    }
    operand.kind == 0 && object as usize == operand.object
}

/// Records the call, which has returned; `None` where it has to go the long way after all. `QUICK` as in [`begin`].
///
/// # Safety
/// As for [`begin`], which has given `begun` for the same call.
#[inline(always)]
pub(super) unsafe fn end<const QUICK: bool>(begun: Begun, result: *mut PyObject) -> Option<()> {
    demand!(!result.is_null());
    // SAFETY: the original has returned with the lock held; nothing here calls any of Python's functions.
    let state = or_long_way!(unsafe { state::open() });
    // SAFETY: see `thread_within`.
    let thread = unsafe { thread_within(begun.thread) };
    demand!(thread.is_leaf());
    let began = if QUICK { 0 } else { thread.began };
    let ended = if began == 0 { 0 } else { clock::now() };
    if !allocator::is_drained() {
        cold_path();
        drain(state)?;
    }
    let Recorder { lines, buffers, table, order, .. } = &mut state.recorder;
    let line = or_long_way!(begun.line(lines));
    // SAFETY: the result is live; what looks like an array is one.
    unsafe {
        demand!(looks_like(&line.result, result));
        if line.result.ndim >= 0 {
            let (address, bytes) = or_long_way!(array::near_address(result, &line.result));
            or_long_way!(buffers.written_again(address, or_long_way!(bytes), line.group, order.len()));
        }
    }
    if !order.push_foretold(line.entry) {
        cold_path();
        push(order, line.entry);
    }
    // SAFETY: the result is live, and a NumPy scalar as the line's was.
    let made = line.scalar.then(|| unsafe { array::scalar(result) });
    if began == 0 {
        line.ran = line.ran.wrapping_add(1);
        thread.leave_untimed(made);
        return Some(());
    }
    let Line { tiny, entry: index, .. } = line;
    let span = count_timed(or_long_way!(table.known(*index)), thread, tiny, made, began, ended);
    if span > 0 || ended - began >= LONG || state.flush.next <= ended {
        let index = *index;
        now_and_then(state, index, thread, span, began, ended);
    }
    thread.began = 0;
    Some(())
}

/// When the call began, where it was timed.
pub(super) fn take_began(begun: Begun) -> Option<u64> {
    let began = std::mem::take(&mut begun.thread.try_borrow_mut().ok()?.began);
    (began > 0).then_some(began)
}

/// Where the loop does not go on as foretold.
#[inline(never)]
fn push(order: &mut Sequence, entry: u32) {
    guard(|| order.push(entry));
}

/// Counts a call that was timed; gives the time of those before it that were not.
#[inline(never)]
fn count_timed(
    entry: &mut Entry,
    thread: &mut Thread,
    tiny: &mut bool,
    made: Option<Scalar>,
    began: u64,
    ended: u64,
) -> u64 {
    if let Some(timing) = thread.leave(began, ended, state::since()) {
        entry.ran(timing.own, timing.gap);
    }
    if *tiny {
        thread.timed_tiny(ended);
    } else {
        *tiny = entry.is_tiny();
    }
    thread.recorded(ended, made)
}

/// What a burst of timed calls brings.
#[inline(never)]
fn now_and_then(state: &mut State, entry: u32, thread: &mut Thread, span: u64, began: u64, ended: u64) {
    guard(|| {
        state.recorder.pool(thread.id, span);
        state.ended(thread, began, ended, Some(entry));
    });
}

/// Remembers the call that was just recorded, if it is one that can be recognised.
///
/// # Safety
/// As Python passed them; the call has returned and was recorded as the last one.
pub(super) unsafe fn learn(
    state: &mut State,
    lane: u32,
    callee: Callee,
    arguments: Arguments,
    takes: Takes,
    result: *mut PyObject,
) {
    if !state::recognises() || takes.writes_first {
        return;
    }
    let Recorder { table, names, buffers, lines, order, untimed, .. } = &mut state.recorder;
    let Some(index) = table.last() else { return };
    let entry = table.get_mut(index);
    // Now and then, and in step with no loop, so that a place where no two calls are alike pays little for it.
    let now = order.len().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0;
    let of_numpy = entry.tag == 0 && entry.context.is_none();
    if !now || entry.count < 2 || entry.rounded || !of_numpy || names.kind(entry.name) != Kind::Op {
        return;
    }
    // SAFETY: by contract.
    let line = unsafe {
        let Some(instruction) = frames::instruction() else { return };
        let [code, at, library] = state.call.place();
        if library & !IN_LOADER != 0 || frames::instruction_of(code, at) != Some(instruction) {
            return;
        }
        let Some(operands) = inputs(code, callee, arguments, takes) else { return };
        let Some(result) = array::operand(result).filter(|_| result != callee.slf) else { return };
        Line { instruction, lane, entry: index, result, atomic: takes.atomic, ..operands }
    };
    let group = (line.result.ndim >= 0).then(|| buffers.group_of(index, line.result.bytes)).flatten();
    let group = group.unwrap_or(NO_GROUP);
    let before = lines.learn(Line {
        callee: callee.address,
        scalar: state.call.has_scalar_result(),
        tiny: entry.is_tiny(),
        group,
        ..line
    });
    if let Some(entry) = table.known(before.entry) {
        entry.count += before.ran;
        *untimed += before.ran;
    }
}

/// A line with the inputs of a call; `None` where one cannot be told by its type and shape.
unsafe fn inputs(code: u64, callee: Callee, arguments: Arguments, takes: Takes) -> Option<Line> {
    let slf = callee.slf;
    let mut line = Line { names: arguments.keywords as usize, count: counted(callee, arguments), ..Line::default() };
    let mut add = |argument: usize, operand: Option<Operand>| {
        *line.inputs.get_mut(line.len as usize)? = Operand { argument: argument as u16, ..operand? };
        line.len += 1;
        Some(())
    };
    // SAFETY: by contract of `learn`.
    unsafe {
        let slf_is_array = array::as_array(slf).is_some();
        if !slf.is_null() {
            add(SELF.into(), if slf_is_array { array::operand(slf) } else { Some(array::this_very(slf)) })?;
        }
        for (i, &argument) in arguments.as_slice().iter().take(takes.inputs).enumerate() {
            let is_axis = takes.axis_follows && i == usize::from(!slf_is_array);
            add(i, if is_axis { array::constant(argument) } else { array::operand(argument) })?;
        }
        if !arguments.keywords.is_null() {
            if !frames::is_constant(code, arguments.keywords) {
                return None;
            }
            for i in 0..ffi::Py_SIZE(arguments.keywords).max(0) as usize {
                let value = *arguments.positional.add(arguments.count + i);
                let is_axis = super::methods::is_axis(ffi::PyTuple_GET_ITEM(arguments.keywords, i as isize));
                let operand = if is_axis { array::constant(value) } else { array::operand(value) };
                add(arguments.count + i, operand)?;
            }
        }
    }
    Some(line)
}
