//! From when to when, and how long together.

/// From when to when, ns on the file's own clock; never backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub to: i64,
}

impl Span {
    /// How long it is, ns.
    pub const fn length(self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// When something ran, where the file gives a time that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct When(Span);

impl When {
    /// As a span; `None` where the time is unknown. Such sort behind all others.
    pub fn span(self) -> Option<Span> {
        (self.0.from <= self.0.to).then_some(self.0)
    }

    /// How long it is, ns; 0 where the time is unknown.
    pub fn length(self) -> i64 {
        self.span().map_or(0, Span::length)
    }
}

impl From<Option<Span>> for When {
    fn from(span: Option<Span>) -> Self {
        Self(span.unwrap_or(Span { from: i64::MAX, to: i64::MIN }))
    }
}

/// How often, and how long together in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// How long together, ns.
    pub ns: i64,
}

impl Tally {
    /// Adds one of so many ns.
    pub(crate) fn add(&mut self, ns: i64) {
        self.join(Self { count: 1, ns });
    }

    /// Adds others.
    pub(crate) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.ns = self.ns.saturating_add(other.ns);
    }
}
