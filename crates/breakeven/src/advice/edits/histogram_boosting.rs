//! Gradient boosting by histograms: scikit-learn has it beside the exact one, and it is as good on the CPU as a GPU elsewhere.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::workload::Entry;

pub(super) const EDIT: Edit = Edit { id: "histogram-boosting", sides: &[Side::Cpu], apply };

/// How much longer the exact one takes at least, of fits from [`LONG`] on: 11 times with 2000 rows of 20 columns, 25 with ten
/// thousand, 38 with forty thousand (scikit-learn 1.9.1, 30 rounds of depth 3, one core, CPU time, 2026-11-29).
const TIMES: u64 = 10;
/// A fit of 2000 rows took so long, ns.
const LONG: u64 = 300_000_000;
const NAMES: [&str; 2] =
    ["sklearn.ensemble.GradientBoostingClassifier.fit", "sklearn.ensemble.GradientBoostingRegressor.fit"];

fn applies(entry: &Entry) -> bool {
    NAMES.contains(&entry.name.as_str()) && entry.cpu_ns / entry.count.max(1) >= LONG
}

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<&Entry> = None;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        if applies(old) {
            entry.cpu_ns /= TIMES;
            if main.is_none_or(|main| old.cpu_ns > main.cpu_ns) {
                main = Some(old);
            }
        }
    }
    let main = main?;
    let class = if main.name.contains("Classifier") { "Classifier" } else { "Regressor" };
    Some(Change {
        title: format!("HistGradientBoosting{class} instead of GradientBoosting{class}"),
        why: "it tries bins of each column's values instead of all of them, on all cores".to_owned(),
        draft: out,
        site: draft.workload.sites.get(main.site as usize).cloned(),
        patch: None,
        ready: Some(format!("sklearn.ensemble.HistGradientBoosting{class}(max_iter=…)  # n_estimators is max_iter")),
        risk: Some("other trees: compare its scores; it stops early by itself from ten thousand rows on"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_exact_fits_alone() {
        let entry = |name: &str, cpu_ns: u64| {
            let text = serde_json::json!({
                "site": 0, "name": name, "op": "host_only", "dtype": "f64", "count": 2, "cpu_ns": cpu_ns,
            });
            serde_json::from_value::<Entry>(text).unwrap()
        };
        assert!(applies(&entry(NAMES[0], 2 * LONG)) && !applies(&entry(NAMES[0], LONG)));
        assert!(!applies(&entry("sklearn.ensemble.HistGradientBoostingClassifier.fit", 9 * LONG)));
    }
}
