//! What tensor frameworks call and NumPy does not: layers, their gradients, losses, whole recurrent networks.

use super::call::product;
use super::{ArrayRef, Call, product};
use crate::workload::Op;
use crate::workload::op::{Cell, Collective, Pass, Rowwise, Window};

/// The forms; in the table `tensor:NAME`, or `tensor:NAME:PASS`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// An array to be added (a bias), or the result's gradient, then two factors. The sum is the last step of each dot
    /// product, as in BLAS.
    After(product::Product),
    /// A layer: rows of the input with the rows of the weight.
    Linear,
    /// A convolution; of its gradients the keyword `output_mask` names those wanted.
    Convolution(Pass),
    /// Attention; queries, keys and values come last in `Backward` after the gradient of the result.
    Attention(Pass),
    /// A normalisation with a mean for each row among its results (forward) or inputs (backward).
    Normalised(Rowwise, Pass),
    /// A normalisation over all but the second axis, unless the keyword `training` says that its moments are given.
    Channels(Pass),
    /// The same with given moments: a factor and a term for each channel.
    Scaled,
    /// A soft-max along `axis`.
    Softmax(Rowwise, Pass),
    /// Windows of `kernel_size`, or as many elements as the sizes tell.
    Pool(Window, Pass),
    /// So many neighbours for each element of the result.
    Resize(Pass, u64),
    /// Rows of a table.
    Embedding(Pass),
    /// One direction of a layer of a recurrent network: input, weights of input and state, and of a projection; the input
    /// has axes for steps, sequences and features, or where sequences differ in length one for all their steps together,
    /// and the keyword `steps`.
    Recurrent(Cell, Pass),
    /// A number looked up in each row.
    Pick,
    /// Ranks exchange the first array.
    Collective(Collective),
}

impl Form {
    pub(super) fn parse(name: &str, pass: &str) -> Option<Self> {
        let which = match pass {
            "backward" => Pass::Backward,
            _ => Pass::Forward,
        };
        Some(match name {
            "addmm" => Self::After(product::Product::Matmul),
            "after_pairs" => Self::After(product::Product::Pairs),
            "linear" => Self::Linear,
            "convolution" => Self::Convolution(which),
            "attention" => Self::Attention(which),
            "layer_norm" => Self::Normalised(Rowwise::LayerNorm, which),
            "group_norm" => Self::Normalised(Rowwise::GroupNorm, which),
            "rms_norm" => Self::Normalised(Rowwise::RmsNorm, which),
            "batch_norm" => Self::Channels(which),
            "scaled" => Self::Scaled,
            "softmax" => Self::Softmax(Rowwise::Softmax, which),
            "log_softmax" => Self::Softmax(Rowwise::LogSoftmax, which),
            "max_pool" => Self::Pool(Window::MaxPool, which),
            "average_pool" => Self::Pool(Window::AveragePool, which),
            "nearest" => Self::Resize(which, 1),
            "linear_1d" => Self::Resize(which, 2),
            "linear_2d" => Self::Resize(which, 4),
            "linear_3d" => Self::Resize(which, 8),
            "cubic_2d" => Self::Resize(which, 16),
            "embedding" => Self::Embedding(which),
            "lstm" => Self::Recurrent(Cell::Lstm, which),
            "gru" => Self::Recurrent(Cell::Gru, which),
            "rnn" => Self::Recurrent(Cell::Rnn, which),
            "pick" => Self::Pick,
            "all_reduce" => Self::Collective(Collective::AllReduce),
            "all_gather" => Self::Collective(Collective::AllGather),
            "reduce_scatter" => Self::Collective(Collective::ReduceScatter),
            "broadcast" => Self::Collective(Collective::Broadcast),
            "all_to_all" => Self::Collective(Collective::AllToAll),
            "send_recv" => Self::Collective(Collective::SendRecv),
            _ => return None,
        })
    }
}

/// The op of a call of this form; `Opaque` where its arrays are not what the form needs.
pub(super) fn op(form: Form, call: &Call) -> Op {
    match form {
        Form::After(form) => match call.inputs {
            [_, a, b, ..] => {
                let inputs = [a.clone(), b.clone()];
                product::op(form, &Call { inputs: &inputs, ..*call })
            }
            _ => Op::Opaque,
        },
        Form::Linear => match (call.inputs, call.out()) {
            ([x, weight, ..], out) => {
                let k = x.last();
                let n = weight.shape.first().copied().unwrap_or(1);
                Op::Matmul { m: out.checked_div(n).unwrap_or(0), n, k, batch: 1, bias: false }
            }
            _ => Op::Opaque,
        },
        Form::Convolution(pass) => convolution(pass, call).unwrap_or(Op::Opaque),
        Form::Attention(pass) => attention(pass, call).unwrap_or(Op::Opaque),
        Form::Normalised(kind, pass) => {
            let n = call.first();
            let means = match pass {
                Pass::Forward => call.outputs.get(1).map(ArrayRef::count),
                // The gradient, the input, then what the forward pass kept for each row.
                _ => call.inputs.get(2).map(ArrayRef::count),
            };
            let rows = means.filter(|&rows| rows > 0 && n.is_multiple_of(rows));
            let width = call.inputs.first().map_or(1, ArrayRef::last);
            let rows = rows.unwrap_or_else(|| n.checked_div(width).unwrap_or(0));
            Op::Rowwise { kind, pass, rows, width: n.checked_div(rows).unwrap_or(0) }
        }
        Form::Scaled => scaled(call),
        Form::Channels(Pass::Forward) if call.keyword("training") == Some("False") => scaled(call),
        Form::Channels(pass) => {
            let channels = call.inputs.first().and_then(|x| x.shape.get(1)).copied().unwrap_or(1);
            let width = call.first().checked_div(channels).unwrap_or(0);
            Op::Rowwise { kind: Rowwise::BatchNorm, pass, rows: channels, width }
        }
        Form::Softmax(kind, pass) => match super::fold::rowwise(kind, call) {
            Op::Rowwise { kind, rows, width, .. } => Op::Rowwise { kind, pass, rows, width },
            op => op,
        },
        Form::Pool(kind, pass) => {
            // Of the gradient the result is the image, and the first array has an element for each window.
            let (small, large) = match pass {
                Pass::Forward => (call.out(), call.first()),
                _ => (call.first(), call.out()),
            };
            let told = call.keyword("kernel_size").map(numbers).map(|sizes| super::call::product(&sizes));
            let window = told.unwrap_or_else(|| large.div_ceil(small.max(1))).max(1);
            Op::Window { kind, pass, n: small, input: large, window }
        }
        Form::Resize(pass, window) => {
            let (n, input) =
                if pass == Pass::Forward { (call.out(), call.first()) } else { (call.first(), call.out()) };
            Op::Window { kind: Window::Resize, pass, n, input, window }
        }
        Form::Embedding(pass) => {
            let table = match pass {
                Pass::Forward => call.inputs.first(),
                _ => call.outputs.first(),
            };
            let Some(table) = table else { return Op::Opaque };
            let rows = table.shape.first().copied().unwrap_or(1);
            Op::Embedding { pass, n: call.input(1), width: table.last(), table: rows }
        }
        Form::Recurrent(cell, pass) => recurrent(cell, pass, call).unwrap_or(Op::Opaque),
        Form::Pick => Op::Gather { n: call.input(1), source: call.first() },
        Form::Collective(kind) => {
            let ranks = call.number("ranks").map_or(1, |ranks| ranks.clamp(1.0, 1e9) as u64);
            // What each has in the end, or had in the beginning, whichever is more: the whole that is passed round.
            let all = |arrays: &[ArrayRef]| arrays.iter().map(ArrayRef::bytes).fold(0, u64::saturating_add);
            Op::Collective { kind, bytes: all(call.inputs).max(all(call.outputs)), ranks }
        }
    }
}

fn scaled(call: &Call) -> Op {
    Op::Elementwise { n: call.first(), inputs: 1, flop_per_element: 2.0, transcendental: false }
}

/// Whole numbers out of `[3, 3]`.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Image, weight and result, each with its channels second. Transposed convolutions are the gradient, in its data, of
/// the convolution the other way round.
fn convolution(pass: Pass, call: &Call) -> Option<Op> {
    let (x, weight, y) = match pass {
        Pass::Forward => (call.inputs.first()?, call.inputs.get(1)?, call.outputs.first()?),
        _ => (call.inputs.get(1)?, call.inputs.get(2)?, call.inputs.first()?),
    };
    let spatial = weight.shape.len().checked_sub(2)?;
    let split = |a: &ArrayRef| {
        let start = a.shape.len().checked_sub(spatial)?;
        let channels = a.shape.get(start.checked_sub(1)?)?;
        let images = if start >= 2 { product(&a.shape[..start - 1]) } else { 1 };
        Some((images, *channels, a.shape[start..].to_vec()))
    };
    let (batch, cin, input) = split(x)?;
    let (_, cout, output) = split(y)?;
    let kernel = weight.shape[2..].to_vec();
    let transposed = call.keyword("transposed") == Some("True");
    let group = weight.shape.get(1)?.max(&1);
    let groups = if transposed { cout } else { cin } / group;
    let pass = match pass {
        Pass::Forward if transposed => Pass::BackwardData,
        Pass::Forward => Pass::Forward,
        _ => match call.keyword("output_mask").map(|mask| mask.replace(['[', '(', ' '], "")) {
            Some(mask) if mask.starts_with("True,False") => Pass::BackwardData,
            Some(mask) if mask.starts_with("False,True") => Pass::BackwardWeight,
            _ => Pass::Backward,
        },
    };
    let groups = groups.max(1);
    Some(if transposed {
        Op::Convolution { pass, batch, cin: cout, cout: cin, groups, input: output, kernel, output: input }
    } else {
        Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output }
    })
}

/// A bias has one axis, a projection's weight has the states in rows: fewer than the cell has gates and hidden states.
fn recurrent(cell: Cell, pass: Pass, call: &Call) -> Option<Op> {
    let [x, _, state_weight, rest @ ..] = call.inputs else { return None };
    let &[gates, state] = state_weight.shape.as_slice() else { return None };
    let count = match cell {
        Cell::Rnn => 1,
        Cell::Gru => 3,
        Cell::Lstm => 4,
    };
    let (input, hidden) = (x.last(), gates / count);
    let rows = x.count().checked_div(input)?;
    let steps = match call.number("steps") {
        Some(steps) => steps.clamp(1.0, 1e15) as u64,
        None if x.shape.len() == 3 => x.shape[0],
        None => rows,
    };
    let projected = rest.iter().any(|w| w.shape == [state, hidden]) && state != hidden;
    Some(Op::Recurrent { cell, pass, steps, rows, input, hidden, projection: if projected { state } else { 0 } })
}

/// Queries, keys and values as [batch, heads, length, width].
fn attention(pass: Pass, call: &Call) -> Option<Op> {
    let first = if pass == Pass::Forward { 0 } else { 1 };
    let (q, k) = (call.inputs.get(first)?, call.inputs.get(first + 1)?);
    let &[ref lead @ .., heads, q_len, head_dim] = q.shape.as_slice() else { return None };
    let &[.., kv_len, _] = k.shape.as_slice() else { return None };
    let causal = call.keyword("is_causal") == Some("True");
    Some(Op::Attention { pass, batch: product(lead), heads, q_len, kv_len, head_dim, causal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::lower;
    use crate::workload::Dtype;

    fn f32s(shape: &[u64]) -> ArrayRef {
        ArrayRef::new(Dtype::F32, shape)
    }

    fn run(name: &str, inputs: &[&[u64]], outputs: &[&[u64]], keywords: &[(&str, &str)]) -> (Op, f64) {
        let inputs: Vec<_> = inputs.iter().map(|s| f32s(s)).collect();
        let outputs: Vec<_> = outputs.iter().map(|s| f32s(s)).collect();
        let call = Call { name, inputs: &inputs, outputs: &outputs, keywords, scalar_result: false };
        let lowered = lower(&call);
        let flop = lowered.op.flop(lowered.dtype).get();
        (lowered.op, flop)
    }

    #[test]
    fn a_layer_with_a_bias_is_its_product() {
        let (op, flop) = run("aten.addmm", &[&[2], &[100, 10], &[10, 2]], &[&[100, 2]], &[]);
        assert_eq!(op, Op::Matmul { m: 100, n: 2, k: 10, batch: 1, bias: false });
        assert_eq!(flop, 4000.0);
        assert_eq!(run("aten.linear", &[&[4, 25, 10], &[2, 10], &[2]], &[&[4, 25, 2]], &[]).1, 4000.0);
    }

    #[test]
    fn first_layer_of_resnet_50_and_its_gradients() {
        let (x, w, y): (&[u64], &[u64], &[u64]) = (&[2, 3, 224, 224], &[64, 3, 7, 7], &[2, 64, 112, 112]);
        assert_eq!(run("aten.convolution", &[x, w], &[y], &[("transposed", "False")]).1, 2.0 * 236_027_904.0);
        let backward = |mask| run("aten.convolution_backward", &[y, x, w], &[x, w], &[("output_mask", mask)]).1;
        assert_eq!(backward("[False, True, False]"), 2.0 * 236_027_904.0);
        assert_eq!(backward("[True, True, True]"), 4.0 * 236_027_904.0);
    }

    #[test]
    fn a_transposed_convolution_multiplies_each_input_by_the_kernel() {
        // 1 image, 8 → 4 channels, 2×2 kernel, stride 2: every one of 5·5·8 inputs meets 4·2·2 weights.
        let transposed = [("transposed", "True")];
        let (_, flop) = run("aten.convolution", &[&[1, 8, 5, 5], &[8, 4, 2, 2]], &[&[1, 4, 10, 10]], &transposed);
        assert_eq!(flop, 2.0 * 25.0 * 8.0 * 16.0);
    }

    #[test]
    fn depthwise_convolutions_have_as_many_groups_as_channels() {
        let (op, _) = run("aten.convolution", &[&[1, 32, 8, 8], &[32, 1, 3, 3]], &[&[1, 32, 8, 8]], &[]);
        assert!(matches!(op, Op::Convolution { groups: 32, .. }));
    }

    #[test]
    fn attention_and_its_gradient() {
        let shape: &[u64] = &[2, 4, 16, 8];
        let name = "aten._scaled_dot_product_flash_attention_for_cpu";
        let (op, flop) = run(name, &[shape; 3], &[shape], &[("is_causal", "False")]);
        assert!(matches!(op, Op::Attention { batch: 2, heads: 4, q_len: 16, kv_len: 16, head_dim: 8, .. }));
        assert_eq!(flop, 2.0 * 2.0 * 8.0 * 16.0 * 16.0 * 8.0);
        let backward = run(&format!("{name}_backward"), &[shape; 6], &[shape; 3], &[]).1;
        assert_eq!(backward, 2.5 * flop);
        assert!(run(name, &[shape; 3], &[shape], &[("is_causal", "True")]).1 < flop * 0.6);
    }

    #[test]
    fn rows_of_normalisations() {
        let x: &[u64] = &[4, 128, 768];
        let (op, _) = run("aten.native_layer_norm", &[x, &[768], &[768]], &[x, &[4, 128, 1], &[4, 128, 1]], &[]);
        assert_eq!(op, Op::Rowwise { kind: Rowwise::LayerNorm, pass: Pass::Forward, rows: 512, width: 768 });
        let (op, _) = run("aten._softmax", &[&[2, 3, 5]], &[&[2, 3, 5]], &[("axis", "1")]);
        assert_eq!(op, Op::Rowwise { kind: Rowwise::Softmax, pass: Pass::Forward, rows: 10, width: 3 });
        let (op, _) = run("aten.native_batch_norm", &[&[2, 64, 8, 8]], &[&[2, 64, 8, 8]], &[]);
        assert_eq!(op, Op::Rowwise { kind: Rowwise::BatchNorm, pass: Pass::Forward, rows: 64, width: 128 });
        let fixed = Op::Elementwise { n: 8192, inputs: 1, flop_per_element: 2.0, transcendental: false };
        let (shape, given): (&[&[u64]], _) = (&[&[2, 64, 8, 8]], [("training", "False")]);
        assert_eq!(run("aten.native_batch_norm", shape, shape, &given).0, fixed);
        assert_eq!(run("aten._native_batch_norm_legit_no_training", shape, shape, &[]).0, fixed);
    }

    #[test]
    fn attention_is_of_the_type_of_its_queries() {
        let half = ArrayRef::new(Dtype::Bf16, &[2, 4, 16, 8]);
        let (inputs, outputs) = ([half.clone(), half.clone(), half.clone()], [half, f32s(&[2, 4, 16])]);
        let name = "aten._scaled_dot_product_flash_attention_for_cpu";
        let call = Call { name, inputs: &inputs, outputs: &outputs, keywords: &[], scalar_result: false };
        assert_eq!(lower(&call).dtype, Dtype::Bf16);
    }

    #[test]
    fn a_batch_norm_is_of_the_type_of_its_images() {
        let half = ArrayRef::new(Dtype::Bf16, &[2, 64, 8, 8]);
        let weights = [f32s(&[64]), f32s(&[64])];
        let inputs = [half.clone(), weights[0].clone(), weights[1].clone()];
        let outputs = [half, weights[0].clone(), weights[1].clone()];
        let name = "aten.native_batch_norm";
        let call = Call { name, inputs: &inputs, outputs: &outputs, keywords: &[], scalar_result: false };
        assert_eq!(lower(&call).dtype, Dtype::Bf16);
    }

    #[test]
    fn a_layer_of_an_lstm_multiplies_inputs_and_states() {
        // 7 steps of 3 sequences, 16 features, 32 states, 4 gates.
        let shapes: [&[u64]; 3] = [&[7, 3, 16], &[128, 16], &[128, 32]];
        let lstm =
            |pass| Op::Recurrent { cell: Cell::Lstm, pass, steps: 7, rows: 21, input: 16, hidden: 32, projection: 0 };
        let forward = (lstm(Pass::Forward), 2.0 * 21.0 * 128.0 * 48.0);
        assert_eq!(run("aten.mkldnn_rnn_layer", &shapes, &[&[7, 3, 32]], &[]), forward);
        assert_eq!(run("aten.lstm", &shapes, &[&[7, 3, 32]], &[]), forward);
        let backward = (lstm(Pass::Backward), 4.0 * 21.0 * 128.0 * 48.0);
        assert_eq!(run("aten.mkldnn_rnn_layer_backward", &shapes, &[&[7, 3, 16]], &[]), backward);
    }

    #[test]
    fn sequences_of_different_lengths_and_a_projection() {
        // 11 steps of all sequences, of which the longest has 5; 6 features, 8 states in 3 gates, projected to 2.
        let shapes: [&[u64]; 6] = [&[11, 6], &[24, 6], &[24, 2], &[24], &[24], &[2, 8]];
        let (op, _) = run("aten.gru", &shapes, &[&[11, 2]], &[("steps", "5")]);
        let pass = Pass::Forward;
        assert_eq!(op, Op::Recurrent { cell: Cell::Gru, pass, steps: 5, rows: 11, input: 6, hidden: 8, projection: 2 });
    }

    #[test]
    fn products_of_distances_and_of_groups() {
        let (rows, others, distances): (&[u64], &[u64], &[u64]) = (&[2, 6, 4], &[2, 9, 4], &[2, 6, 9]);
        let flop = 2.0 * 2.0 * 6.0 * 9.0 * 4.0;
        assert_eq!(run("aten._cdist_forward", &[rows, others], &[distances], &[]).1, flop);
        assert_eq!(run("aten._cdist_backward", &[distances, rows, others, distances], &[rows], &[]).1, flop);
        // By one product: [-2a, |a|², 1] with [b, 1, |b|²].
        let flop = 2.0 * 2.0 * 6.0 * 9.0 * (4.0 + 2.0);
        assert_eq!(run("aten._euclidean_dist", &[rows, others], &[distances], &[]).1, flop);
        // Rows of 40 in five groups; what the weights of each get, of as many rows together.
        let (rows, weights, results): (&[u64], &[u64], &[u64]) = (&[40, 7], &[5, 7, 3], &[40, 3]);
        let flop = 2.0 * 40.0 * 7.0 * 3.0;
        assert_eq!(run("aten._grouped_mm", &[rows, weights, &[5]], &[results], &[]).1, flop);
        assert_eq!(run("aten._grouped_mm", &[&[7, 40], results, &[5]], &[weights], &[]).1, flop);
        assert_eq!(run("aten._grouped_mm", &[&[5, 8, 7], weights], &[&[5, 8, 3]], &[]).1, flop);
        let stack: &[u64] = &[3, 10, 10];
        assert_eq!(run("aten.linalg_matrix_exp", &[stack], &[stack], &[]).1, 3.0 * 5.0 * 2000.0);
    }

    #[test]
    fn shapes_that_make_no_sense_are_not_understood() {
        for row in crate::lower::callables().iter().filter(|c| c.name.starts_with("aten.")) {
            for shapes in [&[][..], &[&[][..]], &[&[0, 0][..], &[0]], &[&[u64::MAX, 3][..], &[7], &[1, 2, 3, 4]]] {
                run(&row.name, shapes, shapes, &[("output_mask", "x"), ("kernel_size", "[0]"), ("axis", "9")]);
            }
        }
    }

    #[test]
    fn in_place_and_list_forms_are_the_same_function() {
        let n: &[u64] = &[1000];
        let (one, flop) = run("aten.mul", &[n, n], &[n], &[]);
        assert_eq!(run("aten.mul_", &[n, n], &[n], &[]), (one.clone(), flop));
        assert_eq!(run("aten._foreach_mul_", &[n, n], &[n], &[]), (one, flop));
    }
}
