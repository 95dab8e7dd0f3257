//! The plan file as it is written: TOML tables, quantities as people type them.

use breakeven::report::words::printable;
use breakeven::request::{Numbers, Typed};
use breakeven::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// No plan file is larger, bytes.
const LARGEST: usize = 1 << 20;

/// A plan file. Every key may be left out but `workload`; docs/plan.md explains each.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlanText {
    /// For people.
    pub name: Option<String>,
    /// Horizon, months.
    pub months: Option<u32>,
    /// Code of the currency that money is told in; amounts in the file are in it too.
    pub currency: Option<String>,
    /// Units of that currency for one US dollar: prices of the catalogue are in dollars.
    pub per_usd: Option<f64>,
    /// What is to be computed.
    pub workload: Vec<WorkText>,
    /// What may be bought or rented; an empty list is all.
    pub allow: Lists,
    /// What may not.
    pub deny: Lists,
    /// Where bought machines stand.
    pub site: SiteText,
    /// Rented machines.
    pub cloud: CloudText,
    /// Machines that may be taken back.
    pub spot: SpotText,
    /// Machines rented for a term.
    pub reserved: ReservedText,
    /// Rents of GPUs by the hour that you have been offered, in place of the catalogue's.
    pub rent: RentText,
    /// What bought machines cost.
    pub buy: BuyText,
    /// People who look after machines.
    pub staff: StaffText,
    /// A shared cluster that is charged by the hour.
    pub cluster: Option<ClusterText>,
    /// Storage and network.
    pub data: DataText,
}

/// One workload and how often it runs. Exactly one of `recording`, `numbers` and `times` is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkText {
    /// For people; the recording's name where it is left out.
    pub name: Option<String>,
    /// A `.breakeven.json` file, by its path from the plan file.
    pub recording: Option<String>,
    /// Numbers as `breakeven estimate` takes them: `{ matmul = "8000" }`.
    pub numbers: Option<Box<Numbers>>,
    /// Measured times of a run by GPU (`cpu` for the CPU machine): `{ l4 = "20min", cpu = "5h" }`.
    pub times: Option<BTreeMap<String, Typed>>,
    /// Runs in the first month.
    pub runs_per_month: Option<Typed>,
    /// From submission to result, each run; a day unless given.
    pub deadline: Option<Typed>,
    /// The same for 95 of 100 runs, for people who wait.
    pub latency: Option<Typed>,
    /// More runs each month than in the month before: `3%`; negative for fewer.
    pub growth: Option<GrowthText>,
    /// Runs that are submitted together; 1 unless given.
    pub at_once: Option<Typed>,
    /// Precisions that are accurate enough; the fastest on each GPU is taken. As recorded unless given.
    pub precision: Vec<String>,
    /// Bytes that a run reads and writes at the storage.
    pub storage: Option<Typed>,
    /// Bytes that a run sends over the network.
    pub network: Option<Typed>,
    /// Whether a run may be interrupted and started again; only where there is no `latency` unless given.
    pub interruptible: Option<bool>,
    /// Work that an interruption loses at most; the whole run unless given.
    pub checkpoint: Option<Typed>,
    /// Whether the process stays up between runs, so that its start-up is paid once.
    pub warm: bool,
}

/// A share that may be negative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "neither a number nor text such as `3%`")]
pub enum GrowthText {
    /// 0.03
    Number(f64),
    /// `3%`
    Text(String),
}

/// Lists of what may or may not be taken, by any name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lists {
    /// GPUs.
    pub gpus: Vec<String>,
    /// Cloud providers.
    pub providers: Vec<String>,
    /// Ways to pay: see [`crate::Way`].
    pub ways: Vec<String>,
}

/// Where bought machines stand.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteText {
    /// Country, state or region: grid and price of electricity.
    pub region: Option<String>,
    /// Price of a kWh.
    pub electricity: Option<Typed>,
    /// Energy of the whole building ÷ that of its machines, of a server room.
    pub pue: Option<f64>,
    /// A server's place, by kW of its power and month.
    pub hosting: Option<Typed>,
}

/// Rented machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CloudText {
    /// A cloud's region: prices, grid and PUE of it alone.
    pub region: Option<String>,
    /// Energy of the data centre ÷ that of its machines.
    pub pue: Option<f64>,
    /// From the order of a machine to its first run.
    pub boot: Option<Typed>,
    /// What a provider charges at least, for those whose terms are not known.
    pub minimum: Option<Typed>,
    /// How busy machines that stay on may be, so that deadlines hold.
    pub utilisation: Option<f64>,
}

/// Machines that may be taken back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpotText {
    /// How often that happens to a machine.
    pub interruptions_per_hour: Option<f64>,
    /// Until its run goes on elsewhere.
    pub restart: Option<Typed>,
}

/// Machines rented for a term.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReservedText {
    /// Share of the on-demand price that is let off.
    pub discount: Option<f64>,
    /// Months of a term; terms are paid whole.
    pub term: Option<u32>,
}

/// Rents of GPUs by the hour.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct RentText {
    /// On demand: `{ l4 = 0.70 }`; reserved ones cost less by the discount unless they are given.
    pub on_demand: BTreeMap<String, Typed>,
    /// Spot.
    pub spot: BTreeMap<String, Typed>,
    /// For a term.
    pub reserved: BTreeMap<String, Typed>,
}

/// What bought machines cost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BuyText {
    /// A workstation without its GPUs, of which it takes two.
    pub workstation: Option<Typed>,
    /// A server without its GPUs, of which it takes eight.
    pub server: Option<Typed>,
    /// Share of the price that a machine sells for at the end of the horizon.
    pub resale: Option<f64>,
    /// Prices of GPUs.
    pub gpu: BTreeMap<String, Typed>,
}

/// People who look after machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StaffText {
    /// Cost of an hour of theirs.
    pub per_hour: Option<Typed>,
    /// Hours a month for a rented machine.
    pub rented: Option<f64>,
    /// Hours a month for a bought machine.
    pub bought: Option<f64>,
}

/// A shared cluster that is charged by the hour.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterText {
    /// Its GPU.
    pub gpu: String,
    /// Price of a GPU's hour.
    pub per_hour: Typed,
    /// How long a job waits there.
    #[serde(default)]
    pub wait: Option<Typed>,
}

/// Storage and network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataText {
    /// Rate of the storage.
    pub storage_rate: Option<Typed>,
    /// Rate of the network.
    pub network_rate: Option<Typed>,
    /// Price of a GB kept for a month.
    pub storage_price: Option<Typed>,
    /// Months that the data of a run are kept.
    pub kept_months: Option<f64>,
    /// Price of a GB that leaves a cloud.
    pub egress_price: Option<Typed>,
}

/// Reads a plan file.
///
/// # Errors
/// `bad-plan` for what is no TOML, has a key that is none, or a value of the wrong type, with line and column.
pub fn read(text: &str) -> Result<PlanText> {
    if text.len() > LARGEST {
        return Err(Error::new("bad-plan", "the plan is larger than 1 MB: at most that is read")
            .hint("name recordings by their path instead of writing them into the plan"));
    }
    toml::from_str(text).map_err(|e| {
        let at = e.span().map_or_else(String::new, |span| {
            let before = text.get(..span.start).unwrap_or_default();
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {}, column {column}: ", before.matches('\n').count() + 1)
        });
        Error::new("bad-plan", printable(&format!("{at}{}", e.message()), 500))
            .hint("docs/plan.md says what a plan holds; examples/plan.toml is one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, told) in [
            ("monhts = 3", "line 1, column 1: unknown field `monhts`"),
            ("months = 3\nname = ", "line 2, column 8"),
            ("[[workload]]\nruns_per_month = []", "line 2, column 18: neither a number nor text"),
            ("[[workload]]\nnumbers = { matmull = 3 }", "unknown field `matmull`"),
            ("months = -3", "line 1, column 10"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code, "bad-plan");
            assert!(error.message.contains(told), "{text:?}: {}", error.message);
        }
    }
}
