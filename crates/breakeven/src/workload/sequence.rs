//! The order of a program, compressed while it runs.
//!
//! Loops show as squares: the same nodes twice in a row. When a node is finished, its hash and those of the 4, 16 and
//! 64 nodes up to it are looked up among the earlier ones; each hit proposes a period, which prefix hashes confirm or
//! refuse at once. A confirmed square becomes one node that repeats a body, and bodies are kept once. From then on the
//! ops to come are foretold by that body, so that in a loop `push` only compares and steps on; where the program does
//! something else, what was foretold so far is written out and the search goes on. Every repeat at least halves what
//! it stands for, so the work per op is constant on average and loops nest no deeper than the logarithm of the length.

use super::order::{MAX_DEPTH, Step};
use std::collections::BTreeMap;

/// Tree nodes above which the older half of an order without loops is reduced to how often each entry ran.
const MAX_STEPS: u64 = 1 << 21;
/// How many finished nodes up to the newest one are looked up.
const SPANS: [usize; 4] = [1, 4, 16, 64];
const SLOTS: usize = 1 << 11;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// No entry is expected.
const NONE: u32 = u32::MAX;
/// No place in what lies ahead.
const BEHIND: usize = usize::MAX;
/// Entries of a body that is written out.
const LONGEST_AHEAD: u64 = 512;
/// Set in a symbol that is a body and not an entry.
const BODY: u32 = 1 << 31;

/// Something `times` in a row: an entry, or a body where [`BODY`] is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    times: u64,
    symbol: u32,
}

impl Node {
    fn hash(self) -> u64 {
        let mixed = (u64::from(self.symbol) ^ self.times.rotate_left(32)).wrapping_mul(MULTIPLIER);
        mixed ^ (mixed >> 29)
    }
    fn body(self) -> Option<usize> {
        (self.symbol & BODY != 0).then_some((self.symbol & !BODY) as usize)
    }
}

/// A loop body, kept once.
#[derive(Clone, Debug)]
struct Body {
    nodes: Box<[Node]>,
    /// Steps when written as a tree.
    steps: u64,
    depth: u32,
}

/// A place in a body that is being foretold: `done` of the node at `index` have passed.
#[derive(Clone, Copy, Debug)]
struct Frame {
    body: usize,
    index: usize,
    done: u64,
}

/// Collects entry indices in program order; [`Sequence::finish`] gives the order as steps.
///
/// ```
/// use breakeven::workload::{Sequence, Step};
/// let mut order = Sequence::new();
/// for _ in 0..1000 {
///     for entry in [0, 1, 2] {
///         order.push(entry);
///     }
/// }
/// assert_eq!(order.len(), 3000);
/// assert_eq!(order.finish(), [Step::Repeat(1000, vec![Step::Run(0), Step::Run(1), Step::Run(2)])]);
/// ```
#[derive(Clone, Debug)]
pub struct Sequence {
    len: u64,
    exact: bool,
    /// The order so far. The last node is open: it may still grow; all before it are finished.
    nodes: Vec<Node>,
    /// Of the finished nodes: `hashes[i]` covers the first `i`.
    hashes: Vec<u64>,
    /// Powers of [`MULTIPLIER`].
    powers: Vec<u64>,
    /// Steps of `nodes` when written as trees, and above how many the older half is summarised.
    steps: u64,
    limit: u64,
    bodies: Vec<Body>,
    /// Body by the hash of its nodes.
    known: BTreeMap<u64, u32>,
    /// For each span, by hash: the number of finished nodes when that hash was last seen, and more of the hash.
    seen: Box<[[(u32, u32); SLOTS]; SPANS.len()]>,
    /// Where in the last node's body the program is; empty when the last node is an entry.
    frames: Vec<Frame>,
    /// The entry that comes next if the last node goes on.
    expected: u32,
    /// A body of nothing but entries, not many, written out; and which it is. Empty where it is no such body.
    ahead: Vec<u32>,
    ahead_of: usize,
    /// How many of `ahead` have passed while the innermost frame, which is of that body, still stands at its beginning;
    /// [`BEHIND`] where the frame itself is up to date.
    at: usize,
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new()
    }
}

impl Sequence {
    /// Nothing has run.
    pub fn new() -> Self {
        Self {
            len: 0,
            exact: true,
            nodes: Vec::new(),
            hashes: vec![0],
            powers: vec![1],
            steps: 0,
            limit: MAX_STEPS,
            bodies: Vec::new(),
            known: BTreeMap::new(),
            seen: Box::new([[(0, 0); SLOTS]; SPANS.len()]),
            frames: Vec::new(),
            expected: NONE,
            ahead: Vec::new(),
            ahead_of: usize::MAX,
            at: BEHIND,
        }
    }

    /// How many entries were pushed.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was pushed.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the steps will be exactly what was pushed. An order without loops loses the order of its older half
    /// each time it passes two million steps, and only then.
    pub const fn is_exact(&self) -> bool {
        self.exact
    }

    /// The next entry that ran; `entry` is below 2³¹.
    #[inline]
    pub fn push(&mut self, entry: u32) {
        debug_assert!(entry < BODY);
        self.catch_up();
        self.len += 1;
        if entry == self.expected {
            self.advance()
        } else {
            self.diverge(entry)
        }
        self.look_ahead();
    }

    /// As [`Sequence::push`] for an entry that the innermost loop foretells; false, with nothing done, for any other.
    /// Neither allocates nor panics.
    #[inline]
    pub fn push_foretold(&mut self, entry: u32) -> bool {
        if self.ahead.get(self.at) != Some(&entry) {
            return self.at == BEHIND && self.push_expected(entry);
        }
        let next = self.at.wrapping_add(1);
        if next < self.ahead.len() {
            self.at = next;
        } else {
            // A loop in no other begins again.
            let ([_], Some(last)) = (&self.frames[..], self.nodes.last_mut()) else { return false };
            last.times = last.times.wrapping_add(1);
            self.at = 0;
        }
        self.len = self.len.wrapping_add(1);
        true
    }

    /// As [`Sequence::push_foretold`] where the frames are up to date.
    #[inline(never)]
    fn push_expected(&mut self, entry: u32) -> bool {
        if entry != self.expected {
            return false;
        }
        if let Some(frame) = self.frames.last_mut() {
            let Some(body) = self.bodies.get(frame.body) else { return false };
            let Some(node) = body.nodes.get(frame.index) else { return false };
            if frame.done.wrapping_add(1) < node.times {
                frame.done = frame.done.wrapping_add(1);
            } else {
                let Some(next) = body.nodes.get(frame.index.wrapping_add(1)) else { return false };
                if next.symbol & BODY != 0 {
                    return false;
                }
                (frame.done, frame.index) = (0, frame.index.wrapping_add(1));
                self.expected = next.symbol;
            }
        } else {
            let Some(last) = self.nodes.last_mut() else { return false };
            last.times = last.times.wrapping_add(1);
        }
        self.len = self.len.wrapping_add(1);
        true
    }

    /// Writes the innermost body out if it is at its beginning.
    #[inline]
    fn look_ahead(&mut self) {
        if let Some(&Frame { body, index: 0, done: 0 }) = self.frames.last() {
            if body != self.ahead_of {
                self.write_out(body);
            }
            self.at = if self.ahead.is_empty() { BEHIND } else { 0 };
        }
    }

    fn write_out(&mut self, body: usize) {
        let nodes = &self.bodies[body].nodes;
        let entries = nodes.iter().fold(0, |n: u64, node| n.saturating_add(node.times));
        self.ahead_of = body;
        self.ahead.clear();
        if entries <= LONGEST_AHEAD && nodes.iter().all(|node| node.body().is_none()) {
            self.ahead.extend(nodes.iter().flat_map(|node| (0..node.times).map(|_| node.symbol)));
        }
    }

    /// Brings the innermost frame up to date.
    #[inline]
    fn catch_up(&mut self) {
        let mut passed = std::mem::replace(&mut self.at, BEHIND) as u64;
        if passed == BEHIND as u64 {
            return;
        }
        let Some(frame) = self.frames.last_mut() else { return };
        for (index, node) in self.bodies[frame.body].nodes.iter().enumerate() {
            if passed < node.times {
                (frame.index, frame.done, self.expected) = (index, passed, node.symbol);
                return;
            }
            passed -= node.times;
        }
    }

    /// The order as steps.
    pub fn finish(mut self) -> Vec<Step> {
        self.catch_up();
        loop {
            self.write_foretold();
            if !self.close() {
                break;
            }
        }
        let mut steps = Vec::new();
        self.steps_of(&self.nodes, &mut steps);
        steps
    }

    /// What was expected came.
    #[inline]
    fn advance(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            if let Some(last) = self.nodes.last_mut() {
                last.times += 1;
            }
            return;
        };
        let nodes = &self.bodies[frame.body].nodes;
        frame.done += 1;
        if frame.done < nodes[frame.index].times {
            return;
        }
        frame.done = 0;
        frame.index += 1;
        match nodes.get(frame.index) {
            Some(next) if next.symbol & BODY == 0 => self.expected = next.symbol,
            _ => self.leave_and_enter(),
        }
    }

    /// Steps out of bodies that are through and into those that come next.
    fn leave_and_enter(&mut self) {
        while let Some(&frame) = self.frames.last() {
            if frame.index < self.bodies[frame.body].nodes.len() {
                break;
            }
            match &mut self.frames[..] {
                [.., outer, _] => {
                    outer.done += 1;
                    if outer.done == self.bodies[outer.body].nodes[outer.index].times {
                        (outer.index, outer.done) = (outer.index + 1, 0);
                    }
                    self.frames.pop();
                }
                root => {
                    root[0].index = 0;
                    if let Some(last) = self.nodes.last_mut() {
                        last.times += 1;
                    }
                }
            }
        }
        self.enter();
    }

    /// Descends from the innermost frame to the entry that comes next.
    fn enter(&mut self) {
        while let Some(frame) = self.frames.last() {
            let node = self.bodies[frame.body].nodes[frame.index];
            match node.body() {
                Some(body) => self.frames.push(Frame { body, index: 0, done: 0 }),
                None => {
                    self.expected = node.symbol;
                    return;
                }
            }
        }
    }

    /// Something else came than what was expected.
    #[inline(never)]
    fn diverge(&mut self, entry: u32) {
        loop {
            self.write_foretold();
            self.foretell();
            if entry == self.expected {
                return self.advance();
            }
            if !self.close() {
                break;
            }
        }
        self.nodes.push(Node { times: 1, symbol: entry });
        self.steps += 1;
        self.frames.clear();
        self.expected = entry;
        if self.steps > self.limit {
            self.summarise();
        }
    }

    /// Expects the open node to go on.
    fn foretell(&mut self) {
        self.frames.clear();
        self.expected = NONE;
        if let Some(last) = self.nodes.last() {
            match last.body() {
                Some(body) => {
                    self.frames.push(Frame { body, index: 0, done: 0 });
                    self.enter();
                }
                None => self.expected = last.symbol,
            }
        }
    }

    /// Appends the part of a body that came true before the program went another way.
    fn write_foretold(&mut self) {
        for frame in std::mem::take(&mut self.frames) {
            for index in 0..=frame.index {
                let node = self.bodies[frame.body].nodes[index];
                let times = if index < frame.index { node.times } else { frame.done };
                if times > 0 {
                    self.finish_last(false);
                    self.steps += self.tree_steps(node.symbol);
                    self.nodes.push(Node { times, symbol: node.symbol });
                }
            }
        }
    }

    /// Finishes the open node and folds a square that ends there; `true` when that left a new open node.
    fn close(&mut self) -> bool {
        self.finish_last(true).is_some_and(|period| self.fold(period))
    }

    /// Finishes the open node: its hash joins the prefix hashes. Gives the period of a square that ends there, as far
    /// as hashes tell, if one is looked for.
    fn finish_last(&mut self, find: bool) -> Option<usize> {
        let (last, &hash) = (self.nodes.last()?, self.hashes.last()?);
        self.hashes.push(hash.wrapping_mul(MULTIPLIER).wrapping_add(last.hash()));
        if self.powers.len() < self.hashes.len() {
            self.powers.push(self.powers[self.powers.len() - 1].wrapping_mul(MULTIPLIER));
        }
        let end = self.nodes.len();
        let mut found = None;
        for (scale, &span) in SPANS.iter().enumerate().take_while(|&(_, &span)| span <= end) {
            let hash = self.span_hash(end, span).wrapping_mul(MULTIPLIER);
            let slot = &mut self.seen[scale][(hash >> (64 - SLOTS.ilog2())) as usize];
            let (before, tag) = std::mem::replace(slot, (end as u32, hash as u32));
            let period = end.saturating_sub(before as usize);
            let fits = find && found.is_none() && tag == hash as u32 && period > 0 && 2 * period <= end;
            if fits && self.span_hash(before as usize, period) == self.span_hash(end, period) {
                found = Some(period);
            }
        }
        found
    }

    /// Hash of the `span` finished nodes before `end`.
    fn span_hash(&self, end: usize, span: usize) -> u64 {
        self.hashes[end].wrapping_sub(self.hashes[end - span].wrapping_mul(self.powers[span]))
    }

    /// Replaces the last two runs of `period` nodes by a repeat of one, which is open.
    fn fold(&mut self, period: usize) -> bool {
        let start = self.nodes.len() - 2 * period;
        let (first, second) = self.nodes[start..].split_at(period);
        let depth = 1 + first.iter().filter_map(|n| n.body()).map(|b| self.bodies[b].depth).max().unwrap_or(0);
        if first != second || depth > MAX_DEPTH {
            return false;
        }
        let symbol = self.body_of(start, period, depth);
        self.steps -= 2 * self.tree_steps(symbol) - 2;
        self.nodes.truncate(start);
        self.hashes.truncate(start + 1);
        match self.nodes.last_mut() {
            Some(last) if last.symbol == symbol => {
                last.times += 2;
                self.hashes.pop();
            }
            _ => {
                self.nodes.push(Node { times: 2, symbol });
                self.steps += self.tree_steps(symbol);
            }
        }
        true
    }

    /// The symbol of the body made of the `period` nodes from `start`.
    fn body_of(&mut self, start: usize, period: usize, depth: u32) -> u32 {
        let hash = self.span_hash(start + period, period);
        let nodes = &self.nodes[start..start + period];
        if let Some(&symbol) = self.known.get(&hash)
            && *self.bodies[(symbol & !BODY) as usize].nodes == *nodes
        {
            return symbol;
        }
        let steps = nodes.iter().map(|n| self.tree_steps(n.symbol)).sum();
        let symbol = BODY | self.bodies.len() as u32;
        self.bodies.push(Body { nodes: nodes.into(), steps, depth });
        self.known.insert(hash, symbol);
        symbol
    }

    /// Steps of one node when written as a tree.
    fn tree_steps(&self, symbol: u32) -> u64 {
        if symbol & BODY == 0 { 1 } else { 1 + self.bodies[(symbol & !BODY) as usize].steps }
    }

    fn steps_of(&self, nodes: &[Node], steps: &mut Vec<Step>) {
        for node in nodes {
            match node.body() {
                Some(body) => {
                    let mut inner = Vec::new();
                    self.steps_of(&self.bodies[body].nodes, &mut inner);
                    steps.push(Step::Repeat(node.times, inner));
                }
                // Shorter to write out than as a loop.
                None if node.times <= 3 => (0..node.times).for_each(|_| steps.push(Step::Run(node.symbol))),
                None => steps.push(Step::Repeat(node.times, vec![Step::Run(node.symbol)])),
            }
        }
    }

    /// Reduces the older half to how often each entry ran, so that a program without loops needs bounded memory.
    fn summarise(&mut self) {
        self.exact = false;
        let newer = self.nodes.split_off(self.nodes.len() / 2);
        let mut entries = BTreeMap::new();
        let mut in_bodies = vec![0_u64; self.bodies.len()];
        let mut add = |node: Node, times: u64, in_bodies: &mut [u64]| match node.body() {
            Some(body) => in_bodies[body] += node.times * times,
            None => *entries.entry(node.symbol).or_insert(0) += node.times * times,
        };
        for node in self.nodes.drain(..) {
            add(node, 1, &mut in_bodies);
        }
        // A body holds only bodies made before it.
        for body in (0..self.bodies.len()).rev() {
            let times = in_bodies[body];
            for &node in &*self.bodies[body].nodes {
                add(node, times, &mut in_bodies);
            }
        }
        self.hashes.truncate(1);
        self.seen.iter_mut().for_each(|slots| slots.fill((0, 0)));
        let older = entries.into_iter().map(|(symbol, times)| Node { times, symbol });
        for node in older.chain(newer) {
            self.finish_last(false);
            self.nodes.push(node);
        }
        self.steps = self.nodes.iter().map(|n| self.tree_steps(n.symbol)).sum();
        self.limit = self.limit.max(2 * self.steps);
    }
}

#[cfg(test)]
mod tests;
