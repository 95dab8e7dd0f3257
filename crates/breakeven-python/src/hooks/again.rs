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
use crate::lines::{Line, Lines, Operand, SELF};
use crate::names::Kind;
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
    index: u32,
    stamp: u32,
    pub(super) thread: &'static RefCell<Thread>,
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

/// Recognises a call that is about to begin; `None` where it has to go the long way.
///
/// # Safety
/// As Python passed them; the result is not used after the call has returned to its caller.
#[inline(always)]
pub(super) unsafe fn begin(callee: Callee, arguments: Arguments) -> Option<Begun> {
    demand!(state::recognises());
    // SAFETY: Python calls trampolines with its lock held; frames were found to be readable before `recognises`.
    let (py, instruction) = unsafe { (Python::assume_attached(), or_long_way!(frames::instruction())) };
    let index = Lines::index(instruction);
    // SAFETY: used while the call runs.
    let cell = or_long_way!(unsafe { state::this_thread() });
    let recognised = state::with(
        py,
        #[inline(always)]
        |state| {
            // SAFETY: see `thread_within`.
            let thread = unsafe { thread_within(cell) };
            demand!(thread.is_idle());
            or_long_way!(drain(state));
            let Recorder { lines, buffers, order, .. } = &mut state.recorder;
            let line = or_long_way!(lines.get(index));
            demand!(line.instruction == instruction);
            demand!(line.callee == callee.address);
            demand!(line.names == arguments.keywords as usize);
            demand!(line.count == counted(callee, arguments));
            demand!(line.lane == thread.lane);
            let position = order.len();
            let mut differs = None;
            for (i, operand) in or_long_way!(line.inputs.get_mut(..line.len)).iter_mut().enumerate() {
                // SAFETY: the line has as many arguments as the call, the same keywords, and an object where it has one.
                if unsafe { take(operand, callee, arguments, buffers, position) }.is_none() {
                    differs = Some(i);
                    break;
                }
            }
            if let Some(i) = differs {
                cold_path();
                take_back_inputs(buffers, line, i);
                return None;
            }
            thread.enter_first(line.atomic);
            let (stamp, entry) = (line.stamp, line.entry);
            let skips = thread.skips(line.tiny);
            thread.began = if skips {
                0
            } else {
                cold_path();
                begins(&mut state.recorder, thread.last_end(), entry)
            };
            Some(stamp)
        },
    );
    let stamp = or_long_way!(recognised.flatten());
    Some(Begun { index: index as u32, stamp, thread: cell })
}

/// Recognises an input and notes that it is read; `None`, with nothing noted, where it is another.
///
/// # Safety
/// As for [`begin`]; the operand is of a line with as many arguments, the same keywords, and an object where there is
/// one here.
#[inline(always)]
unsafe fn take(
    operand: &mut Operand,
    callee: Callee,
    arguments: Arguments,
    buffers: &mut Buffers,
    position: u64,
) -> Option<()> {
    // SAFETY: by contract; arguments are live, and one that looks like an array is one.
    unsafe {
        let object = if !callee.slf.is_null() && operand.argument == SELF {
            callee.slf
        } else {
            *arguments.positional.add(operand.argument as usize)
        };
        demand!(looks_like(operand, object));
        if operand.ndim >= 0 {
            operand.read = or_long_way!(buffers.read_again(array::address(object, operand).0, position));
        }
    }
    Some(())
}

/// Positional arguments, and whether there is an object besides them.
#[inline(always)]
fn counted(callee: Callee, arguments: Arguments) -> usize {
    arguments.count << 1 | usize::from(!callee.slf.is_null())
}

/// What this thread is in, within [`state::with`].
///
/// # Safety
/// Called within `state::with`, with this thread's own cell; nothing that runs while the result is used asks for it.
/// (Everybody else who borrows a thread either runs nothing meanwhile that could come here, or is within `state::with`
/// too, which lets nobody in twice.)
#[inline(always)]
#[expect(clippy::mut_from_ref, reason = "the cell is borrowed by `state::with`, see above")]
unsafe fn thread_within(cell: &RefCell<Thread>) -> &mut Thread {
    // SAFETY: by contract there is no other reference.
    unsafe { &mut *cell.as_ptr() }
}

/// Passes on what happened to buffers so far; `None` where that failed.
#[inline(always)]
fn drain(state: &mut State) -> Option<()> {
    if allocator::is_drained() && state.recorder.buffers.is_settled() {
        Some(())
    } else {
        cold_path();
        drain_ring(state)
    }
}

#[inline(never)]
fn drain_ring(state: &mut State) -> Option<()> {
    guard(|| allocator::drain(&mut state.recorder.buffers))
}

/// Whether an object is what the line has in its place.
///
/// # Safety
/// A live object.
#[inline(always)]
unsafe fn looks_like(operand: &Operand, object: *mut PyObject) -> bool {
    if operand.kind == 0 {
        return object as usize == operand.object;
    }
    // SAFETY: a live object; one of this very type is an array where the operand is.
    unsafe {
        ffi::Py_TYPE(object) as usize == operand.kind
            && (operand.ndim < 0 || (*object.cast::<Array>()).looks_like(operand))
    }
}

/// Records the call, which has returned; `None` where it has to go the long way after all.
///
/// # Safety
/// As for [`begin`], which has given `begun` for the same call.
#[inline(always)]
pub(super) unsafe fn end(begun: Begun, result: *mut PyObject) -> Option<()> {
    // SAFETY: the original has returned with the lock held.
    let py = unsafe { Python::assume_attached() };
    demand!(!result.is_null());
    let counted = state::with(
        py,
        #[inline(always)]
        |state| {
            // SAFETY: see `thread_within`.
            let thread = unsafe { thread_within(begun.thread) };
            demand!(thread.is_leaf());
            let began = thread.began;
            let ended = if began == 0 {
                0
            } else {
                cold_path();
                clock::now()
            };
            if !allocator::is_drained() {
                cold_path();
                drain_ring(state)?;
            }
            let Recorder { lines, buffers, table, order, untimed, .. } = &mut state.recorder;
            let line = or_long_way!(lines.get(begun.index as usize));
            // Another call may have taken the line in the meantime.
            demand!(line.stamp == begun.stamp);
            // SAFETY: the result is live.
            demand!(unsafe { looks_like(&line.result, result) });
            let position = order.len();
            let entry = or_long_way!(table.known(line.entry));
            if line.result.ndim >= 0 {
                // SAFETY: it looks like an array.
                let (address, bytes) = unsafe { array::address(result, &line.result) };
                or_long_way!(buffers.written_again(address, or_long_way!(bytes), line.group, position));
            }
            if !order.push_foretold(line.entry) {
                cold_path();
                push(order, line.entry);
            }
            if began == 0 {
                entry.count = entry.count.wrapping_add(1);
                *untimed = untimed.wrapping_add(1);
                thread.leave_untimed(line.scalar);
                return Some(());
            }
            cold_path();
            let Line { tiny, scalar, entry: index, .. } = line;
            let span = count_timed(entry, thread, tiny, *scalar, began, ended);
            if span > 0 || ended - began >= LONG || state.flush.next <= ended {
                let index = *index;
                now_and_then(state, index, thread.id, span, began, ended);
            }
            Some(())
        },
    );
    counted.flatten()
}

/// When the call began, where it is timed.
pub(super) fn began(begun: Begun) -> Option<u64> {
    begun.thread.try_borrow().ok().map(|thread| thread.began).filter(|&began| began > 0)
}

/// Takes back what [`begin`] has noted, where [`end`] does not record the call: it raised, or goes the long way.
pub(super) fn take_back(begun: Begun) {
    // SAFETY: the original has returned with the lock held.
    let py = unsafe { Python::assume_attached() };
    state::with(py, |state| {
        let Recorder { lines, buffers, .. } = &mut state.recorder;
        if let Some(line) = lines.get(begun.index as usize).filter(|line| line.stamp == begun.stamp) {
            take_back_inputs(buffers, line, line.len);
        }
    });
}

/// Takes back what was noted of the first inputs, the last of them first: two may be the same array.
#[cold]
fn take_back_inputs(buffers: &mut Buffers, line: &Line, count: usize) {
    for input in line.inputs.iter().take(count).rev().filter(|input| input.ndim >= 0) {
        buffers.unread(input.read);
    }
}

/// Where the loop does not go on as foretold.
#[inline(never)]
fn push(order: &mut Sequence, entry: u32) {
    guard(|| order.push(entry));
}

/// Counts a call that was timed; gives the time of those before it that were not.
#[inline(never)]
fn count_timed(entry: &mut Entry, thread: &mut Thread, tiny: &mut bool, scalar: bool, began: u64, ended: u64) -> u64 {
    if let Some(timing) = thread.leave(began, ended, state::since()) {
        entry.ran(timing.own, timing.gap);
    }
    if *tiny {
        thread.timed_tiny(ended);
    } else {
        *tiny = entry.is_tiny();
    }
    thread.recorded(ended, scalar)
}

/// What a burst of timed calls brings.
#[inline(never)]
fn now_and_then(state: &mut State, entry: u32, thread: u16, span: u64, began: u64, ended: u64) {
    guard(|| {
        state.recorder.pool(thread, span);
        state.recorder.ended(began, ended, Some(entry));
        state.flush_if_due(ended);
    });
}

/// As [`state::begins`], where the state is at hand.
#[inline(never)]
fn begins(recorder: &mut Recorder, last_end: u64, entry: u32) -> u64 {
    let now = clock::now();
    if now.saturating_sub(last_end) < LONG {
        return now;
    }
    guard(|| recorder.waited(|recorder| recorder.wait_line_of(entry)));
    clock::now()
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
    let Recorder { table, names, buffers, lines, order, .. } = &mut state.recorder;
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
    lines.learn(Line {
        callee: callee.address,
        scalar: state.call.has_scalar_result(),
        tiny: entry.is_tiny(),
        group,
        ..line
    });
}

/// A line with the inputs of a call; `None` where one cannot be told by its type and shape.
unsafe fn inputs(code: u64, callee: Callee, arguments: Arguments, takes: Takes) -> Option<Line> {
    let slf = callee.slf;
    let mut line = Line { names: arguments.keywords as usize, count: counted(callee, arguments), ..Line::default() };
    let mut add = |argument: u32, operand: Option<Operand>| {
        *line.inputs.get_mut(line.len)? = Operand { argument, ..operand? };
        line.len += 1;
        Some(())
    };
    // SAFETY: by contract of `learn`.
    unsafe {
        let slf_is_array = array::as_array(slf).is_some();
        if !slf.is_null() {
            add(SELF, if slf_is_array { array::operand(slf) } else { Some(array::this_very(slf)) })?;
        }
        for (i, &argument) in arguments.as_slice().iter().take(takes.inputs).enumerate() {
            let is_axis = takes.axis_follows && i == usize::from(!slf_is_array);
            add(i as u32, if is_axis { array::constant(argument) } else { array::operand(argument) })?;
        }
        if !arguments.keywords.is_null() {
            if !frames::is_constant(code, arguments.keywords) {
                return None;
            }
            for i in 0..ffi::Py_SIZE(arguments.keywords).max(0) as usize {
                let value = *arguments.positional.add(arguments.count + i);
                let is_axis = super::methods::is_axis(ffi::PyTuple_GET_ITEM(arguments.keywords, i as isize));
                let operand = if is_axis { array::constant(value) } else { array::operand(value) };
                add((arguments.count + i) as u32, operand)?;
            }
        }
    }
    Some(line)
}
