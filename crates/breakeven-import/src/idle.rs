//! Where the time of a GPU went that no kernel used, by cause.

use crate::model::{Does, Span, Trace};
use crate::spans::Spans;

/// What ran on one GPU.
#[derive(Default)]
pub(crate) struct Lane {
    pub(crate) kernels: Vec<Span>,
    pub(crate) communication: Vec<Span>,
    pub(crate) copies: Vec<Span>,
    pub(crate) memsets: Vec<Span>,
}

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
}

/// What the host did, as far as idle GPUs have it as their cause.
pub(crate) struct Host {
    launching: Spans,
    waiting: Spans,
    loading: Spans,
}

impl Host {
    pub(crate) fn of(trace: &Trace) -> Self {
        let calls = |wanted: fn(Does) -> bool| {
            Spans::of(trace.calls.iter().filter(|call| wanted(call.does)).map(|call| call.span).collect())
        };
        Self {
            launching: calls(|does| does != Does::Wait),
            waiting: calls(|does| does == Does::Wait),
            loading: Spans::of(trace.loading.clone()),
        }
    }
}

impl Lane {
    /// How the time between the first and the last thing on this GPU was used.
    pub(crate) fn used(self, host: &Host) -> Use {
        let compute = Spans::of([self.kernels.as_slice(), &self.memsets].concat());
        let kernels = Spans::of([self.kernels, self.communication, self.memsets].concat());
        let copies = Spans::of(self.copies);
        let busy = Spans::of([kernels.all(), copies.all()].concat());
        let gaps = busy.gaps();
        let launching = gaps.and(&host.launching);
        let without_launches = gaps.without(&host.launching);
        let waiting = without_launches.and(&host.waiting);
        let loading = without_launches.without(&host.waiting).and(&host.loading);
        Use {
            span: busy.whole().map_or(0, Span::length),
            busy: busy.length(),
            gap: gaps.longest(),
            copy: busy.length() - kernels.length(),
            communication: kernels.without(&compute).length(),
            launch: launching.length(),
            wait: waiting.length(),
            loading: loading.length(),
        }
    }
}
