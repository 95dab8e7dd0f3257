//! Which of the ranges that a program marks are steps of its loop.

use crate::model::{Step, Trace};
use crate::span::Span;
use std::collections::BTreeMap;

/// Words that a step's name ends in, before its number.
const WORDS: [&str; 6] = ["step", "steps", "iteration", "iter", "batch", "profilerstep"];
/// Words of parts of a step.
const PARTS: [&str; 8] = ["optimizer", "optim", "scheduler", "lr", "forward", "backward", "fwd", "bwd"];
/// So many names are looked at.
const MOST: usize = 4096;

/// Ranges that may be steps, by what their names have in common.
#[derive(Default)]
pub(super) struct Candidates {
    by_stem: BTreeMap<String, Vec<(Option<i64>, Span, u16)>>,
}

/// What a name has in common with those of other steps, and its number: `train_step #12`, `Iteration: 3`.
fn stem(name: &[u8]) -> Option<(String, Option<i64>)> {
    let name = std::str::from_utf8(name.get(..name.len().min(120))?).ok()?.trim_end();
    let rest = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[rest.len()..].parse().ok();
    let stem = rest.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut words = stem.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (last, any_part) = (words.clone().next_back()?, words.any(|word| PARTS.contains(&word)));
    (WORDS.contains(&last) && !any_part).then(|| (stem.clone(), number))
}

/// Whether a range fetches the next batch.
pub(super) fn loads(name: &[u8]) -> bool {
    let lower = name.get(..name.len().min(120)).unwrap_or_default().to_ascii_lowercase();
    let has = |part: &str| memchr::memmem::find(&lower, part.as_bytes()).is_some();
    ["dataloader", "data_loader", "data loading", "data_loading", "load_data", "load data"].into_iter().any(has)
}

impl Candidates {
    /// Looks at a range.
    pub(super) fn look(&mut self, name: &[u8], span: Span, process: u16) {
        if let Some((stem, number)) = stem(name)
            && (self.by_stem.len() < MOST || self.by_stem.contains_key(&stem))
        {
            self.by_stem.entry(stem).or_default().push((number, span, process));
        }
    }

    /// The steps: of the names that come more than once or have a number, those that take most of the time.
    pub(super) fn choose(self, trace: &mut Trace) {
        let several = self.by_stem.into_values().filter(|all| all.len() > 1 || all[0].0.is_some());
        let time =
            |all: &Vec<(_, Span, _)>| all.iter().fold(0_i64, |sum, (_, span, _)| sum.saturating_add(span.length()));
        let Some(mut steps) = several.max_by_key(time) else { return };
        steps.sort_unstable_by_key(|(_, span, process)| (*process, *span));
        // A step that lies in another of its process is a part of it.
        let mut last: Option<(u16, i64)> = None;
        for (place, (number, span, process)) in (0_i64..).zip(steps) {
            if last.is_none_or(|(before, to)| before != process || to <= span.from) {
                last = Some((process, span.to));
                trace.steps.push(Step { number: number.unwrap_or(place), span, process });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn names_of_steps_and_of_others() {
        for (name, expected) in [
            ("ProfilerStep#12", Some(("profilerstep", Some(12)))),
            ("train_step", Some(("train_step", None))),
            ("Iteration: 3", Some(("iteration", Some(3)))),
            ("iter7", Some(("iter", Some(7)))),
            ("batch 0", Some(("batch", Some(0)))),
            ("Optimizer.step#Adam.step", None),
            ("lr_scheduler.step", None),
            ("forward_step", None),
            ("aten::mm", None),
            ("12", None),
            ("", None),
        ] {
            let expected = expected.map(|(stem, number)| (stem.to_owned(), number));
            assert_eq!(stem(name.as_bytes()), expected, "{name}");
        }
    }
}
