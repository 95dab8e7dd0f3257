//! Steps of a loop that repeat: what one step did, so that later ones can be counted without being watched.

use std::collections::VecDeque;
use std::ops::Range;

/// Steps whose ops are remembered.
const KEPT: usize = 8;
/// Ops of a step beyond which it is not remembered.
const LONGEST: usize = 1 << 20;

/// One run of an entry, in ticks and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) entry: u32,
    pub(crate) own: u64,
    pub(crate) gap: u64,
    pub(crate) host_input_bytes: u64,
    pub(crate) host_input_count: u64,
    /// The path through the script's code; 0 where it is not known.
    pub(crate) path: u64,
}

/// What one step did, and which of that in calls of outermost modules.
#[derive(Debug, Default)]
struct Step {
    runs: Vec<Run>,
    /// The runs in the least time that each took in the steps like it until then.
    least: Vec<Run>,
    calls: Vec<Range<usize>>,
    /// The same for the same ops in the same order.
    hash: u64,
}

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    open: Step,
    kept: VecDeque<Step>,
    /// Steps watched.
    pub(crate) watched: u64,
    /// Steps counted without being watched.
    pub(crate) repeated: u64,
}

impl Steps {
    /// An op of the step that goes on.
    pub(crate) fn ran(&mut self, run: Run) {
        if self.open.runs.len() < LONGEST {
            self.open.runs.push(run);
        }
        self.open.hash = (self.open.hash.rotate_left(5) ^ u64::from(run.entry)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The step that goes on calls an outermost module.
    pub(crate) fn call_begins(&mut self) {
        if self.open.calls.len() < LONGEST {
            self.open.calls.push(self.open.runs.len()..usize::MAX);
        }
    }

    /// That call has ended.
    pub(crate) fn call_ends(&mut self) {
        let ran = self.open.runs.len();
        if let Some(call) = self.open.calls.last_mut() {
            call.end = call.end.min(ran);
        }
    }

    /// The step ends; a number that is the same for the same ops in the same order. 0: it is too long to be kept.
    pub(crate) fn end(&mut self) -> u64 {
        let whole = self.open.runs.len() < LONGEST;
        self.open.hash |= 1;
        let hash = self.open.hash;
        self.open.least = self.quickest(&self.open);
        self.kept.push_front(std::mem::take(&mut self.open));
        self.kept.truncate(KEPT);
        self.watched += 1;
        if whole { hash } else { 0 }
    }

    /// What ran since the last end is no part of a step.
    pub(crate) fn forget_open(&mut self) {
        self.open = Step::default();
    }

    /// The step `back` steps ago, 1 for the last.
    fn watched_ago(&self, back: usize) -> Option<&Step> {
        self.kept.get(back.checked_sub(1)?)
    }

    /// Ticks of the step `back` steps ago.
    pub(crate) fn took(&self, back: usize) -> u64 {
        self.watched_ago(back).map_or(0, |step| step.runs.iter().map(|run| run.own + run.gap).sum())
    }

    /// The step `back` steps ago, as if it had taken `ticks`, in the proportions of the least times.
    pub(crate) fn again(&mut self, back: usize, ticks: u64) -> Vec<Run> {
        let Some(step) = self.watched_ago(back) else { return Vec::new() };
        let mut runs = step.least.clone();
        let took: u64 = runs.iter().map(|run| run.own + run.gap).sum();
        let share = if took > 0 { ticks as f64 / took as f64 } else { 0.0 };
        let scale = |t: u64| (t as f64 * share) as u64;
        runs.iter_mut().for_each(|run| (run.own, run.gap) = (scale(run.own), scale(run.gap)));
        self.repeated += 1;
        runs
    }

    /// What a step did, in the least time that each of it took in it and the kept ones like it: other programs or Python's garbage
    /// collector may have held up any of it once.
    fn quickest(&self, step: &Step) -> Vec<Run> {
        let mut runs = step.runs.clone();
        let like_it = |other: &&Step| other.hash == step.hash && other.runs.len() == step.runs.len();
        for other in self.kept.iter().filter(like_it) {
            for (run, other) in runs.iter_mut().zip(&other.runs) {
                (run.own, run.gap) = (run.own.min(other.own), run.gap.min(other.gap));
            }
        }
        runs
    }

    /// What the step `back` steps ago did until it left `path`, or came to it (`before`), after so many `calls` of outermost
    /// modules, in no time. Where it comes to the path after more of them only, those calls were left out.
    pub(crate) fn in_part<'a>(&'a self, back: usize, path: u64, calls: usize, before: bool) -> Vec<Run> {
        let Some(Step { runs, calls: all, .. }) = self.watched_ago(back) else { return Vec::new() };
        let begins = |call: usize| all.get(call).map_or(runs.len(), |call| call.start);
        let ended = |call: usize| all.get(call).map_or(runs.len(), |call| call.end);
        let part_of = |runs: &'a [Run]| {
            let last = runs.iter().rposition(|run| run.path == path)?;
            let came = || runs[..last].iter().rposition(|run| run.path != path).map_or(0, |other| other + 1);
            Some(&runs[..if before { came() } else { last + 1 }])
        };
        let part = if let Some(begun) = part_of(&runs[..begins(calls)]) {
            [begun, &[]]
        } else {
            let mut after = (calls..all.len()).map(|call| &runs[ended(call)..begins(call + 1)]);
            let Some(rest) = after.find_map(part_of) else { return Vec::new() };
            [&runs[..calls.checked_sub(1).map_or(0, ended)], rest]
        };
        part.concat().iter().map(|run| Run { own: 0, gap: 0, ..*run }).collect()
    }

    /// One step in so many was watched.
    pub(crate) fn sampling(&self) -> u32 {
        let all = self.watched + self.repeated;
        if self.repeated == 0 { 1 } else { all.div_ceil(self.watched.max(1)).try_into().unwrap_or(u32::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(steps: &mut Steps, entries: &[u32]) -> u64 {
        entries.iter().for_each(|&entry| steps.ran(Run { entry, own: 3, gap: 1, ..Run::default() }));
        steps.end()
    }

    #[test]
    fn equal_steps_have_equal_numbers() {
        let mut steps = Steps::default();
        let first = step(&mut steps, &[1, 2, 3]);
        assert_eq!(step(&mut steps, &[1, 2, 3]), first);
        assert_ne!(step(&mut steps, &[1, 3, 2]), first);
        assert_ne!(step(&mut steps, &[]), 0);
    }

    #[test]
    fn a_step_counted_again_takes_the_time_it_took() {
        let mut steps = Steps::default();
        step(&mut steps, &[1, 2]);
        step(&mut steps, &[7]);
        let again = steps.again(2, 16);
        assert_eq!(again.iter().map(|run| (run.entry, run.own, run.gap)).collect::<Vec<_>>(), [(1, 6, 2), (2, 6, 2)]);
        assert!(steps.again(3, 16).is_empty());
        assert_eq!(steps.sampling(), 2);
    }

    #[test]
    fn what_held_up_one_watched_step_is_not_told_of_others() {
        let mut steps = Steps::default();
        for (own, gap) in [(3, 1000), (3, 1), (3000, 1)] {
            steps.ran(Run { entry: 1, own, gap, ..Run::default() });
            steps.ran(Run { entry: 2, own: 10, gap: 2, ..Run::default() });
            steps.end();
        }
        step(&mut steps, &[1, 1]);
        let again = steps.again(2, 32);
        assert_eq!(again.iter().map(|run| (run.entry, run.own, run.gap)).collect::<Vec<_>>(), [(1, 6, 2), (2, 20, 4)]);
        assert_eq!(steps.took(2), 3013);
    }

    #[test]
    fn a_step_in_part_ends_with_the_last_op_of_the_path() {
        let mut steps = Steps::default();
        let ran = [(1, 5), (2, 5), (3, 0), (4, 5), (5, 6)];
        ran.iter().for_each(|&(entry, path)| steps.ran(Run { entry, path, own: 3, ..Run::default() }));
        steps.end();
        let until = |path| steps.in_part(1, path, 0, false).iter().map(|run| (run.entry, run.own)).collect::<Vec<_>>();
        assert_eq!(until(5), [(1, 0), (2, 0), (3, 0), (4, 0)]);
        assert_eq!(until(6).len(), 5);
        assert!(until(7).is_empty() && steps.in_part(2, 5, 0, false).is_empty());
    }

    #[test]
    fn a_step_in_part_may_end_where_it_comes_to_the_path() {
        let mut steps = Steps::default();
        let ran = [(1, 5), (2, 6), (3, 5), (4, 7), (5, 7), (6, 8)];
        ran.iter().for_each(|&(entry, path)| steps.ran(Run { entry, path, own: 3, ..Run::default() }));
        steps.end();
        let before = |path| steps.in_part(1, path, 0, true).iter().map(|run| run.entry).collect::<Vec<_>>();
        assert_eq!(before(7), [1, 2, 3]);
        assert_eq!(before(5), [1, 2], "for the last time");
        assert!(before(9).is_empty());
    }

    #[test]
    fn a_step_in_part_ends_before_a_call_that_it_has_not_come_to() {
        let mut steps = Steps::default();
        for entry in 0..3 {
            steps.call_begins();
            steps.ran(Run { entry, path: 5, ..Run::default() });
            steps.call_ends();
            steps.ran(Run { entry: 3 + entry, path: 6, ..Run::default() });
        }
        steps.ran(Run { entry: 9, path: 7, ..Run::default() });
        steps.end();
        let until = |path, calls| steps.in_part(1, path, calls, false).iter().map(|run| run.entry).collect::<Vec<_>>();
        assert_eq!(until(5, 2), [0, 3, 1]);
        assert_eq!(until(6, 2), [0, 3, 1, 4]);
        assert_eq!(until(7, 2), [0, 3, 1, 5, 9], "what follows the third call is done though it is not made");
        assert_eq!(until(7, 0), [5, 9]);
        assert_eq!(until(7, 9), [0, 3, 1, 4, 2, 5, 9]);
        assert!(until(5, 0).is_empty() && until(8, 2).is_empty());
    }
}
