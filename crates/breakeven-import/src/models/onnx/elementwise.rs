//! Nodes that compute element by element, and values of small ones that shapes are computed of.

use super::array::{Array, broadcast, dtype};
use super::call::{Call, Made, Work};
use breakeven::workload::{Dtype, Op};

/// Operators by the function of PyTorch's or NumPy's that costs as much.
const FUNCTIONS: [(&str, &str); 66] = [
    ("Abs", "aten.abs"),
    ("Acos", "aten.acos"),
    ("Acosh", "aten.acosh"),
    ("Add", "aten.add"),
    ("And", "aten.logical_and"),
    ("Asin", "aten.asin"),
    ("Asinh", "aten.asinh"),
    ("Atan", "aten.atan"),
    ("Atanh", "aten.atanh"),
    ("BitShift", "numpy.left_shift"),
    ("BitwiseAnd", "aten.bitwise_and"),
    ("BitwiseNot", "aten.bitwise_not"),
    ("BitwiseOr", "aten.bitwise_or"),
    ("BitwiseXor", "aten.bitwise_xor"),
    ("Ceil", "aten.ceil"),
    ("Celu", "aten.celu"),
    ("Clip", "aten.clamp"),
    ("Cos", "aten.cos"),
    ("Cosh", "aten.cosh"),
    ("Div", "aten.div"),
    ("Elu", "aten.elu"),
    ("Equal", "aten.eq"),
    ("Erf", "aten.erf"),
    ("Exp", "aten.exp"),
    ("Floor", "aten.floor"),
    ("Gelu", "aten.gelu"),
    ("Greater", "aten.gt"),
    ("GreaterOrEqual", "aten.ge"),
    ("HardSigmoid", "aten.hardsigmoid"),
    ("HardSwish", "aten.hardswish"),
    ("IsInf", "numpy.isinf"),
    ("IsNaN", "numpy.isnan"),
    ("LeakyRelu", "aten.leaky_relu"),
    ("Less", "aten.lt"),
    ("LessOrEqual", "aten.le"),
    ("Log", "aten.log"),
    ("Max", "aten.maximum"),
    ("Mean", "aten.add"),
    ("Min", "aten.minimum"),
    ("Mish", "aten.mish"),
    ("Mod", "aten.remainder"),
    ("Mul", "aten.mul"),
    ("Neg", "aten.neg"),
    ("Not", "aten.logical_not"),
    ("Or", "aten.logical_or"),
    ("PRelu", "aten.leaky_relu"),
    ("Pow", "aten.pow"),
    ("Reciprocal", "aten.reciprocal"),
    ("Relu", "aten.relu"),
    ("Round", "aten.round"),
    ("Selu", "aten.elu"),
    ("Shrink", "aten.hardshrink"),
    ("Sigmoid", "aten.sigmoid"),
    ("Sign", "aten.sign"),
    ("Sin", "aten.sin"),
    ("Sinh", "aten.sinh"),
    ("Softplus", "aten.softplus"),
    ("Softsign", "aten.div"),
    ("Sqrt", "aten.sqrt"),
    ("Sub", "aten.sub"),
    ("Sum", "aten.add"),
    ("Swish", "aten.silu"),
    ("Tan", "aten.tan"),
    ("Tanh", "aten.tanh"),
    ("ThresholdedRelu", "aten.threshold"),
    ("Xor", "aten.logical_xor"),
];
/// Results that are truth values.
const TRUTH: [&str; 11] =
    ["And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor"];

/// A node that computes element by element; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    let op = call.node.op.as_str();
    let function = match (call.node.domain.as_str(), op) {
        ("com.microsoft", "Gelu" | "FastGelu" | "QuickGelu" | "BiasGelu") => "aten.gelu",
        ("com.microsoft", "BiasAdd" | "BiasDropout") => "aten.add",
        ("com.microsoft", "ComplexMul" | "ComplexMulConj") => "aten.mul",
        ("com.microsoft", _) => return None,
        _ => match op {
            "Cast" | "CastLike" | "BitCast" => return cast(call),
            "Where" => return choose(call),
            "QuantizeLinear" | "DequantizeLinear" | "DynamicQuantizeLinear" => return None,
            _ => FUNCTIONS.iter().find(|(name, _)| *name == op)?.1,
        },
    };
    // Bounds, slopes and the like are small; what counts is the shape of all.
    let operands: Vec<&Array> = match op {
        "Clip" => vec![call.input(0)?],
        _ => (0..call.inputs.len())
            .filter(|&place| call.has(place))
            .map(|place| call.input(place))
            .collect::<Option<_>>()?,
    };
    let dims = broadcast(operands.iter().map(|array| array.dims.as_slice()))?;
    let kind = if TRUTH.contains(&op) { Dtype::Bool } else { operands.first()?.dtype };
    let values = folded(op, &operands, &dims, kind);
    let out = Array::new(kind, dims).with(values);
    // A power by a constant is told by its exponent.
    let exponent = call.input(1).and_then(|array| array.values.as_ref()).filter(|values| values.len() == 1);
    let exponent = exponent.filter(|_| op == "Pow").map(|values| values[0].to_string());
    let keywords: Vec<(&str, &str)> = exponent.iter().map(|text| ("exponent", text.as_str())).collect();
    let made = call.as_function(function, &keywords, vec![out]);
    let more = operands.len().saturating_sub(2) as f64;
    Some(if matches!(op, "Sum" | "Mean" | "Max" | "Min") && more > 0.0 { several(made, more) } else { made })
}

/// More operands than two: an operation for each further one.
fn several(mut made: Made, more: f64) -> Made {
    if let Work::Kernels(kernels) = &mut made.work
        && let Some((Op::Elementwise { flop_per_element, .. }, _)) = kernels.first_mut()
    {
        *flop_per_element += more;
    }
    made
}

/// A type changed; into the same one, nothing is done.
fn cast(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let to = match call.node.op.as_str() {
        "Cast" | "BitCast" => dtype(u64::try_from(call.int("to")?).ok()?),
        _ => call.input(1)?.dtype,
    };
    let whole = !matches!(to, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F8);
    let values = from.values.as_ref().map(|values| {
        let each = |&value: &f64| match to {
            Dtype::Bool => f64::from(value != 0.0),
            _ if whole => value.trunc(),
            _ => value,
        };
        values.iter().map(each).collect()
    });
    let out = Array::new(to, from.dims.clone()).with(values);
    if to == from.dtype {
        return Some(Made::view(out));
    }
    let n = from.count();
    Some(Made::one(out, Op::Elementwise { n, inputs: 1, flop_per_element: 0.0, transcendental: false }))
}

fn choose(call: &Call<'_>) -> Option<Made> {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let dims = broadcast([condition, yes, no].map(|array| array.dims.as_slice()))?;
    let at = |array: &Array, place: usize| spread(array, &dims, place);
    let n = super::array::count(&dims) as usize;
    let values = if n <= super::proto::MOST_VALUES as usize {
        let each = |place| Some(if at(condition, place)? != 0.0 { at(yes, place)? } else { at(no, place)? });
        (0..n).map(each).collect()
    } else {
        None
    };
    let op = Op::Elementwise { n: n as u64, inputs: 3, flop_per_element: 1.0, transcendental: false };
    Some(Made::one(Array::new(yes.dtype, dims).with(values), op))
}

/// The value that an array has at a place of the shape that it is broadcast to.
pub(super) fn spread(array: &Array, dims: &[u64], place: usize) -> Option<f64> {
    let values = array.values.as_ref()?;
    let (mut left, mut at, mut stride) = (place as u64, 0, 1);
    for (axis, &dim) in dims.iter().enumerate().rev() {
        let index = left % dim.max(1);
        left /= dim.max(1);
        let Some(own) = (axis + array.rank()).checked_sub(dims.len()) else { continue };
        let length = array.dims[own];
        at += if length == 1 { 0 } else { index * stride };
        stride *= length;
    }
    values.get(at as usize).copied()
}

/// Values of what is computed of few known ones.
fn folded(op: &str, operands: &[&Array], dims: &[u64], kind: Dtype) -> Option<Vec<f64>> {
    let n = super::array::count(dims);
    if n > super::proto::MOST_VALUES || operands.iter().any(|array| array.values.is_none()) {
        return None;
    }
    let whole = !matches!(kind, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16);
    let truth = f64::from;
    let two = |a: f64, b: f64| -> Option<f64> {
        Some(match op {
            "Add" | "Sum" => a + b,
            "Sub" => a - b,
            "Mul" => a * b,
            "Div" if whole && b == 0.0 => return None,
            "Div" if whole => (a / b).trunc(),
            "Div" => a / b,
            "Mod" if b != 0.0 => a - b * (a / b).floor(),
            "Pow" => a.powi(if b.fract() == 0.0 && b.abs() < 1e6 { b as i32 } else { return None }),
            "Max" => a.max(b),
            "Min" => a.min(b),
            "Equal" => truth(a == b),
            "Greater" => truth(a > b),
            "GreaterOrEqual" => truth(a >= b),
            "Less" => truth(a < b),
            "LessOrEqual" => truth(a <= b),
            "And" => truth(a != 0.0 && b != 0.0),
            "Or" => truth(a != 0.0 || b != 0.0),
            "Xor" => truth((a != 0.0) != (b != 0.0)),
            _ => return None,
        })
    };
    let one = |a: f64| -> Option<f64> {
        Some(match op {
            "Abs" => a.abs(),
            "Ceil" => a.ceil(),
            "Floor" => a.floor(),
            "Round" => a.round_ties_even(),
            "Neg" => -a,
            "Not" => truth(a == 0.0),
            "Sqrt" => a.sqrt(),
            "Reciprocal" => 1.0 / a,
            "Sign" => {
                if a == 0.0 {
                    0.0
                } else {
                    a.signum()
                }
            }
            "Relu" => a.max(0.0),
            "Max" | "Min" | "Sum" | "Mean" => a,
            _ => return None,
        })
    };
    let value = |place: usize| {
        let mut each = operands.iter().map(|array| spread(array, dims, place));
        let first = each.next()??;
        if operands.len() == 1 {
            return one(first);
        }
        each.try_fold(first, |sum, next| two(sum, next?))
    };
    (0..n as usize).map(value).collect()
}
