//! What the sampling thread has to know of a function's code: is it the script's, what its value stack holds, its lines.
//!
//! Worked out with the interpreter's lock held, read without it. A code object that is known is held for good, so that its
//! address stays its own.

use crate::bytecode::{Stack, UNIT};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// What is known of one code object.
#[derive(Debug)]
pub(super) struct Facts {
    /// It is code of the script's.
    pub(super) script: bool,
    /// Where its function begins, in bytes.
    pub(super) begins: i32,
    /// Slots of variables before the value stack.
    pub(super) variables: usize,
    /// By unit of bytecode.
    pub(super) stacks: Vec<Stack>,
    /// By unit of bytecode; 0 where there is none.
    pub(super) lines: Vec<u32>,
}

impl Facts {
    /// What the stack holds at this offset.
    pub(super) fn stack(&self, offset: i32) -> Stack {
        self.stacks.get(offset as usize / UNIT).copied().unwrap_or_default()
    }

    /// The line of this offset; 0 where there is none.
    pub(super) fn line(&self, offset: i32) -> u32 {
        self.lines.get(offset as usize / UNIT).copied().unwrap_or(0)
    }

    /// The first offset at this one's line, so that a line has one.
    pub(super) fn line_begins(&self, offset: i32) -> i32 {
        let line = self.lines.get(offset as usize / UNIT);
        self.lines.iter().position(|other| Some(other) == line).map_or(offset, |unit| (unit * UNIT) as i32)
    }
}

/// Places for code objects; a power of two. Beyond three quarters of them no more are learned.
const PLACES: usize = 1 << 14;

struct Place {
    code: AtomicUsize,
    facts: AtomicPtr<Facts>,
}

static KNOWN: [Place; PLACES] =
    [const { Place { code: AtomicUsize::new(0), facts: AtomicPtr::new(std::ptr::null_mut()) } }; PLACES];
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn places(code: usize) -> impl Iterator<Item = &'static Place> {
    let first = (code >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..PLACES).map(move |step| &KNOWN[(first + step) % PLACES])
}

/// What is known of the code object at this address.
pub(super) fn find(code: usize) -> Option<&'static Facts> {
    let place = places(code).find(|place| matches!(place.code.load(Acquire), 0) || place.code.load(Relaxed) == code)?;
    // SAFETY: facts are never freed, and the address is written after them.
    (place.code.load(Acquire) == code).then(|| unsafe { &*place.facts.load(Relaxed) })
}

/// Whether there is room for one more.
pub(super) fn has_room() -> bool {
    COUNT.load(Relaxed) < PLACES / 4 * 3
}

/// Remembers what is known of a code object, for good. With the interpreter's lock held.
pub(super) fn learn(code: usize, facts: Facts) {
    let Some(place) = places(code).find(|place| place.code.load(Relaxed) == 0) else { return };
    place.facts.store(Box::into_raw(Box::new(facts)), Relaxed);
    place.code.store(code, Release);
    COUNT.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_found_and_a_line_has_one_offset() {
        let facts =
            |line| Facts { script: true, begins: 0, variables: 1, stacks: Vec::new(), lines: vec![1, line, line, 1] };
        for code in 1..2000 {
            assert!(find(code * 16).is_none());
            learn(code * 16, facts(code as u32 + 1));
        }
        for code in 1..2000 {
            let found = find(code * 16).unwrap();
            assert_eq!(found.lines[1], code as u32 + 1);
            assert_eq!([0, 2, 4, 6, 8].map(|offset| found.line_begins(offset)), [0, 2, 2, 0, 8]);
        }
    }
}
