//! Prices of the user's own, which `prices update` gathers: where they are, and what of them counts.

use crate::failure::Failure;
use crate::input;
use breakeven::hardware::lists::{self, About};
use breakeven::hardware::price::Price;
use breakeven::hardware::{Catalogue, Date};
use std::env;
use std::path::{Path, PathBuf};

/// The file by name; empty for none.
const NAMED: &str = "BREAKEVEN_PRICES";
/// Where it is otherwise, in the folder for data.
const FILE: &str = "breakeven/prices.csv";

/// Where they are kept (<https://specifications.freedesktop.org/basedir-spec/latest/>); `None` where there is no place.
pub(crate) fn place() -> Option<PathBuf> {
    if let Some(named) = env::var_os(NAMED) {
        return Some(PathBuf::from(named)).filter(|path| !path.as_os_str().is_empty());
    }
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?.join(FILE))
}

/// All of them; none where there is no file.
///
/// # Errors
/// A file that cannot be read or is no list of prices.
pub(crate) fn read(place: &Path) -> Result<Vec<Price>, Failure> {
    if !place.exists() {
        return Ok(Vec::new());
    }
    let (text, name) = (input::text(place)?, place.display().to_string());
    let day = Date::parse(&input::today()).unwrap_or_else(|| Date::parse("2026-01-01").expect("a date"));
    let about = About { name: &name, provider: None, source: &name, day };
    let list = lists::read(&text, &about, Catalogue::embedded()).map_err(|error| {
        let hint = "delete the file: `breakeven prices update` makes it again";
        Failure::new("prices", format!("{name}: {}", error.message), hint)
    })?;
    Ok(list.prices)
}

/// Those that count in a region, as catalogue text; `None` where there are none.
///
/// # Errors
/// As [`read`].
pub(crate) fn on_top(region: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(place) = place().filter(|place| place.exists()) else { return Ok(None) };
    let own = lists::on_top(&read(&place)?, Catalogue::embedded().prices(), region);
    Ok(Some(own).filter(|own| !own.is_empty()).map(|own| lists::written(&own)))
}
