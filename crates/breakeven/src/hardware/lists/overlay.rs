//! Offers of a user's own on top of those that are built in: what a new list changes, and the text that they are kept as.

use super::super::price::{HEADER, Price};
use std::collections::BTreeMap;

/// What became of one offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// As it is now.
    pub now: Price,
    /// What the machine cost before, USD/h; `None` where it was not known.
    pub before: Option<f64>,
}

/// What a list changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Offers that were not there.
    pub new: Vec<Change>,
    /// Offers whose price is another.
    pub changed: Vec<Change>,
    /// Offers that are as they were, but for their day.
    pub same: usize,
    /// Offers that are older than what is there: left out.
    pub older: usize,
}

impl Changes {
    /// How much prices rose, as a ratio: the middle one of those that changed.
    pub fn median(&self) -> Option<f64> {
        let mut ratios: Vec<f64> = self.changed.iter().filter_map(|c| Some(c.now.machine.get() / c.before?)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }
}

/// The user's offers with those of a list among them, and what that changes against `before`, the offers that hold now. An
/// offer that is older than the one there is left out.
pub fn merge(own: &[Price], new: Vec<Price>, before: &[Price]) -> (Vec<Price>, Changes) {
    let known: BTreeMap<String, &Price> = before.iter().map(|price| (price.key(), price)).collect();
    let mut kept: BTreeMap<String, Price> = own.iter().map(|price| (price.key(), price.clone())).collect();
    let mut changes = Changes::default();
    for price in new {
        let key = price.key();
        let old = known.get(&key);
        if old.is_some_and(|old| old.date > price.date) {
            changes.older += 1;
            continue;
        }
        let usd = old.map(|old| old.machine.get());
        let change = || Change { now: price.clone(), before: usd };
        match usd {
            None => changes.new.push(change()),
            Some(usd) if (usd / price.machine.get() - 1.0).abs() > 1e-9 => changes.changed.push(change()),
            Some(_) => changes.same += 1,
        }
        kept.insert(key, price);
    }
    (kept.into_values().collect(), changes)
}

/// Offers as `prices.csv` has them.
pub fn written(prices: &[Price]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    // Writing to memory cannot fail, and all lines have the fields of the header.
    let _ = out.write_record(HEADER);
    for p in prices {
        let (count, usd, hosts) = (p.count.to_string(), p.machine.get().to_string(), p.hosts.map(|n| n.to_string()));
        let precision = if p.year_only { "year" } else { "day" };
        let _ = out.write_record([
            &p.provider,
            &p.instance,
            &p.device,
            &count,
            p.terms.name(),
            &usd,
            p.region.as_deref().unwrap_or_default(),
            &p.date.to_string(),
            precision,
            yes(!p.incomplete),
            &p.source,
            &p.note,
            hosts.as_deref().unwrap_or_default(),
        ]);
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The user's offers that count on top of `base`: none older than what is built in, and of each provider's GPU those that
/// are about an offer of `base` and the cheapest; of that region alone, where one is asked for.
pub fn on_top(own: &[Price], base: &[Price], region: Option<&str>) -> Vec<Price> {
    let known: BTreeMap<String, &Price> = base.iter().map(|price| (price.key(), price)).collect();
    let newest = |p: &&Price| known.get(&p.key()).is_none_or(|old| old.date <= p.date);
    let here = |p: &&Price| match (region, &p.region) {
        (Some(asked), Some(own)) => own.eq_ignore_ascii_case(asked.trim()),
        _ => true,
    };
    let counting: Vec<&Price> = own.iter().filter(newest).filter(here).collect();
    let kind = |p: &Price| [&*p.provider, &*p.device, p.terms.name()].join("\n");
    let mut cheapest: BTreeMap<String, &Price> = BTreeMap::new();
    for price in &counting {
        let least = cheapest.entry(kind(price)).or_insert(price);
        if price.per_device() < least.per_device() {
            *least = price;
        }
    }
    let wanted = |p: &&&Price| known.contains_key(&p.key()) || std::ptr::eq(cheapest[&kind(p)], **p);
    counting.iter().filter(wanted).map(|price| (*price).clone()).collect()
}
