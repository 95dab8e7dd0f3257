//! The whole field of GPUs in one line: verdict, winners, best value, order of rows.

use super::{Estimate, GpuEstimate, Note, Summary, Verdict};
use crate::interval::Interval;
use crate::quantity::Measure;
use crate::report::{self, words};
use crate::request::Options;
use crate::{Error, Result, policy};
use std::cmp::Ordering;

/// Times that differ by less are the same where their intervals overlap.
const TIE: f64 = 1.1;

/// Whether one host of a marketplace may be all that offers it.
fn lone(g: &GpuEstimate) -> bool {
    g.price.as_ref().is_some_and(|price| price.lone)
}

/// Index of the best value: lowest time × cost among the winners, lowest time where prices are not known for all; the
/// highest speedup where nobody wins, of those that are as fast the one that costs the least. What a single host offers
/// comes after all others.
fn best(estimates: &[GpuEstimate]) -> Option<usize> {
    let counted = |g: &&GpuEstimate| g.counted || estimates.len() == 1;
    let winners: Vec<&GpuEstimate> = estimates.iter().filter(counted).filter(|g| g.verdict == Verdict::Gpu).collect();
    let priced = winners.iter().any(|g| g.cost_usd.is_some());
    let value = |g: &GpuEstimate| match (g.time_s, g.cost_usd) {
        (Some(t), Some(c)) if priced => Some(t.p50 * c.p50),
        (Some(t), None) if !priced => Some(t.p50),
        _ => None,
    };
    let least = |it: &mut dyn Iterator<Item = (usize, f64)>| it.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
    let all = || estimates.iter().enumerate().filter(|(_, g)| counted(g));
    if winners.is_empty() {
        let first = least(&mut all().filter_map(|(i, g)| Some((i, g.time_s?.p50))))?;
        let fastest = estimates[first].time_s?;
        let ties = |t: Interval| t.p50 <= TIE * fastest.p50 && t.p10 <= fastest.p90;
        let cheapest = |alone: bool| {
            let these = all().filter(|(_, g)| g.time_s.is_some_and(ties) && lone(g) == alone);
            least(&mut these.filter_map(|(i, g)| Some((i, g.cost_usd?.p50))))
        };
        cheapest(false).or_else(|| cheapest(true)).or(Some(first))
    } else {
        let of = |alone: bool| {
            let these = all().filter(|(_, g)| g.verdict == Verdict::Gpu && lone(g) == alone);
            least(&mut these.filter_map(|(i, g)| Some((i, value(g)?))))
        };
        of(false).or_else(|| of(true))
    }
}

/// The summary of `estimates` as far as it is about one of them: the best value, and the GPU that the answer speaks of,
/// which is the one that was `imitated` where that is among them. All that speaks of one GPU reads it here.
pub fn choose(estimates: &[GpuEstimate], imitated: Option<&str>) -> Summary {
    let id = |i: usize| estimates[i].gpu.clone();
    let best = best(estimates);
    let of_script = imitated.and_then(|id| estimates.iter().position(|g| g.gpu == id));
    let shown = of_script.or(best).or_else(|| largest(estimates));
    Summary {
        verdict: Verdict::Unknown,
        wins_on: 0,
        of: 0,
        best_gpu: best.map(id),
        shown_gpu: shown.map(id),
        sentence: String::new(),
    }
}

/// The GPU with the most memory, the first of several.
fn largest(estimates: &[GpuEstimate]) -> Option<usize> {
    let memory = |i: &usize| estimates[*i].memory_bytes.unwrap_or(0.0);
    let counted = (0..estimates.len()).filter(|i| estimates[*i].counted || estimates.len() == 1);
    counted.max_by(|a, b| memory(a).total_cmp(&memory(b)).then(b.cmp(a))).or((!estimates.is_empty()).then_some(0))
}

/// Fills the rest of `summary` and `policy_failed`, and puts the rows in the order asked for.
///
/// # Errors
/// `unknown-sort`, `bad-policy`.
pub fn finish(e: &mut Estimate, options: &Options) -> Result<()> {
    let by = options.sort.as_deref().unwrap_or("value");
    sort(&mut e.estimates, by)?;
    // One that does not count, as of a maker that the library does not serve, may be faster still.
    let shown = e.estimates.iter().position(|g| Some(&g.gpu) == e.summary.shown_gpu.as_ref());
    if let Some(shown) = shown.filter(|_| by == "value") {
        e.estimates[..=shown].rotate_right(1);
    }
    let one = e.estimates.len() == 1;
    let counted: Vec<&GpuEstimate> = e.estimates.iter().filter(|g| g.counted || one).collect();
    e.summary.of = counted.len() as u32;
    e.summary.wins_on = counted.iter().filter(|g| g.verdict == Verdict::Gpu).count() as u32;
    e.summary.verdict = overall(&counted);
    e.summary.sentence = report::sentence(e);
    e.notes.extend(monthly_bill(e, options)?);
    e.policy_failed = options.fail_if.as_deref().map(|text| policy::fails(text, e)).transpose()?;
    Ok(())
}

/// What so many runs a month cost on either side.
fn monthly_bill(e: &Estimate, options: &Options) -> Result<Option<Note>> {
    let Some(runs) = Measure::Count.read_field(&options.runs_per_month, "runs_per_month")? else { return Ok(None) };
    let best = e.estimates.iter().find(|g| Some(&g.gpu) == e.summary.best_gpu.as_ref());
    let bill = |cost: Option<Interval>| cost.map_or_else(|| "no known price".to_owned(), |c| words::usd(c.p50 * runs));
    let gpu = best.map_or_else(String::new, |g| format!(" on {}", g.name));
    let text = format!(
        "{} runs a month cost {}{gpu} and {} on the CPU",
        Measure::Count.format(runs),
        bill(best.and_then(|g| g.cost_usd)),
        bill(e.baseline.cost_usd)
    );
    Ok(Some(Note::new("monthly-bill", text)))
}

/// One winner makes the field a winner; unknown outweighs a tie, a tie outweighs a loss.
fn overall(rows: &[&GpuEstimate]) -> Verdict {
    [Verdict::Gpu, Verdict::Unknown, Verdict::Either, Verdict::Cpu]
        .into_iter()
        .find(|v| rows.iter().any(|g| g.verdict == *v))
        .unwrap_or(Verdict::Unknown)
}

/// One sorting for all orders, which keeps the page's engine small.
fn sort(rows: &mut [GpuEstimate], by: &str) -> Result<()> {
    fn time(g: &GpuEstimate) -> f64 {
        g.time_s.map_or(f64::INFINITY, |t| t.p50)
    }
    fn cost(g: &GpuEstimate) -> f64 {
        g.cost_usd.map_or(f64::INFINITY, |c| c.p50)
    }
    fn energy(g: &GpuEstimate) -> f64 {
        g.energy_wh.map_or(f64::INFINITY, |e| e.p50)
    }
    /// Winners first, by time × cost, those of single hosts last; the others, and winners without a known price, by time. In both,
    /// those that do not count come last.
    fn value(a: &GpuEstimate, b: &GpuEstimate) -> Ordering {
        let loses = |g: &GpuEstimate| g.verdict != Verdict::Gpu;
        let value = |g: &GpuEstimate| if loses(g) { f64::INFINITY } else { time(g) * cost(g) };
        // What the library has no release for stands behind all that it has.
        let last = |g: &GpuEstimate| (loses(g), !g.counted, !loses(g) && lone(g));
        last(a).cmp(&last(b)).then(value(a).total_cmp(&value(b))).then(time(a).total_cmp(&time(b)))
    }
    let order: fn(&GpuEstimate, &GpuEstimate) -> Ordering = match by {
        "name" => |a, b| a.name.cmp(&b.name),
        "speed" => |a, b| time(a).total_cmp(&time(b)),
        "cost" => |a, b| cost(a).total_cmp(&cost(b)),
        "energy" => |a, b| energy(a).total_cmp(&energy(b)),
        "value" => value,
        other => {
            let shown = report::words::printable(other, 40);
            return Err(Error::new("unknown-sort", format!("cannot sort by `{shown}`"))
                .hint("value, speed, cost, energy or name")
                .field("sort"));
        }
    };
    rows.sort_by(order);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::program;
    use crate::request::Request;
    use crate::workload::samples;

    #[test]
    fn of_those_that_are_as_fast_the_cheapest_is_named() {
        let mut rows = program::estimate(&samples::heat(), &Request::default()).unwrap().estimates;
        rows.truncate(3);
        for (i, (row, time)) in rows.iter_mut().zip([1.0, 1.05, 2.0]).enumerate() {
            row.verdict = Verdict::Either;
            row.time_s = Some(Interval { p10: 0.5 * time, p50: time, p90: 2.0 * time });
            row.cost_usd = Some(Interval::exact([2.0, 0.1, 0.01][i]));
        }
        assert_eq!(best(&rows), Some(1), "the third is not as fast");
        rows[1].cost_usd = None;
        assert_eq!(best(&rows), Some(0));
        rows[0].cost_usd = None;
        assert_eq!(best(&rows), Some(0), "none has a price");
    }
}
