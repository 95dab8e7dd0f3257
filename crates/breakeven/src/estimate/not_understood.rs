//! Whose the time is that was not understood, and what would make it understood: for the answer and its notes.

use super::Note;
use super::gpu::Question;
use super::spread::HOST_SIGMA;
use crate::interval::Interval;
use crate::libraries;
use crate::report::words;
use crate::workload::{Site, Workload};
use serde::{Deserialize, Serialize};

/// Libraries with a smaller share of the program's time have no note of their own.
const TOLD: f64 = 0.01;
/// Notes at most; the answer lists all.
const MOST_NOTES: usize = 3;

/// Time of one library, or of one op, that was not understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotUnderstood {
    /// Whose compiled code it is: a package, or the file name of a shared library; `None` where that is not known.
    pub library: Option<String>,
    /// The function that took most of it.
    pub function: Option<String>,
    /// The line that called that, `file.py:12`.
    pub site: Option<String>,
    /// On this CPU.
    pub time_s: Interval,
    /// Share of the program's time, 0–1.
    pub share: f64,
    /// What would do it on a GPU: `cuDF (cudf.pandas)`; `None` where nothing is known to.
    pub gpu_version: Option<String>,
}

/// By library, or by op where no library is known, the longest time first.
pub(super) fn not_understood(q: &Question) -> Vec<NotUnderstood> {
    let mut found: Vec<(NotUnderstood, f64)> = Vec::new();
    // The longest comes first, so that it names function and line.
    for dark in q.coverage.dark.iter().filter(|dark| dark.site.is_some() || dark.library.is_some()) {
        let same = |(known, _): &&mut (NotUnderstood, f64)| {
            known.library == dark.library && (dark.library.is_some() || known.function == dark.function)
        };
        if let Some((_, seconds)) = found.iter_mut().find(same) {
            *seconds += dark.seconds;
            continue;
        }
        let site = dark.site.and_then(|site| q.workload.sites.get(site as usize)).map(Site::label);
        let version = dark.library.as_deref().and_then(libraries::gpu_version).map(str::to_owned);
        let (library, function) = (dark.library.clone(), dark.function.clone());
        let nothing = Interval::exact(0.0);
        let row = NotUnderstood { library, function, site, time_s: nothing, share: 0.0, gpu_version: version };
        found.push((row, dark.seconds));
    }
    let mut rows: Vec<NotUnderstood> = found
        .into_iter()
        .map(|(row, seconds)| NotUnderstood {
            time_s: Interval::log_normal(seconds, HOST_SIGMA),
            share: if q.host.wall > 0.0 { (seconds / q.host.wall).min(1.0) } else { 0.0 },
            ..row
        })
        .collect();
    rows.sort_by(|a, b| b.time_s.p50.total_cmp(&a.time_s.p50));
    rows
}

impl NotUnderstood {
    /// Whose time it is, for people: `polars`, or the op's name.
    pub fn whose(&self) -> String {
        let name = self.library.as_deref().or(self.function.as_deref());
        name.map_or_else(|| "compiled code".to_owned(), |name| words::printable(name, 60))
    }

    /// `polars: 97 % of the time, not recorded (etl.py:12 PyLazyFrame.collect); on a GPU: its GPU engine`.
    /// The script may have `asked` it for a GPU already.
    fn note(&self, asked: bool) -> Note {
        let function = self.function.as_deref().filter(|_| self.library.is_some());
        let place: Vec<String> =
            [self.site.as_deref(), function].into_iter().flatten().map(|part| words::printable(part, 80)).collect();
        let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(" ")) };
        if self.library.as_deref() == Some("pandas") && !asked {
            let share = words::percent(self.share);
            let text = format!(
                "pandas: {share} of the time, not recorded; `breakeven estimate --rows N` compares it with cuDF for a \
                 group-by of N rows{place}"
            );
            return Note::new("not-recorded", text);
        }
        let what = if self.library.is_some() { "not recorded" } else { "not understood" };
        let instead = match (&self.library, &self.gpu_version) {
            (_, Some(_)) if asked => "; the script asks it for a GPU: only a run there tells how fast".to_owned(),
            (_, Some(version)) => format!("; {version} may do it on a GPU: only a run there tells how fast"),
            (Some(_), None) => "; no GPU version known".to_owned(),
            (None, None) => String::new(),
        };
        Note::new(
            "not-recorded",
            format!("{}: {} of the time, {what}{place}{instead}", self.whose(), words::percent(self.share)),
        )
    }
}

/// A note for each of the libraries that take most of the time.
pub(super) fn notes(rows: &[NotUnderstood], workload: &Workload) -> impl Iterator<Item = Note> {
    let asked = |row: &NotUnderstood| {
        let library = row.library.as_deref().unwrap_or_default().to_lowercase();
        let fell_back = workload.unseen.iter().filter(|unseen| unseen.reason == "gpu-fell-back");
        fell_back.flat_map(|unseen| unseen.text.split_whitespace()).any(|word| word.to_lowercase() == library)
    };
    rows.iter().filter(|row| row.share >= TOLD).take(MOST_NOTES).map(move |row| row.note(asked(row)))
}
