//! Ways to pay for a machine.

use breakeven::report::words::printable;
use breakeven::{Error, Result};
use serde::{Deserialize, Serialize};

/// A way to pay for a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Rented CPU machines, no GPU.
    Cpu,
    /// Rented by the hour at a listed price, for as long as wanted.
    OnDemand,
    /// Rented for less, and may be taken back at any time.
    Spot,
    /// From one of many hosts, who may take it back.
    Marketplace,
    /// Rented for a term.
    Reserved,
    /// Bought, under a desk: up to two GPUs, no data centre.
    Workstation,
    /// Bought, in a data centre: up to eight GPUs.
    Server,
    /// A shared cluster, by the hour.
    Cluster,
}

impl Way {
    /// Every way.
    pub const ALL: [Self; 8] = [
        Self::Cpu,
        Self::OnDemand,
        Self::Spot,
        Self::Reserved,
        Self::Workstation,
        Self::Server,
        Self::Cluster,
        Self::Marketplace,
    ];

    /// As plans and answers call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OnDemand => "on-demand",
            Self::Spot => "spot",
            Self::Marketplace => "marketplace",
            Self::Reserved => "reserved",
            Self::Workstation => "workstation",
            Self::Server => "server",
            Self::Cluster => "cluster",
        }
    }

    /// In words, as a row of a table.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Cpu => "CPU only",
            Self::OnDemand => "on demand",
            Self::Spot => "spot",
            Self::Marketplace => "marketplace",
            Self::Reserved => "reserved",
            Self::Workstation => "bought workstation",
            Self::Server => "bought server",
            Self::Cluster => "shared cluster",
        }
    }

    /// Whether the machine is paid for once.
    pub const fn is_bought(self) -> bool {
        matches!(self, Self::Workstation | Self::Server)
    }

    /// Whether it may be taken back in mid-run.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::Spot | Self::Marketplace)
    }

    /// Whether machines may stay on between runs.
    pub const fn stays_on(self) -> bool {
        !matches!(self, Self::Cluster)
    }

    /// Whether a machine may be rented for a batch of runs and given back.
    pub const fn by_the_hour(self) -> bool {
        !matches!(self, Self::Reserved | Self::Workstation | Self::Server)
    }

    /// The way of that name, in any case.
    ///
    /// # Errors
    /// `unknown-way` for any other word.
    pub fn read(word: &str) -> Result<Self> {
        let plain = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        Self::ALL.into_iter().find(|way| way.name() == plain).ok_or_else(|| {
            Error::new("unknown-way", format!("no way to pay is called `{}`", printable(word, 40)))
                .hint(Self::ALL.map(Self::name).join(", "))
                .field("ways")
        })
    }
}
