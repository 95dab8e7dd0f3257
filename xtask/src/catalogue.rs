//! The price lists of the embedded catalogue: fetched, or read from files, put in place of what they replace, and the
//! difference printed for whoever reviews it.

use crate::shell::{Result, read, root, run, write};
use breakeven::hardware::lists::{self, About, MAX_BYTES};
use breakeven::hardware::price::Price;
use breakeven::hardware::{Catalogue, Date};
use std::process::Command;
use std::time::Duration;

const PRICES: &str = "crates/breakeven/catalogue/prices.csv";

/// Refreshes the embedded prices. `given` are `SOURCE=FILE`, read instead of what is fetched; `today` is the day of a list
/// that has none.
pub(crate) fn refresh(given: &[String]) -> Result<()> {
    let today = Command::new("date").args(["-u", "+%F"]).output().map_err(|e| format!("cannot tell the day: {e}"))?;
    let today = Date::parse(String::from_utf8_lossy(&today.stdout).trim()).ok_or("cannot tell the day")?;
    let catalogue = Catalogue::embedded();
    let mut prices: Vec<Price> = catalogue.prices().to_vec();
    for (source, address) in lists::PUBLISHED {
        let file = given.iter().find_map(|given| given.strip_prefix(source)?.strip_prefix('='));
        let text = match file {
            Some(file) => read(file.as_ref())?,
            None if given.is_empty() => fetch(address)?,
            None => continue,
        };
        let about = About { name: address, provider: None, source, day: today };
        let list = lists::read(&text, &about, catalogue).map_err(|e| e.to_string())?;
        let (of, all) = (&prices, list.prices.len());
        // The regions that are there already, so that a review stays one.
        let kept = list.prices.into_iter().filter(|new| {
            of.iter().any(|old| old.provider == new.provider && old.region == new.region && old.device == new.device)
        });
        let (merged, changes) = lists::merge(&prices, kept.collect(), &prices);
        prices = merged;
        println!(
            "{source}: {all} offers; {} new, {} changed{}, {} as before, {} older than what is there",
            changes.new.len(),
            changes.changed.len(),
            changes.median().map_or_else(String::new, |r| format!(" (median {:+.1} %)", 100.0 * (r - 1.0))),
            changes.same,
            changes.older
        );
    }
    prices.sort_by_key(|p| {
        let names = [&p.provider, &p.device, &p.instance].map(|name| name.to_lowercase());
        (names, format!("{:?}", p.terms), p.region.clone())
    });
    write(&root().join(PRICES), lists::written(&prices).as_bytes())?;
    run(Command::new("git").current_dir(root()).args(["--no-pager", "diff", "--stat", "--", PRICES]))?;
    run(Command::new("git").current_dir(root()).args(["--no-pager", "diff", "-U0", "--", PRICES]))
}

fn fetch(address: &str) -> Result<String> {
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(120))).https_only(true).build();
    let mut answer =
        ureq::Agent::from(config).get(address).call().map_err(|e| format!("cannot fetch {address}: {e}"))?;
    let body = answer.body_mut().with_config().limit(MAX_BYTES as u64).read_to_string();
    body.map_err(|e| format!("cannot fetch {address}: {e}"))
}
