//! The order of a program as steps: entries and loops of entries.

use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Loops nest at most this deep in a file; recorded programs stay far below.
pub const MAX_DEPTH: u32 = 32;

/// The program's order: an entry, or a body that repeats. Written as `7` or `[times, [body…]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// Index into `Workload::ops`, run once.
    Run(u32),
    /// The body, this many times.
    Repeat(u64, Vec<Step>),
}

/// The entries of `order` one by one, loops unrolled.
///
/// ```
/// use breakeven::workload::{Step, order::expand};
/// let order = [Step::Run(7), Step::Repeat(2, vec![Step::Run(1), Step::Run(2)])];
/// assert!(expand(&order).eq([7, 1, 2, 1, 2]));
/// ```
pub fn expand(order: &[Step]) -> Expand<'_> {
    Expand { stack: vec![(order, 0, 1)] }
}

/// See [`expand`].
#[derive(Clone, Debug)]
pub struct Expand<'a> {
    /// (body, next step of it, rounds still to go including this one)
    stack: Vec<(&'a [Step], usize, u64)>,
}

impl Iterator for Expand<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let (body, next, rounds) = self.stack.last_mut()?;
            match body.get(*next) {
                Some(Step::Run(entry)) => {
                    *next += 1;
                    return Some(*entry);
                }
                Some(Step::Repeat(times, inner)) => {
                    *next += 1;
                    if *times > 0 && !inner.is_empty() {
                        self.stack.push((inner, 0, *times));
                    }
                }
                None if *rounds > 1 => (*next, *rounds) = (0, *rounds - 1),
                None => drop(self.stack.pop()),
            }
        }
    }
}

/// What all runs of the entries in `steps` weigh, wherever they run: `all` says it by entry.
pub fn weigh_once(steps: &[Step], all: &[f64]) -> f64 {
    counts(steps, all.len())
        .map_or(0.0, |runs| runs.iter().zip(all).filter(|(runs, _)| **runs > 0).map(|(_, all)| all).sum())
}

/// How often each of `entries` entries runs in `order`; `None` when a count exceeds 2⁶⁴ or an index does not exist.
pub fn counts(order: &[Step], entries: usize) -> Option<Vec<u64>> {
    fn add(steps: &[Step], times: u64, counts: &mut [u64]) -> Option<()> {
        for step in steps {
            match step {
                Step::Run(entry) => {
                    let count = counts.get_mut(*entry as usize)?;
                    *count = count.checked_add(times)?;
                }
                Step::Repeat(inner, body) => add(body, times.checked_mul(*inner)?, counts)?,
            }
        }
        Some(())
    }
    let mut counts = vec![0; entries];
    add(order, 1, &mut counts)?;
    counts.iter().try_fold(0_u64, |sum, n| sum.checked_add(*n))?;
    Some(counts)
}

/// Position of the last run of each of `entries` entries when `order` is written out, from 0; `None` for those that never
/// run.
///
/// ```
/// use breakeven::workload::{Step, order::last_runs};
/// let order = [Step::Run(0), Step::Repeat(3, vec![Step::Run(1), Step::Run(0)]), Step::Run(2)];
/// assert_eq!(last_runs(&order, 4), [Some(6), Some(5), Some(7), None]);
/// ```
pub fn last_runs(order: &[Step], entries: usize) -> Vec<Option<u64>> {
    fn walk(steps: &[Step], mut at: u64, last: &mut [Option<u64>]) -> u64 {
        for step in steps {
            match step {
                Step::Run(entry) => {
                    if let Some(last) = last.get_mut(*entry as usize) {
                        *last = Some(at);
                    }
                    at = at.saturating_add(1);
                }
                Step::Repeat(0, _) => {}
                Step::Repeat(times, body) => {
                    let all_but_one = length(body).saturating_mul(times - 1);
                    at = walk(body, at.saturating_add(all_but_one), last);
                }
            }
        }
        at
    }
    let mut last = vec![None; entries];
    walk(order, 0, &mut last);
    last
}

/// Runs in `order` when it is written out.
fn length(order: &[Step]) -> u64 {
    let runs = order.iter().map(|step| match step {
        Step::Run(_) => 1,
        Step::Repeat(times, body) => length(body).saturating_mul(*times),
    });
    runs.fold(0, u64::saturating_add)
}

/// `order` with every entry `i` replaced by `new(i)`.
pub fn renumber(order: Vec<Step>, new: &dyn Fn(u32) -> u32) -> Vec<Step> {
    let step = |step| match step {
        Step::Run(entry) => Step::Run(new(entry)),
        Step::Repeat(times, body) => Step::Repeat(times, renumber(body, new)),
    };
    order.into_iter().map(step).collect()
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        OneStep(0).deserialize(deserializer)
    }
}

/// Reads a step at this depth of nesting.
#[derive(Clone, Copy)]
struct OneStep(u32);

impl<'de> DeserializeSeed<'de> for OneStep {
    type Value = Step;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Step, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneStep {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step: an index into `ops` such as 7, or a loop such as [1000, [7, 8]]")
    }

    fn visit_u64<E: serde::de::Error>(self, entry: u64) -> Result<Step, E> {
        u32::try_from(entry).map(Step::Run).map_err(|_| E::custom(format!("index {entry} is larger than any entry's")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Step, A::Error> {
        if self.0 >= MAX_DEPTH {
            return Err(A::Error::custom(format!("loops nest deeper than {MAX_DEPTH}")));
        }
        let times = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let body = seq.next_element_seed(Body(self.0 + 1))?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        if seq.next_element::<serde::de::IgnoredAny>()?.is_some() {
            return Err(A::Error::custom("a loop is [times, [body…]] and has nothing after its body"));
        }
        if times == 0 || body.is_empty() {
            return Err(A::Error::custom("a loop runs at least once and its body is not empty"));
        }
        Ok(Step::Repeat(times, body))
    }
}

/// Reads the steps of a body at this depth.
struct Body(u32);

impl<'de> DeserializeSeed<'de> for Body {
    type Value = Vec<Step>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Step>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Body {
    type Value = Vec<Step>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body of a loop, such as [7, 8]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Step>, A::Error> {
        let mut steps = Vec::new();
        while let Some(step) = seq.next_element_seed(OneStep(self.0))? {
            steps.push(step);
        }
        Ok(steps)
    }
}
