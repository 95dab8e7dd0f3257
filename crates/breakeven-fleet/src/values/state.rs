//! In what state a job is, or ended.

/// A state of Slurm, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are Slurm's")]
pub enum State {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
    Timeout,
    OutOfMemory,
    NodeFail,
    Preempted,
    Requeued,
    /// A word that is not known, or none.
    #[default]
    Unknown,
}

use State::{
    Cancelled, Completed, Failed, NodeFail, OutOfMemory, Pending, Preempted, Requeued, Running, Timeout, Unknown,
};

/// Slurm's words, long and short; the first of each state names it.
const WORDS: [(&str, State); 30] = [
    ("COMPLETED", Completed),
    ("FAILED", Failed),
    ("CANCELLED", Cancelled),
    ("TIMEOUT", Timeout),
    ("RUNNING", Running),
    ("PENDING", Pending),
    ("OUT_OF_MEMORY", OutOfMemory),
    ("NODE_FAIL", NodeFail),
    ("PREEMPTED", Preempted),
    ("REQUEUED", Requeued),
    ("UNKNOWN", Unknown),
    ("BOOT_FAIL", NodeFail),
    ("DEADLINE", Timeout),
    ("SUSPENDED", Running),
    ("COMPLETING", Running),
    ("RESIZING", Running),
    ("REVOKED", Cancelled),
    ("CONFIGURING", Pending),
    ("CD", Completed),
    ("F", Failed),
    ("CA", Cancelled),
    ("TO", Timeout),
    ("R", Running),
    ("PD", Pending),
    ("OOM", OutOfMemory),
    ("NF", NodeFail),
    ("PR", Preempted),
    ("RQ", Requeued),
    ("S", Running),
    ("CG", Running),
];

impl State {
    /// The state of that word; of `CANCELLED by 1234` and `CANCELLED+` the first part counts.
    pub fn known(text: &str) -> Option<Self> {
        let word = text.split([' ', '+']).next().unwrap_or_default();
        WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, state)| *state)
    }

    /// Slurm's word.
    pub fn name(self) -> &'static str {
        WORDS.iter().find(|(_, state)| *state == self).map_or("UNKNOWN", |(word, _)| word)
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn what_follows_a_state_does_not_count() {
        assert_eq!(State::known("CANCELLED by 423120"), Some(State::Cancelled));
        assert_eq!((State::known("oom"), State::known("Succeeded")), (Some(State::OutOfMemory), None));
        assert_eq!(State::Pending.name(), "PENDING");
    }
}
