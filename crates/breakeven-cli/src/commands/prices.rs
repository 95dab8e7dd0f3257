//! `breakeven prices [GPU]`: what GPUs rent for, and how old the prices are.

use super::figures::{narrow, noted};
use crate::args::{Format, PricesAction, PricesArgs};
use crate::failure::{Failure, Outcome};
use crate::{input, output};
use breakeven::hardware::price::{Class, OLD_AFTER_DAYS, Price, Terms, Wanted};
use breakeven::hardware::{Date, Gpu};
use breakeven::report::{Align, Table, words};
use serde_json::json;
use std::process::ExitCode;

/// Columns that go first on a narrow terminal.
const SPARE: [&str; 8] = ["note", "from", "class", "read", "machine", "region", "terms", "GPUs"];

/// Runs the command. With a name every offer, else the cheapest of each GPU.
pub(crate) fn prices(args: &PricesArgs) -> Outcome {
    if let Some(PricesAction::Update(update)) = &args.action {
        return super::update::update(update);
    }
    let catalogue = input::catalogue(args.list.catalogue.as_deref())?;
    known("provider", args.provider.as_ref(), catalogue.providers())?;
    known("region", args.region.as_ref(), catalogue.prices().iter().filter_map(|p| p.region.as_deref()).collect())?;
    let (gpus, note) = match &args.gpu {
        Some(name) => {
            let found = catalogue.find_gpu(name)?;
            (found.gpus, found.note)
        }
        None => (catalogue.gpus().iter().collect(), None),
    };
    let class = args.provider_class.as_deref().map(Class::read).transpose()?.flatten();
    let wanted = Wanted { spot: args.spot, class, provider: args.provider.clone(), region: args.region.clone() };
    let each = if args.gpu.is_some() { usize::MAX } else { 1 };
    let mut rows: Vec<(&Gpu, &Price)> =
        gpus.iter().flat_map(|gpu| catalogue.offers(gpu.id(), &wanted).take(each).map(|p| (*gpu, p))).collect();
    if args.gpu.is_some() {
        // All of them: the cheapest first, whoever asks it.
        let order = |(gpu, p): &(&Gpu, &Price)| (gpus.iter().position(|g| g.id() == gpu.id()), p.incomplete);
        rows.sort_by(|a, b| order(a).cmp(&order(b)).then(a.1.per_device().get().total_cmp(&b.1.per_device().get())));
    }
    if rows.is_empty() {
        let what = args.gpu.as_deref().map_or("any GPU", |_| "this GPU");
        let message = format!("no price of {what} is known that was asked for");
        return Err(Failure::new(
            "no-price",
            message,
            "leave out --provider, --provider-class and --region, or add --spot",
        ));
    }
    let today = Date::parse(&input::today());
    let age = today.map(|day| ages(rows.iter().map(|(_, p)| *p), day).0);
    let notes: Vec<String> = note.into_iter().chain(age).collect();
    let table = list(&rows);
    let lines: String = notes.iter().map(|n| noted(n)).collect();
    let text = match args.list.format {
        Format::Json => {
            format!("{:#}\n", json!({ "schema": "breakeven.prices/1", "prices": as_json(&rows), "notes": notes }))
        }
        Format::Text => narrow(table, &SPARE, "instance").text(|_, _, cell| cell) + "\n" + &lines,
        Format::Markdown => table.markdown() + "\n" + &lines,
    };
    output::write_to(args.list.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a provider or region that no price names: an empty list would look like an answer.
fn known(what: &str, given: Option<&String>, mut names: Vec<&str>) -> Result<(), Failure> {
    let Some(given) = given else { return Ok(()) };
    let squeezed = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
    if names.iter().any(|name| squeezed(name) == squeezed(given)) {
        return Ok(());
    }
    names.sort_unstable();
    names.dedup();
    let message = format!("no price is known of a {what} called `{given}`");
    Err(Failure::new("no-price", message, format!("known are {}", names.join(", "))))
}

fn list(rows: &[(&Gpu, &Price)]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("GPU", Left),
        ("per GPU", Right),
        ("machine", Right),
        ("GPUs", Right),
        ("provider", Left),
        ("class", Left),
        ("instance", Left),
        ("terms", Left),
        ("region", Left),
        ("read", Left),
        ("from", Left),
        ("note", Left),
    ]);
    for (gpu, price) in rows {
        let alone = if price.incomplete { "GPU alone" } else { "" };
        table.row(vec![
            words::printable(gpu.name(), 40),
            words::usd_per_h(price.per_device().get()),
            words::usd_per_h(price.machine.get()),
            price.count.to_string(),
            words::printable(&price.provider, 40),
            price.class().name().to_owned(),
            words::printable(&price.instance, 60),
            terms(price.terms).to_owned(),
            price.region.clone().unwrap_or_default(),
            price.date_text(),
            words::printable(&price.source, 60),
            [alone, &price.note].iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join("; "),
        ]);
    }
    table
}

fn terms(terms: Terms) -> &'static str {
    match terms {
        Terms::OnDemand => "on demand",
        Terms::Spot => "spot",
        Terms::Marketplace => "marketplace",
    }
}

/// How old the prices are, and whether that is worth a warning.
pub(super) fn ages<'p>(prices: impl Iterator<Item = &'p Price>, today: Date) -> (String, bool) {
    let (mut all, mut old, mut least, mut most) = (0_u64, 0, i64::MAX, i64::MIN);
    for price in prices {
        let age = price.age_days(today);
        (all, old) = (all + 1, old + i32::from(price.is_old(today)));
        (least, most) = (least.min(age), most.max(age));
    }
    if all == 0 {
        return ("none".to_owned(), false);
    }
    let ages = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let warning = if old > 0 {
        let verb = if old == 1 { "is" } else { "are" };
        format!("; {old} {verb} older than {OLD_AFTER_DAYS} days: check them before you rent")
    } else {
        String::new()
    };
    (format!("{}, {ages} days old{warning}", words::several(all, "price", "prices")), old > 0)
}

fn as_json(rows: &[(&Gpu, &Price)]) -> serde_json::Value {
    let row = |(gpu, price): &(&Gpu, &Price)| {
        json!({ "gpu": gpu.id(), "provider": price.provider, "class": price.class().name(), "instance": price.instance, "gpus": price.count,
                "terms": terms(price.terms), "usd_per_h": price.per_device().get(),
                "instance_usd_per_h": price.machine.get(), "region": price.region, "date": price.date_text(),
                "incomplete": price.incomplete, "hosts": price.hosts, "minimum_s": price.minimum_s(), "source": price.source, "note": price.note })
    };
    rows.iter().map(row).collect()
}
