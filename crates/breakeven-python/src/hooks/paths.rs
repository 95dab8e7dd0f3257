//! The paths through the code of the script, and of packages that it uses, on which PyTorch is reached.
//!
//! In a loop whose steps repeat nobody looks at the ops. That something else is done shows where PyTorch is called on a
//! path that no step took: after the loop, between two rounds of an inner one, in a branch not taken so far.

use super::frames;
use super::{clock, state};
use crate::address::AddressHasher;
use crate::modules;
use crate::ours;
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Steps whose paths are remembered: as many as are compared.
const KEPT: usize = 12;
/// Chains of frames that wait to be looked at.
const WAITING: usize = 64;

/// Places that a step comes to, at most.
const LONGEST: usize = 1 << 20;
/// Unwatched steps of which it is learned where they are noticed.
const LEARNED: usize = 8;

type Map<V> = HashMap<u64, V, BuildHasherDefault<AddressHasher>>;
type Set = HashSet<u64, BuildHasherDefault<AddressHasher>>;

/// How far a step has come unwatched.
#[derive(Debug, Default)]
pub(crate) struct Came {
    /// The paths on which a function was called or memory asked for, one after the other.
    pub(crate) paths: Vec<u64>,
    /// These, and those on which that was noticed of earlier steps.
    pub(crate) noticed: Set,
}

/// One path after another, from the innermost frame outwards.
#[inline(always)]
pub(crate) fn mixed(hash: u64, code: usize, offset: i32) -> u64 {
    (hash.rotate_left(5) ^ ((code as u64) << 16) ^ u64::from(offset as u32)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The paths of a loop's steps, and whether an op ran on each.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    open: Map<bool>,
    kept: VecDeque<Map<bool>>,
    steady: Map<bool>,
    /// Ops are watched for those that no step has; those that steps have are counted with them.
    pub(crate) aside: bool,
}

impl Paths {
    /// Whether steps take this path; while they are watched it is learned.
    pub(crate) fn passes(&mut self, path: Option<u64>) -> bool {
        let Some(path) = path else { return true };
        if self.aside || modules::unwatched() {
            return self.steady.is_empty() || self.steady.contains_key(&path);
        }
        self.open.entry(path).or_default();
        true
    }

    /// An op of a step that is watched counted as one on this path.
    pub(crate) fn ran(&mut self, path: u64) {
        self.open.insert(path, true);
    }

    /// Whether steps run ops on this path.
    pub(crate) fn has_ops(&self, path: u64) -> bool {
        self.steady.get(&path) == Some(&true)
    }

    /// A step that was watched ends.
    pub(crate) fn end(&mut self) {
        if !self.aside {
            self.kept.push_front(std::mem::take(&mut self.open));
            self.kept.truncate(KEPT);
        }
    }

    /// What ran so far belongs to no step.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
        self.kept.clear();
    }

    /// Steps go unwatched from now on: they take the paths that the last `alike` watched ones took, or those from before.
    fn settle(&mut self, alike: usize) {
        let mut steady = Map::default();
        for (&path, &op) in self.kept.iter().take(alike).flatten() {
            *steady.entry(path).or_default() |= op;
        }
        if alike > 0 && steady != self.steady {
            self.steady = steady;
            with_waiting(|waiting| *waiting = Waiting { ended_on: waiting.ended_on, ..Waiting::default() });
        }
        SETTLED.store(!self.steady.is_empty(), Relaxed);
        self.aside = false;
    }
}

/// Steps go unwatched, and it is known on which paths they reach PyTorch.
static SETTLED: AtomicBool = AtomicBool::new(false);

/// Steps go unwatched from now on, like the last `alike` watched ones, or no longer: then `aside` says that only what they
/// do not do is looked for.
pub(crate) fn settle(paths: &mut Paths, on: bool, alike: usize, aside: bool) {
    if on {
        paths.settle(alike);
    } else {
        SETTLED.store(false, Relaxed);
        paths.aside = aside;
    }
}

/// All frames at a place where memory was asked for.
struct Chain {
    hash: u64,
    ticks: u64,
    frames: Vec<(usize, i32)>,
}

#[derive(Default)]
struct Waiting {
    /// The path of each chain that steps take, 0 until it is known and where no op counts on it.
    met: Map<u64>,
    chains: Vec<Chain>,
    /// Addresses of the memory that was given out since the first of them.
    given: Vec<usize>,
    /// Where a function was called or memory asked for in the step that goes on, one place after the other: paths, and chains.
    came: Vec<u64>,
    /// Some of these are known of ops that were seen.
    seen: bool,
    /// Where the step before ended: the rest of that call is none of the step that goes on.
    ended_on: u64,
    /// Paths on which so many unwatched steps were met.
    noticed: Set,
    learned: usize,
}

impl Waiting {
    fn comes_to(&mut self, place: u64, seen: bool) {
        self.seen |= seen;
        if self.came.last() != Some(&place) && self.came.len() < LONGEST {
            self.came.push(place);
        }
    }

    /// The paths among the places that the step that goes on has come to.
    fn paths(&self) -> Vec<u64> {
        let met = |place: &u64| self.met.get(place).copied().unwrap_or(*place);
        let mut paths: Vec<u64> = self.came.iter().map(met).filter(|&path| path != 0).collect();
        paths.dedup();
        let is_rest = paths.first() == Some(&self.ended_on);
        paths.drain(..usize::from(is_rest));
        paths
    }

    fn came(&self) -> Came {
        let paths = self.paths();
        let noticed = self.noticed.iter().chain(&paths).copied().collect();
        Came { paths, noticed }
    }

    fn take_came(&mut self) -> Came {
        let came = self.came();
        self.came.clear();
        came
    }

    fn next_step(&mut self, ended_on: u64) {
        if !(self.came.is_empty() || self.seen || self.learned == LEARNED) {
            self.learned += 1;
            let paths = self.paths();
            self.noticed.extend(paths);
        }
        self.came.clear();
        self.seen = false;
        self.ended_on = ended_on;
    }
}

/// The step that goes on has come to this path; `seen`: by its ops, which are watched for what steps do not do.
pub(crate) fn comes_to(path: u64, seen: bool) {
    with_waiting(|waiting| waiting.comes_to(path, seen));
}

/// How far the step that goes on has come; that is forgotten.
pub(crate) fn has_come_to() -> Came {
    with_waiting(Waiting::take_came).unwrap_or_default()
}

/// How far the step that goes on has come.
pub(crate) fn comes() -> Came {
    with_waiting(|waiting| waiting.came()).unwrap_or_default()
}

/// A step ends where the running call is, and the next one begins.
pub(crate) fn next_step(codes: &mut frames::Codes) {
    // SAFETY: whoever has the state has the lock.
    let path = unsafe { frames::path(codes) };
    with_waiting(|waiting| waiting.next_step(path.unwrap_or(0)));
}

/// Chains wait.
static WAITS: AtomicBool = AtomicBool::new(false);

/// What is asked without Python's lock; nobody waits for it: a child that was forked meanwhile may find it held for ever.
static WAITING_CHAINS: Mutex<Option<Waiting>> = Mutex::new(None);

fn with_waiting<R>(f: impl FnOnce(&mut Waiting) -> R) -> Option<R> {
    let mut waiting = WAITING_CHAINS.try_lock().ok()?;
    Some(f(waiting.get_or_insert_with(Waiting::default)))
}

/// What memory the main thread has asked for in steps that went unwatched: bytes of each tensor, and [`ONE`] more.
static ASKED: AtomicU64 = AtomicU64::new(0);
const ONE: u64 = 64;

/// That sum so far: of two steps that do the same it grows by the same.
pub(crate) fn asked() -> u64 {
    ASKED.load(Relaxed)
}

/// PyTorch asks for a tensor's memory in some thread, with or without Python's lock; whether it ought to be looked into.
#[inline]
pub(crate) fn reached_unwatched(bytes: usize) -> bool {
    if !modules::unwatched() || !frames::in_main() {
        return false;
    }
    // A loader's order is drawn when it comes to that.
    if !state::with_thread(|thread| thread.is_loading()).unwrap_or(false) {
        ASKED.fetch_add(bytes as u64 + ONE, Relaxed);
    }
    if !SETTLED.load(Relaxed) {
        return false;
    }
    let mut hash = 0;
    // SAFETY: this is the main thread, whose frames nobody else changes.
    unsafe { frames::each_in_main(|code, offset| hash = mixed(hash, code, offset)) };
    let unmet = |waiting: &mut Waiting| {
        if let Some(&path) = waiting.met.get(&hash) {
            if path != 0 {
                waiting.comes_to(path, false);
            }
            return false;
        }
        let unmet = waiting.chains.len() < WAITING;
        if unmet {
            waiting.met.insert(hash, 0);
            waiting.comes_to(hash, false);
            let mut frames = Vec::new();
            // SAFETY: as above.
            unsafe { frames::each_in_main(|code, offset| frames.push((code, offset))) };
            waiting.chains.push(Chain { hash, ticks: clock::now(), frames });
            WAITS.store(true, Relaxed);
        }
        unmet
    };
    with_waiting(unmet).unwrap_or(false)
}

/// PyTorch has been given this memory for a tensor.
#[inline]
pub(crate) fn given(address: usize) {
    if WAITS.load(Relaxed) && frames::in_main() {
        with_waiting(|waiting| {
            if waiting.given.len() < WAITING {
                waiting.given.push(address);
            }
        });
    }
}

/// Between two instructions of the main thread's: was anything reached on a path that steps do not take?
pub(crate) fn look(py: Python<'_>) -> PyResult<()> {
    WAITS.store(false, Relaxed);
    let waited = |waiting: &mut Waiting| (std::mem::take(&mut waiting.chains), std::mem::take(&mut waiting.given));
    let (chains, given) = with_waiting(waited).unwrap_or_default();
    let mut since = None;
    state::with(py, |state| {
        // Also learns whose the code of the frames is.
        // SAFETY: the lock is held.
        let _ = unsafe { frames::path(&mut state.codes) };
        for chain in chains {
            let path = chain.frames.iter().fold(0, |hash, &(code, offset)| {
                state.codes.on_path(code, offset).map_or(hash, |at| mixed(hash, code, at))
            });
            if state.paths.passes(Some(path)) {
                let come_to = if state.paths.has_ops(path) { path } else { 0 };
                with_waiting(|waiting| waiting.met.insert(chain.hash, come_to));
            } else {
                with_waiting(|waiting| waiting.met.remove(&chain.hash));
                since = since.or(Some(chain.ticks));
            }
        }
    });
    if let Some(since) = since {
        let ns = clock::now().saturating_sub(since) as f64 / clock::ticks_per_ns();
        step_aside(py, ns as u64, given)?;
    }
    Ok(())
}

fn step_aside(py: Python<'_>, ns: u64, given: Vec<usize>) -> PyResult<()> {
    let told = || py.import("breakeven.torch.steps.sampler")?.call_method1("step_aside", (ns, given));
    ours::told(py, told).map(drop)
}

/// Whether the running call is on a path that steps take, as far as it can be told.
#[pyfunction]
pub(crate) fn of_steps(py: Python<'_>) -> bool {
    let known = state::with(py, |state| {
        // SAFETY: the lock is held.
        let path = unsafe { frames::path(&mut state.codes) };
        state.paths.passes(path)
    });
    known.unwrap_or(true)
}

/// A function of PyTorch's is about to be called: what no step calls is watched.
pub(crate) fn called(py: Python<'_>) -> PyResult<()> {
    if !state::recording() {
        return Ok(());
    }
    let passes = state::with(py, |state| {
        // SAFETY: the lock is held.
        let path = unsafe { frames::path(&mut state.codes) };
        if let Some(path) = path.filter(|&path| modules::unwatched() && state.paths.has_ops(path)) {
            comes_to(path, false);
        }
        state.paths.passes(path)
    });
    if passes == Some(false) && modules::unwatched() {
        step_aside(py, 0, Vec::new())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_watched_steps_are_those_of_steps() {
        let mut paths = Paths::default();
        assert!(paths.passes(Some(1)) && paths.passes(None));
        paths.end();
        assert!(paths.passes(Some(0)));
        paths.end();
        assert!(paths.passes(Some(1)));
        paths.end();
        paths.settle(1);
        paths.aside = true;
        assert!(paths.passes(Some(1)) && paths.passes(None));
        assert!(!paths.passes(Some(0)), "a step before those that are alike");
        assert!(!paths.passes(Some(2)));
        assert!(!paths.passes(Some(2)), "what is met beside steps is none of theirs");
        assert!(!paths.has_ops(1), "a function that runs none");
        paths.aside = false;
        paths.ran(1);
        paths.end();
        paths.settle(1);
        assert!(paths.has_ops(1));
        paths.settle(0);
        paths.aside = true;
        assert!(paths.passes(Some(1)) && !paths.passes(Some(2)));
        paths.aside = false;
        paths.forget();
        paths.end();
        assert!(paths.kept.iter().all(HashMap::is_empty));
    }

    #[test]
    fn where_a_step_came_is_known_by_paths() {
        let mut waiting = Waiting::default();
        waiting.next_step(7);
        [7, 1, 1, 50, 51, 2].into_iter().for_each(|place| waiting.comes_to(place, false));
        waiting.met.extend([(50, 3), (51, 0)]);
        waiting.next_step(7);
        waiting.comes_to(4, true);
        waiting.next_step(0);
        assert!(waiting.came.is_empty());
        assert_eq!(waiting.noticed, Set::from_iter([1, 2, 3]), "not what was seen");
        waiting.comes_to(5, false);
        let came = waiting.take_came();
        assert_eq!((came.paths, came.noticed.len()), (vec![5], 4));
    }

    #[test]
    fn the_order_of_frames_counts() {
        let both = |first: (usize, i32), second: (usize, i32)| mixed(mixed(0, first.0, first.1), second.0, second.1);
        assert_ne!(both((1, 2), (3, 4)), both((3, 4), (1, 2)));
        assert_ne!(both((1, 2), (3, 4)), both((1, 3), (3, 4)));
    }
}
