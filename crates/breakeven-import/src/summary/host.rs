//! What the host did, by name, without what it calls.

use super::parts::HostTotal;
use super::{LISTED, Times};
use crate::model::{HostOp, Trace};
use crate::names::Name;
use crate::span::Tally;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Adds up names over files.
#[derive(Default)]
pub(super) struct ByText(BTreeMap<String, Tally>);

impl ByText {
    /// Adds what one file has.
    pub(super) fn add(&mut self, trace: &Trace, here: &BTreeMap<Name, Tally>) {
        for (name, tally) in here {
            self.0.entry(trace.names.text(*name)).or_default().join(*tally);
        }
    }

    /// All, the longest first.
    pub(super) fn sorted(self) -> Vec<(String, Tally)> {
        let mut all: Vec<(String, Tally)> = self.0.into_iter().collect();
        all.sort_by_key(|(_, tally)| Reverse(tally.ns));
        all
    }

    /// As many as a list holds, the longest first.
    pub(super) fn longest(self) -> Vec<HostTotal> {
        let listed = self.sorted().into_iter().take(LISTED);
        listed.map(|(name, tally)| HostTotal { name, times: Times::from(tally) }).collect()
    }
}

/// Host work by name, without what it calls on the same thread.
pub(super) fn own_times(trace: &mut Trace) -> BTreeMap<Name, Tally> {
    trace.ops.sort_unstable_by_key(|op| (op.thread, op.span.from, Reverse(op.span.to)));
    let mut here = BTreeMap::new();
    // Those that have begun and not ended, and how much of each is their own.
    let mut open: Vec<(HostOp, i64)> = Vec::new();
    for op in trace.ops.iter().copied() {
        while let Some((outer, own)) =
            open.pop_if(|(outer, _)| outer.thread != op.thread || outer.span.to <= op.span.from)
        {
            close(&mut here, &outer, own);
        }
        if let Some((outer, own)) = open.last_mut() {
            *own -= op.span.to.min(outer.span.to) - op.span.from;
        }
        open.push((op, op.span.length()));
    }
    while let Some((outer, own)) = open.pop() {
        close(&mut here, &outer, own);
    }
    here
}

fn close(here: &mut BTreeMap<Name, Tally>, op: &HostOp, own: i64) {
    here.entry(op.name).or_default().add(own.max(0));
}
