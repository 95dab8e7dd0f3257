//! Whole columns: what a loop or function takes out of the rows of a dataframe, number by number.

use super::super::draft::Draft;
use super::super::source::{carries, operands, update, without_sums};
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::report::words;
use crate::workload::{Entry, Op, Site};

pub(super) const EDIT: Edit = Edit { id: "columns", sides: &[Side::Cpu], apply };

/// `apply` with a function of the script's.
const BY_ROW: &str = "pandas.DataFrame.apply(function)";
const ITERROWS: &str = "DataFrame.iterrows";
/// One value of a frame set.
const SETTERS: [&str; 4] = [
    "pandas.DataFrame.loc.__setitem__",
    "pandas.DataFrame.iloc.__setitem__",
    "pandas.DataFrame.at.__setitem__",
    "pandas.DataFrame.iat.__setitem__",
];
/// Rows from which going through them costs more than it is worth.
const MANY: u64 = 1000;
/// What pandas and Python spend on a row and on a number of it, ns: what takes longer is other code, which stays.
const ROW_NS: u64 = 20_000;
/// An operation on whole columns: pandas' own work, and a number of it, ns: assumed.
const CALL_NS: u64 = 100_000;
const NUMBER_NS: u64 = 4;

fn apply<'a>(draft: &Draft<'a>, _: &Context, _: Side) -> Option<Change<'a>> {
    let sites = &draft.workload.sites;
    let number = |entry: &&Entry| {
        let taken = matches!(entry.op, Op::HostRead { bytes } if bytes <= 16) && entry.count >= MANY;
        taken && called(sites, entry).is_some_and(|(_, method)| method == "Series.__getitem__")
    };
    let numbers: Vec<&Entry> = draft.workload.ops.iter().filter(number).collect();
    if numbers.is_empty() {
        return row_by_row(draft).or_else(|| value_by_value(draft));
    }
    by_numbers(draft, &numbers, &number).or_else(|| row_by_row(draft)).or_else(|| value_by_value(draft))
}

/// Numbers that lines of a loop or of a function take out of rows.
fn by_numbers<'a>(draft: &Draft<'a>, numbers: &[&Entry], number: &dyn Fn(&&Entry) -> bool) -> Option<Change<'a>> {
    let sites = &draft.workload.sites;
    let (main, _) = called(sites, numbers.iter().max_by_key(|e| e.cpu_ns.saturating_add(e.gap_ns))?)?;
    let here = |site: &Site| (&site.file, &site.function) == (&main.file, &main.function);
    let mut calls = draft.workload.ops.iter().filter_map(|entry| called(sites, entry));
    let loops: Vec<&Site> =
        calls.clone().filter(|(site, method)| here(site) && *method == ITERROWS).map(|(site, _)| site).collect();
    let in_loop = !loops.is_empty();
    let applied =
        calls.any(|(s, method)| method == "DataFrame.apply" && (s.function != main.function || s.line == main.line));
    if !in_loop && !applied {
        return None;
    }
    let mut lines: Vec<(u32, &str)> = numbers
        .iter()
        .filter_map(|e| called(sites, e))
        .filter(|(site, _)| here(site))
        .map(|(site, _)| (site.line, &*site.text))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<&str> = lines.into_iter().map(|(_, text)| text).filter(|text| !text.contains(".apply(")).collect();
    let lines = without_sums(&lines);
    // A function begins anew with each row; in a loop, a plain name may be handed on by lines that nobody recorded.
    let own = |line: &&str| operands(update(line).map_or(*line, |(.., value)| value)).iter().all(|o| o.ends_with(']'));
    if carries(&lines) != Some(false) || (in_loop && !lines.iter().all(own)) {
        return None;
    }
    let mut out = draft.clone();
    for entry in &mut out.workload.ops {
        let Some((_, method)) = called(sites, entry).filter(|(site, _)| here(site)) else { continue };
        // pandas makes each row's object at the line of the loop.
        let made = method == "Series"
            && sites.get(entry.site as usize).is_some_and(|at| loops.iter().any(|l| l.same_line(at)));
        let row = (method == ITERROWS || made) && entry.count >= MANY;
        if row || number(&&*entry) {
            let columns = if row { 0 } else { CALL_NS.saturating_add(NUMBER_NS.saturating_mul(entry.count)) };
            entry.cpu_ns = entry.cpu_ns.min(columns);
            entry.gap_ns = entry.gap_ns.saturating_sub(ROW_NS.saturating_mul(entry.count));
        }
    }
    let taken = numbers.iter().filter(|e| called(sites, e).is_some_and(|(site, _)| here(site))).map(|e| e.count).sum();
    let branches = lines.iter().any(|line| line.starts_with("if ") || line.contains(" if "));
    Some(Change {
        draft: out,
        title: format!("Whole columns instead of one row after the other at {}", main.label()),
        why: format!(
            "pandas makes an object of each row, and {} numbers are taken out of these one by one",
            words::count(taken)
        ),
        site: Some(main.clone()),
        patch: None,
        ready: Some(
            if branches {
                "df[\"c\"] = np.where(df[\"a\"] > df[\"b\"], df[\"a\"] - df[\"b\"], 0.0)  # a condition on columns"
            } else {
                "df[\"c\"] = df[\"a\"] * df[\"b\"]  # the same expression on columns"
            }
            .to_owned(),
        ),
        risk: Some("only if no row needs the one before; both sides of a condition are then computed for all rows"),
    })
}

/// A function that `apply` calls for each row, whatever it does: its rows are known, and no more.
fn row_by_row<'a>(draft: &Draft<'a>) -> Option<Change<'a>> {
    let rows = |entry: &Entry| match entry.op {
        Op::Dataframe { rows, columns, .. } if entry.name == BY_ROW && rows >= MANY => Some(rows * columns.max(1)),
        _ => None,
    };
    let main = draft.workload.ops.iter().filter(|entry| rows(entry).is_some()).max_by_key(|entry| entry.cpu_ns)?;
    let (site, numbers) = (draft.workload.sites.get(main.site as usize)?.clone(), rows(main)?);
    let mut out = draft.clone();
    for entry in &mut out.workload.ops {
        if let Some(numbers) = rows(entry) {
            let columns = CALL_NS.saturating_add(NUMBER_NS.saturating_mul(numbers)).saturating_mul(entry.count);
            entry.cpu_ns = entry.cpu_ns.min(columns);
        }
    }
    Some(Change {
        draft: out,
        title: format!("Whole columns instead of a function for each row at {}", site.label()),
        why: format!(
            "pandas makes an object of each row for the function, of {} numbers in all",
            words::count(numbers)
        ),
        site: Some(site),
        patch: None,
        ready: Some("df[\"c\"] = df[\"a\"] * df[\"b\"]  # what the function does, on columns".to_owned()),
        risk: Some("only where the function computes with numbers; a condition becomes np.where, both sides computed"),
    })
}

/// Values of a frame that a loop sets one by one.
fn value_by_value<'a>(draft: &Draft<'a>) -> Option<Change<'a>> {
    let sets = |entry: &Entry| entry.count >= MANY && SETTERS.contains(&entry.name.as_str());
    let main = draft.workload.ops.iter().filter(|entry| sets(entry)).max_by_key(|entry| entry.cpu_ns)?;
    let site = draft.workload.sites.get(main.site as usize)?.clone();
    let mut out = draft.clone();
    for entry in out.workload.ops.iter_mut().filter(|entry| sets(entry)) {
        entry.cpu_ns = entry.cpu_ns.min(CALL_NS.saturating_add(NUMBER_NS.saturating_mul(entry.count)));
    }
    Some(Change {
        draft: out,
        title: format!(
            "One assignment of a column instead of {} of a value at {}",
            words::count(main.count),
            site.label()
        ),
        why: "pandas finds row and column anew for each value that is set".to_owned(),
        site: Some(site),
        patch: None,
        ready: Some(
            "df.loc[rows, \"a\"] = values  # a list or an array, made in the loop or in place of it".to_owned(),
        ),
        risk: Some("only if no value that is set depends on one set before it"),
    })
}

/// The place of an entry, and the method of pandas there.
fn called<'e>(sites: &'e [Site], entry: &'e Entry) -> Option<(&'e Site, &'e str)> {
    let site = sites.get(entry.site as usize)?;
    Some((site, method(entry, site)?))
}

/// The class and method of pandas that was called, or through which the arrays of this line were reached:
/// `Series.__getitem__`.
fn method<'a>(entry: &'a Entry, site: &'a Site) -> Option<&'a str> {
    if let Some(called) = entry.name.strip_prefix("pandas.") {
        return called.split('(').next();
    }
    let path = site.via.as_deref()?.strip_prefix("pandas.")?;
    let class = path.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    Some(&path[class..])
}
