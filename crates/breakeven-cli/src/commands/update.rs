//! `breakeven prices update`: price lists, fetched or read, into the user's own prices, and what that changes.

use crate::args::UpdateArgs;
use crate::failure::{Failure, Outcome, say};
use crate::{fetch, input, output, own_prices};
use breakeven::hardware::lists::{self, About, Change, Changes, List};
use breakeven::hardware::price::{Price, Terms};
use breakeven::hardware::{Catalogue, Date};
use breakeven::report::words;
use std::path::Path;
use std::process::ExitCode;

/// Changes that are told one by one.
const TOLD: usize = 10;

/// Runs the command.
pub(crate) fn update(args: &UpdateArgs) -> Outcome {
    let Some(place) = own_prices::place() else {
        return Err(Failure::new(
            "prices",
            "there is no place for prices of your own",
            "set BREAKEVEN_PRICES to a file",
        ));
    };
    let mut own = own_prices::read(&place)?;
    let known = lists::PUBLISHED.map(|(source, address)| (source.to_owned(), address.to_owned()));
    let given: Vec<(String, String)> = args.from.iter().map(|from| (from.clone(), from.clone())).collect();
    let mut told = String::new();
    let mut failed = None;
    let mut read = 0;
    for (source, from) in if given.is_empty() { known.to_vec() } else { given } {
        match list(&from, &source, args) {
            Ok(list) => {
                let before = held(&own);
                let format = list.format;
                let left_out = list.left_out;
                let changes;
                (own, changes) = lists::merge(&own, list.prices, &before);
                told += &summary(&from, format, left_out, &changes);
                read += 1;
            }
            // One that is out of reach keeps none of the others away.
            Err(failure) => match (failed.is_none(), failure) {
                (true, failure) => failed = Some(failure),
                (false, Failure::Input(error)) => say(&error.to_string()),
                (false, Failure::ReaderGone) => {}
            },
        }
    }
    if read > 0 {
        let text = lists::written(&own);
        // What was kept has to be readable before it takes the place of what was there.
        Catalogue::embedded().with_override("the new prices", &text)?;
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, &e))?;
        }
        output::write_file(&place, text.as_bytes()).map_err(|e| Failure::file("write", &place, &e))?;
        let offers = words::several(own.len() as u64, "offer", "offers");
        told += &format!("{}: {offers}\n", words::printable(&place.display().to_string(), 200));
        output::write_to(None, told.as_bytes())?;
    }
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// One list, read.
fn list(from: &str, source: &str, args: &UpdateArgs) -> Result<List, Failure> {
    let (text, day) = if fetch::is_address(from) {
        let text = output::working(&format!("fetching {from}"), || fetch::text(from, args.timeout))?;
        (text, input::today())
    } else {
        let path = Path::new(from);
        // A list without a day of its own is of the day on which it was saved.
        let saved = path.metadata().and_then(|m| m.modified()).ok();
        let day = saved.map(|at| time::OffsetDateTime::from(at).date().to_string());
        (input::text(path)?, day.unwrap_or_else(input::today))
    };
    let day = Date::parse(&day).or_else(|| Date::parse(&input::today()));
    let day = day.ok_or_else(|| Failure::new("prices", "this machine does not know the day", "set its clock"))?;
    let about = About { name: from, provider: args.provider.as_deref(), source, day };
    let list = lists::read(&text, &about, Catalogue::embedded())?;
    if list.prices.is_empty() {
        let message = format!("{from} has no offer of a GPU of the catalogue");
        let hint = "name whose prices they are with --provider, and GPUs as the catalogue does";
        return Err(Failure::new("price-list", message, hint));
    }
    Ok(list)
}

/// The offers that hold now.
fn held(own: &[Price]) -> Vec<Price> {
    let embedded = Catalogue::embedded().prices();
    lists::merge(embedded, own.to_vec(), embedded).0
}

/// What a list changed: numbers, and the greatest changes one by one.
fn summary(from: &str, format: &str, left_out: usize, changes: &Changes) -> String {
    let days = changes.new.iter().chain(&changes.changed).map(|change| change.now.date).max();
    let of = days.map_or_else(String::new, |day| format!(" of {day}"));
    let median = changes.median().map_or_else(String::new, |ratio| format!(" (median {})", percent(ratio)));
    let mut text = format!(
        "{} ({format}){of}: {} new, {} changed{median}, {} as before, {} older than known, {} lines left out\n",
        words::printable(from, 200),
        changes.new.len(),
        changes.changed.len(),
        changes.same,
        changes.older,
        left_out
    );
    let ratio = |change: &Change| change.now.machine.get() / change.before.unwrap_or(f64::NAN);
    let size = |change: &&Change| (ratio(change) - 1.0).abs();
    let mut greatest: Vec<&Change> = changes.changed.iter().collect();
    greatest.sort_by(|a, b| size(b).total_cmp(&size(a)));
    for change in greatest.iter().take(TOLD) {
        let now = &change.now;
        let spot = if now.terms == Terms::Spot { " spot" } else { "" };
        let what = format!("{} {} {}{spot}", now.provider, now.instance, now.region.as_deref().unwrap_or_default());
        text += &format!(
            "  {}: {} → {} ({})\n",
            words::printable(what.trim(), 80),
            words::usd_per_h(change.before.unwrap_or_default()),
            words::usd_per_h(now.machine.get()),
            percent(ratio(change))
        );
    }
    text
}

/// `+14 %`
fn percent(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}
