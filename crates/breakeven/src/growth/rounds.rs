//! The loop that the program spends its time in, and the same program with more or fewer rounds of it.

use crate::workload::{Step, Workload};

/// Loops of fewer rounds are not told from code that happens to repeat.
const LEAST: u64 = 8;
/// Share of the recorded time that a main loop takes.
const SHARE: f64 = 0.5;

/// A loop at the top level of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct MainLoop {
    /// Its place among the steps of the order.
    at: usize,
    /// As recorded.
    pub rounds: u64,
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
    let (mut best, mut longest) = (None, SHARE * all);
    for (at, step) in workload.order.iter().enumerate() {
        let Step::Repeat(rounds, body) = step else { continue };
        let mut runs = vec![0.0; each.len()];
        add(body, *rounds as f64, &mut runs);
        let time: f64 = runs.iter().zip(&each).map(|(runs, each)| runs * each).sum();
        if *rounds >= LEAST && time > longest {
            let hottest = (0..runs.len()).max_by(|a, b| (runs[*a] * each[*a]).total_cmp(&(runs[*b] * each[*b])))?;
            let site = workload.sites.get(workload.ops.get(hottest)?.site as usize)?;
            best = Some(MainLoop { at, rounds: *rounds, site: site.label() });
            longest = time;
        }
    }
    best
}

/// The program with so many rounds of that loop, and its order; what happens in the loop takes as much longer.
pub fn with_rounds(workload: &Workload, found: &MainLoop, rounds: u64) -> (Workload, Vec<Step>) {
    let mut new = workload.clone();
    let mut order = workload.order.clone();
    let mut runs = vec![0.0; new.ops.len()];
    if let Some(Step::Repeat(times, body)) = order.get_mut(found.at) {
        add(body, 1.0, &mut runs);
        *times = rounds;
    }
    let more = rounds as f64 - found.rounds as f64;
    let mut wall = workload.program.wall_ns as f64;
    for (entry, each) in new.ops.iter_mut().zip(runs) {
        if each <= 0.0 {
            continue;
        }
        let before = entry.count as f64;
        let by = ((before + each * more) / before.max(1.0)).max(0.0);
        let scaled = |value: u64| (value as f64 * by).round() as u64;
        wall += (entry.cpu_ns as f64 + entry.gap_ns as f64) * (by - 1.0);
        entry.count = scaled(entry.count);
        entry.cpu_ns = scaled(entry.cpu_ns);
        entry.gap_ns = scaled(entry.gap_ns);
        entry.host_input_bytes = scaled(entry.host_input_bytes);
        entry.host_input_count = scaled(entry.host_input_count);
    }
    new.program.wall_ns = wall.max(0.0) as u64;
    (new, order)
}

/// How often `steps`, `times` over, run each entry.
fn add(steps: &[Step], times: f64, runs: &mut [f64]) {
    for step in steps {
        match step {
            Step::Run(entry) => {
                if let Some(runs) = runs.get_mut(*entry as usize) {
                    *runs += times;
                }
            }
            Step::Repeat(inner, body) => add(body, times * *inner as f64, runs),
        }
    }
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
}
