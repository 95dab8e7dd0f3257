//! What joins the GPUs of a run: the catalogue's links inside a node, the network given or assumed between nodes.

use super::Layout;
use crate::Result;
use crate::hardware::{Gpu, figure::Figure};
use crate::interval::Basis;
use crate::kernel::collective::{Group, Wire};
use crate::quantity::Measure;
use crate::request::{Divided, Typed};
use crate::{Error, units::BytesPerSec};
use serde::{Deserialize, Serialize};

/// GPUs of a node unless given: what HGX and OAM boards hold.
const PER_NODE: u64 = 8;
/// A bridge joins two.
const BRIDGED: u64 = 2;
/// Where GPUs have a switch or a mesh, a network adapter each, as reference designs of such boards have: 200 Gbit/s, B/s.
const ADAPTER_EACH: f64 = 25e9;
/// Other nodes have one Ethernet adapter of 100 Gbit/s, B/s.
const ONE_ADAPTER: f64 = 12.5e9;
/// PCIe 3.0 x16 where the catalogue knows no link, B/s.
const FALLBACK: f64 = 15.75e9;

/// What joins GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// GPUs of one node.
    pub per_node: u64,
    /// What joins them, such as `NVLink4`.
    pub inside: String,
    /// Rate of one GPU inside its node, one direction, B/s.
    pub inside_bytes_per_s: f64,
    /// Where that comes from: `given` by the catalogue, or `assumed`.
    pub inside_basis: Basis,
    /// Rate of one node's network, one direction, B/s.
    pub between_bytes_per_s: f64,
    /// Where that comes from.
    pub between_basis: Basis,
    #[serde(skip, default = "pcie")]
    pub(super) wire: Wire,
    /// GPUs that `inside` joins; others of the node go by `pcie_bytes_per_s`.
    #[serde(skip)]
    pub(super) joined: u64,
    #[serde(skip)]
    pub(super) pcie_bytes_per_s: f64,
}

const fn pcie() -> Wire {
    Wire::Pcie
}

impl Network {
    /// That of nodes with such GPUs.
    ///
    /// # Errors
    /// A rate or a number of GPUs that does not read, or is none.
    pub fn of(gpu: &Gpu, asked: &Divided) -> Result<Self> {
        let per_node = match Measure::Count.read_field(&asked.per_node, "per_node")? {
            Some(n) if n.fract() != 0.0 || !(1.0..=1024.0).contains(&n) => {
                return Err(Error::new("bad-network", format!("a node has 1 to 1024 GPUs, not {n}"))
                    .hint("such as `--per-node 8`")
                    .field("per_node"));
            }
            n => n.map_or(PER_NODE, |n| n as u64),
        };
        let name = gpu.figure("interconnect").and_then(Figure::text).unwrap_or("PCIe").to_owned();
        let rate = gpu.figure("interconnect_rate").and_then(Figure::number).map(|gb| gb * 1e9);
        let host = gpu.device.host_link.map(BytesPerSec::get);
        let pcie_bytes_per_s = host.unwrap_or(FALLBACK);
        let bridged = name.contains("bridge");
        let (wire, inside, joined) = match rate {
            Some(rate) if name.contains("NVLink") => (Wire::NvLink, rate, if bridged { BRIDGED } else { per_node }),
            Some(rate) if name.contains("Fabric") => (Wire::Fabric, rate, per_node),
            _ => (Wire::Pcie, pcie_bytes_per_s, per_node),
        };
        let inside_basis = if rate.or(host).is_some() { Basis::Given } else { Basis::Assumed };
        let given = rate_of(asked.network.as_ref());
        let between = Measure::BytesPerSec.read_field(&given, "network")?;
        if between.is_some_and(|rate| rate <= 0.0) {
            return Err(Error::new("bad-network", "a network of 0 B/s carries nothing")
                .hint("such as `--network 200Gb/s`, of one node in one direction")
                .field("network"));
        }
        let assumed = if wire == Wire::Pcie || bridged { ONE_ADAPTER } else { ADAPTER_EACH * per_node as f64 };
        Ok(Self {
            per_node,
            inside: name,
            inside_bytes_per_s: inside,
            inside_basis,
            between_bytes_per_s: between.unwrap_or(assumed),
            between_basis: if between.is_some() { Basis::Given } else { Basis::Assumed },
            wire,
            joined,
            pcie_bytes_per_s,
        })
    }

    /// `ranks` GPUs of which neighbours are `stride` apart: tensor parallel ones 1, copies as many as make up one.
    /// As many such groups as there are strides share the node's network.
    pub(super) fn group(&self, ranks: u64, stride: u64) -> Group {
        let members = (self.per_node / stride.max(1)).clamp(1, ranks.max(1));
        let shared = stride.min(self.per_node).max(1) as f64;
        let (wire, link) = match self.wire {
            Wire::NvLink if members * stride > self.joined && members > 1 => (Wire::Pcie, self.pcie_bytes_per_s),
            // Each pair has a link of its own: a few of them use a few.
            Wire::Fabric => {
                let links = self.per_node.saturating_sub(1).max(1) as f64;
                let used = (members.saturating_sub(1).max(1) as f64).min(links);
                (Wire::Fabric, self.inside_bytes_per_s * used / links)
            }
            wire => (wire, self.inside_bytes_per_s),
        };
        Group { ranks, members, wire, link, network: self.between_bytes_per_s / shared }
    }

    /// The tensor-parallel ranks of a layout.
    pub(super) fn of_tensor(&self, layout: &Layout) -> Group {
        self.group(layout.tensor, 1)
    }

    /// Its copies.
    pub(super) fn of_data(&self, layout: &Layout) -> Group {
        self.group(layout.data, layout.tensor)
    }

    /// Neighbouring stages.
    pub(super) fn of_pipeline(&self, layout: &Layout) -> Group {
        let whole = layout.tensor.saturating_mul(layout.data);
        let group = self.group(2.min(layout.pipeline), whole);
        Group { members: if whole.saturating_mul(2) > self.per_node { 1 } else { 2 }, ..group }
    }
}

/// Networks are told in bits: `200Gb/s` and `200Gbps` are no bytes here.
fn rate_of(given: Option<&Typed>) -> Option<Typed> {
    given.map(|rate| match rate {
        Typed::Text(text) => {
            let mut text = text.replace("bps", "b/s");
            for prefix in ["G", "M", "T"] {
                text = text.replace(&format!("{prefix}b/s"), &format!("{prefix}bit/s"));
            }
            Typed::Text(text)
        }
        Typed::Number(n) => Typed::Number(*n),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::Catalogue;

    fn network(gpu: &str, given: Option<&str>) -> Network {
        let asked = Divided { network: given.map(Into::into), ..Divided::default() };
        Network::of(Catalogue::embedded().gpu(gpu).unwrap(), &asked).unwrap()
    }

    #[test]
    fn links_are_the_catalogues_and_networks_are_in_bits() {
        let h100 = network("h100-sxm5-80gb", Some("200Gb/s"));
        assert_eq!((h100.wire, h100.inside_bytes_per_s, h100.between_bytes_per_s), (Wire::NvLink, 450e9, 25e9));
        assert_eq!(h100.between_basis, Basis::Given);
        let assumed = network("h100-sxm5-80gb", None);
        assert_eq!((assumed.between_bytes_per_s, assumed.between_basis), (200e9, Basis::Assumed));
        // A bridge joins two; four of them go by PCIe.
        let bridged = network("h100-pcie-80gb", None);
        assert_eq!(bridged.group(2, 1).wire, Wire::NvLink);
        assert_eq!(bridged.group(4, 1).wire, Wire::Pcie);
        let mesh = network("mi300x", None);
        assert_eq!(mesh.group(8, 1).link, 448e9);
        assert_eq!(mesh.group(2, 1).link, 64e9);
    }

    #[test]
    fn copies_of_tensor_parallel_layers_share_the_network() {
        let h100 = network("h100-sxm5-80gb", None);
        let layout = Layout { data: 4, tensor: 8, ..Layout::one() };
        let copies = h100.of_data(&layout);
        assert_eq!((copies.ranks, copies.members, copies.network), (4, 1, 25e9));
        assert_eq!(h100.of_tensor(&layout).members, 8);
    }

    #[test]
    fn a_network_of_nothing_is_refused() {
        let gpu = Catalogue::embedded().gpu("l4").unwrap();
        for asked in [
            Divided { network: Some("0".into()), ..Divided::default() },
            Divided { network: Some("fast".into()), ..Divided::default() },
            Divided { per_node: Some("0".into()), ..Divided::default() },
        ] {
            assert!(Network::of(gpu, &asked).is_err(), "{asked:?}");
        }
    }
}
