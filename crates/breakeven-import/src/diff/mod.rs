//! What changed between two runs: figures side by side, and kernels, host ops and source lines by name.

mod policy;
mod report;
mod side;

pub use policy::Condition;
pub use report::{json, markdown, sentence, text};
pub use side::Side;

/// What a figure is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// s.
    Seconds,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
}

/// A figure of both runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its stable name, as conditions use it.
    pub key: &'static str,
    /// As people say it.
    pub words: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// In the first run; `None` where it is not known.
    pub before: Option<f64>,
    /// In the second.
    pub after: Option<f64>,
}

impl Change {
    /// How much more it is in the second run; `None` where one of them is not known.
    pub fn difference(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }

    /// The same as a part of what it was; `None` also where it was nothing and no longer is.
    pub fn relative(&self) -> Option<f64> {
        let (before, difference) = (self.before?, self.difference()?);
        if difference == 0.0 { Some(0.0) } else { (before > 0.0).then(|| difference / before) }
    }
}

/// Something with a name in both runs: how often, and how long together, s.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// In the first run; `None` where it is not there.
    pub before: Option<(f64, f64)>,
    /// In the second.
    pub after: Option<(f64, f64)>,
}

impl Named {
    /// How much longer it takes in the second run, s.
    pub fn difference(&self) -> f64 {
        let time = |side: Option<(f64, f64)>| side.map_or(0.0, |(_, s)| s);
        time(self.after) - time(self.before)
    }
}

/// What changed between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What the figures are of: a step where both runs have steps, the whole of the GPU's time otherwise.
    pub of_step: bool,
    /// The files of both runs.
    pub files: [Vec<String>; 2],
    /// Figures, in the order in which they are shown; the first is the time.
    pub changes: Vec<Change>,
    /// Kernels by name, the largest change first.
    pub kernels: Vec<Named>,
    /// Host ops by the kernels that they asked for.
    pub ops: Vec<Named>,
    /// Source lines by the kernels that they launched.
    pub lines: Vec<Named>,
    /// What makes the runs hard to compare.
    pub notes: Vec<String>,
}

/// A change below this part is none.
pub(crate) const SAME: f64 = 0.02;

impl Difference {
    /// Compares two runs.
    pub fn of(before: &Side, after: &Side) -> Self {
        let of_step = before.steps.is_some() && after.steps.is_some();
        let per = |side: &Side| if of_step { side.steps.unwrap_or(1.0) } else { 1.0 };
        let (a, b) = (per(before), per(after));
        let change = |(key, words, unit): &(&'static str, &'static str, Unit)| {
            let figure = |side: &Side| if of_step { side.of_step(key) } else { side.figure(key) };
            Change { key, words, unit: *unit, before: figure(before), after: figure(after) }
        };
        let mut changes: Vec<Change> = FIGURES.iter().map(change).collect();
        changes.retain(|change| change.key == "time" || change.before.is_some() || change.after.is_some());
        Self {
            of_step,
            files: [before.files.clone(), after.files.clone()],
            changes,
            kernels: named(&before.kernels, &after.kernels, a, b),
            ops: named(&before.ops, &after.ops, a, b),
            lines: named(&before.lines, &after.lines, a, b),
            notes: notes(before, after),
        }
    }

    /// A figure by its key.
    pub fn change(&self, key: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.key == key)
    }
}

/// Figures that are compared: keys, words, units.
const FIGURES: [(&str, &str, Unit); 18] = [
    ("time", "time", Unit::Seconds),
    ("kernel_time", "kernel time", Unit::Seconds),
    ("busy", "GPU busy", Unit::Seconds),
    ("idle", "GPU idle", Unit::Seconds),
    ("idle_launch", "idle for launching", Unit::Seconds),
    ("idle_wait", "idle while the host waited", Unit::Seconds),
    ("idle_loader", "idle for the data loader", Unit::Seconds),
    ("idle_host", "idle for host work", Unit::Seconds),
    ("copies_alone", "copies without kernels", Unit::Seconds),
    ("communication_alone", "communication alone", Unit::Seconds),
    ("kernels", "kernels", Unit::Count),
    ("launches", "launches", Unit::Count),
    ("graph_launches", "graph launches", Unit::Count),
    ("waits", "waits", Unit::Count),
    ("wait_time", "time in waits", Unit::Seconds),
    ("copies", "copies", Unit::Count),
    ("copy_time", "copy time", Unit::Seconds),
    ("copy_bytes", "bytes copied", Unit::Bytes),
];

/// The keys of all figures.
pub(crate) fn keys() -> Vec<&'static str> {
    FIGURES.iter().map(|(key, ..)| *key).collect()
}

type Names = std::collections::BTreeMap<String, (f64, f64)>;

fn named(before: &Names, after: &Names, a: f64, b: f64) -> Vec<Named> {
    let scaled = |side: &Names, name: &str, per: f64| side.get(name).map(|(count, s)| (count / per, s / per));
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let mut all: Vec<Named> = names
        .map(|name| Named { name: name.clone(), before: scaled(before, name, a), after: scaled(after, name, b) })
        .collect();
    all.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    all
}

fn notes(before: &Side, after: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    if before.gpus != after.gpus {
        let names = |side: &Side| if side.gpus.is_empty() { "no GPU".to_owned() } else { side.gpus.join(", ") };
        notes.push(format!("the GPUs are not the same: {} before, {} after", names(before), names(after)));
    }
    if before.kind != after.kind {
        notes.push(format!("the traces are of two kinds, {} and {}", before.kind, after.kind));
    }
    if before.steps.is_some() != after.steps.is_some() {
        notes.push("one run has marked steps and the other has none: the whole of both is compared".to_owned());
    }
    for (side, which) in [(before, "first"), (after, "second")] {
        if side.cut_short {
            notes.push(format!("the {which} run is cut short"));
        }
    }
    notes
}
