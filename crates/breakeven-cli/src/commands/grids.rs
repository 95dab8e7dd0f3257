//! `breakeven grids [NAME]`: carbon, cooling and price of electricity of places, or all that is known of one.

use super::figures::notes_below;
use crate::args::{Format, GridsArgs};
use crate::failure::Outcome;
use crate::{input, output};
use breakeven::hardware::grid::{Local, Place};
use breakeven::report::{Align, Table, words};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn grids(args: &GridsArgs) -> Outcome {
    let catalogue = input::catalogue(args.list.catalogue.as_deref())?;
    let places: Vec<Place> = match &args.name {
        Some(name) => vec![catalogue.find_region(name)?],
        None => catalogue.all_places().collect(),
    };
    let single = args.name.as_ref().and(places.first());
    let notes: Vec<String> = single.is_none().then(|| INHERITED.to_owned()).into_iter().collect();
    let (table, above) = match single {
        Some(place) => (figures(place), format!("{} ({})\n\n", words::printable(&place.name, 60), place.code)),
        None => (list(&places), String::new()),
    };
    let text = match args.list.format {
        Format::Json => {
            let all: Value = places.iter().map(as_json).collect();
            format!("{:#}\n", json!({ "schema": "breakeven.grids/1", "grids": all }))
        }
        Format::Text => above + &table.text(|_, _, cell| cell) + &notes_below(&notes),
        Format::Markdown => above + &table.markdown() + &notes_below(&notes),
    };
    output::write_to(args.list.output.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

const INHERITED: &str = "what a place lacks is its country's or its cloud's, then the world's, marked with ~";

/// One row a place.
fn list(places: &[Place]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("code", Left),
        ("name", Left),
        ("provider", Left),
        ("g CO₂e/kWh", Right),
        ("PUE", Right),
        ("$/kWh", Right),
    ]);
    for place in places {
        let figure = |local: &Local| format!("{}{}", if local.of == place.name { "" } else { "~" }, local.value);
        table.row(vec![
            place.code.clone(),
            words::printable(&place.name, 40),
            place.provider.clone().unwrap_or_default(),
            figure(&place.carbon_g_per_kwh),
            place.pue.as_ref().map(figure).unwrap_or_default(),
            figure(&place.electricity_usd_per_kwh),
        ]);
    }
    table
}

/// Every figure of one place with its source.
fn figures(place: &Place) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[("figure", Left), ("value", Right), ("of", Left), ("known from", Left)]);
    let mut row = |name: &str, unit: &str, local: &Local| {
        let of = words::printable(&local.of, 40) + if local.assumed { " (assumed)" } else { "" };
        table.row(vec![name.to_owned(), format!("{} {unit}", local.value), of, words::printable(&local.source, 120)]);
    };
    row("carbon", "g CO₂e/kWh", &place.carbon_g_per_kwh);
    if let Some(pue) = &place.pue {
        row("PUE", "", pue);
    }
    row("electricity", "$/kWh", &place.electricity_usd_per_kwh);
    table
}

fn as_json(place: &Place) -> Value {
    let figure = |local: &Local| json!({ "value": local.value, "of": local.of, "source": local.source, "assumed": local.assumed });
    json!({ "code": place.code, "name": place.name, "provider": place.provider,
            "carbon_g_per_kwh": figure(&place.carbon_g_per_kwh), "pue": place.pue.as_ref().map(figure),
            "electricity_usd_per_kwh": figure(&place.electricity_usd_per_kwh) })
}
