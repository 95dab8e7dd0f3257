//! Parameters that keep an estimator on the CPU: without them it runs on the GPU.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::port::{self, Counterpart};
use crate::workload::{Entry, Op};

pub(super) const EDIT: Edit = Edit { id: "fallback", sides: &[Side::Gpu], apply };

/// The name that a call would have without what its own has in parentheses, where that runs on the device.
fn freed(entry: &Entry) -> Option<&str> {
    let (name, _) = entry.name.strip_suffix(')')?.split_once('(')?;
    let runs = matches!(port::of(name).counterpart(name), Counterpart::Device(_));
    (runs && matches!(entry.op, Op::Routine { .. })).then_some(name)
}

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let mut out = draft.clone();
    let mut main: Option<&Entry> = None;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        if let Some(name) = freed(old) {
            entry.name = name.to_owned();
            if main.is_none_or(|main| old.cpu_ns > main.cpu_ns) {
                main = Some(old);
            }
        }
    }
    let main = main?;
    let Counterpart::Host(why) = port::of(&main.name).counterpart(&main.name) else { return None };
    let (reason, edit) = why.split_once("; ").unwrap_or((why, "leave the parameter at its default"));
    let (name, _) = main.name.split_once('(')?;
    Some(Change {
        title: format!("{} without what keeps it on the CPU", short(name)),
        why: reason.to_owned(),
        draft: out,
        site: draft.workload.sites.get(main.site as usize).cloned(),
        patch: None,
        ready: Some(format!("# {edit}")),
        risk: Some("another setting may give another model: compare its scores"),
    })
}

/// The class and the method: `SVC.fit`.
fn short(name: &str) -> &str {
    let mut dots = name.rmatch_indices('.').map(|(at, _)| at);
    dots.nth(1).map_or(name, |at| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_without_is_freed() {
        let entry = |name: &str, op: Op| {
            let op = serde_json::to_value(op).unwrap();
            serde_json::from_value::<Entry>(
                serde_json::json!({"site": 0, "name": name, "op": op, "dtype": "f32", "count": 1}),
            )
            .unwrap()
        };
        let routine = || Op::Routine { parts: vec![] };
        assert_eq!(freed(&entry("sklearn.svm.SVC.fit(probability)", routine())), Some("sklearn.svm.SVC.fit"));
        assert_eq!(freed(&entry("sklearn.svm.SVC.predict_proba(probability)", Op::HostOnly)), None);
        assert_eq!(freed(&entry("sklearn.svm.SVC.fit", routine())), None);
        assert_eq!(short("sklearn.svm.SVC.fit"), "SVC.fit");
    }
}
