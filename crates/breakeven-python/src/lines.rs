//! Calls that are recognised in place: for each place in the user's code, what its call looked like last.
//!
//! Most calls of a program are those of a loop. A call that looks as it did the last time it came this way needs no key,
//! no hash and no search: `hooks/again.rs` compares it field by field with the line kept here and counts it.

/// Lines kept, an even number.
pub(crate) const LINES: usize = 256;
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
    /// Of an input, when its buffer was used before the call that is going on.
    pub(crate) last_use: u64,
    /// Of arrays: dims, bytes of all elements, number of dims (-1 for anything else), contiguity.
    pub(crate) dims: [isize; MAX_DIMS],
    pub(crate) bytes: u64,
    pub(crate) ndim: i16,
    pub(crate) flags: i32,
    /// Which argument it is; [`SELF`] for the object whose method is called.
    pub(crate) argument: u16,
}

/// See [`Operand::argument`].
pub(crate) const SELF: u16 = u16::MAX;

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
    pub(crate) len: u32,
    /// Calls since this was last added to the entry, all of them untimed.
    pub(crate) ran: u64,
    pub(crate) result: Operand,
    pub(crate) inputs: [Operand; MAX_OPERANDS],
}

/// All lines of a process; none until the first is learned.
#[derive(Default)]
pub(crate) struct Lines {
    list: Option<Box<[Line; LINES]>>,
    learned: u32,
}

impl Lines {
    /// The index of an instruction's line, if it has one: one of two side by side, so that two calls of a loop that
    /// share a place do not put each other out.
    #[inline(always)]
    pub(crate) fn index(list: &[Line; LINES], instruction: usize) -> usize {
        // Instructions of one function should not meet: they lie 2 bytes apart or a little more.
        let first = (instruction >> 1 ^ instruction >> 11) % LINES;
        if list[first].instruction == instruction { first } else { first ^ 1 }
    }

    /// The lines, if there are any.
    #[inline(always)]
    pub(crate) fn list(&mut self) -> Option<&mut [Line; LINES]> {
        self.list.as_deref_mut()
    }

    /// Keeps a line in the place of another, which is given out.
    pub(crate) fn learn(&mut self, line: Line) -> Line {
        let list = self.list.get_or_insert_with(|| Box::new([Line::default(); LINES]));
        self.learned = self.learned.wrapping_add(1);
        let index = Self::index(list, line.instruction);
        // Of two others, the one that was learned longer ago goes.
        let other = list[index].instruction != line.instruction && list[index ^ 1].stamp < list[index].stamp;
        std::mem::replace(&mut list[index ^ usize::from(other)], Line { stamp: self.learned, ..line })
    }

    /// Gives out entry and calls of each line that has counted some.
    pub(crate) fn take_counts(&mut self) -> impl Iterator<Item = (u32, u64)> {
        let lines = self.list.iter_mut().flat_map(|list| list.iter_mut());
        lines.filter(|line| line.ran > 0).map(|line| (line.entry, std::mem::take(&mut line.ran)))
    }

    /// Forgets all; to be called when the counts were taken.
    pub(crate) fn clear(&mut self) {
        self.list = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_that_share_a_place_are_both_kept_and_of_three_the_last_two() {
        let mut lines = Lines::default();
        let knows = |lines: &mut Lines, instruction| {
            let list = lines.list().unwrap();
            list[Lines::index(list, instruction)].instruction == instruction
        };
        let sharing = [1 << 20, 2 << 20, 3 << 20];
        for instruction in sharing {
            lines.learn(Line { instruction, ..Line::default() });
            assert!(knows(&mut lines, instruction));
        }
        assert_eq!(sharing.map(|instruction| knows(&mut lines, instruction)), [false, true, true]);
        let again = lines.learn(Line { instruction: sharing[1], ran: 7, ..Line::default() });
        assert_eq!(again.instruction, sharing[1]);
        assert!(knows(&mut lines, sharing[2]));
    }
}
