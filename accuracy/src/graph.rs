//! One node of a network's graph as an op, however its author spelled it. Shapes decide where they are given; the
//! arguments' order is the kernel table's. What nobody knows is named, not dropped.

use crate::data::possible;
use crate::rows;
use breakeven::workload::{
    Op, Pass,
    op::{Rowwise, Window},
};

/// What one call does.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Kernel(Op),
    /// Makes another view, or passes a gradient on: no kernel.
    View,
    /// Nobody knows, by the name in the graph.
    Unknown(String),
}

/// Cells of one row of a graph.
#[derive(Clone, Copy, Default)]
pub struct Node<'a> {
    pub op: &'a str,
    pub kind: &'a str,
    pub phase: &'a str,
    pub idx: &'a str,
    pub args: &'a str,
    pub in_shapes: &'a str,
    pub out_shape: &'a str,
}

/// Element-wise ops of one array: FLOP for an element, and whether a gradient looks at the input again.
const MAPS: &[(&[&str], f64)] = &[
    (&["relu", "relu6", "threshold", "leakyrelu", "prelu", "clamp", "clip", "hardtanh", "abs", "neg", "where"], 1.0),
    (&["hardswish", "hardsigmoid", "dropout", "maskedfill", "square", "cast"], 3.0),
    (&["gelu", "sigmoid", "silu", "swish", "mish", "elu", "selu", "softplus", "exp", "log", "sqrt", "rsqrt"], 15.0),
];
const VIEWS: &[&str] = &[
    "view",
    "reshape",
    "flatten",
    "permute",
    "transpose",
    "t",
    "squeeze",
    "unsqueeze",
    "getitem",
    "getattr",
    "size",
    "identity",
    "expand",
    "split",
    "chunk",
    "slice",
    "select",
    "detach",
    "placeholder",
    "output",
    "input",
    "shape",
    "narrow",
    "alias",
    "unflatten",
    "inplace",
    "dim",
    "unbind",
    "asstrided",
];
const COPIES: &[&str] = &[
    "cat",
    "concat",
    "concatenate",
    "stack",
    "contiguous",
    "clone",
    "copy",
    "to",
    "pad",
    "constantpad",
    "roll",
    "embedding",
    "channelshuffle",
    "shuffle",
    "pixelshuffle",
    "repeat",
    "setitem",
    "cumsum",
    "count",
    "zeros",
    "fill",
    "mem",
    "vecmem",
];

/// `training`: the graph has gradients, so that its batch-norms look at their batch.
pub fn call(node: &Node<'_>, training: bool) -> Call {
    let name = plain(node.op);
    let name = if name == "mem" && !node.kind.is_empty() { plain(node.kind) } else { name };
    let mem = plain(node.op) == "mem";
    let args = lists(node.args);
    let flat: Vec<u64> = args.concat();
    let found = if name.contains("conv") {
        convolution(node, &name, &flat).map(Call::Kernel)
    } else if name.contains("pool") || name == "gap" {
        pool(node, &args, &name).map(Call::Kernel)
    } else if is_norm(&name) {
        norm(node, &flat, &name, training).map(Call::Kernel)
    } else if mem {
        memory(&name, node, &args)
    } else {
        match (name.as_str(), flat.as_slice()) {
            ("linear" | "fc" | "dense" | "addmm" | "mm" | "matmul" | "gemm", &[rows, inputs, outputs]) => {
                // A layer's own weights are stored along k; weights that come as an operand are not.
                let layer = node.phase != "bw" && node.in_shapes.matches(['(', '[']).count() <= 3;
                Some(Call::Kernel(Op::Matmul { m: rows, n: outputs, k: inputs, batch: 1, bias: layer && name != "mm" }))
            }
            ("bmm" | "baddbmm" | "matmul", &[batch, m, k, n]) => {
                Some(Call::Kernel(Op::Matmul { m, n, k, batch, bias: false }))
            }
            ("linear" | "fc" | "dense" | "addmm" | "mm" | "matmul" | "gemm", _) => {
                of_shapes(node, &name).map(Call::Kernel)
            }
            _ if VIEWS.contains(&name.as_str()) => Some(Call::View),
            _ if COPIES.contains(&name.as_str()) => memory(&name, node, &args),
            _ => pointwise(node, &name, &flat).map(Call::Kernel),
        }
    };
    // A negative number is no dim: -1 stands for what its author had to know.
    let negative = [node.args, node.in_shapes, node.out_shape].iter().any(|text| has_negative(text));
    let real = |call: &Call| match call {
        Call::Kernel(op) => !negative && possible(op),
        Call::View | Call::Unknown(_) => true,
    };
    found.filter(real).unwrap_or_else(|| Call::Unknown(format!("{} {}", node.op, node.kind).trim().to_owned()))
}

/// `aten::batch_norm`, `BatchNorm2d`, `nn.BatchNorm2d` and `VECbatchnorm` are all `batchnorm`; `aten::add_.Tensor` is `add`.
fn plain(name: &str) -> String {
    let name = name.strip_prefix("aten::").map_or(name, |op| op.split('.').next().unwrap_or(op));
    let last = name.rsplit([':', '.']).next().unwrap_or(name);
    let last = last.strip_prefix("VEC").or_else(|| last.strip_prefix("vec")).unwrap_or(last);
    let lower: String = last.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let cut = |name: &str, ends: &[&str]| ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned();
    cut(&cut(&lower, &["backward", "bw", "grad"]), &["1d", "2d", "3d", "nd"])
}

/// Whether a number in the text is below zero; `1e-5` is not.
fn has_negative(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    (0..chars.len()).any(|i| {
        let before = i.checked_sub(1).map_or(' ', |i| chars[i]);
        let digit = chars.get(i + 1).is_some_and(char::is_ascii_digit);
        chars[i] == '-' && digit && !before.is_alphanumeric()
    })
}

fn is_norm(name: &str) -> bool {
    name.contains("norm") || ["bn", "batchnorm", "ln", "gn", "syncbn"].contains(&name)
}

/// Lists of numbers in text: `[8, 64]`, `[[1], [8, 64]]`, `[(8, 64, 56, 56), (64,)]`, `8x64`, `{"b": 8, "cin": 64}`.
pub fn lists(text: &str) -> Vec<Vec<u64>> {
    let numbers = |part: &str| -> Vec<u64> {
        let word = |c: char| !(c.is_ascii_digit() || "-+.e".contains(c));
        part.split(word).filter_map(|d| d.parse::<f64>().ok()).filter(|x| *x >= 0.0).map(|x| x as u64).collect()
    };
    text.split([')', ']']).map(numbers).filter(|shape| !shape.is_empty()).collect()
}

fn count(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |n: u64, &d| n.saturating_mul(d))
}

/// Elements of the result: of its shape, else of the arguments.
fn elements(node: &Node<'_>, flat: &[u64]) -> Option<u64> {
    let out = lists(node.out_shape);
    out.first().map(|shape| count(shape)).or_else(|| (!flat.is_empty()).then(|| count(flat)))
}

/// Maps, sums and soft-maxes on `[rows, width]` or on any shape.
fn pointwise(node: &Node<'_>, name: &str, flat: &[u64]) -> Option<Op> {
    let name = match name {
        "sub" | "iadd" | "isub" | "rsub" | "imul" | "addtensor" => "add",
        "itruediv" | "truediv" => "div",
        name => name,
    };
    let again = node.phase == "bw" && ["relu", "gelu"].contains(&name);
    if let &[rows, width] = flat
        && !again
        && let Some(op) = rows::vector_op(name, rows, width)
    {
        return Some(of_operands(op, node.in_shapes));
    }
    let shape = lists(node.out_shape).into_iter().next().unwrap_or_default();
    let width = flat.last().or(shape.last()).copied()?;
    let n = elements(node, flat)?;
    let sums = |out: u64| Some(Op::Reduce { n, out: out.max(1), flop_per_element: 1.0 });
    match name {
        "softmax" | "logsoftmax" | "crossentropy" | "crossentropyloss" | "nllloss" => {
            let kind = if name.contains("softmax") { Rowwise::Softmax } else { Rowwise::CrossEntropy };
            let pass = if node.phase == "bw" { Pass::Backward } else { Pass::Forward };
            return Some(Op::Rowwise { kind, pass, rows: n / width.max(1), width });
        }
        "mean" | "sum" | "max" | "argmax" => {
            let input = lists(node.in_shapes).first().map_or(n, |s| count(s));
            return if input > n {
                Some(Op::Reduce { n: input, out: n, flop_per_element: 1.0 })
            } else {
                sums(n / width.max(1))
            };
        }
        "upsample" | "interpolate" | "resize" | "upsamplenearest" | "upsamplebilinear" => {
            return Some(Op::Window { kind: Window::Resize, pass: Pass::Forward, n, input: n / 4, window: 4 });
        }
        _ => {}
    }
    if let Some(op) = rows::vector_op(name, 1, n).filter(|_| !again) {
        return Some(of_operands(op, node.in_shapes));
    }
    let (_, flop) = MAPS.iter().find(|(names, _)| names.contains(&name))?;
    // A gradient looks at the input or the result again.
    let inputs = if node.phase == "bw" { 2 } else { 1 };
    Some(Op::Elementwise { n, inputs, flop_per_element: *flop, transcendental: *flop > 10.0 })
}

/// A map of two arrays reads one where the other is a number, a row or a column.
fn of_operands(op: Op, in_shapes: &str) -> Op {
    let Op::Elementwise { n, inputs: 2, flop_per_element, transcendental } = op else { return op };
    let number = in_shapes.contains("()") || (in_shapes.contains("[]") && in_shapes.trim() != "[]");
    let small = matches!(lists(in_shapes).as_slice(), [a, b] if count(a).min(count(b)) <= n / 16);
    Op::Elementwise { n, inputs: if number || small { 1 } else { 2 }, flop_per_element, transcendental }
}

/// A product of what its shapes say: a layer's weights lie as [outputs, inputs], other factors as [inputs, outputs].
fn of_shapes(node: &Node<'_>, name: &str) -> Option<Op> {
    let mut factors: Vec<Vec<u64>> = lists(node.in_shapes).into_iter().filter(|shape| shape.len() >= 2).collect();
    if name == "addmm" && factors.len() == 3 {
        factors.remove(0); // what is added
    }
    let (first, last) = (factors.first()?, factors.get(1));
    let &[ref lead @ .., rows, k] = first.as_slice() else { return None };
    let out = lists(node.out_shape).first().and_then(|shape| shape.last().copied());
    let layer = matches!(name, "linear" | "fc" | "dense");
    let n = out.or_else(|| last.map(|shape| if layer { shape[0] } else { shape[shape.len() - 1] }))?;
    let bias = (layer && node.phase != "bw") || name == "addmm";
    // Of many second factors each meets its own first one, or the only one.
    Some(match last.filter(|shape| shape.len() > 2) {
        Some(shape) => {
            let batch = count(&shape[..shape.len() - 2]).max(count(lead));
            Op::Matmul { m: rows, n, k, batch, bias }
        }
        None => Op::Matmul { m: rows.saturating_mul(count(lead)), n, k, batch: 1, bias },
    })
}

/// Images × channels × height × width.
fn images(text: &str) -> Option<[u64; 4]> {
    lists(text).into_iter().find_map(|s| s.try_into().ok())
}

fn convolution(node: &Node<'_>, name: &str, flat: &[u64]) -> Option<Op> {
    let pass = match (node.phase, node.idx) {
        ("bw", "0") => Pass::BackwardData,
        ("bw", "") => Pass::Backward,
        ("bw", _) => Pass::BackwardWeight,
        _ if node.op.to_ascii_lowercase().contains("backward") => Pass::Backward,
        _ => Pass::Forward,
    };
    let depthwise = name.contains("depthwise") || name.starts_with("dw");
    let transposed = name.contains("transpose") || name.contains("deconv");
    let four: Vec<[u64; 4]> = lists(node.in_shapes).into_iter().filter_map(|s| s.try_into().ok()).collect();
    if let (Some(&[batch, cin, h, w]), Some([_, cout, oh, ow])) = (four.first(), images(node.out_shape)) {
        let weights = four.get(1);
        let kernel = weights.map(|w| [w[2], w[3]]).or_else(|| flat.get(3).map(|&k| [k, k]))?;
        let groups = match weights {
            Some(w) => cin / w[1].max(1),
            None if depthwise => cin,
            None => flat.get(7).copied().unwrap_or(1),
        };
        let (input, kernel, output) = (vec![h, w], kernel.to_vec(), vec![oh, ow]);
        if transposed {
            // What gives a convolution's images their gradient: it goes from the small image to the large one, and its own
            // gradient is that convolution. Weights lie with the inputs first.
            let pass = match pass {
                Pass::Forward => Pass::BackwardData,
                Pass::BackwardData => Pass::Forward,
                other => other,
            };
            let (input, output) = (output, input);
            return Some(Op::Convolution { pass, batch, cin: cout, cout: cin, groups: 1, input, kernel, output });
        }
        return Some(Op::Convolution { pass, batch, cin, cout, groups: groups.max(1), input, kernel, output });
    }
    if transposed {
        return None;
    }
    // Images, channels in and out, kernel, image side, stride, padding, groups.
    let &[batch, cin, cout, k, side, ..] = flat else { return None };
    let stride = flat.get(5).copied().unwrap_or(1).max(1);
    let pad = flat.get(6).copied().unwrap_or(k / 2);
    let groups = if depthwise { cin } else { flat.get(7).copied().unwrap_or(1).max(1) };
    let out = (side + 2 * pad).checked_sub(k)? / stride + 1;
    let (input, kernel, output) = (vec![side; 2], vec![k; 2], vec![out; 2]);
    (flat.len() <= 8).then_some(Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output })
}

/// From the shapes, else from images, channels, kernel, image side, stride and padding.
fn pool(node: &Node<'_>, args: &[Vec<u64>], name: &str) -> Option<Op> {
    let kind = if name.contains("max") { Window::MaxPool } else { Window::AveragePool };
    let pass = if node.phase == "bw" { Pass::Backward } else { Pass::Forward };
    let global = name.contains("adaptive") || name.contains("global") || name == "gap";
    let flat = args.concat();
    // Images × channels × height × width alone: the mean of each plane.
    let global = global || (matches!(kind, Window::AveragePool) && flat.len() == 4 && node.out_shape.is_empty());
    let (input, n, window) = match (images(node.in_shapes), lists(node.out_shape).first(), flat.as_slice()) {
        (Some(input), Some(out), _) => {
            let (input, n) = (count(&input), count(out).max(1));
            // Without a kernel's side: windows that just meet.
            let side = flat.get(2).filter(|&&k| (1..=16).contains(&k) && !global && flat.len() == 6);
            (input, n, side.map_or(input.div_ceil(n), |k| k * k))
        }
        (_, _, &[b, c, k, side, stride, pad]) => {
            let out = (side + 2 * pad).checked_sub(k)? / stride.max(1) + 1;
            (b * c * side * side, b * c * out * out, k * k)
        }
        (_, _, &[b, c, side]) if global => (b * c * side * side, b * c, side * side),
        (_, _, &[b, c, h, w]) if global => (b * c * h * w, b * c, h * w),
        _ if args.len() >= 2 => {
            let (input, n) = (count(&args[0]), count(&args[args.len() - 1]).max(1));
            (input, n, input.div_ceil(n))
        }
        _ => return None,
    };
    // One value for an image and channel folds whole planes.
    if n * 16 <= input {
        return Some(Op::Reduce { n: input, out: n, flop_per_element: 1.0 });
    }
    Some(Op::Window { kind, pass, n, input, window: window.max(1) })
}

/// Layer-norm on `[rows, width]`; batch-norm on images, where it scales, or looks at its batch first.
fn norm(node: &Node<'_>, flat: &[u64], name: &str, training: bool) -> Option<Op> {
    let pass = if node.phase == "bw" { Pass::Backward } else { Pass::Forward };
    if name == "ln" || name.contains("layernorm") || name.contains("rms") {
        let shape = lists(node.in_shapes).into_iter().next().unwrap_or_default();
        let (&width, rest) = if flat.is_empty() { shape.split_last()? } else { flat.split_last()? };
        let kind = if name.contains("rms") { Rowwise::RmsNorm } else { Rowwise::LayerNorm };
        return Some(Op::Rowwise { kind, pass, rows: count(rest), width });
    }
    let images = images(node.in_shapes).or_else(|| images(node.out_shape)).or(match *flat {
        [b, c, h, w] => Some([b, c, h, w]),
        [b, c, side] => Some([b, c, side, side]),
        [rows, width] => Some([1, width, rows, 1]),
        _ => None,
    })?;
    let [b, c, ..] = images;
    let n = count(&images);
    if !training && !name.contains("group") && !name.contains("instance") {
        return Some(Op::Elementwise { n, inputs: 1, flop_per_element: 2.0, transcendental: false });
    }
    let (kind, rows) = if name.contains("group") || name.contains("instance") {
        (Rowwise::GroupNorm, b * c.min(32))
    } else {
        (Rowwise::BatchNorm, c)
    };
    Some(Op::Rowwise { kind, pass, rows: rows.max(1), width: n / rows.max(1) })
}

/// Copies. Indexing and gradients that only pass through are views; the rest copies its largest shape.
fn memory(name: &str, node: &Node<'_>, args: &[Vec<u64>]) -> Option<Call> {
    let sum = ["add", "addu"].contains(&name);
    if sum || VIEWS.contains(&name) || (node.phase == "bw" && !["", "0"].contains(&node.idx)) {
        return Some(Call::View);
    }
    let shapes = if args.is_empty() { [lists(node.in_shapes), lists(node.out_shape)].concat() } else { args.to_vec() };
    let n = shapes.iter().map(|s| count(s)).max()?;
    Some(Call::Kernel(match name {
        "where" | "dropout" => Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false },
        "mean" => Op::Reduce { n, out: count(shapes.last()?), flop_per_element: 1.0 },
        _ => Op::Copy { n, strided: name == "contiguous", inputs: 1, run: 0 },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(op: &str, args: &str, in_shapes: &str, out_shape: &str) -> Call {
        call(&Node { op, args, in_shapes, out_shape, phase: "fw", ..Node::default() }, false)
    }

    fn dense(side: u64, kernel: u64, out: u64, groups: u64) -> Call {
        Call::Kernel(Op::Convolution {
            pass: Pass::Forward,
            batch: 8,
            cin: 64,
            cout: 64,
            groups,
            input: vec![side; 2],
            kernel: vec![kernel; 2],
            output: vec![out; 2],
        })
    }

    #[test]
    fn a_convolution_by_any_name() {
        for name in ["conv", "CONV", "CONV2d", "Conv2d", "nn.Conv2d", "aten::conv2d", "cudnn_convolution", "VECconv2d"]
        {
            assert_eq!(of(name, "[8, 64, 64, 3, 56, 2, 1]", "", ""), dense(56, 3, 28, 1), "{name}");
        }
        assert_eq!(of("conv", "(8, 64, 64, 3, 56, 1, 1, 64)", "", ""), dense(56, 3, 56, 64));
        assert_eq!(of("DWConv2d", "[8, 64, 64, 3, 56, 1, 1]", "", ""), dense(56, 3, 56, 64));
        assert_eq!(of("conv", "[]", "[(8, 64, 56, 56), (64, 64, 3, 3)]", "(8, 64, 28, 28)"), dense(56, 3, 28, 1));
        assert_eq!(of("conv", "", "[[8, 64, 56, 56], [64, 1, 3, 3]]", "[8, 64, 56, 56]"), dense(56, 3, 56, 64));
    }

    #[test]
    fn the_other_layers_of_image_networks() {
        let image = "[(8, 64, 56, 56)]";
        let maps = |n, inputs, flop_per_element| {
            Call::Kernel(Op::Elementwise { n, inputs, flop_per_element, transcendental: false })
        };
        let n = 8 * 64 * 56 * 56;
        for name in ["bn", "BatchNorm2d", "batch_norm", "VECbn"] {
            assert_eq!(of(name, "[8, 64, 56, 56]", image, "(8, 64, 56, 56)"), maps(n, 1, 2.0), "{name}");
        }
        for name in ["relu", "ReLU", "relu_", "VECrelu", "aten::relu_", "relu6"] {
            assert_eq!(of(name, "[8, 64, 56, 56]", image, "(8, 64, 56, 56)"), maps(n, 1, 1.0), "{name}");
        }
        assert_eq!(of("VECadd", "[512, 3136]", "", ""), maps(512 * 3136, 2, 1.0));
        let pool =
            Call::Kernel(Op::Window { kind: Window::MaxPool, pass: Pass::Forward, n: n / 4, input: n, window: 9 });
        assert_eq!(of("MaxPool2d", "[8, 64, 3, 56, 2, 1]", "", ""), pool);
        assert_eq!(of("max_pool2d", "[8, 64, 3, 56, 2, 1]", image, "(8, 64, 28, 28)"), pool);
        let mean = Call::Kernel(Op::Reduce { n, out: 512, flop_per_element: 1.0 });
        assert_eq!(of("AdaptiveAvgPool2d", "", image, "(8, 64, 1, 1)"), mean);
        assert_eq!(
            of("cat", "[[8, 32, 56, 56], [8, 64, 56, 56]]", "", ""),
            Call::Kernel(Op::Copy { n, strided: false, inputs: 1, run: 0 })
        );
        assert_eq!(of("flatten", "[8, 64]", "", ""), Call::View);
    }

    #[test]
    fn one_of_two_operands_may_be_a_number_or_a_row() {
        let inputs = |in_shapes| match of("aten::div.Tensor", "[8, 64]", in_shapes, "(8, 64)") {
            Call::Kernel(Op::Elementwise { n: 512, inputs, .. }) => inputs,
            other => panic!("{in_shapes}: {other:?}"),
        };
        for one in ["[(8, 64), (1,)]", "[(8, 64), ()]", "[[8, 64], []]", "[(1,), (8, 64)]", "[(8, 64), (1, 8)]"] {
            assert_eq!(inputs(one), 1, "{one}");
        }
        for two in ["", "[]", "[(8, 64), (8, 64)]", "[(8, 64)]"] {
            assert_eq!(inputs(two), 2, "{two}");
        }
    }

    #[test]
    fn products_by_their_shapes() {
        let product = |m, n, k, batch, bias| Call::Kernel(Op::Matmul { m, n, k, batch, bias });
        for (op, shapes, expected) in [
            ("Linear", "[(8, 512, 768), (3072, 768)]", product(4096, 3072, 768, 1, true)),
            ("aten::addmm", "[(3072,), (4096, 768), (768, 3072)]", product(4096, 3072, 768, 1, true)),
            ("addmm", "[(64, 32), (64, 128), (128, 32)]", product(64, 32, 128, 1, true)),
            ("matmul", "[(64, 128), (8, 128, 32)]", product(64, 32, 128, 8, false)),
            ("aten::matmul", "[(8, 12, 512, 64), (8, 12, 64, 512)]", product(512, 512, 64, 96, false)),
            ("mm", "[(64, 128), (128, 32)]", product(64, 32, 128, 1, false)),
        ] {
            assert_eq!(of(op, "", shapes, ""), expected, "{op} {shapes}");
        }
        assert!(matches!(of("Linear", "", "[(768,)]", ""), Call::Unknown(_)));
    }

    #[test]
    fn a_batch_norm_that_trains_looks_at_its_batch() {
        let node = Node { op: "bn", in_shapes: "[(8, 64, 56, 56)]", ..Node::default() };
        let op = Op::Rowwise { kind: Rowwise::BatchNorm, pass: Pass::Forward, rows: 64, width: 8 * 56 * 56 };
        assert_eq!(call(&node, true), Call::Kernel(op));
    }

    #[test]
    fn what_nobody_knows_is_named() {
        assert_eq!(of("FlashMoE", "[8, 64]", "", ""), Call::Unknown("FlashMoE".into()));
        assert_eq!(of("conv", "[8]", "", ""), Call::Unknown("conv".into()));
        assert_eq!(of("Linear", "what?", "", ""), Call::Unknown("Linear".into()));
        assert_eq!(of("conv", "[8, 64, 64, 9, 4, 1, 0]", "", ""), Call::Unknown("conv".into()));
    }

    #[test]
    fn what_no_gpu_can_do_is_named() {
        for args in ["[0, 64, 64, 3, 56, 1, 1]", "[8, 64, 64, 3, 56, -2, 1]", "[8, 1e12, 1e12, 3, 56, 1, 1]"] {
            assert_eq!(of("conv", args, "", ""), Call::Unknown("conv".into()), "{args}");
        }
        assert_eq!(of("Linear", "[-1, 64, 64]", "", ""), Call::Unknown("Linear".into()));
        assert_eq!(of("view", "[-1, 64]", "", ""), Call::View);
        assert!(matches!(of("LayerNorm", "[512, 1024]", "[(512, 1024), 1e-05]", ""), Call::Kernel(_)));
    }

    #[test]
    fn a_transposed_convolution_is_the_gradient_of_one() {
        let up = Op::Convolution {
            pass: Pass::BackwardData,
            batch: 8,
            cin: 64,
            cout: 128,
            groups: 1,
            input: vec![56; 2],
            kernel: vec![2; 2],
            output: vec![28; 2],
        };
        let of_ours = of("ConvTranspose2d", "", "[(8, 128, 28, 28), (128, 64, 2, 2)]", "(8, 64, 56, 56)");
        assert_eq!(of_ours, Call::Kernel(up));
        assert_eq!(of("ConvTranspose2d", "[8, 128, 64, 2, 28, 2, 0]", "", ""), Call::Unknown("ConvTranspose2d".into()));
    }

    #[test]
    fn numbers_in_any_brackets() {
        assert_eq!(lists("[(8, 64), (3,)]"), [vec![8, 64], vec![3]]);
        assert_eq!(lists("8x64"), [vec![8, 64]]);
        assert_eq!(lists("{\"b\": 8, \"cin\": 1e3}"), [vec![8, 1000]]);
        assert!(lists("[-1]").is_empty() && lists("").is_empty());
    }
}
