//! Sets of spans: unions, what two have in common, what one leaves free.

use crate::model::Span;

/// Spans in order that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    /// The union of spans in any order.
    pub(crate) fn of(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable();
        let mut joined: Vec<Span> = Vec::new();
        for span in spans {
            match joined.last_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                _ => joined.push(span),
            }
        }
        Self(joined)
    }

    /// Each of them.
    pub(crate) fn all(&self) -> &[Span] {
        &self.0
    }

    /// How long they are together, ns.
    pub(crate) fn length(&self) -> i64 {
        self.0.iter().fold(0_i64, |sum, span| sum.saturating_add(span.length()))
    }

    /// The longest of them, ns.
    pub(crate) fn longest(&self) -> i64 {
        self.0.iter().map(|span| span.length()).max().unwrap_or(0)
    }

    /// From the first beginning to the last end.
    pub(crate) fn whole(&self) -> Option<Span> {
        Some(Span { from: self.0.first()?.from, to: self.0.last()?.to })
    }

    /// What is in neither of them, within the first and the last.
    pub(crate) fn gaps(&self) -> Self {
        let between = self.0.iter().zip(self.0.iter().skip(1));
        Self(between.map(|(before, after)| Span { from: before.to, to: after.from }).collect())
    }

    /// What both have.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (mut both, mut others) = (Vec::new(), other.0.as_slice());
        for mine in &self.0 {
            while let [first, rest @ ..] = others
                && first.to <= mine.from
            {
                others = rest;
            }
            for theirs in others.iter().take_while(|theirs| theirs.from < mine.to) {
                let span = Span { from: mine.from.max(theirs.from), to: mine.to.min(theirs.to) };
                if span.from < span.to {
                    both.push(span);
                }
            }
        }
        Self(both)
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

#[cfg(test)]
mod tests {
    use super::{Span, Spans};
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        prop::collection::vec((0_i64..100, 0_i64..20), 0..20)
            .prop_map(|all| all.into_iter().map(|(from, long)| Span { from, to: from + long }).collect())
    }

    /// Which of the units of time are covered.
    fn covered(spans: &[Span]) -> Vec<bool> {
        (0..130).map(|t| spans.iter().any(|span| span.from <= t && t < span.to)).collect()
    }

    proptest! {
        #[test]
        fn as_counted_unit_by_unit(a in spans(), b in spans()) {
            let (units_a, units_b) = (covered(&a), covered(&b));
            let (a, b) = (Spans::of(a), Spans::of(b));
            let count = |f: &dyn Fn(bool, bool) -> bool| {
                units_a.iter().zip(&units_b).filter(|(a, b)| f(**a, **b)).count() as i64
            };
            prop_assert_eq!(a.length(), count(&|a, _| a));
            prop_assert_eq!(a.and(&b).length(), count(&|a, b| a && b));
            prop_assert_eq!(a.without(&b).length(), count(&|a, b| a && !b));
            let whole = a.whole().map_or(0, Span::length);
            prop_assert_eq!(a.gaps().length(), whole - a.length());
        }
    }
}
