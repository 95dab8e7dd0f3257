//! The loop that the program spends its time in, and the same program with more or fewer rounds of it.

use super::wall_after;
use crate::workload::{Lines, Op, Step, Workload, order, rounds_in};
use std::collections::BTreeSet;

/// Loops of fewer rounds are not told from code that happens to repeat.
const LEAST: u64 = 8;
/// Share of the recorded time that a main loop takes.
const SHARE: f64 = 0.5;

/// A loop at the top level of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct MainLoop {
    /// The place of its longest piece among the steps of the order.
    at: usize,
    /// As recorded in that piece, in a row.
    pub rounds: u64,
    /// Rounds of the loop that is told of, in one of those: of one within where the outer one only reads a value now and
    /// then; several where rounds differ in turns.
    pub within: u64,
    /// Rounds of the loop that is told of, in the whole program.
    pub total: u64,
    /// Its line, `heat.py:11`; where that is not known the line of its hottest op that is in no loop within.
    pub site: String,
}

/// The outermost loop that half of the ops' time and the gaps between them lie in; `None` where there is none.
pub fn main_loop(workload: &Workload) -> Option<MainLoop> {
    let all_runs: Vec<f64> =
        workload.ops.iter().map(|entry| entry.cpu_ns.saturating_add(entry.gap_ns) as f64).collect();
    let lines = Lines::new(&workload.ops);
    let loops = workload.order.iter().enumerate().filter_map(|(at, step)| match step {
        Step::Repeat(rounds, body) if *rounds > 1 && lines.rounds(body) >= LEAST => Some((at, *rounds, body)),
        _ => None,
    });
    let weighed = loops.map(|found| (order::weigh_once(found.2, &all_runs), found));
    // Of the pieces of a loop the longest, of equals the first.
    let longest = weighed.reduce(|best, next| if (next.0, next.1.1) > (best.0, best.1.1) { next } else { best });
    let (_, (at, rounds, body)) = longest.filter(|(time, _)| *time > SHARE * all_runs.iter().sum::<f64>())?;
    let (within, inner) = beside_reads(workload, body).unwrap_or((1, body));
    let (turns, one) = rounds_in(&workload.ops, inner);
    let site = workload.sites.get(workload.ops[named_by(workload, inner)?].site as usize)?;
    Some(MainLoop { at, rounds, within: within * turns, total: lines.rounds(&one), site: site.loop_label() })
}

/// The entry whose line names a loop: the hottest one whose line is in no loop within.
fn named_by(workload: &Workload, body: &[Step]) -> Option<usize> {
    let runs = order::counts(body, workload.ops.len())?;
    let mut within = BTreeSet::new();
    for step in body {
        lines_of_loops(workload, step, false, &mut within);
    }
    let time = |&i: &usize| {
        let entry = &workload.ops[i];
        runs[i] as f64 * entry.cpu_ns.saturating_add(entry.gap_ns) as f64 / entry.count.max(1) as f64
    };
    let ran = || (0..runs.len()).filter(|i| runs[*i] > 0);
    let hottest = |of: &mut dyn Iterator<Item = usize>| of.max_by(|a, b| time(a).total_cmp(&time(b)));
    hottest(&mut ran().filter(|i| !within.contains(&workload.ops[*i].site))).or_else(|| hottest(&mut ran()))
}

/// The sites of what runs in loops of `step`, or of all of it where it is `inside` one.
fn lines_of_loops(workload: &Workload, step: &Step, inside: bool, found: &mut BTreeSet<u32>) {
    match step {
        Step::Run(entry) => found.extend(workload.ops.get(*entry as usize).filter(|_| inside).map(|e| e.site)),
        Step::Repeat(times, body) => {
            body.iter().for_each(|step| lines_of_loops(workload, step, inside || *times >= LEAST, found));
        }
    }
}

/// The one loop in `body` and its rounds, where nothing but values are read beside it: a script that prints now and then
/// has no further loop.
fn beside_reads<'w>(workload: &Workload, body: &'w [Step]) -> Option<(u64, &'w [Step])> {
    let mut found = None;
    for step in body {
        match step {
            Step::Run(entry) => {
                let reads = matches!(workload.ops.get(*entry as usize)?.op, Op::HostRead { .. } | Op::View);
                reads.then_some(())?;
            }
            Step::Repeat(..) if found.is_some() => return None,
            Step::Repeat(rounds, inner) => found = Some((*rounds, inner.as_slice())),
        }
    }
    found
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
    new.program.takes(wall_after(workload, &new.ops));
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
        assert_eq!((found.rounds, found.site.as_str()), (200, "heat.py:5"));
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
        assert_eq!((found.rounds, found.total), (199, 200));
    }

    #[test]
    fn pieces_of_a_loop_are_one_loop() {
        let mut heat = samples::heat();
        let Step::Repeat(_, body) = heat.order.remove(2) else { panic!("the loop comes third") };
        let turned = |by: usize| body[by..].iter().chain(&body[..by]).cloned().collect();
        // What runs between them now and then does not end the loop.
        let pieces =
            [Step::Repeat(80, turned(0)), Step::Run(0), Step::Repeat(20, turned(1)), Step::Repeat(100, turned(2))];
        heat.order.splice(2..2, pieces);
        let found = main_loop(&heat).expect("there is one");
        assert_eq!((found.rounds, found.total), (100, 200));
        let (more, _) = with_rounds(&heat, &found, 110);
        assert_eq!(more.ops[3].count, heat.ops[3].count / 20 * 21);
    }

    #[test]
    fn rounds_that_take_turns_count_and_a_loop_within_names_none() {
        let mut heat = samples::heat();
        let Step::Repeat(_, body) = heat.order.remove(2) else { panic!("the loop comes third") };
        let mut steps = order::expand(&body).collect::<Vec<_>>();
        let mut others = body.clone();
        steps.sort_unstable();
        steps.dedup();
        // The same again on another stream, by turns.
        for &entry in &steps {
            let known = &mut heat.ops[entry as usize];
            known.count /= 2;
            let other = crate::workload::Entry { stream: Some(2), ..known.clone() };
            let number = heat.ops.len() as u32;
            heat.ops.push(other);
            others = order::renumber(others, &|i| if i == entry { number } else { i });
        }
        let mut turns = heat.clone();
        turns.order.insert(2, Step::Repeat(100, body.iter().cloned().chain(others).collect()));
        let found = main_loop(&turns).expect("there is one");
        assert_eq!((found.rounds, found.within, found.total, found.site.as_str()), (100, 2, 200, "heat.py:5"));
        // What takes the most runs thirty times in each round.
        let mut hot = heat.ops[steps[0] as usize].clone();
        (hot.count, hot.cpu_ns, hot.site) = (6000, 1_000_000_000_000, 0);
        heat.ops.push(hot);
        let within = Step::Repeat(30, vec![Step::Run(heat.ops.len() as u32 - 1)]);
        heat.order.insert(2, Step::Repeat(100, body.into_iter().chain([within]).collect()));
        assert_eq!(main_loop(&heat).expect("there is one").site, "heat.py:5");
        heat.sites.iter_mut().for_each(|site| site.loop_line = None);
        assert_eq!(main_loop(&heat).expect("there is one").site, "heat.py:6");
    }

    #[test]
    fn who_prints_now_and_then_has_one_loop() {
        let mut heat = samples::heat();
        let Step::Repeat(_, body) = heat.order.remove(2) else { panic!("the loop comes third") };
        let mut read = heat.ops[0].clone();
        (read.op, read.count, read.site) = (Op::HostRead { bytes: 8 }, 10, u32::MAX);
        heat.ops.push(read);
        let read = Step::Run(heat.ops.len() as u32 - 1);
        heat.order.insert(2, Step::Repeat(10, vec![Step::Repeat(20, body), read]));
        let found = main_loop(&heat).expect("there is one");
        assert_eq!((found.rounds, found.within, found.total), (10, 20, 200));
    }
}
