//! Ranges of host threads as they come, in order of their beginning: what each is itself, and which one is innermost.

use crate::names::Name;
use crate::span::{Span, Tally};
use std::collections::BTreeMap;

/// A range that has begun and may have others in it.
struct Open {
    span: Span,
    name: Name,
    /// How much of it is its own so far.
    own: i64,
    /// The program named it; otherwise it is a call.
    marked: bool,
}

/// The open ranges of one thread.
#[derive(Default)]
pub(super) struct Thread {
    open: Vec<Open>,
    last: i64,
}

/// Own times by name, as far as ranges are closed.
#[derive(Default)]
pub(super) struct Nest {
    threads: BTreeMap<i64, Thread>,
    pub(super) own: BTreeMap<Name, Tally>,
    /// Ranges that began before one that came earlier.
    pub(super) out_of_order: u64,
}

impl Nest {
    /// Takes a range, and gives the innermost marked range around it.
    pub(super) fn add(&mut self, thread: i64, span: Span, name: Name, marked: bool) -> Option<Name> {
        let thread = self.threads.entry(thread).or_insert_with(|| Thread { open: Vec::new(), last: i64::MIN });
        if span.from < thread.last {
            self.out_of_order += 1;
            let around = thread.open.iter().rev().filter(|open| open.marked);
            let around = around.clone().find(|open| open.span.from <= span.from && span.from <= open.span.to);
            self.own.entry(name).or_default().add(span.length());
            return around.map(|open| open.name);
        }
        thread.last = span.from;
        while let Some(done) = thread.open.pop_if(|open| open.span.to <= span.from) {
            self.own.entry(done.name).or_default().add(done.own.max(0));
        }
        if let Some(outer) = thread.open.last_mut() {
            outer.own -= span.to.min(outer.span.to) - span.from;
        }
        let around = thread.open.iter().rev().find(|open| open.marked).map(|open| open.name);
        thread.open.push(Open { span, name, own: span.length(), marked });
        around
    }

    /// Closes all, and gives own times by name.
    pub(super) fn finish(mut self) -> BTreeMap<Name, Tally> {
        for done in self.threads.into_values().flat_map(|thread| thread.open) {
            self.own.entry(done.name).or_default().add(done.own.max(0));
        }
        self.own
    }
}
