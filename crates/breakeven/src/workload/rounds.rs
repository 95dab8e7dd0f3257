//! How often a loop makes its rounds in the whole program. In the order it may stand in pieces: cut by what runs now and
//! then, or begun at another of its operations. So rounds are told by how often the loop's lines ran.

use super::{Entry, Step, order};
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
        let (mut known, mut runs): (BTreeMap<String, usize>, _) = (BTreeMap::new(), Vec::new());
        let mut of = Vec::with_capacity(ops.len());
        for entry in ops {
            let [pid, rank, thread] = [entry.pid, entry.rank, entry.thread].map(|of| of.unwrap_or(u32::MAX));
            let call = format!("{} {pid} {rank} {thread} {}", entry.site, entry.name);
            let line = *known.entry(call).or_insert(runs.len());
            runs.resize(runs.len().max(line + 1), 0_u64);
            runs[line] = runs[line].saturating_add(entry.count);
            of.push(line);
        }
        Self { of, runs }
    }

    /// Rounds of the loop with this body, in all of its pieces.
    pub fn rounds(&self, body: &[Step]) -> u64 {
        let Some(times) = order::counts(body, self.of.len()) else { return 0 };
        let mut each = vec![0_u64; self.runs.len()];
        for (line, times) in self.of.iter().zip(times) {
            each[*line] = each[*line].saturating_add(times);
        }
        let met = self.runs.iter().zip(each).filter(|(_, times)| *times > 0);
        met.map(|(runs, times)| runs / times).min().unwrap_or(0)
    }
}

/// Entries of a body that are looked at for rounds that differ in turns.
const MOST: usize = 1 << 12;

/// How many rounds of the script's loop a body is, and one of them: streams or buffers that take turns make a body of
/// several.
pub fn rounds_in(ops: &[Entry], body: &[Step]) -> (u64, Vec<Step>) {
    let whole: Vec<u32> = order::expand(body).take(MOST + 1).collect();
    let alike = |a: u32, b: u32| match (ops.get(a as usize), ops.get(b as usize)) {
        (Some(a), Some(b)) => {
            (a.site, &a.name, &a.op, a.dtype, &a.shapes, a.thread, a.pid, a.rank)
                == (b.site, &b.name, &b.op, b.dtype, &b.shapes, b.thread, b.pid, b.rank)
        }
        _ => false,
    };
    let repeats = |part: &usize| whole[*part..].iter().zip(&whole).all(|(a, b)| alike(*a, *b));
    let parts = (1..=whole.len() / 2).filter(|part| whole.len() <= MOST && whole.len().is_multiple_of(*part));
    match parts.into_iter().find(repeats) {
        Some(part) => ((whole.len() / part) as u64, whole[..part].iter().copied().map(Step::Run).collect()),
        None => (1, body.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Op, samples};

    #[test]
    fn pieces_of_a_loop_are_one_loop() {
        let call = |site, count| Entry { site, count, ..samples::heat().ops[0].clone() };
        let lines = Lines::new(&[call(0, 100), call(1, 99), call(1, 1), call(2, 5)]);
        let turned = [Step::Run(1), Step::Run(0)];
        assert_eq!(lines.rounds(&turned), 100);
        assert_eq!(lines.rounds(&[Step::Repeat(20, turned.to_vec()), Step::Run(3)]), 5);
    }

    #[test]
    fn rounds_that_take_turns_are_rounds() {
        let call = |site, stream, n| {
            let op = Op::Copy { n, strided: false, inputs: 1, run: 0 };
            Entry { site, stream: Some(stream), op, ..samples::heat().ops[0].clone() }
        };
        let ops = [call(0, 1, 9), call(1, 1, 9), call(0, 2, 9), call(1, 2, 9), call(1, 2, 8)];
        let rounds = |body: &[u32]| {
            let (rounds, one) = rounds_in(&ops, &body.iter().copied().map(Step::Run).collect::<Vec<_>>());
            (rounds, one.len())
        };
        assert_eq!(rounds(&[0, 1, 2, 3]), (2, 2));
        assert_eq!(rounds(&[0, 2, 0]), (3, 1));
        assert_eq!(rounds(&[0, 1]), (1, 2));
        assert_eq!(rounds(&[3, 4]), (1, 2), "a line may call twice");
        assert_eq!(rounds(&[]), (1, 0));
        assert_eq!(rounds_in(&ops, &[Step::Repeat(1 << 40, vec![Step::Run(0)])]).0, 1, "nobody counts so far");
    }
}
