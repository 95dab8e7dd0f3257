//! What recordings of scripts say of jobs that run the same script.

use crate::names::base;
use breakeven::estimate::Verdict;
use breakeven::interval::Interval;

/// A recorded script and what was estimated of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The script as it was called: `heat.py`, or a path.
    pub script: String,
    /// Whether it would pay on a GPU.
    pub verdict: Verdict,
    /// On which: its name in the catalogue.
    pub gpu: Option<String>,
    /// How much faster there.
    pub speedup: Option<Interval>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recordings(Vec<Recording>);

/// What they say of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joined<'a> {
    /// None is of its script.
    Nothing,
    /// Those of its script say different things.
    Disagree,
    /// All of its script agree.
    One(&'a Recording, u16),
}

impl Recordings {
    /// Those of scripts that have a name.
    pub fn new(all: Vec<Recording>) -> Self {
        Self(all.into_iter().filter(|recording| !base(&recording.script).is_empty()).collect())
    }

    /// Whether there are any.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// By its number.
    pub fn get(&self, number: u16) -> Option<&Recording> {
        self.0.get(usize::from(number))
    }

    /// Those of a job's script: a word of its command has the script's name, or the job is called by it, with or
    /// without
    /// what follows the dot. Nothing that is only alike counts.
    pub fn of(&self, command: Option<&str>, name: Option<&str>) -> Joined<'_> {
        let called = |script: &str| {
            let stem = script.rsplit_once('.').map_or(script, |(stem, _)| stem);
            command.is_some_and(|command| command.split_whitespace().any(|word| base(word) == script))
                || name.is_some_and(|name| base(name) == script || name == stem)
        };
        let mut of_script = self.0.iter().enumerate().filter(|(_, recording)| called(base(&recording.script)));
        let Some((number, first)) = of_script.next() else { return Joined::Nothing };
        if of_script.any(|(_, other)| other.verdict != first.verdict) {
            return Joined::Disagree;
        }
        u16::try_from(number).map_or(Joined::Nothing, |number| Joined::One(first, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_script_is_joined() {
        let recording = |script: &str, verdict| Recording { script: script.into(), verdict, gpu: None, speedup: None };
        let all = Recordings::new(vec![recording("src/heat.py", Verdict::Gpu), recording("a.py", Verdict::Gpu)]);
        assert!(matches!(all.of(Some("srun python /x/heat.py 3"), None), Joined::One(_, 0)));
        assert!(matches!(all.of(None, Some("heat")), Joined::One(_, 0)));
        assert_eq!([all.of(None, Some("heat2")), all.of(Some("python preheat.py"), None)], [Joined::Nothing; 2]);
        let split = Recordings::new(vec![recording("a.py", Verdict::Gpu), recording("a.py", Verdict::Cpu)]);
        assert_eq!(split.of(None, Some("a.py")), Joined::Disagree);
    }
}
