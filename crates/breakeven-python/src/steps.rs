//! Steps of a loop that repeat: what one step did, so that later ones can be counted without being watched.

use crate::address::AddressMap;
use crate::hooks::paths::Came;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

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
    /// The runs in the least time that each took in the steps like it until then; shared with what counts them again.
    least: Arc<[Run]>,
    calls: Vec<Range<usize>>,
    /// The same for the same ops in the same order.
    hash: u64,
}

/// A step that runs once more, in such a share of its time.
#[derive(Debug, Default)]
pub(crate) struct Again {
    least: Arc<[Run]>,
    share: f64,
}

impl Again {
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> {
        let scale = |ticks: u64| (ticks as f64 * self.share) as u64;
        self.least.iter().map(move |run| Run { own: scale(run.own), gap: scale(run.gap), ..*run })
    }
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
        self.open.least = self.quickest(&self.open).into();
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
    pub(crate) fn again(&mut self, back: usize, ticks: u64) -> Again {
        let Some(step) = self.watched_ago(back) else { return Again::default() };
        let least = Arc::clone(&step.least);
        let took: u64 = least.iter().map(|run| run.own + run.gap).sum();
        let share = if took > 0 { ticks as f64 / took as f64 } else { 0.0 };
        self.repeated += 1;
        Again { least, share }
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

    /// What the step `back` steps ago did on the paths to which another `came`, after so many `calls` of outermost modules, until
    /// it left the last of them, or came to it (`before`), in no time; and whether that leaves out some of it. What
    /// unwatched steps are not noticed by is done where what goes before it is.
    pub(crate) fn in_part(&self, back: usize, came: &Came, calls: usize, before: bool) -> (Vec<Run>, bool) {
        let Some(Step { runs, calls: all, .. }) = self.watched_ago(back) else { return Default::default() };
        let mut made = vec![true; runs.len()];
        for call in all.get(calls..).unwrap_or_default() {
            made[call.start..call.end.min(runs.len())].fill(false);
        }
        let mut places: AddressMap<u64, Vec<usize>> = AddressMap::default();
        for (at, run) in runs.iter().enumerate().filter(|&(at, _)| made[at]) {
            places.entry(run.path).or_default().push(at);
        }
        let unnoticed = |at: usize| made[at] && !came.noticed.contains(&runs[at].path);
        let (mut part, mut next, mut last) = (Vec::new(), 0, 0);
        for path in &came.paths {
            let ahead = places.get(path).and_then(|places| places.get(places.partition_point(|&at| at < next)));
            let Some(&found) = ahead else { continue };
            part.extend((next..found).take_while(|&at| unnoticed(at)));
            last = part.len();
            let on_path = |at: usize| made[at] && runs[at].path == *path;
            let group = (found..runs.len()).take_while(|&at| on_path(at) || unnoticed(at));
            next = 1 + group.filter(|&at| on_path(at)).last().unwrap_or(found);
            part.extend(found..next);
        }
        let left_out = part.len() < next;
        if before {
            part.truncate(last);
        }
        (part.into_iter().map(|at| Run { own: 0, gap: 0, ..runs[at] }).collect(), left_out)
    }

    /// The entries that a step has run which does what the one `back` steps ago did: on the paths to which it `came`, and at least
    /// until the last of so many `calls` of outermost modules had ended.
    pub(crate) fn so_far(&self, back: usize, came: &Came, calls: usize) -> Vec<u32> {
        let Some(Step { runs, calls: all, .. }) = self.watched_ago(back) else { return Vec::new() };
        let last = calls.min(all.len()).checked_sub(1).map_or(0, |call| all[call].end.min(runs.len()));
        let part = self.in_part(back, came, calls, false).0;
        if part.len() > last { part.iter() } else { runs[..last].iter() }.map(|run| run.entry).collect()
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

    fn again(steps: &mut Steps, back: usize, ticks: u64) -> Vec<(u32, u64, u64)> {
        steps.again(back, ticks).runs().map(|run| (run.entry, run.own, run.gap)).collect()
    }

    #[test]
    fn a_step_counted_again_takes_the_time_it_took() {
        let mut steps = Steps::default();
        step(&mut steps, &[1, 2]);
        step(&mut steps, &[7]);
        for _ in 0..2 {
            assert_eq!(again(&mut steps, 2, 16), [(1, 6, 2), (2, 6, 2)]);
        }
        assert!(again(&mut steps, 3, 16).is_empty());
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
        assert_eq!(again(&mut steps, 2, 32), [(1, 6, 2), (2, 20, 4)]);
        assert_eq!(steps.took(2), 3013);
    }

    fn stepped(ran: &[(u32, u64)]) -> Steps {
        let mut steps = Steps::default();
        ran.iter().for_each(|&(entry, path)| steps.ran(Run { entry, path, own: 3, ..Run::default() }));
        steps.end();
        steps
    }

    /// The entries of a step in part, which is noticed on all its paths but those from 90 on.
    fn part(steps: &Steps, paths: &[u64], calls: usize, before: bool) -> (Vec<u32>, bool) {
        let came = Came { paths: paths.to_vec(), noticed: (1..90).collect() };
        let (runs, left_out) = steps.in_part(1, &came, calls, before);
        assert!(runs.iter().all(|run| run.own == 0));
        (runs.iter().map(|run| run.entry).collect(), left_out)
    }

    #[test]
    fn a_step_in_part_ends_with_the_last_op_of_the_path() {
        let steps = stepped(&[(1, 5), (2, 5), (3, 0), (4, 5), (5, 6)]);
        let until = |paths: &[u64]| part(&steps, paths, 0, false);
        assert_eq!(until(&[5]), (vec![1, 2, 3, 4], false));
        assert_eq!(until(&[5, 6]).0.len(), 5);
        assert_eq!(until(&[7]), (vec![], false));
        assert!(steps.in_part(2, &Came::default(), 0, false).0.is_empty());
    }

    #[test]
    fn a_step_in_part_may_end_where_it_comes_to_the_path() {
        let steps = stepped(&[(1, 5), (2, 6), (3, 5), (4, 7), (5, 7), (6, 8)]);
        let before = |paths: &[u64]| part(&steps, paths, 0, true).0;
        assert_eq!(before(&[5, 6, 5, 7]), [1, 2, 3]);
        assert_eq!(before(&[5, 6, 5]), [1, 2], "for the last time");
        assert!(before(&[9]).is_empty());
    }

    #[test]
    fn a_step_in_part_leaves_out_where_it_did_not_come() {
        let steps = stepped(&[(1, 5), (2, 90), (3, 6), (4, 91), (5, 7), (6, 92), (7, 8), (8, 93)]);
        let of = |paths: &[u64]| part(&steps, paths, 0, false);
        assert_eq!(of(&[5, 6, 7, 8]), (vec![1, 2, 3, 4, 5, 6, 7], false));
        assert_eq!(of(&[5, 7]), (vec![1, 2, 5], true), "nor what comes after that");
        assert_eq!(of(&[7, 8]), (vec![5, 6, 7], true));
        assert_eq!(of(&[6, 5]), (vec![3], true), "what steps do in another order");
        assert_eq!(of(&[5, 60, 6]), (vec![1, 2, 3], false));
    }

    #[test]
    fn a_step_has_come_to_the_end_of_its_calls_or_further() {
        let mut steps = Steps::default();
        for (entry, path) in [(0, 5), (1, 6)] {
            steps.call_begins();
            steps.ran(Run { entry, path, ..Run::default() });
            steps.call_ends();
            steps.ran(Run { entry: 7 + entry, path: path + 10, ..Run::default() });
        }
        steps.end();
        let so_far = |paths: &[u64], calls| {
            let came = Came { paths: paths.to_vec(), noticed: (1..90).collect() };
            steps.so_far(1, &came, calls)
        };
        assert_eq!([0, 1, 2, 3].map(|calls| so_far(&[], calls)), [vec![], vec![0], vec![0, 7, 1], vec![0, 7, 1]]);
        assert_eq!(so_far(&[5, 15], 1), [0, 7]);
        assert!(steps.so_far(2, &Came::default(), 1).is_empty());
    }

    #[test]
    fn a_step_in_part_leaves_out_calls_that_are_not_made() {
        let mut steps = Steps::default();
        for entry in 0..3 {
            steps.call_begins();
            steps.ran(Run { entry, path: 5, ..Run::default() });
            steps.call_ends();
            steps.ran(Run { entry: 3 + entry, path: 6, ..Run::default() });
        }
        steps.ran(Run { entry: 9, path: 7, ..Run::default() });
        steps.end();
        let until = |paths: &[u64], calls| part(&steps, paths, calls, false).0;
        assert_eq!(until(&[5, 6, 5], 2), [0, 3, 1]);
        assert_eq!(until(&[5, 6, 5, 6], 2), [0, 3, 1, 4]);
        assert_eq!(until(&[5, 6, 5, 6, 7], 2), [0, 3, 1, 4, 9]);
        assert_eq!(until(&[5, 6, 7], 1), [0, 3, 9]);
        assert_eq!(until(&[7], 0), [9]);
        assert_eq!(until(&[5, 6, 5, 6, 5, 6, 7], 9), [0, 3, 1, 4, 2, 5, 9]);
        assert!(until(&[5], 0).is_empty() && until(&[8], 2).is_empty());
    }
}
