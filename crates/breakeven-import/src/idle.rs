//! Where the time of a GPU went that no kernel used, by cause: one pass over what ran, in order.

use crate::model::{Does, Trace};
use crate::span::Span;
use crate::spans::{Cursor, Spans, Union};

/// How long a GPU was busy and why it was not, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    pub(crate) span: i64,
    pub(crate) busy: i64,
    /// The longest time that nothing ran.
    pub(crate) gap: i64,
    /// Copies ran, and no kernel.
    pub(crate) copy: i64,
    /// Communication ran, and no other kernel.
    pub(crate) communication: i64,
    /// Nothing ran, and the host was in a call that launches.
    pub(crate) launch: i64,
    /// Nothing ran, and the host waited for the GPU.
    pub(crate) wait: i64,
    /// Nothing ran, and the host fetched data.
    pub(crate) loading: i64,
}

impl Use {
    /// Nothing ran, and the host did something else.
    pub(crate) const fn host(&self) -> i64 {
        self.span - self.busy - self.launch - self.wait - self.loading
    }

    /// Adds what another GPU did.
    pub(crate) fn add(&mut self, other: &Self) {
        self.span += other.span;
        self.busy += other.busy;
        self.gap = self.gap.max(other.gap);
        self.copy += other.copy;
        self.communication += other.communication;
        self.launch += other.launch;
        self.wait += other.wait;
        self.loading += other.loading;
    }
}

/// What the host did, as far as idle GPUs have it as their cause: no moment has two causes.
pub(crate) struct Host {
    launching: Spans,
    waiting: Spans,
    loading: Spans,
}

impl Host {
    /// What the processes did that drive one GPU.
    pub(crate) fn of(trace: &Trace, drives: impl Fn(u16) -> bool) -> Self {
        let calls = |waits: bool| {
            let wanted =
                trace.calls.iter().filter(|call| drives(call.process()) && (call.does() == Does::Wait) == waits);
            Spans::of(wanted.map(|call| call.span()).collect())
        };
        let launching = calls(false);
        let waiting = calls(true).without(&launching);
        let loading = Spans::of(trace.loading.clone()).without(&launching).without(&waiting);
        Self { launching, waiting, loading }
    }
}

/// What something that runs on a GPU counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Compute,
    Communication,
    Copy,
}

/// What one GPU did, as it is told in order.
pub(crate) struct Sweep<'a> {
    busy: Union,
    kernels: Union,
    compute: Union,
    gap: i64,
    /// What the host did in gaps: launching, waiting, loading.
    causes: [(Cursor<'a>, i64); 3],
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(host: &'a Host) -> Self {
        let causes = [&host.launching, &host.waiting, &host.loading].map(|spans| (Cursor(spans.all()), 0));
        Self { busy: Union::default(), kernels: Union::default(), compute: Union::default(), gap: 0, causes }
    }

    /// Adds a span, not before the last one; gives how long nothing ran before it, and what was idle and now is not.
    pub(crate) fn add(&mut self, span: Span, work: Work) -> (i64, Span) {
        if work == Work::Compute {
            self.compute.add(span);
        }
        if work != Work::Copy {
            self.kernels.add(span);
        }
        let (gap, new) = self.busy.add(span);
        let idle = gap.map_or(0, Span::length);
        self.gap = self.gap.max(idle);
        if let Some(gap) = gap {
            for (cursor, ns) in &mut self.causes {
                *ns += cursor.within(gap);
            }
        }
        (idle, new)
    }

    pub(crate) fn finish(self) -> Use {
        let [launch, wait, loading] = self.causes.map(|(_, ns)| ns);
        Use {
            span: self.busy.whole(),
            busy: self.busy.length,
            gap: self.gap,
            copy: self.busy.length - self.kernels.length,
            communication: self.kernels.length - self.compute.length,
            launch,
            wait,
            loading,
        }
    }
}
