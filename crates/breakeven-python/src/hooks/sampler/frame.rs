//! The frames of a thread that runs meanwhile, and where each of them is.

use super::super::frames::layout;
use super::peek::{copy, int, word, words};

/// Where a frame is: its code object, and the offset of the instruction in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) code: usize,
    pub(super) offset: i32,
}

/// A frame, read in place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// `None` where it is no Python frame, or none that has begun.
    pub(super) step: Option<Step>,
    /// Where its variables lie, with the value stack after them; in 3.10 where the value stack does.
    pub(super) bottom: usize,
    previous: usize,
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

    #[cfg(Py_3_11)]
    fn at(frame: usize) -> Option<Self> {
        // The fields of a frame, up to its variables.
        let fields: [usize; layout::VARIABLES / size_of::<usize>()] = words(frame)?;
        let field = |offset: usize| fields[offset / size_of::<usize>()];
        let mut owner = [0];
        copy(frame + layout::OWNER, &mut owner);
        let code = field(layout::CODE);
        let first = code + layout::FIRST_INSTRUCTION;
        let offset = field(layout::INSTRUCTION).wrapping_sub(first) as isize;
        let begins = || Some(int(first - layout::BEGINNING_BEFORE)? as isize * 2);
        let python = owner[0] != layout::C_STACK
            && (0..1 << 30).contains(&offset)
            && (owner[0] == layout::GENERATOR || offset >= begins()?);
        Some(Self {
            step: python.then_some(Step { code, offset: offset as i32 }),
            bottom: frame + layout::VARIABLES,
            previous: field(layout::PREVIOUS),
        })
    }

    #[cfg(not(Py_3_11))]
    fn at(frame: usize) -> Option<Self> {
        let offset = int(frame + layout::LAST_INSTRUCTION)? * 2;
        Some(Self {
            step: (offset >= 0).then_some(Step { code: word(frame + layout::CODE)?, offset }),
            bottom: word(frame + layout::STACK)?,
            previous: word(frame + layout::PREVIOUS)?,
        })
    }
}
