//! Calls that are recognised in place: for each place in the user's code, what its call looked like last.
//!
//! Most calls of a program are those of a loop. A call that looks as it did the last time it came this way needs no key,
//! no hash and no search: `hooks/again.rs` compares it field by field with the line kept here and counts it.

/// Lines kept; places that share one take turns.
const LINES: usize = 256;
/// Dims, and operands, beyond which a call is not kept.
pub(crate) const MAX_DIMS: usize = 4;
pub(crate) const MAX_OPERANDS: usize = 5;

/// Something that goes into a call, or comes out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operand {
    /// Address of its type; 0 where it must be the very object at `object`.
    pub(crate) kind: usize,
    /// See `kind`; of an array, its descriptor.
    pub(crate) object: usize,
    /// What takes back that it was read by the call that is going on: see `Buffers::read_again`.
    pub(crate) read: (u32, u64),
    /// Which argument it is; [`SELF`] for the object whose method is called.
    pub(crate) argument: u32,
    /// Of arrays: number of dims (-1 for anything else), contiguity, dims, bytes of all elements.
    pub(crate) ndim: i32,
    pub(crate) flags: i32,
    pub(crate) dims: [isize; MAX_DIMS],
    pub(crate) bytes: u64,
}

/// See [`Operand::argument`].
pub(crate) const SELF: u32 = u32::MAX;

/// What a place in the code calls, and with what.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line {
    /// See `hooks::frames::instruction`; 0 where the line is empty.
    pub(crate) instruction: usize,
    /// Different for each line that was ever learned.
    pub(crate) stamp: u32,
    /// What is called, and the object whose method it is, where that is no array.
    pub(crate) callee: usize,
    /// Names of keywords, a constant of the code.
    pub(crate) names: usize,
    /// Positional arguments, and whether there is an object; see `hooks/again.rs`.
    pub(crate) count: usize,
    /// See `Thread::lane`.
    pub(crate) lane: u32,
    /// What it calls is part of it.
    pub(crate) atomic: bool,
    /// It is known to be so short that not every run need be timed.
    pub(crate) tiny: bool,
    /// The result is a scalar.
    pub(crate) scalar: bool,
    /// Where it is counted.
    pub(crate) entry: u32,
    /// Group of the buffers that it makes.
    pub(crate) group: u32,
    /// Inputs in use.
    pub(crate) len: usize,
    pub(crate) result: Operand,
    pub(crate) inputs: [Operand; MAX_OPERANDS],
}

/// All lines of a process; none until the first is learned.
#[derive(Default)]
pub(crate) struct Lines {
    list: Vec<Line>,
    learned: u32,
}

impl Lines {
    /// The index of an instruction's line.
    #[inline(always)]
    pub(crate) fn index(instruction: usize) -> usize {
        // Instructions of one loop should not meet: they lie 2 bytes apart or a little more.
        (instruction >> 1 ^ instruction >> 11) % LINES
    }

    /// The line at an index.
    #[inline(always)]
    pub(crate) fn get(&mut self, index: usize) -> Option<&mut Line> {
        self.list.get_mut(index)
    }

    /// Keeps a line in the place of whatever was there.
    pub(crate) fn learn(&mut self, line: Line) {
        if self.list.is_empty() {
            self.list = vec![Line::default(); LINES];
        }
        self.learned = self.learned.wrapping_add(1);
        self.list[Self::index(line.instruction)] = Line { stamp: self.learned, ..line };
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
}
