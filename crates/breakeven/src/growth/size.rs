//! Which dimension of the arrays is the size of the problem, found from the recorded shapes.

use super::batch::{Batch, batch_of, is_network};
use crate::workload::{Entry, Op, Workload};

/// Smaller dims are counts of columns, coordinates, channels.
const LEAST: u64 = 16;
/// Dims that differ by so much are the same size with a border: `u[1:-1]`.
const BORDER: u64 = 4;
/// Share of the array time whose shapes must hold the dimension.
const COVERS: f64 = 0.5;

/// The dimension that the problem grows by.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// As recorded.
    pub value: u64,
    /// The shape that says most about the work, for people: that of the hottest array that has the dimension.
    pub shape: Vec<u64>,
    /// It is the batch of a network: the first dimension of its results and nothing else.
    pub batch: Option<Batch>,
    /// It is the rows of a data frame.
    pub rows: bool,
}

/// The dimension that most of the array time has in its shapes; the longest where several do. `None` where no dimension
/// covers half of that time. Of networks it is the batch: the widths of their layers are no size that a user changes.
///
/// ```
/// use breakeven::{growth::problem_size, workload::Workload};
/// let workload = Workload::from_json(include_bytes!("../../../../docs/examples/heat.breakeven.json"))?;
/// let size = problem_size(&workload).expect("a grid");
/// assert_eq!((size.value, size.shape), (1022, vec![1022, 1022]));
/// # Ok::<(), breakeven::Error>(())
/// ```
pub fn problem_size(workload: &Workload) -> Option<Size> {
    if is_network(workload) {
        let batch = batch_of(workload)?;
        return Some(Size { value: batch.value, shape: vec![batch.value], batch: Some(batch), rows: false });
    }
    let mut weighed: Vec<(u64, f64)> = Vec::new();
    let mut all = 0.0;
    let shapes: Vec<(f64, Shapes, bool)> = workload
        .ops
        .iter()
        .map(|entry| (entry.cpu_ns as f64, Shapes::of(entry), of_frames(&entry.op).is_some()))
        .collect();
    for (time, shapes, _) in &shapes {
        all += time;
        let mut dims: Vec<u64> = shapes.all().flatten().copied().filter(|dim| *dim >= LEAST).collect();
        dims.sort_unstable();
        dims.dedup();
        for dim in dims {
            match weighed.iter_mut().find(|(known, _)| *known == dim) {
                Some((_, weight)) => *weight += time,
                None => weighed.push((dim, *time)),
            }
        }
    }
    // Each dimension stands for those near it, too.
    let score = |value: u64| -> f64 {
        let near = |shapes: &Shapes| shapes.all().flatten().any(|dim| exponent(*dim, value) > 0);
        shapes.iter().filter(|(_, shapes, _)| near(shapes)).map(|(time, ..)| time).sum()
    };
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    let candidates = weighed.iter().take(8).map(|(value, own)| (*value, score(*value), *own));
    let best = candidates.max_by(|a, b| {
        // Within a twentieth the longer one is the size, then the one that is written more often.
        let close = (a.1 - b.1).abs() <= 0.05 * all;
        if close && exponent(a.0, b.0) == 0 { a.0.cmp(&b.0) } else { a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)) }
    })?;
    let (value, covered, _) = best;
    if all <= 0.0 || covered < COVERS * all {
        return None;
    }
    let hottest = shapes
        .iter()
        .filter(|(_, shapes, _)| shapes.output().is_some_and(|shape| shape.contains(&value)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let shape = hottest.and_then(|(_, shapes, _)| shapes.output()).map_or_else(|| vec![value], <[u64]>::to_vec);
    let rows = hottest.is_some_and(|(.., rows)| *rows);
    // Of a frame, whose columns stay, the rows are the size.
    Some(Size { value, shape: if rows { vec![value] } else { shape }, batch: None, rows })
}

/// The shapes of one entry, inputs before outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shapes {
    pub(super) inputs: Vec<Vec<u64>>,
    pub(super) outputs: Vec<Vec<u64>>,
}

impl Shapes {
    /// As written: `[4000,64] [64,4000] -> [4000,4000]`; those of the tables where there are some; empty where they are not
    /// known.
    pub(super) fn of(entry: &Entry) -> Self {
        if let Some(frames) = of_frames(&entry.op) {
            return frames;
        }
        let Some(text) = &entry.shapes else { return Self::default() };
        let (inputs, outputs) = text.split_once("->").unwrap_or(("", text));
        Self { inputs: read(inputs), outputs: read(outputs) }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Vec<u64>> {
        self.inputs.iter().chain(&self.outputs)
    }

    fn output(&self) -> Option<&[u64]> {
        self.outputs.iter().chain(&self.inputs).max_by_key(|shape| elements(shape)).map(Vec::as_slice)
    }
}

/// The tables that an op on data frames reads and gives; `None` of other ops.
fn of_frames(op: &Op) -> Option<Shapes> {
    match op {
        &Op::Dataframe { rows, columns, out_rows, other_rows, .. } => {
            let some = |shape: Vec<u64>| (shape[0] > 0).then_some(shape);
            let inputs = [some(vec![rows, columns.max(1)]), some(vec![other_rows])].into_iter().flatten().collect();
            Some(Shapes { inputs, outputs: some(vec![out_rows, columns.max(1)]).into_iter().collect() })
        }
        Op::Routine { parts } => {
            let mut tables = parts.iter().filter_map(|part| of_frames(&part.op));
            let first = tables.next()?;
            Some(tables.fold(first, |mut all, next| {
                all.inputs.extend(next.inputs);
                all.outputs.extend(next.outputs);
                all
            }))
        }
        _ => None,
    }
}

fn read(text: &str) -> Vec<Vec<u64>> {
    let lists = text.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    lists.map(|(dims, _)| dims.split(',').filter_map(|dim| dim.trim().parse().ok()).collect()).collect()
}

pub(super) fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, dim| product.saturating_mul(*dim))
}

/// 1 where `dim` grows with the size: equal but for a border, half of it as in a real transform.
fn exponent(dim: u64, size: u64) -> u32 {
    let near = |a: u64, b: u64| a.abs_diff(b) <= BORDER.min(b / 8);
    u32::from(dim >= LEAST && (near(dim, size) || near(dim, size / 2 + 1)))
}

/// How often the size is a factor of `value`, judged by the shapes that the op has.
pub(super) fn power(value: u64, size: u64, shapes: &Shapes) -> u32 {
    if exponent(value, size) > 0 {
        return 1;
    }
    for shape in shapes.all() {
        for from in 0..shape.len() {
            for to in from + 1..=shape.len() {
                if elements(&shape[from..to]) == value {
                    return shape[from..to].iter().map(|dim| exponent(*dim, size)).sum();
                }
            }
        }
    }
    0
}

/// How often the size is a factor of an array of that shape.
pub(super) fn shape_power(shape: &[u64], size: u64) -> u32 {
    shape.iter().map(|dim| exponent(*dim, size)).sum()
}

/// The dims of an op that arrays have: counts of elements, rows, points. Those that say how it is done stay out.
pub(super) fn dims_mut(op: &mut Op) -> Vec<&mut u64> {
    match op {
        Op::Matmul { m, n, k, batch, .. } => vec![m, n, k, batch],
        Op::Convolution { batch, cin, cout, input, output, .. } => {
            [batch, cin, cout].into_iter().chain(input).chain(output).collect()
        }
        Op::Attention { batch, heads, q_len, kv_len, head_dim, .. } => vec![batch, heads, q_len, kv_len, head_dim],
        Op::Recurrent { steps, rows, input, hidden, projection, .. } => vec![steps, rows, input, hidden, projection],
        Op::Elementwise { n, .. } | Op::Copy { n, .. } | Op::Random { n, .. } => vec![n],
        Op::Reduce { n, out, .. } => vec![n, out],
        Op::Rowwise { rows, width, .. } | Op::Scan { rows, width } | Op::Sort { rows, width, .. } => vec![rows, width],
        Op::Gather { n, source } => vec![n, source],
        Op::Scatter { n, target, .. } => vec![n, target],
        Op::Fft { n, batch, .. } => vec![n, batch],
        Op::Factor { m, n, rhs, batch, .. } => vec![m, n, rhs, batch],
        Op::Sparse { rows, cols, nnz, n, .. } => vec![rows, cols, nnz, n],
        Op::Window { n, input, .. } => vec![n, input],
        Op::Embedding { n, width, table, .. } => vec![n, width, table],
        Op::Dataframe { rows, columns, out_rows, other_rows, .. } => vec![rows, columns, out_rows, other_rows],
        Op::Routine { parts } => parts.iter_mut().flat_map(|part| dims_mut(&mut part.op)).collect(),
        // Bytes and waiting grow with the arrays, which the entry's own bytes tell.
        Op::Collective { .. }
        | Op::Transfer { .. }
        | Op::HostRead { .. }
        | Op::Synchronise
        | Op::StreamWait
        | Op::View
        | Op::HostOnly
        | Op::Opaque => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_read_as_recorders_write_them() {
        let shapes = Shapes { inputs: read("[4000,64] [64,4000] "), outputs: read(" [4000,4000]") };
        assert_eq!(shapes.inputs, [[4000, 64], [64, 4000]]);
        assert_eq!(shapes.outputs, [[4000, 4000]]);
        assert_eq!(power(16_000_000, 4000, &shapes), 2);
        assert_eq!(power(256_000, 4000, &shapes), 1);
        assert_eq!(power(64, 4000, &shapes), 0);
        assert_eq!(power(3999, 4000, &shapes), 1);
        assert_eq!(power(7, 4000, &shapes), 0);
        assert!(read("[").is_empty() && read("nonsense ] [").is_empty());
        assert_eq!(read("[]"), [Vec::<u64>::new()]);
    }

    #[test]
    fn tensors_without_a_network_have_a_size_as_arrays_do() {
        let mut workload = crate::workload::samples::heat();
        for entry in &mut workload.ops {
            (entry.name, entry.shapes) = ("aten.add".to_owned(), Some("[500,500] [500,500] -> [500,500]".to_owned()));
        }
        let size = problem_size(&workload).map(|size| (size.shape, size.batch));
        assert_eq!(size, Some((vec![500, 500], None)));
        workload.ops[0].phase = Some(crate::workload::Phase::Forward);
        assert_eq!(problem_size(&workload).map(|size| size.shape), Some(vec![500]));
    }

    #[test]
    fn half_of_a_real_transform_grows_with_it() {
        assert_eq!(shape_power(&[64, 131_073], 262_144), 1);
    }
}
