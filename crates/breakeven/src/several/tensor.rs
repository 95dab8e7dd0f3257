//! Layers divided among GPUs as Megatron-LM divides them (Shoeybi et al. 2019): of two products one after the other the
//! first gives each rank some columns of its weight, the second some rows, and one all-reduce adds what comes out.
//!
//! Between the two, ops work on each rank's part. An op without a rule needs the whole: what is divided is gathered
//! before it, and each rank does all of it.

use crate::workload::op::{Collective, Rowwise};
use crate::workload::{Entry, Op, Phase, Step};
use std::collections::{BTreeMap, BTreeSet};

/// An exchange among tensor-parallel ranks after each run of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Insert {
    /// The entry before it.
    pub after: u32,
    /// What is exchanged how.
    pub kind: Collective,
    /// The whole message, bytes.
    pub bytes: f64,
    /// Exchanges for each run.
    pub times: f64,
}

/// What dividing the layers came to.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// Exchanges.
    pub inserts: Vec<Insert>,
    /// Entries that each rank does a part of.
    pub divided: BTreeSet<u32>,
    /// Share of the weights that is divided, 0–1.
    pub of_weights: f64,
    /// Share of the forward results that is divided, 0–1.
    pub of_results: f64,
}

/// What the walk is between.
#[derive(Clone, Copy, Debug)]
enum At {
    Whole,
    /// After products by columns of `width` results from `from` inputs; `used` once more than views of them was taken.
    Divided {
        width: u64,
        from: u64,
        rows: u64,
        used: bool,
    },
}

/// A forward product that is divided: its dims, and which of them by the ranks.
struct Product {
    dims: [u64; 3],
    divided: u64,
    /// The first of products by columns from the same input, and how many there are.
    leads: Option<f64>,
}

/// Bytes of the weight that a forward entry reads, 0 where it has none.
pub fn weight(entry: &Entry) -> f64 {
    let elements = match &entry.op {
        Op::Matmul { n, k, batch: 1, .. } => *n as f64 * *k as f64,
        Op::Convolution { cin, cout, groups, kernel, .. } => {
            *cin as f64 * *cout as f64 / (*groups).max(1) as f64 * kernel.iter().map(|d| *d as f64).product::<f64>()
        }
        Op::Embedding { width, table, .. } => *width as f64 * *table as f64,
        _ => 0.0,
    };
    elements * entry.dtype.bytes() as f64
}

/// Divides the layers of `ops` among `ranks`, in place.
pub fn divide(ops: &mut [Entry], order: &[Step], ranks: u64) -> Division {
    let mut out = Division::default();
    if ranks < 2 {
        return out;
    }
    let mut walk = Walk {
        ranks,
        at: At::Whole,
        last: None,
        products: BTreeMap::new(),
        lead: None,
        sizes: BTreeSet::new(),
        whole_sizes: BTreeSet::new(),
    };
    let (mut weights, mut results) = ([0.0; 2], [0.0; 2]);
    walk.steps(ops, order, &mut out);
    walk.gather(ops, &mut out);
    for (i, entry) in ops.iter().enumerate().filter(|(_, entry)| is_forward(entry)) {
        let divided = usize::from(out.divided.contains(&(i as u32)));
        // A divided product's weight has been divided in its dims already.
        let times = if divided == 1 { ranks as f64 } else { 1.0 };
        weights[divided] += weight(entry) * times * entry.count as f64;
        results[divided] += entry.written_bytes as f64 * times * entry.count as f64;
    }
    let share = |[whole, divided]: [f64; 2]| if divided > 0.0 { divided / (whole + divided) } else { 0.0 };
    (out.of_weights, out.of_results) = (share(weights), share(results));
    backward(ops, &walk, &mut out);
    out
}

/// Whether an entry is of the forward pass, or of a program without passes.
pub fn is_forward(entry: &Entry) -> bool {
    matches!(entry.phase, None | Some(Phase::Forward))
}

struct Walk {
    ranks: u64,
    at: At,
    last: Option<u32>,
    products: BTreeMap<u32, Product>,
    lead: Option<u32>,
    /// Elements that ops on divided and on whole results have.
    sizes: BTreeSet<u64>,
    whole_sizes: BTreeSet<u64>,
}

impl Walk {
    /// Each text of the order once: a loop's rounds are alike.
    fn steps(&mut self, ops: &mut [Entry], steps: &[Step], out: &mut Division) {
        for step in steps {
            match step {
                Step::Repeat(_, body) => self.steps(ops, body, out),
                Step::Run(i) if ops.get(*i as usize).is_some_and(is_forward) => self.visit(ops, *i, out),
                Step::Run(_) => {}
            }
        }
    }

    fn visit(&mut self, ops: &mut [Entry], i: u32, out: &mut Division) {
        let known = out.divided.contains(&i);
        let entry = &mut ops[i as usize];
        let width = entry.dtype.bytes() as f64;
        match entry.op.clone() {
            Op::Matmul { m, n, k, batch: 1, .. } => {
                let dims = self.products.get(&i).map_or([m, n, k], |product| product.dims);
                self.product(ops, i, dims, width, out);
            }
            Op::Matmul { batch, .. } => self.inside(entry, i, known, batch, out, |op, by| {
                if let Op::Matmul { batch, .. } = op {
                    *batch /= by;
                }
            }),
            Op::Attention { heads, head_dim, .. } => {
                self.inside(entry, i, known, heads, out, |op, by| {
                    if let Op::Attention { heads, .. } = op {
                        *heads /= by;
                    }
                });
                if let At::Divided { width, .. } = &mut self.at {
                    let heads = if known { heads * self.ranks } else { heads };
                    *width = heads * head_dim;
                }
            }
            Op::Elementwise { n, .. }
            | Op::Copy { n, .. }
            | Op::Random { n, .. }
            | Op::Rowwise { kind: Rowwise::Softmax, rows: n, .. } => {
                let divided = matches!(self.at, At::Divided { .. });
                if !known {
                    let sizes = if divided { &mut self.sizes } else { &mut self.whole_sizes };
                    sizes.insert(n);
                }
                self.inside(entry, i, known, n, out, elements);
            }
            Op::View | Op::StreamWait | Op::Synchronise | Op::Transfer { .. } | Op::HostRead { .. } => {}
            _ if entry.op.is_array_work() => self.gather(ops, out),
            _ => {}
        }
        self.last = Some(i);
    }

    /// A product with a weight: by columns, by rows, or whole.
    fn product(&mut self, ops: &mut [Entry], i: u32, [m, n, k]: [u64; 3], width: f64, out: &mut Division) {
        let by_rows = match self.at {
            At::Divided { width, from, used, .. } => {
                // Of fused queries, keys and values, or gate and input, a third or a half goes on.
                used && k != from.saturating_mul(u64::from(k != width)) && [1, 2, 3].iter().any(|p| k * p == width)
            }
            At::Whole => false,
        };
        if by_rows && k.is_multiple_of(self.ranks) {
            self.put(ops, i, [m, n, k], k, None, out);
            let bytes = m as f64 * n as f64 * width;
            out.inserts.push(Insert { after: i, kind: Collective::AllReduce, bytes, times: 1.0 });
            (self.at, self.lead) = (At::Whole, None);
            return;
        }
        let same_input = matches!(self.at, At::Divided { from, rows, .. } if from == k && rows == m);
        if !same_input {
            self.gather(ops, out);
        }
        if !n.is_multiple_of(self.ranks) || n == 0 {
            self.gather(ops, out);
            return;
        }
        match self.lead.and_then(|lead| self.products.get_mut(&lead)).filter(|_| same_input) {
            Some(lead) => {
                lead.leads = lead.leads.map(|n| n + 1.0);
                self.put(ops, i, [m, n, k], n, None, out);
            }
            None => {
                self.put(ops, i, [m, n, k], n, Some(1.0), out);
                self.lead = Some(i);
            }
        }
        let before = if let At::Divided { used, .. } = self.at { used } else { false };
        self.at = At::Divided { width: n, from: k, rows: m, used: before && same_input };
    }

    fn put(&mut self, ops: &mut [Entry], i: u32, dims: [u64; 3], divided: u64, leads: Option<f64>, out: &mut Division) {
        if out.divided.insert(i) {
            divide_product(&mut ops[i as usize], divided, None, self.ranks);
            self.products.insert(i, Product { dims, divided, leads });
        }
    }

    /// An op between two divided products, on each rank's part of its `n`.
    fn inside(
        &mut self,
        entry: &mut Entry,
        i: u32,
        known: bool,
        n: u64,
        out: &mut Division,
        change: impl Fn(&mut Op, u64),
    ) {
        let At::Divided { used, .. } = &mut self.at else { return };
        *used |= !matches!(entry.op, Op::Copy { .. });
        if !known && n.is_multiple_of(self.ranks) && out.divided.insert(i) {
            change(&mut entry.op, self.ranks);
            bytes(entry, self.ranks);
        }
    }

    /// What is divided is needed whole.
    fn gather(&mut self, ops: &[Entry], out: &mut Division) {
        if let (At::Divided { width, rows, .. }, Some(after)) = (self.at, self.last) {
            let bytes = width as f64 * rows as f64 * ops[after as usize].dtype.bytes() as f64;
            out.inserts.push(Insert { after, kind: Collective::AllGather, bytes, times: 1.0 });
        }
        (self.at, self.lead) = (At::Whole, None);
    }
}

/// The gradients of what was divided are as divided; before each first product by columns they are added up.
fn backward(ops: &mut [Entry], walk: &Walk, out: &mut Division) {
    let sorted = |mut dims: [u64; 3]| {
        dims.sort_unstable();
        dims
    };
    let mut heads = BTreeSet::new();
    let mut batches = BTreeSet::new();
    for i in &out.divided {
        match &ops[*i as usize].op {
            Op::Attention { heads: h, .. } => drop(heads.insert(h * walk.ranks)),
            Op::Matmul { batch, .. } if *batch > 1 => drop(batches.insert(batch * walk.ranks)),
            _ => {}
        }
    }
    let mut summed = BTreeSet::new();
    for (i, entry) in ops.iter_mut().enumerate() {
        if entry.phase != Some(Phase::Backward) {
            continue;
        }
        let width = entry.dtype.bytes() as f64;
        match entry.op.clone() {
            Op::Matmul { m, n, k, batch: 1, .. } => {
                let of = |product: &&Product| sorted(product.dims) == sorted([m, n, k]);
                let Some(product) = walk.products.values().find(of) else { continue };
                let [rows, outputs, inputs] = product.dims;
                divide_product(entry, product.divided, Some(rows), walk.ranks);
                out.divided.insert(i as u32);
                let lead = walk.products.iter().find(|(at, product)| {
                    of(product) && !summed.contains(*at) && product.leads.is_some() && k == outputs && m == rows
                });
                if let Some((at, Product { leads: Some(together), .. })) = lead {
                    summed.insert(*at);
                    let bytes = rows as f64 * inputs as f64 * width;
                    let (after, kind) = (i as u32, Collective::AllReduce);
                    out.inserts.push(Insert { after, kind, bytes, times: 1.0 / together });
                }
            }
            Op::Matmul { batch, .. } if batches.contains(&batch) => {
                if let Op::Matmul { batch, .. } = &mut entry.op {
                    *batch /= walk.ranks;
                }
                bytes(entry, walk.ranks);
                out.divided.insert(i as u32);
            }
            Op::Attention { heads: h, .. } if heads.contains(&h) => {
                if let Op::Attention { heads, .. } = &mut entry.op {
                    *heads /= walk.ranks;
                }
                bytes(entry, walk.ranks);
                out.divided.insert(i as u32);
            }
            Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Rowwise { kind: Rowwise::Softmax, rows: n, .. }
                if walk.sizes.contains(&n) && !walk.whole_sizes.contains(&n) && n.is_multiple_of(walk.ranks) =>
            {
                elements(&mut entry.op, walk.ranks);
                bytes(entry, walk.ranks);
                out.divided.insert(i as u32);
            }
            _ => {}
        }
    }
}

fn elements(op: &mut Op, by: u64) {
    match op {
        Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Random { n, .. } | Op::Rowwise { rows: n, .. } => *n /= by,
        _ => {}
    }
}

/// A product with the dim of this size divided, one that is not `rows` where another is as large.
fn divide_product(entry: &mut Entry, size: u64, rows: Option<u64>, by: u64) {
    if let Op::Matmul { m, n, k, .. } = &mut entry.op {
        let all = [*m, *n, *k];
        let only = all.iter().filter(|dim| **dim == size).count() == 1;
        // In a forward product the first dim is never a weight's.
        let dims: [&mut u64; 3] = if *k == size { [k, n, m] } else { [n, m, k] };
        let fits = |dim: &u64| *dim == size && (only || rows != Some(*dim) || all == [size; 3]);
        if let Some(dim) = dims.into_iter().find(|dim| fits(dim)) {
            *dim /= by;
        }
    }
    bytes(entry, by);
}

/// The bytes of a part; what comes whole on one side is counted as divided, too, which is little beside the rest.
fn bytes(entry: &mut Entry, by: u64) {
    entry.read_bytes /= by;
    entry.written_bytes /= by;
    entry.shapes = None;
}
