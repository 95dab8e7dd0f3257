//! The frames of a thread that runs meanwhile, and where each of them is.

use super::super::frames::layout;
use super::peek::{int, read, word};
use super::sample::{DEEPEST, SLOTS};

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
    previous: usize,
    /// Where its variables lie, with the value stack after them; in 3.10 where the value stack does.
    bottom: usize,
    slots: [usize; SLOTS],
    there: usize,
}

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

    /// The one that called it.
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
        let read = || word(self.bottom + index * size_of::<usize>()).unwrap_or(0);
        self.slots().get(index).copied().unwrap_or_else(read)
    }

    #[cfg(Py_3_11)]
    fn at(frame: usize) -> Option<Self> {
        const FIELDS: usize = layout::VARIABLES / size_of::<usize>();
        let mut all = [0; FIELDS + SLOTS];
        // What lies beyond the memory of frames is not there.
        let there = read(frame, &mut all).checked_sub(FIELDS)?;
        let field = |offset: usize| all[offset / size_of::<usize>()];
        let owner = field(layout::OWNER).to_ne_bytes()[layout::OWNER % size_of::<usize>()];
        let code = field(layout::CODE);
        let first = code + layout::FIRST_INSTRUCTION;
        let offset = field(layout::INSTRUCTION).wrapping_sub(first) as isize;
        let begins = || Some(int(first - layout::BEGINNING_BEFORE)? as isize * 2);
        let python = owner != layout::C_STACK
            && (0..1 << 30).contains(&offset)
            && (owner == layout::GENERATOR || offset >= begins()?);
        let mut slots = [0; SLOTS];
        slots.copy_from_slice(&all[FIELDS..]);
        Some(Self {
            step: python.then_some(Step { code, offset: offset as i32 }),
            bottom: frame + layout::VARIABLES,
            previous: field(layout::PREVIOUS),
            slots,
            there,
        })
    }

    #[cfg(not(Py_3_11))]
    fn at(frame: usize) -> Option<Self> {
        let offset = int(frame + layout::LAST_INSTRUCTION)? * 2;
        let bottom = word(frame + layout::STACK)?;
        let mut slots = [0; SLOTS];
        let there = read(bottom, &mut slots);
        Some(Self {
            step: (offset >= 0).then_some(Step { code: word(frame + layout::CODE)?, offset }),
            bottom,
            previous: word(frame + layout::PREVIOUS)?,
            slots,
            there,
        })
    }
}
