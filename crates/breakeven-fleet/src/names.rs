//! Names of users, accounts, partitions and applications, each kept once, and hashed where that is asked.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A name by its number.
pub type Symbol = u32;
/// No name.
pub const NOBODY: Symbol = 0;
/// Applications beyond so many are one: names of jobs may be as many as jobs.
const MOST_APPLICATIONS: usize = 100_000;

/// Whose names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Of {
    User,
    Account,
    Partition,
    Application,
}

/// Every kind of name, in the order of their tables.
pub const KINDS: [Of; 4] = [Of::User, Of::Account, Of::Partition, Of::Application];

impl Of {
    /// For programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Partition => "partition",
            Self::Application => "application",
        }
    }
}

/// All names of a fleet.
#[derive(Debug, Default)]
pub struct Names {
    kept: [RwLock<Kept>; 4],
    key: Option<[u8; 32]>,
}

#[derive(Debug, Default)]
struct Kept {
    numbers: HashMap<Arc<str>, Symbol>,
    shown: Vec<Arc<str>>,
}

impl Names {
    /// Names as they are, or hashed with this key: the same name and key give the same hash, and without the key no
    /// name
    /// can be tried out.
    pub fn new(key: Option<[u8; 32]>) -> Self {
        Self { key, ..Self::default() }
    }

    /// The number of a name.
    pub fn symbol(&self, of: Of, name: &str) -> Symbol {
        let name = name.trim();
        if name.is_empty() {
            return NOBODY;
        }
        let kept = &self.kept[of as usize];
        if let Some(symbol) = kept.read().unwrap_or_else(PoisonError::into_inner).numbers.get(name) {
            return *symbol;
        }
        let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
        let full = of == Of::Application && kept.shown.len() >= MOST_APPLICATIONS;
        let name = if full { "(other names)" } else { name };
        if let Some(symbol) = kept.numbers.get(name) {
            return *symbol;
        }
        let (name, shown): (Arc<str>, Arc<str>) = (name.into(), self.shown(of, name).into());
        kept.shown.push(shown);
        let symbol = Symbol::try_from(kept.shown.len()).unwrap_or(NOBODY);
        kept.numbers.insert(name, symbol);
        symbol
    }

    /// A name as it is shown: itself, or its hash. Partitions are the site's, and stay.
    pub fn shown(&self, of: Of, name: &str) -> String {
        match &self.key {
            Some(key) if of != Of::Partition => {
                let told = format!("{}\n{name}", of.key());
                format!("{}-{}", of.key(), &blake3::keyed_hash(key, told.as_bytes()).to_hex()[..12])
            }
            _ => name.to_owned(),
        }
    }

    /// The name of a number; `(none)` where there was none.
    pub fn name(&self, of: Of, symbol: Symbol) -> Arc<str> {
        let kept = self.kept[of as usize].read().unwrap_or_else(PoisonError::into_inner);
        let known = (symbol as usize).checked_sub(1).and_then(|at| kept.shown.get(at));
        known.map_or_else(|| "(none)".into(), Arc::clone)
    }
}

/// A key of 32 bytes from one of any length.
pub fn key_of(bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key("breakeven 2026 fleet names", bytes)
}

/// Words that start programs, and say nothing of them.
const STARTERS: [&str; 12] = [
    "srun",
    "sbatch",
    "salloc",
    "mpirun",
    "mpiexec",
    "python",
    "python3",
    "bash",
    "sh",
    "singularity",
    "apptainer",
    "env",
];

/// Which application a command or a job's name stands for: the script or program of the command, else the name with its
/// numbers as `#`, so that `sweep-17` and `sweep-18` are one.
pub fn application(command: Option<&str>, name: Option<&str>) -> Option<String> {
    let of_command = command.and_then(|command| {
        let words = command.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
        let mut bases = words.map(base).filter(|word| !word.is_empty());
        bases.find(|word| !STARTERS.contains(word) && !word.chars().all(|c| c.is_ascii_digit())).map(str::to_owned)
    });
    of_command.or_else(|| {
        let name = name?;
        let mut out = String::with_capacity(name.len());
        for c in name.chars() {
            match c.is_ascii_digit() {
                true if out.ends_with('#') => {}
                true => out.push('#'),
                false => out.push(c),
            }
        }
        Some(out)
    })
}

/// The last part of a path.
pub(crate) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_are_scripts_else_names_without_numbers() {
        let of = |command, name| application(command, name).unwrap();
        assert_eq!(of(Some("srun -n 1 python /home/me/train.py --lr 3"), Some("job7")), "train.py");
        assert_eq!(of(None, Some("_mb_bot240520ps_")), "_mb_bot#ps_");
        assert_eq!(application(None, None), None);
    }

    #[test]
    fn hashes_need_the_key_and_hold_with_it() {
        let (a, b) = (Names::new(Some([1; 32])), Names::new(Some([2; 32])));
        assert_eq!(a.shown(Of::User, "ada"), Names::new(Some([1; 32])).shown(Of::User, "ada"));
        assert_ne!(a.shown(Of::User, "ada"), b.shown(Of::User, "ada"));
        assert_eq!(a.shown(Of::Partition, "gpu"), "gpu");
        let symbol = a.symbol(Of::User, "ada");
        assert_eq!((a.symbol(Of::User, " ada "), a.symbol(Of::User, "")), (symbol, NOBODY));
        assert!(!a.name(Of::User, symbol).contains("ada"));
    }
}
