//! Data frames on the CPU otherwise than by pandas' defaults: Polars, the reader of pyarrow, text in columns of its own type.
//!
//! How many times the CPU time of the one is that of the other was measured on a virtual Xeon of 2.8 GHz, a million rows of
//! eight columns (2026-11-30, pandas 3.1.1, Polars 2.1.0, pyarrow 26.0.1, least of two, other programs at work). Cores share the work
//! of those that have threads at 0.7 of their number, at most 8: assumed.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::workload::{Entry, Op, Workload, op::Dataframe};

pub(super) const POLARS: Edit = Edit { id: "polars", sides: &[Side::Cpu], apply: polars };
pub(super) const READER: Edit = Edit { id: "pyarrow-reader", sides: &[Side::Cpu], apply: reader };
pub(super) const TEXT: Edit = Edit { id: "text-dtype", sides: &[Side::Cpu], apply: text };

/// A core's share of the work that several take together, and the most that are taken to share it.
const SHARED: f64 = 0.7;
const CORES: u32 = 8;
/// ln-sigma of these ratios: from a half to twice at p10 and p90, assumed.
const SIGMA: f64 = 0.54;
/// pandas' CPU time ÷ that of pyarrow's reader, which has threads.
const PYARROW: f64 = 0.9;
/// The same of columns of Python's objects and of text: `contains` 3.2, `upper` 7.7, `startswith` more; `split` takes as long.
const OBJECTS: f64 = 3.2;
/// Text is of a type of its own since this version of pandas.
const OWN_TEXT: u64 = 3;

/// pandas' CPU time ÷ that of Polars; `None` of verbs that nobody measured.
fn ratio(kind: Dataframe) -> Option<f64> {
    Some(match kind {
        Dataframe::GroupBy => 2.1,
        Dataframe::Join => 0.8,
        Dataframe::Sort => 1.3,
        Dataframe::Filter => 2.2,
        Dataframe::Text => 4.0,
        Dataframe::ReadCsv => 1.3,
        Dataframe::ReadParquet => 2.0,
        Dataframe::WriteText => 22.0,
        _ => return None,
    })
}

/// What a call of pandas' does to a frame; `None` of those whose script's own function runs.
fn verb(entry: &Entry) -> Option<Dataframe> {
    let of = |op: &Op| if let Op::Dataframe { kind, .. } = op { Some(*kind) } else { None };
    if !entry.name.starts_with("pandas.") || entry.name.ends_with("(function)") {
        return None;
    }
    match &entry.op {
        Op::Routine { parts } => parts.iter().find_map(|part| of(&part.op)),
        op => of(op),
    }
}

/// By how much cores that share the work are faster than one.
fn together(workload: &Workload) -> f64 {
    (SHARED * f64::from(workload.program.cpu_cores.unwrap_or(1).clamp(1, CORES))).max(1.0)
}

/// The program with the calls that `times` takes faster by as much, and the longest of them.
fn faster<'a>(draft: &Draft<'a>, times: impl Fn(&Entry) -> Option<f64>) -> Option<(Draft<'a>, Entry)> {
    let mut out = draft.clone();
    let mut main: Option<&Entry> = None;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        let Some(times) = times(old).filter(|times| *times > 1.0) else { continue };
        entry.cpu_ns = (old.cpu_ns as f64 / times) as u64;
        if main.is_none_or(|main| old.cpu_ns > main.cpu_ns) {
            main = Some(old);
        }
    }
    out.cpu_sigma = out.cpu_sigma.max(SIGMA);
    main.cloned().map(|main| (out, main))
}

fn polars<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let together = together(&draft.workload);
    let (out, main) = faster(draft, |entry| Some(ratio(verb(entry)?)? * together))?;
    Some(Change {
        draft: out,
        title: "Polars instead of pandas".to_owned(),
        why: "its joins, group-bys, sorts and readers share the cores of the CPU".to_owned(),
        site: draft.workload.sites.get(main.site as usize).cloned(),
        patch: None,
        ready: Some("pl.scan_csv(path).filter(…).group_by(\"key\").agg(pl.col(\"x\").sum()).collect()".to_owned()),
        risk: Some("another library: no index, other names, rows of a group-by in any order"),
    })
}

fn reader<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let together = together(&draft.workload);
    let sites = &draft.workload.sites;
    let plain = |entry: &Entry| !sites.get(entry.site as usize).is_some_and(|site| site.text.contains("engine="));
    let reads = |entry: &Entry| entry.name == "pandas.read_csv" && plain(entry);
    let (out, main) = faster(draft, |entry| reads(entry).then_some(PYARROW * together))?;
    Some(Change {
        draft: out,
        title: "pyarrow's reader of CSV".to_owned(),
        why: "it reads with all cores, pandas' own with one".to_owned(),
        site: sites.get(main.site as usize).cloned(),
        patch: None,
        ready: Some("pd.read_csv(path, engine=\"pyarrow\")".to_owned()),
        risk: Some("it lacks some parameters (chunksize, nrows, converters), and may tell other types"),
    })
}

fn text<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let version = draft.workload.program.versions.get("pandas")?;
    let major: u64 = version.split('.').next()?.parse().ok()?;
    if major >= OWN_TEXT {
        return None;
    }
    let sites = &draft.workload.sites;
    let (out, main) = faster(draft, |entry| {
        (verb(entry) == Some(Dataframe::Text) && !entry.name.ends_with("split")).then_some(OBJECTS)
    })?;
    Some(Change {
        draft: out,
        title: "Text in columns of pyarrow's type instead of Python's objects".to_owned(),
        why: "methods of text go through one buffer, not from object to object".to_owned(),
        site: sites.get(main.site as usize).cloned(),
        patch: None,
        ready: Some("df[\"text\"] = df[\"text\"].astype(\"string[pyarrow]\")  # pandas 3 does it by itself".to_owned()),
        risk: Some("missing values are pd.NA; only for columns of text alone"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_calls_that_pandas_runs_itself() {
        let entry = |name: &str| {
            let op = serde_json::json!({ "dataframe": { "kind": "group_by", "rows": 9, "columns": 1, "out_rows": 2 } });
            let text =
                serde_json::json!({ "site": 0, "name": name, "op": op, "dtype": "f64", "count": 1, "cpu_ns": 5 });
            serde_json::from_value::<Entry>(text).unwrap()
        };
        assert_eq!(verb(&entry("pandas.DataFrameGroupBy.sum")), Some(Dataframe::GroupBy));
        assert_eq!(verb(&entry("pandas.DataFrameGroupBy.apply(function)")), None);
        assert_eq!(verb(&entry("polars.LazyFrame.collect")), None);
    }

    #[test]
    fn cores_share_the_work_up_to_a_limit() {
        let mut workload = Workload::default();
        let shared = |workload: &mut Workload, cores| {
            workload.program.cpu_cores = Some(cores);
            together(workload)
        };
        assert_eq!([0, 1, 2, 64].map(|cores| shared(&mut workload, cores)), [1.0, 1.0, 1.4, 5.6]);
    }
}
