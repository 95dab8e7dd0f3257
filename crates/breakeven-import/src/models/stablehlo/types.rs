//! Types of MLIR as arrays: `tensor<8x3x?xf32>`.

use super::tree::Tree;
use breakeven::workload::Dtype;

/// An array's type: lengths of its axes, `None` where the text leaves one open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Type {
    pub(super) dtype: Dtype,
    pub(super) dims: Vec<Option<u64>>,
}

/// More axes than any array has.
const MOST_AXES: usize = 64;

impl Type {
    /// One number, or what is no array: a token, a tuple.
    pub(super) const fn single(dtype: Dtype) -> Self {
        Self { dtype, dims: Vec::new() }
    }

    /// Lengths; open ones count as 1.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.dims.iter().map(|dim| dim.unwrap_or(1)).collect()
    }

    pub(super) fn is_open(&self) -> bool {
        self.dims.iter().any(Option::is_none)
    }

    /// The type that a piece of text is; `None` where it is none.
    pub(super) fn of(tree: &Tree<'_>) -> Option<Self> {
        match tree {
            Tree::Angle("tensor", inner) => Self::tensor(inner),
            // Types of other dialects, and tuples: no array whose bytes are known.
            Tree::Angle(name, inner) if name.starts_with('!') => Some(
                inner
                    .find("tensor<")
                    .and_then(|at| Self::tensor(&inner[at + 7..]))
                    .unwrap_or(Self::single(Dtype::Other)),
            ),
            Tree::Angle("tuple", _) => Some(Self::single(Dtype::Other)),
            Tree::Word(word) => match element(word) {
                Dtype::Other if !word.starts_with('!') => None,
                dtype => Some(Self::single(dtype)),
            },
            _ => None,
        }
    }

    /// What stands in `tensor<…>`.
    fn tensor(inner: &str) -> Option<Self> {
        let mut rest = inner.trim();
        let mut dims = Vec::new();
        while let Some((dim, after)) = rest.split_once('x') {
            match dim.trim() {
                "?" => dims.push(None),
                number => match number.parse() {
                    Ok(length) => dims.push(Some(length)),
                    Err(_) => break,
                },
            }
            rest = after;
            if dims.len() > MOST_AXES {
                return None;
            }
        }
        Some(Self { dtype: element(rest), dims })
    }
}

/// The type of elements, whatever stands behind it (an encoding).
fn element(text: &str) -> Dtype {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix("complex<") {
        return if inner.starts_with("f64") { Dtype::C128 } else { Dtype::C64 };
    }
    if let Some(inner) = text.strip_prefix("!quant.uniform<") {
        return element(inner.split([':', '<', '>']).next().unwrap_or_default());
    }
    let word = text.split([',', '>', ' ']).next().unwrap_or_default();
    match word {
        "i1" => Dtype::Bool,
        "i2" | "i4" | "si8" | "ui2" | "ui4" => Dtype::I8,
        "ui8" => Dtype::U8,
        "ui16" => Dtype::U16,
        "ui32" => Dtype::U32,
        "ui64" => Dtype::U64,
        "index" => Dtype::I64,
        _ if word.starts_with("f8E") || word.starts_with("f4E") || word.starts_with("f6E") => Dtype::F8,
        "f64" | "f32" | "f16" | "bf16" | "tf32" | "i64" | "i32" | "i16" | "i8" => {
            Dtype::named(word).unwrap_or(Dtype::Other)
        }
        _ => Dtype::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_as_they_are_written() {
        let of = |inner| Type::of(&Tree::Angle("tensor", inner)).unwrap();
        assert_eq!(of("8x3x?xbf16"), Type { dtype: Dtype::Bf16, dims: vec![Some(8), Some(3), None] });
        assert_eq!(of("f32"), Type::single(Dtype::F32));
        assert_eq!(of("4xcomplex<f64>"), Type { dtype: Dtype::C128, dims: vec![Some(4)] });
        assert_eq!(of("2x!quant.uniform<i8:f32, 0.5:-3>").dtype, Dtype::I8);
        assert_eq!(of("2xf8E4M3FN").dtype, Dtype::F8);
        assert_eq!(of("2xui32, #sparse").dtype, Dtype::U32);
        assert_eq!(Type::of(&Tree::Word("dims")), None);
    }
}
