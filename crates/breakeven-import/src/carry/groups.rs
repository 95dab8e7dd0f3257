//! Kernels of one op and name together: what is known of them, how long they are, what they take on another GPU.

use crate::class::Class;
use crate::model::{Direction, Trace};
use crate::names::Name;
use breakeven::carry::{Carried, Known, Pair, StandIn, Work, dtype_of};
use breakeven::hardware::Device;
use breakeven::kernel::Machine;
use breakeven::workload::op::Direction as Way;
use breakeven::workload::{Dtype, Family, Op};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

/// Kernels, or copies, that are carried alike.
pub(super) struct Group {
    pub(super) class: Class,
    pub(super) work: Work,
    /// How many.
    pub(super) count: u64,
    /// How long together, ns.
    pub(super) ns: i64,
    /// The framework's name of the op, where its shapes are known; else the kernel's.
    pub(super) name: String,
    /// Whether they are kernels: copies and memsets are none.
    pub(super) kernel: bool,
}

/// All of a trace.
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    /// The group of each kernel, copy, memset and graph, in the order of the trace.
    pub(super) kernels: Vec<u32>,
    pub(super) copies: Vec<u32>,
    pub(super) memsets: u32,
    pub(super) graphs: u32,
}

/// Beyond so many, kernels of one name are one group whatever their shapes.
const MOST: usize = 20_000;

impl Groups {
    /// Kernels of `trace`, which `source` ran.
    pub(super) fn of(trace: &Trace, source: &Device) -> Self {
        let mut groups = Self { all: Vec::new(), kernels: Vec::new(), copies: Vec::new(), memsets: 0, graphs: 0 };
        let mut places: HashMap<(Option<NonZeroU32>, Name), u32> = HashMap::new();
        for kernel in &trace.kernels {
            let work = kernel.work.filter(|_| groups.all.len() < MOST);
            let place = *places
                .entry((work, kernel.name))
                .or_insert_with(|| groups.push(named(trace, work, &trace.names.text(kernel.name))));
            groups.add(place, kernel.when.length());
            groups.kernels.push(place);
        }
        let mut ways: BTreeMap<Direction, u32> = BTreeMap::new();
        for copy in &trace.copies {
            let place =
                *ways.entry(copy.direction).or_insert_with(|| groups.push(plain("copy", Class::Copy, Known::Class)));
            groups.add(place, copy.when.length());
            groups.copies.push(place);
        }
        groups.memsets = groups.push(plain("memset", Class::Copy, Known::Class));
        groups.graphs = groups.push(plain("graph", Class::Other, Known::Nothing));
        for (place, all) in [(groups.memsets, &trace.memsets), (groups.graphs, &trace.graphs)] {
            all.iter().for_each(|(_, when)| groups.add(place, when.length()));
        }
        let machine = Machine::of(source);
        let copied: BTreeMap<u32, Direction> = ways.into_iter().map(|(direction, place)| (place, direction)).collect();
        for (place, group) in (0_u32..).zip(&mut groups.all) {
            if group.work.known != Known::Op && group.count > 0 {
                let stand_in = copied.get(&place).map_or_else(|| stand_in(group.class), |way| over(*way));
                group.work.op = stand_in.op(group.work.dtype, group.mean_s(), &machine);
            }
        }
        groups
    }

    fn push(&mut self, group: Group) -> u32 {
        self.all.push(group);
        u32::try_from(self.all.len() - 1).unwrap_or(0)
    }

    fn add(&mut self, place: u32, ns: i64) {
        if let Some(group) = self.all.get_mut(place as usize) {
            group.count += 1;
            group.ns = group.ns.saturating_add(ns);
        }
    }

    /// Each group in all its runs on the target, and by how much each of them is longer there.
    pub(super) fn carried(&self, pair: &Pair<'_>) -> Vec<(Carried, f64)> {
        let one = |group: &Group| {
            let before = group.mean_s();
            let carried = pair.carry(&group.work, before);
            let factor = if before > 0.0 { carried.seconds / before } else { 1.0 };
            (Carried { seconds: factor * group.seconds(), ..carried }, factor)
        };
        self.all.iter().map(one).collect()
    }

    /// Adds the time of kernels by how their op is known, s.
    pub(super) fn known(&self, sums: &mut [f64; 3]) {
        for group in self.all.iter().filter(|group| group.kernel) {
            let place = match group.work.known {
                Known::Op => 0,
                Known::Class => 1,
                Known::Nothing => 2,
            };
            sums[place] += group.seconds();
        }
    }
}

impl Group {
    /// s together.
    #[expect(clippy::cast_precision_loss, reason = "104 days in ns are exact")]
    pub(super) fn seconds(&self) -> f64 {
        self.ns as f64 * 1e-9
    }

    /// s of one.
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    pub(super) fn mean_s(&self) -> f64 {
        if self.count > 0 { self.seconds() / self.count as f64 } else { 0.0 }
    }
}

/// Kernel time by class, the most first, s.
pub(super) fn classes(groups: &[Groups]) -> Vec<(Class, f64)> {
    let mut sums: BTreeMap<Class, f64> = BTreeMap::new();
    for group in groups.iter().flat_map(|groups| &groups.all).filter(|group| group.kernel) {
        *sums.entry(group.class).or_default() += group.seconds();
    }
    let mut sums: Vec<(Class, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// What a kernel computes: the op that launched it, where its name does not speak against that; else its class.
fn named(trace: &Trace, work: Option<NonZeroU32>, name: &str) -> Group {
    let class = Class::of(name.as_bytes());
    let told = work.and_then(|work| trace.works.get(work.get() as usize - 1)).filter(|(_, work)| fits(class, &work.op));
    if let Some((op, work)) = told {
        let mut work = work.clone();
        // What may be computed in TF32 is, where the kernel says so.
        if work.dtype == Dtype::F32 && dtype_of(name) == Some(Dtype::Tf32) {
            work.dtype = Dtype::Tf32;
        }
        return Group { class, work, count: 0, ns: 0, name: op.clone(), kernel: true };
    }
    let known = if class == Class::Other { Known::Nothing } else { Known::Class };
    let untold = if class == Class::Gemm { Dtype::F16 } else { Dtype::F32 };
    let group = plain(name, class, known);
    let dtype = dtype_of(name).unwrap_or(untold);
    Group { work: Work { dtype, ..group.work }, kernel: true, ..group }
}

fn plain(name: &str, class: Class, known: Known) -> Group {
    let work = Work { op: Op::View, dtype: Dtype::F32, known };
    Group { class, work, count: 0, ns: 0, name: name.to_owned(), kernel: false }
}

/// Whether a kernel of this class may be what the op is for: a convolution's change of layout is not.
fn fits(class: Class, op: &Op) -> bool {
    let product = matches!(class, Class::Gemm | Class::Convolution | Class::Attention);
    match op.family() {
        Family::Matmul | Family::Convolution => matches!(class, Class::Gemm | Class::Convolution | Class::Other),
        Family::Attention => product || class == Class::Other,
        Family::Collective => class == Class::Communication,
        _ => !product && !matches!(class, Class::Communication | Class::Fused),
    }
}

/// The op of a class.
const fn stand_in(class: Class) -> StandIn {
    match class {
        Class::Communication => StandIn::Exchange,
        Class::Attention => StandIn::Attention,
        Class::Convolution => StandIn::Convolution,
        Class::Gemm => StandIn::Product,
        Class::Norm => StandIn::Norm,
        Class::Softmax => StandIn::Softmax,
        Class::Reduction => StandIn::Fold,
        Class::Sort => StandIn::Sort,
        Class::Indexing => StandIn::Lookup,
        Class::Pooling => StandIn::Windows,
        Class::Random => StandIn::Random,
        Class::Copy => StandIn::Copy,
        Class::Optimizer | Class::Fused | Class::Elementwise | Class::Other => StandIn::Map,
    }
}

/// The op of a copy.
const fn over(direction: Direction) -> StandIn {
    match direction {
        Direction::HostToDevice => StandIn::Transfer(Way::H2d),
        Direction::DeviceToHost => StandIn::Transfer(Way::D2h),
        Direction::DeviceToDevice => StandIn::Copy,
        Direction::PeerToPeer | Direction::Unknown => StandIn::Exchange,
    }
}
