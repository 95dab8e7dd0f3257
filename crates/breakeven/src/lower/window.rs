//! Filters, convolutions and resampling: elements and window.

use super::Call;
use super::call::product;
use crate::workload::op::{Fft, Pass, Window};
use crate::workload::{Dtype, Op};

/// How a filter's window is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windowed {
    /// Direct convolution of two arrays; the smaller one is the filter.
    Direct,
    /// Direct convolution of the second array with the first, of whose taps each result takes one in `up`.
    Polyphase,
    /// Convolution through Fourier transforms.
    ByFft,
    /// Direct or by FFT, whichever is cheaper, unless `method` says.
    Cheaper,
    /// Weights in the second array.
    Weights,
    /// Weights in the second array, along one axis.
    Weights1d,
    /// Gaussian along each axis: 2·⌊4·sigma + ½⌋ + 1 taps; sigma 1 unless told.
    Gaussian,
    /// Gaussian along one axis.
    Gaussian1d,
    /// `size` taps along each axis one after the other; 3 unless told.
    Box,
    /// `size` taps along one axis.
    Box1d,
    /// Three taps along each axis, the outer product of two filters (Sobel, Prewitt, Laplace).
    Gradient,
    /// All of `size` in every axis at once (rank filters); 3 unless told.
    Rank,
    /// The least or largest of a footprint, or of `size` along each axis one after the other; 3 unless told.
    Extreme,
    /// Cubic splines: four taps in every axis.
    Spline,
    /// Two taps along the table for each result.
    Linear,
    /// Segments of 256 (or as the result tells) transformed one by one.
    Segments,
    /// Average of blocks.
    Pool,
}

impl Windowed {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "direct" => Self::Direct,
            "polyphase" => Self::Polyphase,
            "by_fft" => Self::ByFft,
            "cheaper" => Self::Cheaper,
            "weights" => Self::Weights,
            "weights1d" => Self::Weights1d,
            "gaussian" => Self::Gaussian,
            "gaussian1d" => Self::Gaussian1d,
            "box" => Self::Box,
            "box1d" => Self::Box1d,
            "gradient" => Self::Gradient,
            "rank" => Self::Rank,
            "extreme" => Self::Extreme,
            "spline" => Self::Spline,
            "linear" => Self::Linear,
            "segments" => Self::Segments,
            "pool" => Self::Pool,
            _ => return None,
        })
    }
}

/// The op of a filter of this form.
pub(super) fn op(form: Windowed, call: &Call) -> Op {
    let shape = call.inputs.first().map_or(&[][..], |a| &a.shape);
    let dims = shape.len() as u64;
    let input = call.first();
    let stencil = |kind, window| {
        let n = if call.outputs.is_empty() { input } else { call.out() };
        Op::Window { kind, pass: Pass::Forward, n, input, window }
    };
    match form {
        Windowed::Direct => direct(call),
        Windowed::Polyphase => polyphase(call),
        Windowed::ByFft => by_fft(call),
        Windowed::Cheaper => match call.keyword("method") {
            Some("fft") => by_fft(call),
            Some("direct") => direct(call),
            _ if prefers_fft(call) => by_fft(call),
            _ => direct(call),
        },
        Windowed::Weights | Windowed::Weights1d => stencil(Window::Stencil, call.input(1)),
        Windowed::Gaussian => stencil(Window::Stencil, gaussian_taps(call, shape.len())),
        Windowed::Gaussian1d => stencil(Window::Stencil, gaussian_taps(call, 1)),
        Windowed::Box => stencil(Window::Stencil, sum(sizes(call, shape.len()))),
        Windowed::Box1d => stencil(Window::Stencil, sum(sizes(call, 1))),
        Windowed::Gradient => stencil(Window::Stencil, dims.saturating_mul(3)),
        Windowed::Rank => {
            let footprint = call.inputs.get(1).map(super::ArrayRef::count);
            stencil(Window::Median, footprint.unwrap_or_else(|| product(&sizes(call, shape.len()))))
        }
        Windowed::Extreme => {
            let footprint = call.inputs.get(1).map(super::ArrayRef::count);
            stencil(Window::Stencil, footprint.unwrap_or_else(|| sum(sizes(call, shape.len()))))
        }
        Windowed::Spline => stencil(Window::Resize, 4_u64.saturating_pow(shape.len() as u32)),
        Windowed::Linear => {
            let n = if call.outputs.is_empty() && !call.scalar_result { input } else { call.out() };
            Op::Window { kind: Window::Resize, pass: Pass::Forward, n, input: call.largest(), window: 2 }
        }
        Windowed::Segments => segments(call),
        Windowed::Pool => stencil(Window::AveragePool, input.checked_div(call.out()).unwrap_or(1).max(1)),
    }
}

/// The length of the window along each of `dims` axes: one number for all, or `(5, 3)`.
fn sizes(call: &Call, dims: usize) -> Vec<u64> {
    let given = each_axis(call, "size", dims).or_else(|| each_axis(call, "kernel_size", dims));
    given.map_or(vec![3; dims], |sizes| sizes.iter().map(|s| s.clamp(1.0, 1e9) as u64).collect())
}

/// `scipy.ndimage.gaussian_filter` cuts at `truncate` (4) standard deviations, along one axis after the other.
fn gaussian_taps(call: &Call, dims: usize) -> u64 {
    let truncate = call.number("truncate").unwrap_or(4.0).clamp(0.0, 1e9);
    let taps = |sigma: f64| 2 * (truncate * sigma.clamp(0.0, 1e9) + 0.5) as u64 + 1;
    sum(each_axis(call, "sigma", dims).unwrap_or(vec![1.0; dims]).into_iter().map(taps))
}

/// A keyword with a number for each axis, or one for all.
fn each_axis(call: &Call, key: &str, dims: usize) -> Option<Vec<f64>> {
    let text = call.keyword(key)?.trim_matches(|c| "()[]".contains(c));
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let numbers: Vec<f64> =
        parts.map(|part| part.parse().ok().filter(|x: &f64| x.is_finite())).collect::<Option<_>>()?;
    match numbers.as_slice() {
        [one] => Some(vec![*one; dims]),
        all => (all.len() == dims).then_some(numbers),
    }
}

fn sum(lengths: impl IntoIterator<Item = u64>) -> u64 {
    lengths.into_iter().fold(0, u64::saturating_add).max(1)
}

/// The shape of an input; one element where there is none.
fn shape(call: &Call, input: usize) -> Vec<u64> {
    call.inputs.get(input).map_or(vec![1], |a| a.shape.clone())
}

/// No result takes more terms than the smaller array has, whichever came first.
fn direct(call: &Call) -> Op {
    let (a, v) = (shape(call, 0), shape(call, 1));
    let (input, kernel) = if product(&a) < product(&v) { (v, a) } else { (a, v) };
    convolution(call, input, kernel)
}

fn polyphase(call: &Call) -> Op {
    let up = call.number("up").filter(|up| *up >= 1.0).map_or(1, |up| up as u64);
    convolution(call, shape(call, 1), vec![product(&shape(call, 0)).div_ceil(up)])
}

fn convolution(call: &Call, input: Vec<u64>, kernel: Vec<u64>) -> Op {
    let output = call.outputs.first().map_or_else(|| input.clone(), |o| o.shape.clone());
    if input.len() != kernel.len() || input.len() > 3 || input.is_empty() {
        return Op::Window {
            kind: Window::Stencil,
            pass: Pass::Forward,
            n: call.out(),
            input: product(&input),
            window: product(&kernel),
        };
    }
    Op::Convolution { pass: Pass::Forward, batch: 1, cin: 1, cout: 1, groups: 1, input, kernel, output }
}

/// Two transforms forward and one back, of the full length of each axis.
fn by_fft(call: &Call) -> Op {
    let lengths = |i: usize| call.inputs.get(i).map_or(&[][..], |a| &a.shape);
    let (a, v) = (lengths(0), lengths(1));
    let full: Vec<u64> =
        (0..a.len()).map(|i| a[i].saturating_add(v.get(i).copied().unwrap_or(1)).saturating_sub(1)).collect();
    let complex = call.inputs.iter().any(|a| matches!(a.dtype, Dtype::C64 | Dtype::C128));
    Op::Fft { kind: if complex { Fft::C2c } else { Fft::R2c }, n: product(&full), batch: 3 }
}

/// Direct costs |out|·|kernel|·2 FLOP; three transforms of N points cost 3·2.5·N·log2 N.
fn prefers_fft(call: &Call) -> bool {
    let (a, v) = (call.input(0) as f64, call.input(1) as f64);
    let full = a + v;
    let direct = 2.0 * call.out() as f64 * v.min(a);
    direct > 7.5 * full * libm::log2(full.max(2.0))
}

/// Half-overlapping windows, as `scipy.signal.welch` and `stft` cut them.
fn segments(call: &Call) -> Op {
    let signal = call.inputs.first().map_or(1, |a| a.last());
    let frequencies = call.outputs.first().map_or(129, super::ArrayRef::count);
    let length = frequencies.saturating_sub(1).saturating_mul(2).clamp(2, signal.max(2));
    let rows = call.first().checked_div(signal).unwrap_or(0);
    let each = (signal / (length / 2).max(1)).saturating_sub(1).max(1);
    Op::Fft { kind: Fft::R2c, n: length, batch: rows.saturating_mul(each) }
}
