//! The frames of a thread that runs meanwhile, and where each of them is.

use super::super::frames::layout;
use super::facts::{self, Facts};
use super::peek::{read, word, words};
use super::sample::{DEEPEST, SLOTS};
use pyo3::ffi;

/// Where a frame is: its code object, and the offset of the instruction in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) code: usize,
    pub(super) offset: i32,
}

/// A frame as it was at one moment, or nearly so: its fields and its slots are read at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// `None` where it is no Python frame, or none that has begun.
    pub(super) step: Option<Step>,
    /// What is known of its code.
    pub(super) facts: Option<&'static Facts>,
    previous: usize,
    /// Where its variables lie, with the value stack after them; in 3.10 where the value stack does.
    bottom: usize,
    slots: [usize; SLOTS],
    there: usize,
}

const WORD: usize = size_of::<usize>();

impl Frame {
    /// The innermost frame of a thread, by the address of its state.
    pub(super) fn innermost(thread: usize) -> Option<Self> {
        let frame = word(thread + layout::THREAD)?;
        #[cfg(Py_3_11)]
        let frame = match layout::CURRENT {
            Some(current) => word(frame + current)?,
            None => frame,
        };
        Self::at(frame)
    }

    /// The one that called it; `None` where there is none, or the thread has moved on, and other things lie there.
    pub(super) fn outer(&self) -> Option<Self> {
        Self::at(self.previous)
    }

    /// The innermost one of Python's, from this one on, and where it is.
    pub(super) fn first_of_python(self) -> Option<(Step, Self)> {
        let mut frame = self;
        for _ in 0..DEEPEST {
            if let Some(step) = frame.step {
                return Some((step, frame));
            }
            frame = frame.outer()?;
        }
        None
    }

    /// Its first slots.
    pub(super) fn slots(&self) -> &[usize] {
        &self.slots[..self.there]
    }

    /// A slot; 0 where it is empty, or not there any more.
    pub(super) fn slot(&self, index: usize) -> usize {
        let later = || word(self.bottom + index * WORD).unwrap_or(0);
        self.slots().get(index).copied().unwrap_or_else(later)
    }

    #[cfg(Py_3_11)]
    fn at(frame: usize) -> Option<Self> {
        const FIELDS: usize = layout::VARIABLES / WORD;
        let mut all = [0; FIELDS + SLOTS];
        // What lies beyond the memory of frames is not there.
        let there = read(frame, &mut all).checked_sub(FIELDS)?;
        let field = |offset: usize| all[offset / WORD];
        let mut slots = [0; SLOTS];
        slots.copy_from_slice(&all[FIELDS..]);
        let bottom = frame + layout::VARIABLES;
        let no_python = Self { step: None, facts: None, previous: field(layout::PREVIOUS), bottom, slots, there };
        let owner = field(layout::OWNER).to_ne_bytes()[layout::OWNER % WORD];
        if owner == layout::C_STACK {
            return Some(no_python);
        }
        let code = field(layout::CODE);
        let facts = facts::find(code);
        let begins = facts.map_or_else(|| begins(code), |facts| Some(facts.begins))?;
        let first = code + layout::FIRST_INSTRUCTION;
        let offset = i32::try_from(field(layout::INSTRUCTION).wrapping_sub(first) as isize).ok()?;
        let has_begun = offset >= 0 && (owner == layout::GENERATOR || offset >= begins);
        Some(Self { step: has_begun.then_some(Step { code, offset }), facts, ..no_python })
    }

    #[cfg(not(Py_3_11))]
    fn at(frame: usize) -> Option<Self> {
        let fields: [usize; layout::LAST_INSTRUCTION / WORD + 1] = words(frame)?;
        let field = |offset: usize| fields[offset / WORD];
        if field(layout::TYPE) != &raw const ffi::PyFrame_Type as usize {
            return None;
        }
        let code = field(layout::CODE);
        let facts = facts::find(code);
        let begins = facts.map_or_else(|| begins(code), |facts| Some(facts.begins))?;
        let offset = (field(layout::LAST_INSTRUCTION) as i32).checked_mul(2)?;
        let (bottom, mut slots) = (field(layout::STACK), [0; SLOTS]);
        let there = read(bottom, &mut slots);
        Some(Self {
            step: (offset >= begins).then_some(Step { code, offset }),
            facts,
            previous: field(layout::PREVIOUS),
            bottom,
            slots,
            there,
        })
    }
}

/// Where the function of a code object begins, in bytes; `None` for what is no code object.
pub(super) fn begins(code: usize) -> Option<i32> {
    const WORD: usize = size_of::<usize>();
    #[cfg(Py_3_11)]
    const WORDS: usize = layout::FIRST_INSTRUCTION / WORD;
    #[cfg(not(Py_3_11))]
    const WORDS: usize = 2;
    let fields: [usize; WORDS] = words(code)?;
    if fields[layout::TYPE / WORD] != &raw const ffi::PyCode_Type as usize {
        return None;
    }
    #[cfg(Py_3_11)]
    let unit = (fields[WORDS - layout::BEGINNING_BEFORE / WORD] as i32).checked_mul(2)?;
    #[cfg(not(Py_3_11))]
    let unit = 0;
    Some(unit)
}
