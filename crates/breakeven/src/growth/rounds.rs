//! The loop that the program spends its time in, and the same program with more or fewer rounds of it.

use super::wall_after;
use crate::workload::{Step, Workload, order};

/// Loops of fewer rounds are not told from code that happens to repeat.
const LEAST: u64 = 8;
/// Share of the recorded time that a main loop takes.
const SHARE: f64 = 0.5;

/// A loop at the top level of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct MainLoop {
    /// Its place among the steps of the order.
    at: usize,
    /// As recorded, in a row.
    pub rounds: u64,
    /// Rounds beside those, which do the same otherwise or begin elsewhere: the first makes an array that the others
    /// write to, the order of the program has the loop from its second line on.
    pub outside: u64,
    /// A line of it: that of its hottest op, `heat.py:12`.
    pub site: String,
}

/// The outermost loop that half of the ops' time and the gaps between them lie in; `None` where there is none.
pub fn main_loop(workload: &Workload) -> Option<MainLoop> {
    let each: Vec<f64> = workload
        .ops
        .iter()
        .map(|entry| (entry.cpu_ns.saturating_add(entry.gap_ns)) as f64 / entry.count.max(1) as f64)
        .collect();
    let all: f64 = workload.ops.iter().map(|entry| entry.cpu_ns.saturating_add(entry.gap_ns) as f64).sum();
    let loops = workload.order.iter().enumerate().filter_map(|(at, step)| match step {
        Step::Repeat(rounds, body) if *rounds >= LEAST => Some((at, *rounds, body)),
        _ => None,
    });
    let weighed = loops.map(|found| (order::weigh(found.2, &each) * found.1 as f64, found));
    // Of equals the first.
    let longest = weighed.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let (_, (at, rounds, body)) = longest.filter(|(time, _)| *time > SHARE * all)?;
    let runs = order::counts(body, each.len())?;
    let time = |entry: usize| runs[entry] as f64 * each[entry];
    let hottest = (0..runs.len()).max_by(|a, b| time(*a).total_cmp(&time(*b)))?;
    let site = workload.sites.get(workload.ops[hottest].site as usize)?;
    let alike = |(a, b): &(&Step, &Step)| alike(workload, a, b);
    let (before, after) = (&workload.order[..at], &workload.order[at + 1..]);
    let outside = before.iter().rev().zip(body.iter().rev().cycle()).take_while(alike).count()
        + after.iter().zip(body.iter().cycle()).take_while(alike).count();
    Some(MainLoop { at, rounds, outside: (outside / body.len().max(1)) as u64, site: site.label() })
}

/// Whether two steps are the same lines at work.
fn alike(workload: &Workload, a: &Step, b: &Step) -> bool {
    let line = |entry: u32| workload.ops.get(entry as usize).map(|entry| (entry.site, &entry.name));
    match (a, b) {
        (Step::Run(a), Step::Run(b)) => line(*a) == line(*b),
        (Step::Repeat(m, a), Step::Repeat(n, b)) => {
            m == n && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(workload, a, b))
        }
        _ => false,
    }
}

/// The program with so many rounds of that loop, and its order; what happens in the loop takes as much longer.
pub fn with_rounds(workload: &Workload, found: &MainLoop, rounds: u64) -> (Workload, Vec<Step>) {
    let mut new = workload.clone();
    let mut order = workload.order.clone();
    let mut runs = Vec::new();
    if let Some(Step::Repeat(times, body)) = order.get_mut(found.at) {
        runs = order::counts(body, new.ops.len()).unwrap_or_default();
        *times = rounds;
    }
    for (entry, each) in new.ops.iter_mut().zip(runs) {
        let others = entry.count.saturating_sub(each.saturating_mul(found.rounds));
        entry.set_count(others.saturating_add(each.saturating_mul(rounds)));
    }
    new.program.wall_ns = wall_after(workload, &new.ops);
    (new, order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::samples;

    #[test]
    fn the_loop_of_a_stencil() {
        let heat = samples::heat();
        let found = main_loop(&heat).expect("there is one");
        assert_eq!((found.rounds, found.site.as_str()), (200, "heat.py:6"));
        let (double, order) = with_rounds(&heat, &found, 400);
        assert_eq!(double.ops[3].count, 2 * heat.ops[3].count);
        assert_eq!(double.ops[0], heat.ops[0]);
        assert!(order.contains(&Step::Repeat(
            400,
            match &heat.order[found.at] {
                Step::Repeat(_, body) => body.clone(),
                Step::Run(_) => Vec::new(),
            }
        )));
        assert_eq!(with_rounds(&heat, &found, 200).0, heat);
    }

    #[test]
    fn rounds_beside_the_loop_count() {
        let mut heat = samples::heat();
        let Step::Repeat(_, body) = heat.order.remove(2) else { panic!("the loop comes third") };
        // From its third step on: two steps before and the rest after make one more round.
        let turned: Vec<Step> = body[2..].iter().chain(&body[..2]).cloned().collect();
        let around = body[..2].iter().cloned().chain([Step::Repeat(199, turned)]).chain(body[2..].iter().cloned());
        heat.order.splice(2..2, around);
        let found = main_loop(&heat).expect("there is one");
        assert_eq!((found.rounds, found.outside), (199, 1));
    }
}
