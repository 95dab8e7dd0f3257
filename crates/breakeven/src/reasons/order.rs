//! What the order of a program tells: the loop that it spends its time in, and data that goes back and forth.

use super::account::Account;
use crate::estimate::Reason;
use crate::report::words;
use crate::timeline::Task;
use crate::workload::{Lines, Step, Workload, order, rounds_in};
use std::collections::BTreeMap;

/// A loop with this share of the program is what the program does.
const NEARLY_ALL: f64 = 0.9;

/// The innermost loop that still makes up nearly all of what the entries weigh.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loop {
    /// How often it goes round in the whole program.
    pub(super) rounds: u64,
    /// Entries of its body, each with how often it runs in it.
    pub(super) body: BTreeMap<u32, u64>,
    /// How many rounds the body is.
    pub(super) of_rounds: u64,
}

/// The innermost loop that holds at least 90 % of `weight` (of all runs of an entry); `None` where no loop does.
pub(super) fn main_loop(workload: &Workload, weight: &dyn Fn(usize) -> f64) -> Option<Loop> {
    let each: Vec<f64> = (0..workload.ops.len()).map(weight).collect();
    let (all, lines) = (each.iter().sum::<f64>(), Lines::new(&workload.ops));
    let (mut steps, mut found) = (workload.order.as_slice(), None);
    if all <= 0.0 {
        return None;
    }
    loop {
        let heaviest = steps
            .iter()
            .filter_map(|step| match step {
                Step::Repeat(times, body) if *times > 1 => Some((order::weigh_once(body, &each), body)),
                _ => None,
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match heaviest {
            Some((weight, body)) if weight >= NEARLY_ALL * all => (found, steps) = (Some(body), body),
            _ => break,
        }
    }
    found.map(|body| {
        let mut counted = BTreeMap::new();
        count(body, 1, &mut counted);
        let (of_rounds, one) = rounds_in(&workload.ops, body);
        Loop { rounds: lines.rounds(&one), body: counted, of_rounds }
    })
}

/// The reason with the rounds of the loop that makes up nearly all of it and what each takes, where there is one;
/// `seconds` is an entry's part of the path.
pub(super) fn by_round(reason: Reason, account: &Account<'_>, seconds: &dyn Fn(usize) -> f64) -> Reason {
    let Some(main) = main_loop(account.q.workload, seconds) else { return reason };
    let each: f64 = main
        .body
        .iter()
        .map(|(&i, &n)| seconds(i as usize) * n as f64 / account.q.workload.ops[i as usize].count.max(1) as f64)
        .sum::<f64>()
        / main.of_rounds as f64;
    reason.with("rounds", main.rounds as f64, "1", words::count(main.rounds)).with(
        "per_round",
        each,
        "s",
        words::seconds(each),
    )
}

/// How often an entry runs right after another: by the pair, in the order in which they run.
pub(super) fn in_a_row(steps: &[Step]) -> BTreeMap<(u32, u32), u64> {
    let mut pairs = BTreeMap::new();
    row(steps, 1, &mut pairs);
    pairs
}

/// The first and the last entry that run in `steps`.
fn row(steps: &[Step], times: u64, pairs: &mut BTreeMap<(u32, u32), u64>) -> Option<(u32, u32)> {
    let mut ends: Option<(u32, u32)> = None;
    for step in steps {
        let next = match step {
            Step::Run(entry) => Some((*entry, *entry)),
            Step::Repeat(more, body) => {
                let inside = row(body, times.saturating_mul(*more), pairs);
                if let Some((first, last)) = inside {
                    add(pairs, (last, first), times.saturating_mul(more.saturating_sub(1)));
                }
                inside
            }
        };
        ends = match (ends, next) {
            (Some((first, before)), Some((after, last))) => {
                add(pairs, (before, after), times);
                Some((first, last))
            }
            (ends, next) => ends.or(next),
        };
    }
    ends
}

fn count(steps: &[Step], times: u64, into: &mut BTreeMap<u32, u64>) {
    for step in steps {
        match step {
            Step::Run(entry) => {
                let n = into.entry(*entry).or_default();
                *n = n.saturating_add(times);
            }
            Step::Repeat(more, body) => count(body, times.saturating_mul(*more), into),
        }
    }
}

/// Data that comes to the host at one entry and goes back to the GPU at another, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PingPong {
    pub(super) down: u32,
    pub(super) up: u32,
    pub(super) rounds: u64,
}

/// Every pair of a copy to the host and the next copy to the GPU, the most frequent first.
pub(super) fn ping_pong(account: &Account<'_>) -> Vec<PingPong> {
    let tasks = &account.out.plan.tasks;
    let mut pairs = BTreeMap::new();
    walk(&account.q.workload.steps(), 1, tasks, &mut pairs);
    let mut found: Vec<PingPong> =
        pairs.into_iter().map(|((down, up), rounds)| PingPong { down, up, rounds }).collect();
    found.sort_by(|a, b| b.rounds.cmp(&a.rounds).then((a.down, a.up).cmp(&(b.down, b.up))));
    found
}

/// What a stretch of the program does to data under way.
#[derive(Clone, Copy, Default)]
struct Way {
    /// A copy to the GPU before any to the host.
    opens: Option<u32>,
    /// A copy to the host that none to the GPU has followed.
    ends: Option<u32>,
    /// It copies at all.
    copies: bool,
}

fn walk(steps: &[Step], times: u64, tasks: &[Task], pairs: &mut BTreeMap<(u32, u32), u64>) -> Way {
    let mut all = Way::default();
    for step in steps {
        let next = match step {
            Step::Run(entry) => match tasks.get(*entry as usize) {
                Some(task) => run(*entry, task, times, pairs),
                None => Way::default(),
            },
            Step::Repeat(more, body) => {
                let way = walk(body, times.saturating_mul(*more), tasks, pairs);
                if let (Some(down), Some(up)) = (way.ends, way.opens) {
                    add(pairs, (down, up), times.saturating_mul(more.saturating_sub(1)));
                }
                way
            }
        };
        all = then(all, next, times, pairs);
    }
    all
}

fn run(entry: u32, task: &Task, times: u64, pairs: &mut BTreeMap<(u32, u32), u64>) -> Way {
    let mut way = Way::default();
    let steps = [(task.upload, true), (task.download, false), (task.upload_after, true)];
    for (_, up) in steps.into_iter().filter(|(seconds, _)| *seconds > 0.0) {
        let one = Way { opens: up.then_some(entry), ends: (!up).then_some(entry), copies: true };
        way = then(way, one, times, pairs);
    }
    way
}

/// `next` after `before`.
fn then(before: Way, next: Way, times: u64, pairs: &mut BTreeMap<(u32, u32), u64>) -> Way {
    if !next.copies {
        return before;
    }
    if let (Some(down), Some(up)) = (before.ends, next.opens) {
        add(pairs, (down, up), times);
    }
    Way { opens: if before.copies { before.opens } else { next.opens }, ends: next.ends, copies: true }
}

fn add(pairs: &mut BTreeMap<(u32, u32), u64>, pair: (u32, u32), times: u64) {
    if times > 0 {
        let rounds = pairs.entry(pair).or_default();
        *rounds = rounds.saturating_add(times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::order::expand;
    use proptest::prelude::*;

    /// Entry 0 copies to the GPU, 1 to the host, 2 nothing, 3 there and back.
    fn tasks() -> [Task; 4] {
        let none = Task::NONE;
        [
            Task { upload: 1.0, ..none },
            Task { download: 1.0, ..none },
            none,
            Task { download: 1.0, upload_after: 1.0, ..none },
        ]
    }

    fn pairs(steps: &[Step]) -> BTreeMap<(u32, u32), u64> {
        let mut pairs = BTreeMap::new();
        walk(steps, 1, &tasks(), &mut pairs);
        pairs
    }

    #[test]
    fn a_loop_that_copies_in_and_out_goes_back_and_forth_between_its_rounds() {
        // up, nothing, down: 100 rounds make 99 ways back.
        let order = [Step::Repeat(100, vec![Step::Run(0), Step::Run(2), Step::Run(1)])];
        assert_eq!(pairs(&order), BTreeMap::from([((1, 0), 99)]));
        assert_eq!(pairs(&[Step::Repeat(7, vec![Step::Run(3)])]), BTreeMap::from([((3, 3), 7)]));
        assert!(pairs(&[Step::Run(0), Step::Repeat(9, vec![Step::Run(2)]), Step::Run(1)]).is_empty());
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let leaf = prop::collection::vec((0..4_u32).prop_map(Step::Run), 1..5);
        leaf.prop_recursive(3, 30, 4, |inner| {
            prop::collection::vec(
                prop_oneof![(0..4_u32).prop_map(Step::Run), (1..5_u64, inner).prop_map(|(n, b)| Step::Repeat(n, b))],
                1..5,
            )
        })
    }

    proptest! {
        #[test]
        fn what_follows_what_is_as_one_by_one(order in steps()) {
            let unrolled: Vec<u32> = expand(&order).collect();
            let mut counted = BTreeMap::new();
            for pair in unrolled.windows(2) {
                *counted.entry((pair[0], pair[1])).or_default() += 1;
            }
            prop_assert_eq!(in_a_row(&order), counted);
        }

        #[test]
        fn loops_count_what_their_rounds_one_by_one_would(order in steps()) {
            let unrolled: Vec<Step> = expand(&order).map(Step::Run).collect();
            prop_assert_eq!(pairs(&order), pairs(&unrolled));
        }
    }
}
