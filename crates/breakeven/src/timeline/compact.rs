//! A program's order in as little memory as it takes: four bytes an op, walked once for each GPU.

use crate::workload::Step;

/// Set in a word that stands for a loop; the rest is its index.
const LOOP: u32 = 1 << 31;

/// A [`Step`] list made compact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compact {
    words: Vec<u32>,
    loops: Vec<Loop>,
    /// The outermost words are those from here on: bodies come before.
    top: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Loop {
    times: u64,
    from: usize,
    to: usize,
}

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word<'a> {
    /// An entry, once.
    Run(u32),
    /// A body, so many times.
    Repeat(u64, &'a [u32]),
}

impl Compact {
    /// The same order. Entries from 2³¹ on, which no workload has, are left out.
    pub fn new(steps: &[Step]) -> Self {
        Self::chained(&[], steps)
    }

    /// One order after another.
    pub fn chained(first: &[Step], then: &[Step]) -> Self {
        let mut out = Self::default();
        let mut top = out.lay(first);
        top.extend(out.lay(then));
        out.top = out.words.len();
        out.words.extend(top);
        out
    }

    fn lay(&mut self, steps: &[Step]) -> Vec<u32> {
        let mut words = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Run(entry) if *entry < LOOP => words.push(*entry),
                Step::Run(_) => {}
                Step::Repeat(times, body) => {
                    let body = self.lay(body);
                    let from = self.words.len();
                    self.words.extend(body);
                    words.push(LOOP | self.loops.len() as u32);
                    self.loops.push(Loop { times: *times, from, to: self.words.len() });
                }
            }
        }
        words
    }

    /// The bodies of all loops, inner ones before those that hold them.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &[u32]> {
        self.loops.iter().map(|l| &self.words[l.from..l.to])
    }

    /// The number of the loop that a word stands for.
    pub(super) fn loop_of(word: u32) -> Option<usize> {
        (word >= LOOP).then_some((word & !LOOP) as usize)
    }

    /// The outermost words.
    pub(super) fn top(&self) -> &[u32] {
        &self.words[self.top..]
    }

    #[inline]
    pub(super) fn word(&self, word: u32) -> Word<'_> {
        if word < LOOP {
            return Word::Run(word);
        }
        let l = self.loops[(word & !LOOP) as usize];
        Word::Repeat(l.times, &self.words[l.from..l.to])
    }
}
