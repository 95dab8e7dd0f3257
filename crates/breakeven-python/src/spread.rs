//! Time of calls that were not timed one by one: known as a whole, divided among them.

use crate::table::Entry;
use std::collections::BTreeMap;

/// Time in an entry's calls and on the host before them, ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) own: u64,
    pub(crate) gap: u64,
}

/// The times of all entries. `pools` is the time of each thread's untimed calls, with the host code around them.
///
/// An untimed call takes what timed ones of its entry typically took; what remains of the pool is host code, divided
/// in the proportions in which it was seen. What comes out sums to what was timed and the pools, to the tick.
pub(crate) fn times(entries: &[Entry], pools: &BTreeMap<u16, u64>) -> Vec<Times> {
    let mut times: Vec<_> = entries.iter().map(|e| Times { own: e.own_ticks, gap: e.gap_ticks }).collect();
    for (&thread, &pool) in pools {
        let of_thread = |e: &&Entry| e.thread == u32::from(thread);
        let untimed = |e: &Entry| if of_thread(&e) { e.count.saturating_sub(e.timed) } else { 0 };
        let own: Vec<u128> = entries.iter().map(|e| scaled(untimed(e), e.typical.own, e.typical.owns)).collect();
        let gap: Vec<u128> = entries.iter().map(|e| scaled(untimed(e), e.typical.gap, e.typical.gaps)).collect();
        let in_calls = own.iter().sum::<u128>().min(pool.into()) as u64;
        let mut add = |amount: u64, weights: &[u128], field: fn(&mut Times) -> &mut u64| {
            for (times, part) in times.iter_mut().zip(divided(amount, weights)) {
                *field(times) += part;
            }
        };
        add(in_calls, &own, |times| &mut times.own);
        if gap.iter().any(|&weight| weight > 0) {
            add(pool - in_calls, &gap, |times| &mut times.gap);
        } else {
            let runs: Vec<u128> = entries.iter().map(|e| if of_thread(&e) { e.count.into() } else { 0 }).collect();
            add(pool - in_calls, &runs, |times| &mut times.gap);
        }
    }
    times
}

/// `n` times the mean of `count` that make up `sum`.
fn scaled(n: u64, sum: u64, count: u64) -> u128 {
    u128::from(n) * u128::from(sum) / u128::from(count.max(1))
}

/// `amount` in the proportions of `weights`; all of it is given out where there is any weight.
fn divided(amount: u64, weights: &[u128]) -> Vec<u64> {
    let total: u128 = weights.iter().sum();
    // So that the product below fits.
    let drop = (u128::BITS - total.leading_zeros()).saturating_sub(u64::BITS);
    let (mut weight, mut given) = (0, 0);
    let part = |&next: &u128| {
        weight += next;
        // Rounding the running sum down gives parts that add up.
        let until = (u128::from(amount) * (weight >> drop) / (total >> drop).max(1)) as u64;
        until - std::mem::replace(&mut given, until)
    };
    weights.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Typical;
    use proptest::prelude::*;

    fn entry(thread: u32, count: u64, timed: u64, own: u64, gap: u64) -> Entry {
        let typical = Typical { own, owns: timed, gap, gaps: timed };
        Entry { thread, count, timed, own_ticks: own, gap_ticks: gap, typical, ..Entry::default() }
    }

    #[test]
    fn untimed_calls_take_what_timed_ones_took_and_the_host_the_rest() {
        let entries = [entry(1, 1000, 100, 100 * 30, 100 * 10), entry(1, 100, 100, 9999, 1), entry(2, 5, 5, 50, 5)];
        let times = times(&entries, &BTreeMap::from([(1, 900 * 30 + 900 * 8)]));
        assert_eq!(times[0], Times { own: 1000 * 30, gap: 1000 + 900 * 8 });
        assert_eq!(times[1], Times { own: 9999, gap: 1 });
        assert_eq!(times[2], Times { own: 50, gap: 5 });
    }

    #[test]
    fn calls_take_no_more_than_there_was() {
        let times = times(&[entry(1, 1000, 100, 3000, 0)], &BTreeMap::from([(1, 500)]));
        assert_eq!(times, [Times { own: 3500, gap: 0 }]);
    }

    proptest! {
        #[test]
        fn what_was_measured_is_given_out_to_the_tick(
            entries in proptest::collection::vec((1u32..4, 1u64..1 << 40, 0u64..1000, 0u64..1 << 40, 0u64..1 << 40), 3..20),
            pool in proptest::collection::vec(0u64..1 << 50, 3),
        ) {
            let mut entries: Vec<_> =
                entries.into_iter().map(|(thread, count, timed, own, gap)| entry(thread, count, timed.min(count), own, gap)).collect();
            (0..3).for_each(|i| entries[i].thread = i as u32 + 1);
            let pools: BTreeMap<u16, u64> = (1..).zip(pool).collect();
            for thread in 1..4 {
                let of_thread = |(e, _): &(&Entry, Times)| e.thread == thread;
                let given: u64 = entries.iter().zip(times(&entries, &pools)).filter(of_thread).map(|(_, t)| t.own + t.gap).sum();
                let timed: u64 = entries.iter().filter(|e| e.thread == thread).map(|e| e.own_ticks + e.gap_ticks).sum();
                prop_assert_eq!(given, timed + pools[&(thread as u16)]);
            }
        }
    }
}
