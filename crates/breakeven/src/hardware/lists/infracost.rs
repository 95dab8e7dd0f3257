//! What `infracost breakdown --format json` prints of machines.

use super::super::table::shown;
use super::{Offer, Offers};
use crate::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Breakdown {
    #[serde(default)]
    currency: Option<String>,
    #[serde(default)]
    projects: Vec<Project>,
}

#[derive(Deserialize)]
struct Project {
    #[serde(default)]
    breakdown: Option<Resources>,
}

#[derive(Deserialize)]
struct Resources {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default, rename = "costComponents")]
    components: Option<Vec<Component>>,
    #[serde(default, rename = "subresources")]
    parts: Option<Vec<Resource>>,
}

#[derive(Deserialize)]
struct Component {
    #[serde(default)]
    name: String,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    price: Option<serde_json::Value>,
}

/// Components by the hour whose name ends with a machine type: `Instance usage (Linux/UNIX, on-demand, p3.2xlarge)`.
///
/// # Errors
/// A text that is no such JSON, or not in US dollars.
pub(super) fn read(text: &str, offers: &mut Offers) -> Result<()> {
    let wrong = |why: &str| Error::new("price-list", format!("{} is no breakdown: {why}", shown(offers.about.name)));
    let breakdown: Breakdown = serde_json::from_str(text).map_err(|e| wrong(&shown(&e.to_string())))?;
    if breakdown.currency.as_deref().is_some_and(|currency| currency != "USD") {
        return Err(wrong("its prices are not in US dollars").hint("`infracost configure set currency USD`"));
    }
    let all = breakdown.projects.into_iter().filter_map(|project| project.breakdown).flat_map(|all| all.resources);
    all.for_each(|resource| of(&resource, offers));
    Ok(())
}

fn of(resource: &Resource, offers: &mut Offers) {
    for component in resource.components.iter().flatten() {
        let price = match &component.price {
            Some(serde_json::Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_f64(),
            None => None,
        };
        let words = component.name.trim_end_matches(')').rsplit(['(', ',', ' ']);
        let instance = words.map(str::trim).find(|word| offers.types.contains_key(&word.to_ascii_lowercase()));
        match (instance, price) {
            (Some(instance), Some(usd_per_h)) if component.unit.starts_with("hour") => {
                let spot = component.name.to_ascii_lowercase().contains("spot");
                offers.add(&Offer { instance, usd_per_h, spot, ..Offer::default() });
            }
            _ => offers.left_out += 1,
        }
    }
    resource.parts.iter().flatten().for_each(|part| of(part, offers));
}
