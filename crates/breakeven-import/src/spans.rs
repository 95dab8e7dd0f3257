//! Sets of spans: unions, what two have in common, what one leaves free; of lists in order, without keeping them.

use crate::span::Span;

/// Spans in order that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    /// The union of spans in any order.
    pub(crate) fn of(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable();
        spans.dedup_by(|next, last| {
            let touches = next.from <= last.to;
            last.to = if touches { last.to.max(next.to) } else { last.to };
            touches
        });
        Self(spans)
    }

    /// Each of them.
    pub(crate) fn all(&self) -> &[Span] {
        &self.0
    }

    /// What is here and not there.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        let mut others = other.0.as_slice();
        for mine in &self.0 {
            while let [first, rest @ ..] = others
                && first.to <= mine.from
            {
                others = rest;
            }
            let mut from = mine.from;
            for theirs in others.iter().take_while(|theirs| theirs.from < mine.to) {
                if from < theirs.from {
                    left.push(Span { from, to: theirs.from });
                }
                from = from.max(theirs.to);
            }
            if from < mine.to {
                left.push(Span { from, to: mine.to });
            }
        }
        Self(left)
    }
}

/// A union of spans that come in order of their beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Union {
    whole: Option<Span>,
    pub(crate) length: i64,
}

impl Union {
    /// Adds a span; gives what was free before it, and what it covers that was not.
    pub(crate) fn add(&mut self, span: Span) -> (Option<Span>, Span) {
        let Some(whole) = &mut self.whole else {
            self.whole = Some(span);
            self.length = span.length();
            return (None, span);
        };
        let gap = (whole.to < span.from).then_some(Span { from: whole.to, to: span.from });
        let new = Span { from: span.from.max(whole.to), to: span.to.max(whole.to) };
        whole.to = new.to;
        self.length = self.length.saturating_add(new.length());
        (gap, new)
    }

    /// From the first beginning to the last end.
    pub(crate) fn whole(&self) -> i64 {
        self.whole.map_or(0, Span::length)
    }
}

/// Spans in order, from the first that later ones can meet.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [Span]);

impl Cursor<'_> {
    /// How much of `window` they cover, ns; windows come in order.
    pub(crate) fn within(&mut self, window: Span) -> i64 {
        while let [first, rest @ ..] = self.0
            && first.to <= window.from
        {
            self.0 = rest;
        }
        let meet = self.0.iter().take_while(|span| span.from < window.to);
        meet.map(|span| span.to.min(window.to) - span.from.max(window.from)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Span, Spans, Union};
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        prop::collection::vec((0_i64..100, 0_i64..20), 0..20)
            .prop_map(|all| all.into_iter().map(|(from, long)| Span { from, to: from + long }).collect())
    }

    /// Which of the units of time are covered.
    fn covered(spans: &[Span]) -> Vec<bool> {
        (0..130).map(|t| spans.iter().any(|span| span.from <= t && t < span.to)).collect()
    }

    fn length(spans: &[Span]) -> i64 {
        spans.iter().map(|span| span.length()).sum()
    }

    proptest! {
        #[test]
        fn as_counted_unit_by_unit(mut a in spans(), b in spans()) {
            let (units_a, units_b) = (covered(&a), covered(&b));
            let count = |f: &dyn Fn(bool, bool) -> bool| {
                units_a.iter().zip(&units_b).filter(|(a, b)| f(**a, **b)).count() as i64
            };
            a.sort_unstable();
            let (mut union, mut gaps, mut new) = (Union::default(), Vec::new(), 0);
            for span in &a {
                let (gap, more) = union.add(*span);
                gaps.extend(gap);
                new += more.length();
            }
            prop_assert_eq!((union.length, new), (count(&|a, _| a), count(&|a, _| a)));
            prop_assert_eq!(union.whole() - length(&gaps), union.length);
            let (a, b) = (Spans::of(a), Spans::of(b));
            prop_assert_eq!(length(a.all()), union.length);
            let mut cursor = Cursor(b.all());
            let both: i64 = a.all().iter().map(|span| cursor.within(*span)).sum();
            prop_assert_eq!(both, count(&|a, b| a && b));
            prop_assert_eq!(length(a.without(&b).all()), count(&|a, b| a && !b));
        }
    }
}
