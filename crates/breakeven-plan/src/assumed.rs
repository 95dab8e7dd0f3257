//! Defaults: what stands for an input that a plan leaves out, and why. Each that is used is printed as assumed.

use serde::Serialize;

/// A default that was used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumption {
    /// Key of the plan file that replaces it.
    pub key: &'static str,
    /// The figure, in the unit that `text` tells.
    pub value: f64,
    /// The figure as people read it.
    pub text: String,
    /// What it rests on.
    pub why: &'static str,
}

/// A default: key, value, what follows the value in words, and what it rests on. Money is in US dollars.
pub(crate) struct Default {
    pub(crate) key: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) why: &'static str,
}

const fn default(key: &'static str, value: f64, unit: &'static str, why: &'static str) -> Default {
    Default { key, value, unit, why }
}

/// Every default but those of the catalogue (grid, electricity, PUE of a cloud).
pub(crate) const DEFAULTS: &[Default] = &[
    default("months", 36.0, " months", "the usual term of a hardware purchase"),
    default("workload.deadline", 86_400.0, " s", "results within a day, where no deadline or latency is given"),
    default("site.pue", 1.5, "", "server rooms: the mean of data centres is 1.55 (Uptime Institute survey, 2022)"),
    default(
        "site.hosting",
        150.0,
        " per kW and month",
        "colocation: wholesale lists ask 120 to 200; electricity apart",
    ),
    default("cloud.pue", 1.2, "", "large clouds report 1.1 to 1.3"),
    default(
        "cloud.boot",
        180.0,
        " s",
        "a machine's start and the load of its image; measured starts lie between 1 and 5 min",
    ),
    default("cloud.minimum", 60.0, " s", "what most clouds charge at least; for providers whose terms are not known"),
    default("cloud.utilisation", 0.8, "", "queues grow fast beyond it"),
    default(
        "spot.interruptions_per_hour",
        0.01,
        " per hour",
        "clouds publish classes (up to 20 % and more a month), no rate",
    ),
    default("spot.restart", 600.0, " s", "another machine, its start and its data"),
    default("reserved.discount", 0.37, "", "one-year commitments let off 25 to 45 %: lists differ by machine"),
    default("reserved.term", 12.0, " months", "the shortest term that most clouds sell"),
    default("buy.workstation", 2500.0, "", "a workstation for two GPUs without them"),
    default("buy.server", 15_000.0, "", "a server for eight GPUs without them"),
    default("buy.resale", 0.3, "", "at 36 months; 0.3^(months ÷ 36) at others"),
    default("staff.per_hour", 60.0, " per hour", "salary and overhead of an administrator"),
    default("staff.rented", 0.25, " h per machine and month", "images, accounts, bills"),
    default("staff.bought", 1.0, " h per machine and month", "updates, failures, parts"),
    default("data.storage_rate", 1e9, " B/s", "an NVMe volume or a parallel file system"),
    default("data.network_rate", 1.25e8, " B/s", "1 Gbit/s"),
    default("data.storage_price", 0.023, " per GB and month", "list price of a cloud's object storage"),
    default("data.kept_months", 1.0, " months", "data of a run are kept for a month"),
    default("data.egress_price", 0.09, " per GB", "list price of the first 10 TB a month that leave a large cloud"),
    default("cluster.wait", 1800.0, " s", "half an hour in the queue of the cluster"),
];

/// The default of that key.
pub(crate) fn of(key: &str) -> &'static Default {
    DEFAULTS.iter().find(|d| d.key == key).expect("keys are of this file; a test reads each")
}
