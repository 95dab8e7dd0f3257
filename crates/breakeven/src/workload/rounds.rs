//! How often a loop makes its rounds in the whole program. In the order it may stand in pieces: cut by what runs now and
//! then, or begun at another of its operations. So rounds are told by how often the loop's lines ran.

use super::{Entry, Step};
use std::collections::BTreeMap;

/// The calls of a program by line, whatever their shapes; those of each process and thread apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// By entry: which line and call it is.
    of: Vec<usize>,
    /// By line and call: how often it ran.
    runs: Vec<u64>,
}

impl Lines {
    /// Those of these entries.
    pub fn new(ops: &[Entry]) -> Self {
        let (mut known, mut runs) = (BTreeMap::new(), Vec::new());
        let mut of = Vec::with_capacity(ops.len());
        for entry in ops {
            let call = (entry.site, entry.name.as_str(), entry.pid, entry.rank, entry.thread);
            let line = *known.entry(call).or_insert(runs.len());
            runs.resize(runs.len().max(line + 1), 0_u64);
            runs[line] = runs[line].saturating_add(entry.count);
            of.push(line);
        }
        Self { of, runs }
    }

    /// Rounds of the loop with this body, in all of its pieces.
    pub fn rounds(&self, body: &[Step]) -> u64 {
        let mut each = BTreeMap::new();
        self.count(body, 1, &mut each);
        each.iter().map(|(line, times)| self.runs[*line] / (*times).max(1)).min().unwrap_or(0)
    }

    fn count(&self, steps: &[Step], times: u64, each: &mut BTreeMap<usize, u64>) {
        for step in steps {
            match step {
                Step::Run(entry) => {
                    if let Some(line) = self.of.get(*entry as usize) {
                        let n = each.entry(*line).or_default();
                        *n = n.saturating_add(times);
                    }
                }
                Step::Repeat(more, body) => self.count(body, times.saturating_mul(*more), each),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::samples;

    #[test]
    fn pieces_of_a_loop_are_one_loop() {
        let call = |site, count| Entry { site, count, ..samples::heat().ops[0].clone() };
        let lines = Lines::new(&[call(0, 100), call(1, 99), call(1, 1), call(2, 5)]);
        let turned = [Step::Run(1), Step::Run(0)];
        assert_eq!(lines.rounds(&turned), 100);
        assert_eq!(lines.rounds(&[Step::Repeat(20, turned.to_vec()), Step::Run(3)]), 5);
    }
}
