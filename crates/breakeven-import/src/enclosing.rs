//! Which range of a thread a moment lies in: the innermost one.

use crate::model::HostOp;
use crate::names::Name;
use std::cmp::Reverse;

/// A moment of a thread, and whose it is.
pub(crate) struct Moment {
    pub(crate) thread: u32,
    pub(crate) at: i64,
    /// A place in the caller's own list.
    pub(crate) of: u32,
}

/// Tells the name of the innermost range around each moment that lies in one. Both lists are put in order.
pub(crate) fn enclosing(ranges: &mut [HostOp], moments: &mut [Moment], mut tell: impl FnMut(u32, Name)) {
    ranges.sort_unstable_by_key(|range| (range.thread, range.span.from, Reverse(range.span.to)));
    moments.sort_unstable_by_key(|moment| (moment.thread, moment.at));
    let mut rest = &*ranges;
    let mut open: Vec<HostOp> = Vec::new();
    for moment in moments {
        while let [range, after @ ..] = rest
            && (range.thread, range.span.from) <= (moment.thread, moment.at)
        {
            while open.pop_if(|outer| outer.thread != range.thread || outer.span.to <= range.span.from).is_some() {}
            open.push(*range);
            rest = after;
        }
        while open.pop_if(|outer| outer.thread != moment.thread || outer.span.to < moment.at).is_some() {}
        if let Some(inner) = open.last() {
            tell(moment.of, inner.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, enclosing};
    use crate::model::HostOp;
    use crate::names::Name;
    use crate::span::Span;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_found_by_looking_at_all(
            ends in prop::collection::btree_set(0_i64..200, 2..40),
            moments in prop::collection::vec((0_u32..2, 0_i64..200), 0..30),
        ) {
            // Brackets that nest: each range is closed by the last of what is left.
            let ends: Vec<i64> = ends.into_iter().collect();
            let pairs = ends.len() / 2;
            let mut ranges: Vec<HostOp> = (0..pairs)
                .map(|i| HostOp {
                    span: Span { from: ends[i], to: ends[ends.len() - 1 - i] },
                    name: Name::at(i),
                    thread: 0,
                })
                .collect();
            let mut found = vec![None; moments.len()];
            let innermost = |thread: u32, at: i64| {
                let around = ranges.iter().filter(|r| r.thread == thread && r.span.from <= at && at <= r.span.to);
                around.min_by_key(|r| r.span.length()).map(|r| r.name)
            };
            let expected: Vec<_> = moments.iter().map(|(thread, at)| innermost(*thread, *at)).collect();
            let mut points: Vec<Moment> = (0_u32..)
                .zip(&moments)
                .map(|(of, (thread, at))| Moment { thread: *thread, at: *at, of })
                .collect();
            enclosing(&mut ranges, &mut points, |of, name| found[of as usize] = Some(name));
            prop_assert_eq!(found, expected);
        }
    }
}
