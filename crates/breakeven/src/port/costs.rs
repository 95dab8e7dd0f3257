//! What a port spends on the host and at the start.

use crate::interval::{Basis, Interval};
use crate::lower::rows;
use crate::workload::Family;

/// Durations by name, s.
#[derive(Debug)]
pub(super) struct Costs(Vec<(String, Interval, Basis)>);

impl Costs {
    pub(super) fn parse(text: &'static str) -> Self {
        let row = |r: csv::StringRecord| {
            let ns = |i: usize| r.get(i)?.parse().ok().map(|ns: f64| ns * 1e-9);
            let basis = match r.get(4)? {
                "measured" => Basis::Measured,
                "given" => Basis::Given,
                "modelled" => Basis::Modelled,
                _ => Basis::Assumed,
            };
            Some((r.get(0)?.to_owned(), Interval { p10: ns(1)?, p50: ns(2)?, p90: ns(3)? }, basis))
        };
        Self(rows(text).filter_map(row).collect())
    }

    /// The duration of this name; nothing when it has no row.
    pub(super) fn get(&self, what: &str) -> Interval {
        self.0.iter().find(|(name, ..)| name == what).map_or(Interval::exact(0.0), |&(_, time, _)| time)
    }

    /// One call of this family.
    pub(super) fn dispatch(&self, family: Family) -> Interval {
        self.get(match family {
            Family::Matmul => "dispatch.matmul",
            Family::Convolution => "dispatch.convolution",
            Family::Attention => "dispatch.attention",
            // One call of a library too, with its own descriptors.
            Family::Recurrent => "dispatch.convolution",
            Family::Elementwise => "dispatch.elementwise",
            Family::Reduce => "dispatch.reduce",
            Family::Rowwise => "dispatch.rowwise",
            Family::Scan => "dispatch.scan",
            Family::Sort => "dispatch.sort",
            Family::Gather => "dispatch.gather",
            Family::Scatter => "dispatch.scatter",
            Family::Copy => "dispatch.copy",
            Family::Fft => "dispatch.fft",
            Family::Factor => "dispatch.factor",
            Family::Sparse => "dispatch.sparse",
            Family::Random => "dispatch.random",
            Family::Window => "dispatch.window",
            Family::Embedding => "dispatch.embedding",
            Family::Dataframe => "dispatch.dataframe",
            Family::Routine => "dispatch.routine",
            Family::Collective => "dispatch.collective",
            Family::Transfer => "dispatch.transfer",
            Family::HostRead => "dispatch.host_read",
            Family::Synchronise => "dispatch.synchronise",
            Family::StreamWait => "dispatch.stream_wait",
            Family::View => "dispatch.view",
            Family::HostOnly | Family::Opaque => return Interval::exact(0.0),
        })
    }

    /// Kernels that the measured call of a family had, and its duration holds: a solve, a soft-max, a running sum.
    pub(super) const fn kernels_within(family: Family) -> u32 {
        match family {
            Family::Factor => 14,
            Family::Rowwise | Family::Sort => 11,
            Family::Scan | Family::Random => 3,
            _ => 1,
        }
    }

    /// The weakest basis among the rows.
    pub(super) fn basis(&self) -> Basis {
        self.0.iter().map(|&(_, _, basis)| basis).max().unwrap_or(Basis::Assumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRAYS: [&str; 2] = [include_str!("../../ports/cupy_costs.csv"), include_str!("../../ports/torch_costs.csv")];
    const TEXTS: [&str; 8] = [
        ARRAYS[0],
        ARRAYS[1],
        include_str!("../../ports/cudf_costs.csv"),
        include_str!("../../ports/cuml_costs.csv"),
        include_str!("../../ports/jax_costs.csv"),
        include_str!("../../ports/numba_costs.csv"),
        include_str!("../../ports/tensorflow_costs.csv"),
        include_str!("../../ports/onnxruntime_costs.csv"),
    ];

    #[test]
    fn every_row_has_figures_a_basis_and_a_source() {
        for text in TEXTS {
            for r in rows(text) {
                assert_eq!(r.len(), 6, "{r:?}");
                assert!(matches!(&r[4], "measured" | "given" | "modelled" | "assumed") && !r[5].is_empty(), "{r:?}");
            }
            assert_eq!(Costs::parse(text).0.len(), rows(text).count());
        }
    }

    #[test]
    fn what_is_assumed_spreads_at_least_threefold() {
        for (name, t, basis) in TEXTS.into_iter().flat_map(|text| Costs::parse(text).0) {
            assert!(0.0 < t.p10 && t.p10 <= t.p50 && t.p50 <= t.p90, "{name}: {t:?}");
            assert!(basis != Basis::Assumed || t.p90 >= 3.0 * t.p10, "{name}: {t:?}");
        }
    }

    #[test]
    fn every_family_that_is_dispatched_has_a_row() {
        use Family::*;
        for family in [
            Matmul,
            Convolution,
            Attention,
            Elementwise,
            Reduce,
            Rowwise,
            Scan,
            Sort,
            Gather,
            Scatter,
            Copy,
            Fft,
            Factor,
            Sparse,
            Random,
            Window,
            Embedding,
            Dataframe,
            Collective,
            Transfer,
            HostRead,
            Synchronise,
            View,
        ] {
            for text in ARRAYS {
                assert!(Costs::parse(text).dispatch(family).p10 > 0.0, "{family:?}");
            }
        }
    }
}
